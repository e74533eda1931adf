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
  run: CurrentRun,
  connect: () => GitHubClient,
): Promise<PullRequest | null> {
  const { pull_request: pull, issue, workflow_run: previous, repository } = run.payload;
  if (pull) {
    return { number: pull.number, headSha: pull.head?.sha ?? null, readOnlyFor: findReadOnlyFork(run) };
  }
  if (previous) return findByPreviousRun(previous, repository?.id, connect);
  return issue?.pull_request ? { number: issue.number, headSha: null, readOnlyFor: null } : null;
}

/**
 * The fork whose pull request the event is about, if its run may only read; `null` for any other run. Of all events
 * about a pull request, only `pull_request_target` gives a fork's run a token that can write.
 */
export function findReadOnlyFork({ payload: { pull_request: pull }, eventName }: CurrentRun): string | null {
  if (pull === undefined || eventName === 'pull_request_target') return null;
  const from: string | undefined = pull.head?.repo?.full_name;
  return from === pull.base?.repo?.full_name ? null : (from ?? 'a deleted fork');
}

/** For a branch of a fork the event names no pull request: it is the one with the same commit at its head. */
async function findByPreviousRun(
  previous: EventPayload,
  repositoryId: unknown,
  connect: () => GitHubClient,
): Promise<PullRequest | null> {
  const { head_sha: headSha, head_branch: branch, head_repository: from, event } = previous;
  const pulls: EventPayload[] = previous.pull_requests ?? [];
  // A branch of a fork can have pull requests in both repositories.
  const own = pulls.find(({ base }) => base?.repo?.id === repositoryId);
  if (own !== undefined) return { number: own.number, headSha, readOnlyFor: null };
  if (!event?.startsWith('pull_request') || !from || !branch || !headSha) return null;
  const listed = await listPullRequests(connect(), `${from.owner.login}:${branch}`);
  const same = listed.filter(({ head }) => head.sha === headSha);
  const pull = same.find(({ state }) => state === 'open') ?? same[0];
  return pull === undefined ? null : { number: pull.number, headSha, readOnlyFor: null };
}
