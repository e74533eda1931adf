import {
  getDeploymentState,
  isSameEnvironment,
  type StoredDeployment,
  type StoredDeploymentStatus,
} from '../deployment-store.ts';
import type { TestRepository } from '../repository.ts';
import { type HostReply, replyJson } from '../server/messages.ts';
import { type ApiCall, createRoute, getId, getText, replyPage, requireText, spellFields } from './call.ts';
import { fail, failInvalid, failNotFound } from './errors.ts';
import { formatUser, getPageUrl } from './repository.ts';

const PAGES = 'github-pages';
const DESCRIPTION_LIMIT = 140;
const STATES = ['error', 'failure', 'inactive', 'in_progress', 'queued', 'pending', 'success'];
const ENVIRONMENT_NAME = /^[^\p{Cc}'"`,;\\]{1,255}$/u;

async function listAll({ repository }: ApiCall): Promise<readonly StoredDeployment[]> {
  await repository.site?.beforeAnswer();
  return [...repository.deployments.all, ...(repository.site?.deployments.all ?? [])];
}

async function findDeployment(call: ApiCall): Promise<StoredDeployment> {
  const id = getId(call, 'id');
  return (await listAll(call)).find((one) => one.id === id) ?? failNotFound();
}

function formatDeployment({ statuses, creator, ...fields }: StoredDeployment) {
  const updated_at = statuses[0]?.createdAt ?? fields.createdAt;
  return { ...spellFields(fields), creator: formatUser(creator), updated_at };
}

function formatStatus({ repository }: ApiCall, status: StoredDeploymentStatus) {
  const { environmentUrl, logUrl, creator, ...fields } = status;
  return {
    ...spellFields(fields),
    creator: formatUser(creator),
    log_url: logUrl ?? getPageUrl(repository),
    ...(environmentUrl === null ? {} : { environment_url: environmentUrl }),
  };
}

async function listDeployments(call: ApiCall): Promise<HostReply> {
  const { query } = call.request;
  const wanted = (await listAll(call)).filter((one) => {
    const named = (['sha', 'ref', 'task'] as const).every((name) =>
      [null, one[name]].includes(query.get(name)),
    );
    const environment = query.get('environment');
    return named && (environment === null || isSameEnvironment(one, environment));
  });
  return replyPage(call, wanted, formatDeployment);
}

/** A commit of the repository, also one that only a pull request has: a fork's. */
function resolveRef({ git, issues }: TestRepository, ref: string): string | null {
  return git.resolve(ref) ?? (issues.hasHead(ref) ? ref : null);
}

/**
 * By default the default branch is merged first, and all checks of the commit must have passed; of a job's own checks
 * one is still running.
 *
 * @see https://docs.github.com/rest/deployments/deployments#create-a-deployment
 */
async function createDeployment(call: ApiCall): Promise<HostReply> {
  const { repository, login } = call;
  const { body } = call;
  const ref = requireText(body, 'ref');
  const environment = getText(body, 'environment') ?? 'production';
  const task = getText(body, 'task') ?? 'deploy';
  const isNamed = ENVIRONMENT_NAME.test(environment) && !isSameEnvironment({ environment }, PAGES);
  if (!isNamed) failInvalid({ resource: 'Deployment', code: 'invalid', field: 'environment' });
  if (task.length > 128) failInvalid({ resource: 'Deployment', code: 'invalid', field: 'task' });
  const sha = (await resolveRef(repository, ref)) ?? fail(422, `No ref found for: ${ref}`);
  if (body.auto_merge !== false) fail(409, `Conflict merging ${repository.branch} into ${ref}.`);
  if (!Array.isArray(body.required_contexts) || body.required_contexts.length > 0) {
    fail(409, `Conflict: Commit status checks failed for ${ref}.`);
  }
  const deployment = repository.deployments.add({
    sha,
    ref,
    environment,
    task,
    payload: body.payload ?? {},
    creator: login ?? '',
    transientEnvironment: body.transient_environment === true,
    productionEnvironment: (body.production_environment ?? environment === 'production') === true,
  });
  return replyJson(201, formatDeployment(deployment));
}

async function listStatuses(call: ApiCall): Promise<HostReply> {
  const deployment = await findDeployment(call);
  return replyPage(call, deployment.statuses, (status) => formatStatus(call, status));
}

/** An address that a status may have; the host takes none without its scheme. */
function getAddress(body: Record<string, unknown>, name: string): string | null {
  const text = getText(body, name) ?? null;
  const isAddress = text === null || /^https?:$/.test(URL.parse(text)?.protocol ?? '');
  return isAddress ? text : failInvalid({ resource: 'DeploymentStatus', code: 'invalid', field: name });
}

/** @see https://docs.github.com/rest/deployments/statuses#create-a-deployment-status */
function createStatus(call: ApiCall): HostReply {
  const { repository, login } = call;
  const id = getId(call, 'id');
  const deployment = repository.deployments.all.find((one) => one.id === id) ?? failNotFound();
  const { body } = call;
  const state = requireText(body, 'state');
  const description = getText(body, 'description') ?? '';
  const isValid = STATES.includes(state) && description.length <= DESCRIPTION_LIMIT;
  if (!isValid) failInvalid({ resource: 'DeploymentStatus', code: 'custom', field: 'description' });
  const addresses = {
    logUrl: getAddress(body, 'log_url'),
    environmentUrl: getAddress(body, 'environment_url'),
  };
  const creator = login ?? '';
  const status = repository.deployments.addStatus(deployment, { state, description, ...addresses, creator });
  if (getDeploymentState(deployment) === 'success' && body.auto_inactive !== false) {
    repository.deployments.endOthers(deployment, creator);
  }
  return replyJson(201, formatStatus(call, status));
}

export const DEPLOYMENT_ROUTES = [
  createRoute('GET /deployments', { deployments: 'read' }, listDeployments),
  createRoute('POST /deployments', { deployments: 'write' }, createDeployment),
  createRoute('GET /deployments/:id/statuses', { deployments: 'read' }, listStatuses),
  createRoute('POST /deployments/:id/statuses', { deployments: 'write' }, createStatus),
];
