import type { context } from '@actions/github';
import type { GitHubClient } from '../github/api/client.ts';
import { LIST_PAGE } from '../protocol/limits.ts';

/** An event's payload as GitHub sends it; any part may be missing. */
type EventPayload = (typeof context)['payload'];

/** The id of a run, which grows, and its attempt. */
export type RunNumber = readonly [id: number, attempt: number];

export interface CurrentRun {
  /** `null` if not known. */
  readonly number: RunNumber | null;
  /** The repository of the event; `null` if not known. */
  readonly repository: { readonly owner: string; readonly repo: string } | null;
  /** The web pages of the instance on which the event happened; `null` if not known. */
  readonly serverUrl: URL | null;
  readonly eventName: string;
  /** The commit of the run, and its branch or tag, such as `refs/heads/main`; empty if not known. */
  readonly sha: string;
  readonly ref: string;
  readonly payload: EventPayload;
  /** Such as `run 7 of Deliver`. */
  readonly title: string;
  /** The page of the run, which shows its summary; `null` if not known. */
  readonly url: string | null;
}

/** The facts of the run; none without an event file, which the library reads when it is imported. */
export async function loadCurrentRun(): Promise<CurrentRun> {
  const run: Partial<typeof context> = await import(/* webpackMode: "eager" */ '@actions/github')
    .then((library) => ({ ...library.context, repo: library.context.repo }))
    .catch(() => ({}));
  const { repo = null, runNumber = Number.NaN, runId = Number.NaN, serverUrl = '' } = run;
  const isKnown = repo !== null && !Number.isNaN(runId);
  return {
    number: isKnown ? [runId, run.runAttempt || 1] : null,
    repository: repo,
    serverUrl: URL.parse(serverUrl),
    eventName: run.eventName ?? '',
    sha: run.sha ?? '',
    ref: run.ref ?? '',
    payload: run.payload ?? {},
    title: `run ${Number.isNaN(runNumber) ? '?' : runNumber} of ${run.workflow ?? 'a workflow'}`,
    url: isKnown ? `${serverUrl}/${repo.owner}/${repo.repo}/actions/runs/${runId}` : null,
  };
}

export interface PullRequest {
  readonly number: number;
  /** The commit at its head in this run; `null` if the event doesn't say. */
  readonly headSha: string | null;
}

/** The pull request that the event is about; nothing that a fork's run left behind is trusted for it. */
export async function findPullRequest(
  run: CurrentRun,
  connect: () => GitHubClient,
): Promise<PullRequest | null> {
  const { pull_request: pull, issue, workflow_run: previous, repository } = run.payload;
  if (pull) return { number: pull.number, headSha: pull.head?.sha ?? null };
  if (previous) return findByPreviousRun(previous, repository?.id, connect);
  return issue?.pull_request ? { number: issue.number, headSha: null } : null;
}

/** A branch or tag, such as `refs/heads/main`, and its commit. */
export type RunBranch = Pick<CurrentRun, 'ref' | 'sha'>;

/**
 * The branch that the run is about. If another run started this one, the job's own branch and commit say nothing:
 * the branch is then that of the other run, or `null` if that was about a pull request or a fork.
 */
export function findBranch({ payload, ref, sha }: CurrentRun): RunBranch | null {
  const { workflow_run: previous, repository } = payload;
  if (!previous) return { ref, sha };
  const { event, head_branch: branch, head_sha: commit, head_repository: from } = previous;
  const isOwn = event && !event.startsWith('pull_request') && from && from.id === repository?.id;
  return isOwn && branch && commit ? { ref: `refs/heads/${branch}`, sha: commit } : null;
}

/**
 * The commit that the run is about; `undefined` if it is not known to be this repository's. The job of a pull request
 * runs on a merge that no branch holds, so the head counts, and after the pull request was merged, what it became.
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

/** The fork of a run that may only read: of a fork's runs only `pull_request_target` can write. Else `null`. */
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
  const ownPull = pulls.find(({ base }) => base?.repo?.id === repositoryId);
  if (ownPull !== undefined) return { number: ownPull.number, headSha };
  if (!event?.startsWith('pull_request') || !from || !branch || !headSha) return null;
  const { rest, repository } = connect();
  const query = { head: `${from.owner.login}:${branch}`, state: 'all', per_page: LIST_PAGE } as const;
  const listed = await rest.pulls.list({ ...repository, ...query });
  const same = listed.data.filter(({ head }) => head.sha === headSha);
  const pull = same.find(({ state }) => state === 'open') ?? same[0];
  return pull === undefined ? null : { number: pull.number, headSha };
}
