import type { context } from '@actions/github';
import { DeliveryError } from '../errors.ts';
import type { GitHubClient } from '../github/api/client.ts';
import { LIST_PAGE } from '../protocol/limits.ts';

/** As GitHub sends it. Any part may be missing. */
type EventPayload = (typeof context)['payload'];

/** Ids grow with time. */
export type RunNumber = readonly [id: number, attempt: number];

export type CurrentRun = Readonly<Awaited<ReturnType<typeof loadCurrentRun>>>;

/** Reads the event file on import. Without the file, nothing is known: all is `null` or empty. */
export async function loadCurrentRun() {
  const run: Partial<typeof context> = await import(/* webpackMode: "eager" */ '@actions/github')
    .then((library) => ({ ...library.context, repo: library.context.repo }))
    .catch(() => ({}));
  const { repo = null, runNumber = Number.NaN, runId = Number.NaN, serverUrl = '' } = run;
  const isKnown = repo !== null && !Number.isNaN(runId);
  return {
    number: isKnown ? ([runId, run.runAttempt || 1] as RunNumber) : null,
    /** The repository of the event. */
    repository: repo,
    /** The web URL of the event's instance. */
    serverUrl: URL.parse(serverUrl),
    eventName: run.eventName ?? '',
    /** The run's commit and ref, such as `refs/heads/main`. */
    ...{ sha: run.sha ?? '', ref: run.ref ?? '' },
    payload: (run.payload ?? {}) as EventPayload,
    /** Such as `run 7 of Deliver`. */
    title: `run ${Number.isNaN(runNumber) ? '?' : runNumber} of ${run.workflow ?? 'a workflow'}`,
    /** The web page of the run. */
    url: isKnown ? `${serverUrl}/${repo.owner}/${repo.repo}/actions/runs/${runId}` : null,
  };
}

export interface PullRequest {
  readonly number: number;
  /** The head commit; `null` if the event doesn't name it. */
  readonly headSha: string | null;
}

/** Finds the event's pull request. Trusts nothing that a fork's run wrote: its head commit must match. */
export async function findPullRequest(
  { payload }: CurrentRun,
  connect: () => GitHubClient,
): Promise<PullRequest | null> {
  const { pull_request: given, issue, workflow_run: previous } = payload;
  if (given) return { number: given.number, headSha: given.head?.sha ?? null };
  if (!previous) return issue?.pull_request ? { number: issue.number, headSha: null } : null;
  const { head_sha: headSha, head_branch: branch, head_repository: from, event } = previous;
  const ownPull = findOwnPull(previous, payload.repository?.id);
  if (ownPull !== undefined) return { number: ownPull.number, headSha };
  if (!event?.startsWith('pull_request') || !from || !branch || !headSha) return null;
  const { rest, repository } = connect();
  const query = { head: `${from.owner.login}:${branch}`, state: 'all', per_page: LIST_PAGE } as const;
  const listed = await rest.pulls.list({ ...repository, ...query });
  const same = listed.data.filter(({ head }) => head.sha === headSha);
  const pull = same.find(({ state }) => state === 'open') ?? same[0];
  return pull === undefined ? null : { number: pull.number, headSha };
}

/** The branch of the run, or of the run that started it. @throws {DeliveryError} for a pull request or a fork */
export function requireBranch({ payload, ref, sha }: CurrentRun): Pick<CurrentRun, 'ref' | 'sha'> {
  const { workflow_run: previous, repository } = payload;
  if (!previous) return { ref, sha };
  const { event, head_branch: branch, head_sha: commit, head_repository: from } = previous;
  const isOwn = event && !event.startsWith('pull_request') && from && from.id === repository?.id;
  if (isOwn && branch && commit) return { ref: `refs/heads/${branch}`, sha: commit };
  const message = `no pull request has the commit ${commit ?? 'unknown'} at its head: it has a newer push, or its fork was deleted`;
  throw new DeliveryError('CONFLICT', message);
}

/**
 * The run's commit, or `undefined` if it may not be in this repository. For a pull request, the job runs on a merge that
 * no branch has, so the head counts, or the merge commit after the merge.
 */
export function findCommit({ payload, sha }: CurrentRun): string | undefined {
  const { pull_request: pull, workflow_run: previous, repository } = payload;
  if (pull?.merged) return pull.merge_commit_sha;
  if (!pull && !previous) return sha || undefined;
  const [head, from] = pull
    ? [pull.head?.sha, pull.head?.repo]
    : [previous.head_sha, previous.head_repository];
  return from && from.id === repository?.id ? head : undefined;
}

/** The pull request that the event names as open. */
export function findOpenPull({ payload }: CurrentRun): number | undefined {
  const { pull_request: pull, workflow_run: previous, repository } = payload;
  if (pull) return pull.state === 'open' ? pull.number : undefined;
  return findOwnPull(previous, repository?.id)?.number;
}

/** A fork's branch can have pull requests in both repositories. */
const findOwnPull = (previous: EventPayload | undefined, repositoryId: unknown): EventPayload | undefined =>
  previous?.pull_requests?.find(({ base }: EventPayload) => base?.repo?.id === repositoryId);

/** A fork whose run has a read-only token, or `null`. In `pull_request_target` the token may write. */
export function findReadOnlyFork({ payload: { pull_request: pull }, eventName }: CurrentRun): string | null {
  if (pull === undefined || eventName === 'pull_request_target') return null;
  const from: string | undefined = pull.head?.repo?.full_name;
  return from === pull.base?.repo?.full_name ? null : (from ?? 'a deleted fork');
}
