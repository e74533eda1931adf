import type { FakePages } from '../pages/fake-pages.ts';
import { type HostReply, replyJson } from '../server/messages.ts';
import { type ApiCall, createRoute, replyPage, requireText } from './call.ts';
import { fail, failNotFound } from './errors.ts';
import { getPageUrl } from './repository.ts';

/** The site whose workflow a request names: a repository has no other workflow. */
function getWorkflowSite({ repository, parameters }: ApiCall): FakePages {
  const { site } = repository;
  return site?.buildType === 'workflow' && site.workflow === parameters.workflow ? site : failNotFound();
}

/** Starts the workflow on a branch; a job's own token needs `actions: write`. */
function dispatchWorkflow(call: ApiCall): HostReply {
  const site = getWorkflowSite(call);
  const ref = requireText(call.body, 'ref');
  site.startWorkflow(call.repository.head(ref) ?? fail(422, `No ref found for: ${ref}`), ref);
  return { status: 204 };
}

async function listRuns(call: ApiCall): Promise<HostReply> {
  const site = getWorkflowSite(call);
  await site.beforeAnswer();
  const branch = call.request.query.get('branch');
  return replyPage(
    call,
    site.runs.filter((run) => run.branch === branch),
    ({ id, status, conclusion }) => {
      return { id, status, conclusion, html_url: `${getPageUrl(call.repository)}/actions/runs/${id}` };
    },
    (workflow_runs) => ({ workflow_runs }),
  );
}

/** One attempt of a run. */
function getAttempt({ repository, parameters: { run = '', attempt = '' } }: ApiCall): HostReply {
  const conclusion = repository.runEnds.get(`${run}/${attempt}`);
  if (conclusion === undefined) return failNotFound();
  const status = conclusion === null ? 'in_progress' : 'completed';
  return replyJson(200, { id: Number(run), run_attempt: Number(attempt), status, conclusion });
}

const READ = { actions: 'read' } as const;

export const ACTIONS_ROUTES = [
  createRoute('GET /actions/runs/:run/attempts/:attempt', READ, getAttempt),
  createRoute('GET /actions/workflows/:workflow', READ, (call) =>
    replyJson(200, { state: getWorkflowSite(call) && 'active' }),
  ),
  createRoute('POST /actions/workflows/:workflow/dispatches', { actions: 'write' }, dispatchWorkflow),
  createRoute('GET /actions/workflows/:workflow/runs', READ, listRuns),
];
