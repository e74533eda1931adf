import {
  isSameEnvironment,
  type StoredDeployment,
  type StoredDeploymentStatus,
} from '../deployment-store.ts';
import type { TestRepository } from '../repository.ts';
import { type HostReply, replyJson } from '../server/messages.ts';
import { type ApiCall, createRoute, getId, getText, replyPage, requireText } from './call.ts';
import { fail, failNotFound } from './errors.ts';
import { formatTime, formatUser } from './repository.ts';

async function listAll({ repository }: ApiCall): Promise<readonly StoredDeployment[]> {
  await repository.site?.beforeAnswer();
  return [...repository.deployments.all, ...(repository.site?.deployments.all ?? [])];
}

async function findDeployment(call: ApiCall): Promise<StoredDeployment> {
  const id = getId(call, 'id');
  return (await listAll(call)).find((one) => one.id === id) ?? failNotFound();
}

const formatDeployment = ({ id, sha, payload, creator, createdAt }: StoredDeployment) => {
  return { id, sha, payload, creator: formatUser(creator), created_at: formatTime(createdAt) };
};

const formatStatus = ({ id, state, description }: StoredDeploymentStatus) => ({ id, state, description });

async function listDeployments(call: ApiCall): Promise<HostReply> {
  const { query } = call.request;
  const [environment, task] = [query.get('environment') ?? '', query.get('task')];
  const wanted = (await listAll(call)).filter(
    (one) => isSameEnvironment(one, environment) && (task === null || one.task === task),
  );
  return replyPage(call, wanted, formatDeployment);
}

/** A commit of the repository, or of a fork's pull request. */
function resolveRef({ git, issues }: TestRepository, ref: string): string | null {
  return git.resolve(ref) ?? (issues.hasHead(ref) ? ref : null);
}

/**
 * By default the default branch is merged first, and all checks of the commit must have passed; of a job's own checks
 * one is still running.
 *
 * @see https://docs.github.com/rest/deployments/deployments#create-a-deployment
 */
function createDeployment({ repository, login, body }: ApiCall): HostReply {
  const ref = requireText(body, 'ref');
  const environment = getText(body, 'environment') ?? 'production';
  const task = getText(body, 'task') ?? 'deploy';
  const sha = resolveRef(repository, ref) ?? fail(422, `No ref found for: ${ref}`);
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
  return replyPage(call, deployment.statuses, formatStatus);
}

/** @see https://docs.github.com/rest/deployments/statuses#create-a-deployment-status */
function createStatus(call: ApiCall): HostReply {
  const { repository, body } = call;
  const id = getId(call, 'id');
  const deployment = repository.deployments.all.find((one) => one.id === id) ?? failNotFound();
  const status = repository.deployments.addStatus(deployment, {
    state: requireText(body, 'state'),
    description: getText(body, 'description') ?? '',
    logUrl: getText(body, 'log_url') ?? null,
    environmentUrl: getText(body, 'environment_url') ?? null,
    creator: call.login ?? '',
  });
  if (status.state === 'success' && body.auto_inactive !== false) {
    repository.deployments.endOthers(deployment, status.creator);
  }
  return replyJson(201, formatStatus(status));
}

export const DEPLOYMENT_ROUTES = [
  createRoute('GET /deployments', { deployments: 'read' }, listDeployments),
  createRoute('POST /deployments', { deployments: 'write' }, createDeployment),
  createRoute('GET /deployments/:id/statuses', { deployments: 'read' }, listStatuses),
  createRoute('POST /deployments/:id/statuses', { deployments: 'write' }, createStatus),
];
