import type { FakeActionsService } from '../hosts/actions-service.ts';
import { ARCHIVE_TOKEN } from '../hosts/codeload.ts';
import type { FakePages } from '../pages/fake-pages.ts';
import { type HostReply, replyJson, replyRedirect } from '../server/messages.ts';
import { type ApiCall, type ApiRoute, createRoute } from './call.ts';
import { fail, failNotFound } from './errors.ts';
import { formatTime, getApiUrl } from './repository.ts';

function getSite({ repository }: ApiCall): FakePages {
  return repository.site ?? failNotFound();
}

function showSite(call: ApiCall): HostReply {
  const site = getSite(call);
  return replyJson(200, {
    html_url: site.url,
    build_type: site.buildType,
    source: { branch: site.branch, path: site.path },
    public: true,
  });
}

/**
 * Switches Pages on. Only administrators and apps may; a job's own token never has the permission.
 *
 * @see https://docs.github.com/rest/pages/pages#create-a-github-pages-site
 */
function createSite(call: ApiCall): HostReply {
  const { repository, body } = call;
  if (repository.site !== null) fail(409, 'GitHub Pages is already enabled.');
  const { branch = '' } = (body.source ?? {}) as { readonly branch?: string };
  const missing = `The ${branch} branch must exist before GitHub Pages can be built.`;
  const head = repository.head(branch) ?? fail(422, missing);
  repository.switchPagesOn({ branch }).requestBuild(head);
  return { ...showSite(call), status: 201 };
}

async function showLatestBuild(call: ApiCall): Promise<HostReply> {
  const site = getSite(call);
  await site.beforeAnswer();
  const { id, status, error, commit, createdAt } = site.history[0] ?? failNotFound();
  const about = {
    url: `${getApiUrl(call.repository)}/pages/builds/${id}`,
    created_at: formatTime(createdAt),
  };
  return replyJson(200, { ...about, status, error: { message: error }, commit });
}

async function requestBuild(call: ApiCall): Promise<HostReply> {
  const { repository } = call;
  const site = getSite(call);
  if (site.buildType === 'workflow') fail(422, 'This site is published by a workflow, which builds it.');
  const head = (await repository.head(site.branch)) ?? fail(422, 'The site has no commits.');
  site.requestBuild(head);
  return replyJson(201, { status: 'queued' });
}

export const PAGES_ROUTES = [
  createRoute('GET /pages', { pages: 'read' }, showSite),
  createRoute('POST /pages', { administration: 'write' }, createSite),
  createRoute('GET /pages/builds/latest', { pages: 'read' }, showLatestBuild),
  createRoute('POST /pages/builds', { pages: 'write' }, requestBuild),
];

/** Deploys an artifact to a site whose source is GitHub Actions. */
async function createDeployment(call: ApiCall, actions: FakeActionsService): Promise<HostReply> {
  const { repository } = call;
  const site = repository.site;
  if (site === null || site.buildType !== 'workflow') return failNotFound();
  const { artifact_id, oidc_token, pages_build_version } = call.body;
  const commit = String(pages_build_version);
  const job = actions.identify(String(oidc_token)) ?? fail(400, 'Invalid OIDC token');
  if (job.environment === undefined)
    fail(400, "Missing environment. Ensure your workflow's deployment job has an environment.");
  const refusal = site.deploymentRefusals.shift();
  if (refusal !== undefined) fail(...refusal);
  const running = site.artifactDeployments.find(({ status }) => status === 'deployment_in_progress');
  if (running !== undefined) {
    const advice = `Please cancel ${running.commit} first or wait for it to complete.`;
    fail(400, `Deployment request failed for ${commit} due to in progress deployment. ${advice}`);
  }
  if (repository.git.getType(commit) !== 'commit') failNotFound();
  const files = (await actions.open(Number(artifact_id))) ?? null;
  site.deployArtifact(commit, files);
  const url = `${getApiUrl(repository)}/pages/deployments/${commit}`;
  return replyJson(200, { id: commit, status_url: url, page_url: site.url });
}

async function showDeployment({ repository, parameters }: ApiCall): Promise<HostReply> {
  await repository.site?.beforeAnswer();
  const found = repository.site?.artifactDeployments.find(({ commit }) => commit === parameters.id);
  return found === undefined ? failNotFound() : replyJson(200, { status: found.status });
}

/** Redirects to the host of archives. */
function redirectToArchive({ repository, parameters }: ApiCall): HostReply {
  const { owner, name } = repository;
  const ref = encodeURIComponent(parameters.ref ?? '');
  return replyRedirect(
    `https://codeload.github.com/${owner}/${name}/legacy.tar.gz/${ref}?token=${ARCHIVE_TOKEN}`,
  );
}

export const createPagesDeploymentRoutes = (actions: FakeActionsService): readonly ApiRoute[] => [
  createRoute('POST /pages/deployments', { pages: 'write' }, (call) => createDeployment(call, actions)),
  createRoute('GET /pages/deployments/:id', { pages: 'read' }, showDeployment),
  createRoute('GET /tarball/*ref', { contents: 'read' }, redirectToArchive),
];
