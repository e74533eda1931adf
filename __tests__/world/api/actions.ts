import type { FakePages, SiteWorkflowRun } from '../pages/fake-pages.ts';
import { type HostReply, replyJson } from '../server/messages.ts';
import { type ApiCall, createRoute, replyPage, requireText, spellFields } from './call.ts';
import { fail, failNotFound } from './errors.ts';
import { formatUser, getPageUrl } from './repository.ts';

/** The only workflow of a repository is the one that publishes its site. */
const WORKFLOW_ID = 77;
const INPUTS_LIMIT = 25;

/** The site whose workflow a request names by its file or its id. */
function getWorkflowSite({ repository, parameters }: ApiCall): FakePages {
  const { site } = repository;
  if (site === null || site.buildType !== 'workflow') failNotFound();
  return [site.workflow, String(WORKFLOW_ID)].includes(parameters.workflow ?? '') ? site : failNotFound();
}

const formatWorkflow = (site: FakePages) => ({
  id: WORKFLOW_ID,
  path: `.github/workflows/${site.workflow}`,
  state: 'active',
});

function formatRun({ repository }: ApiCall, site: FakePages, run: SiteWorkflowRun) {
  const { branch, commit, actor, inputs: _, outcome: __, ...fields } = run;
  return {
    ...spellFields(fields),
    head_branch: branch,
    head_sha: commit,
    actor: formatUser(actor),
    path: `.github/workflows/${site.workflow}`,
    workflow_id: WORKFLOW_ID,
    html_url: `${getPageUrl(repository)}/actions/runs/${run.id}`,
  };
}

/** Starts the workflow on a branch: also a job's own token may, with `actions: write`. */
async function dispatchWorkflow(call: ApiCall): Promise<HostReply> {
  const { repository, login } = call;
  const site = getWorkflowSite(call);
  const { body } = call;
  const ref = requireText(body, 'ref').replace(/^refs\/heads\//, '');
  const inputs = (body.inputs ?? {}) as Record<string, unknown>;
  const commit = (await repository.head(ref)) ?? fail(422, `No ref found for: ${ref}`);
  if (Object.keys(inputs).length > INPUTS_LIMIT) fail(422, 'you may only define up to 25 `inputs`');
  const actor = login ?? repository.owner;
  site.startWorkflow(commit, { event: 'workflow_dispatch', branch: ref, actor, inputs });
  return { status: 204 };
}

/** The runs of a site's workflow that fit the query. */
function findRuns({ request }: ApiCall, site: FakePages): readonly SiteWorkflowRun[] {
  const fits = (name: string, value: string) => (request.query.get(name) ?? value) === value;
  const since = /^>=?(.+)$/.exec(request.query.get('created') ?? '')?.[1];
  return site.runs.filter(
    ({ event, branch, commit, actor, createdAt }) =>
      fits('event', event) &&
      fits('branch', branch) &&
      fits('head_sha', commit) &&
      fits('actor', actor) &&
      (since === undefined || createdAt.getTime() >= Date.parse(since)),
  );
}

async function listRuns(call: ApiCall): Promise<HostReply> {
  const { site } = call.repository;
  const workflow = call.parameters.workflow === undefined ? site : getWorkflowSite(call);
  await workflow?.beforeAnswer();
  const found = workflow === null ? [] : findRuns(call, workflow);
  return replyPage(
    call,
    found,
    (run) => formatRun(call, workflow as FakePages, run),
    (workflow_runs) => ({ total_count: found.length, workflow_runs }),
  );
}

const READ = { actions: 'read' } as const;

export const ACTIONS_ROUTES = [
  createRoute('GET /actions/workflows/:workflow', READ, (call) =>
    replyJson(200, formatWorkflow(getWorkflowSite(call))),
  ),
  createRoute('POST /actions/workflows/:workflow/dispatches', { actions: 'write' }, dispatchWorkflow),
  createRoute('GET /actions/workflows/:workflow/runs', READ, listRuns),
];
