import type { GitHubClient } from '../github/api/client.ts';
import { listPullRequests } from '../github/api/pull-requests.ts';
import type { CurrentRun, EventPayload } from './current-run.ts';

/** The pull request that a run is about. */
export interface PullRequest {
  readonly number: number;
  /** The commit at its head in this run; `null` if the event doesn't say. */
  readonly headSha: string | null;
  /** The fork that the run belongs to, such as `somebody/project`: its token is read-only. */
  readonly readOnlyFor: string | null;
}

/**
 * The pull request that the run is about, from the event; `null` if there is none. If the run follows the
 * workflow of a fork, GitHub is asked: nothing that the fork's run left behind is trusted.
 *
 * @param connect opens the API of the event's own repository
 */
export async function findPullRequest(
  { payload, eventName }: CurrentRun,
  connect: () => GitHubClient,
): Promise<PullRequest | null> {
  const { pull_request: pull, issue, workflow_run: previous, repository } = payload;
  if (pull) return toPullRequest(pull.number, pull.head?.sha, getReadOnlyFork(pull, eventName));
  if (previous) return findByPreviousRun(previous, repository?.id, connect);
  return issue?.pull_request ? toPullRequest(issue.number, null, null) : null;
}

function toPullRequest(number: unknown, headSha: unknown, readOnlyFor: string | null): PullRequest | null {
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) return null;
  return { number, headSha: toText(headSha), readOnlyFor };
}

/** The fork whose pull request the event is about, if its run may only read; `null` for any other run. */
export const findReadOnlyFork = ({ payload, eventName }: CurrentRun): string | null =>
  payload.pull_request === undefined ? null : getReadOnlyFork(payload.pull_request, eventName);

/** Of all events about a pull request, only `pull_request_target` gives a fork's run a token that can write. */
function getReadOnlyFork(pull: NonNullable<EventPayload['pull_request']>, eventName: string): string | null {
  const from = toText(pull.head?.repo?.full_name);
  const isFork = from !== toText(pull.base?.repo?.full_name);
  return isFork && eventName !== 'pull_request_target' ? (from ?? 'a deleted fork') : null;
}

/** For a branch of a fork the event names no pull request: it is the one with the same commit at its head. */
async function findByPreviousRun(
  previous: EventPayload,
  repositoryId: unknown,
  connect: () => GitHubClient,
): Promise<PullRequest | null> {
  const headSha = toText(previous.head_sha);
  const pulls: EventPayload[] = previous.pull_requests ?? [];
  // A branch of a fork can have pull requests in both repositories.
  const own = pulls.find(({ base }) => base?.repo?.id === repositoryId);
  if (own !== undefined) return toPullRequest(own.number, headSha, null);
  const owner = toText(previous.head_repository?.owner?.login);
  const branch = toText(previous.head_branch);
  const isOfPull = toText(previous.event)?.startsWith('pull_request') ?? false;
  if (!isOfPull || owner === null || branch === null || headSha === null) return null;
  const listed = await listPullRequests(connect(), `${owner}:${branch}`);
  const same = listed.filter(({ head }) => head.sha === headSha);
  const pull = same.find(({ state }) => state === 'open') ?? same[0];
  return pull === undefined ? null : toPullRequest(pull.number, headSha, null);
}

const toText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
