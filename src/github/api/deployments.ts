import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { LIST_PAGE } from '../../protocol/limits.ts';
import { TOOL } from '../../protocol/words.ts';
import type { GitHubClient } from './client.ts';
import { getTokenOwner } from './token-owner.ts';

/** What is deployed again and again: of its deployments, only the newest one is current. */
interface DeploymentSubject {
  readonly environment: string;
  /** Such as `pull request 7`, or `refs/heads/main`. */
  readonly source: string;
}

/** GitHub finds deployments by their task, which holds a short text; the payload says what it stands for. */
const identify = ({ environment, source }: DeploymentSubject) => ({
  environment,
  task: `${TOOL.name}:${createHash('sha256').update(source).digest('hex').slice(0, 16)}`,
  payload: { [TOOL.name]: source },
});

/** @param isPreview whether it ends with a pull request, and so is never production */
export async function createDeployment(
  { rest, repository }: GitHubClient,
  subject: DeploymentSubject,
  { commit, isPreview }: { readonly commit: string; readonly isPreview: boolean },
): Promise<number> {
  const { data } = await rest.repos.createDeployment({
    ...repository,
    ...identify(subject),
    ref: commit,
    // GitHub would merge the default branch into another commit, or wait for checks of which this job may be one.
    auto_merge: false,
    required_contexts: [],
    ...(isPreview && { transient_environment: true, production_environment: false }),
  });
  return (data as { readonly id: number }).id;
}

/** What is said of each state: the run's page has the reason, and no address is told before its proof. */
const DESCRIPTIONS = {
  in_progress: 'Not proven yet',
  success: 'Fetched back from its public address and proven',
  failure: 'Not ready: the log of the run says why',
  inactive: 'Replaced or withdrawn',
} as const;

export async function setDeploymentState(
  { rest, repository }: GitHubClient,
  id: number,
  status: {
    readonly state: keyof typeof DESCRIPTIONS;
    readonly log_url?: string;
    readonly environment_url?: string;
    readonly description?: string;
  },
): Promise<void> {
  await rest.repos.createDeploymentStatus({
    ...repository,
    description: DESCRIPTIONS[status.state],
    ...status,
    deployment_id: id,
    // It would end deployments of other pull requests and tools to the same environment.
    auto_inactive: false,
  });
}

/**
 * Makes our own deployments inactive, but for the newest one. @returns how many were current
 *
 * @param newest one that the list may not contain yet; `null`: the newest one ends too
 */
export async function retireDeployments(
  github: GitHubClient,
  subject: DeploymentSubject,
  newest: number | null,
): Promise<number> {
  const { rest, repository } = github;
  const { payload, ...identity } = identify(subject);
  const query = { ...repository, ...identity, per_page: LIST_PAGE };
  const { data: deployments } = await rest.repos.listDeployments(query);
  const { login } = await getTokenOwner(github);
  const created = deployments.filter(
    (listed) => listed.creator?.login === login && isDeepStrictEqual(listed.payload, payload),
  );
  const ids = [...new Set(created.map(({ id }) => id).concat(newest ?? []))].sort((a, b) => b - a);
  const current: number[] = [];
  for (const id of newest === null ? ids : ids.slice(1)) {
    const lastStatus = { ...repository, deployment_id: id, per_page: 1 };
    const { data } = await rest.repos.listDeploymentStatuses(lastStatus);
    if (data[0]?.state === 'inactive') break;
    current.unshift(id);
  }
  // The oldest first: whatever stops this, no current one is older than an inactive one.
  for (const id of current) await setDeploymentState(github, id, { state: 'inactive' });
  return current.length;
}
