import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { LIST_PAGE } from '../../protocol/limits.ts';
import { TOOL } from '../../protocol/words.ts';
import type { GitHubClient } from './client.ts';
import { getTokenOwner } from './token-owner.ts';

interface DeploymentSubject {
  readonly environment: string;
  readonly source: string;
}

/** GitHub finds deployments by their task, which must be short. The payload holds the full source. */
const identify = ({ environment, source }: DeploymentSubject) => ({
  environment,
  task: `${TOOL.name}:${createHash('sha256').update(source).digest('hex').slice(0, 16)}`,
  payload: { [TOOL.name]: source },
});

/** Creates a deployment and returns its id. @param isPreview it ends with a pull request and is never production */
export async function createDeployment(
  { rest, repository }: GitHubClient,
  subject: DeploymentSubject,
  { commit, isPreview }: { readonly commit: string; readonly isPreview: boolean },
): Promise<number> {
  const { data } = await rest.repos.createDeployment({
    ...repository,
    ...identify(subject),
    ref: commit,
    // Otherwise GitHub merges the default branch into the commit, or waits for checks that may include this job.
    auto_merge: false,
    required_contexts: [],
    ...(isPreview && { transient_environment: true, production_environment: false }),
  });
  return (data as { readonly id: number }).id;
}

/** The description of each state. It has no URL, since that is not verified yet. */
const DESCRIPTIONS = {
  in_progress: 'Not verified yet',
  success: 'Fetched back from its public URL and verified',
  failure: "Not ready: see the run's log",
  inactive: 'Replaced or withdrawn',
} as const;

export async function setDeploymentState(
  { rest, repository }: GitHubClient,
  id: number,
  status: Readonly<Partial<Record<'log_url' | 'environment_url' | 'description', string>>> & {
    readonly state: keyof typeof DESCRIPTIONS;
  },
): Promise<void> {
  await rest.repos.createDeploymentStatus({
    ...repository,
    description: DESCRIPTIONS[status.state],
    ...status,
    deployment_id: id,
    // It would end deployments of other pull requests and tools in the same environment.
    auto_inactive: false,
  });
}

/** Deactivates older deployments and returns their number. @param newest stays; the list may not have it yet */
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
  // Oldest first: if this is interrupted, no older deployment stays current.
  for (const id of current) await setDeploymentState(github, id, { state: 'inactive' });
  return current.length;
}
