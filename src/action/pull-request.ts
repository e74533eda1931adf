import type { GitHubClient } from '../github/api/client.ts';
import { listPullRequests } from '../github/api/pull-requests.ts';
import { type EventPull, type EventWorkflowRun, readEvent } from './event.ts';
import type { Environment } from './inputs.ts';

/** The pull request that a run is about. */
export interface PullRequest {
  readonly number: number;
  /** The commit at its head that the run saw; `null` where the event doesn't say. */
  readonly headSha: string | null;
  /** The fork whose run this is, such as `somebody/project`: its token may only read. */
  readonly readOnlyFor: string | null;
}

/**
 * The pull request that the run is about, as the event tells; `null` where there is none. For the run of a
 * workflow that followed a fork's one, the host is asked: nothing that the fork's run left behind is trusted.
 *
 * @param connect opens the API of the event's own repository
 */
export async function findPullRequest(
  env: Environment,
  connect: () => GitHubClient,
): Promise<PullRequest | null> {
  const event = readEvent(env.GITHUB_EVENT_PATH);
  if (event.pull_request !== undefined) return named(event.pull_request, forkOf(event.pull_request, env));
  if (event.workflow_run !== undefined) return behindRun(event.workflow_run, event.repository?.id, connect);
  return event.issue?.pull_request === undefined ? null : named(event.issue, null);
}

function named({ number, head }: EventPull, readOnlyFor: string | null): PullRequest | null {
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) return null;
  return { number, headSha: text(head?.sha), readOnlyFor };
}

/** Of the events about a pull request, `pull_request_target` alone hands a fork's run a token that may write. */
function forkOf({ head, base }: EventPull, env: Environment): string | null {
  const from = text(head?.repo?.full_name);
  const isFork = from !== text(base?.repo?.full_name);
  return isFork && env.GITHUB_EVENT_NAME !== 'pull_request_target' ? (from ?? 'a fork that is gone') : null;
}

/** A run of a fork's branch names no pull request: it is the one of that branch whose head the run saw. */
async function behindRun(
  run: EventWorkflowRun,
  repository: unknown,
  connect: () => GitHubClient,
): Promise<PullRequest | null> {
  const headSha = text(run.head_sha);
  // A branch of a fork can have pull requests in both repositories.
  const ours = run.pull_requests?.find(({ base }) => base?.repo?.id === repository);
  if (ours !== undefined) return withHead(named(ours, null), headSha);
  const owner = text(run.head_repository?.owner?.login);
  const branch = text(run.head_branch);
  const isOfPull = text(run.event)?.startsWith('pull_request') ?? false;
  if (!isOfPull || owner === null || branch === null || headSha === null) return null;
  const pulls = await listPullRequests(connect(), `${owner}:${branch}`);
  const same = pulls.filter(({ head }) => text(head?.sha) === headSha);
  const pull = same.find(({ state }) => state === 'open') ?? same[0];
  return pull === undefined ? null : withHead(named(pull, null), headSha);
}

const withHead = (pull: PullRequest | null, headSha: string | null): PullRequest | null =>
  pull === null ? null : { ...pull, headSha };

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
