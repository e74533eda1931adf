import type { FakeActionsService } from '../hosts/actions-service.ts';
import { ARCHIVE_TOKEN } from '../hosts/codeload.ts';
import { type HostReply, replyJson, replyRedirect } from '../server/messages.ts';
import type { ApiCall } from './call.ts';
import { fail, failNotFound } from './errors.ts';
import { getApiUrl } from './repository.ts';
import { type ApiRoute, createRoute } from './routes.ts';

/**
 * Deploys an artifact to a site whose source is GitHub Actions.
 */
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
  if (repository.git.getType(commit) !== 'commit') failNotFound();
  const other = site.artifactDeployments.find(({ status }) => status === 'deployment_in_progress');
  if (other !== undefined) {
    fail(
      400,
      `Deployment request failed for ${commit} due to in progress deployment. Please cancel ${other.commit} first or wait for it to complete.`,
    );
  }
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

/** Sends on to the host of archives. */
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
