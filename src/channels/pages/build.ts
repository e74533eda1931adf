import { DeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { getCommitTime } from '../../github/api/history.ts';
import {
  type BuildRequest,
  type BuildStatus,
  getBuildStatus,
  getDeploymentStatus,
  requestBuild,
} from '../../github/api/pages-build.ts';
import type { Ports } from '../../ports.ts';
import { BUILD_WAIT } from '../../protocol/limits.ts';
import type { Text } from '../../words.ts';
import type { ChannelAction, HostProgress, Placement } from '../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../require-github.ts';
import type { PagesDestination } from './destination.ts';
import { createSiteRun, type RunProgress } from './site-workflow.ts';

type BuiltBy = PagesDestination['builtBy'];
/** Asks how far the build is that contains a commit. */
type WatchBuild = (
  placed: Pick<Placement, 'commitSha' | 'hostMayChangeBytes' | 'written'>,
) => Promise<HostProgress>;

/** What is built, and how. */
type SiteBuild = Pick<PagesDestination, 'builtBy' | 'branch'>;

/** How the build is waited for. */
export interface BuildOptions {
  /** Milliseconds that the whole wait may take. */
  readonly timeout: number;
  /** The workflow to start where none has started by itself. */
  readonly siteWorkflow: string | undefined;
}

/** How far the host is with its build: one watch for all files that the same kind of build publishes. */
export function createProgress(
  access: RepositoryAccess,
  options: BuildOptions,
  ports: Ports,
): NonNullable<ChannelAction<{ readonly destination: SiteBuild }>['progress']> {
  const watches = new Map<BuiltBy, WatchBuild>();
  return ({ task, placement }) => {
    const { destination } = task.data;
    const watch =
      watches.get(destination.builtBy) ??
      watchBuild(requireGitHub(access, 'K1'), destination, options, ports);
    watches.set(destination.builtBy, watch);
    return watch(placement);
  };
}

const NOT_REQUESTED: BuildRequest = { words: '', again: true, started: false };

/**
 * Watches the build that should publish the commit. The host is asked at most 48 times, spread over the whole
 * wait, however often the watch is called. A build that does not start, or that had failed before this delivery,
 * is requested, once if the host accepts; `site-workflow` is started as soon as no deployment has the commit, and
 * its run is followed.
 *
 * @see protocol 3.2, 8
 */
export function watchBuild(
  github: GitHubClient,
  build: SiteBuild,
  options: BuildOptions,
  { clock }: Pick<Ports, 'clock'>,
): WatchBuild {
  const { builtBy } = build;
  const pause = options.timeout / BUILD_WAIT.polls;
  const askBuild = createBuildQuestion(github, build, options);
  let asked = { next: Number.NEGATIVE_INFINITY, polls: 0 };
  const notAsked: HostProgress = { finished: false, detail: 'not asked yet', hint: HINTS[builtBy].late };
  let progress = notAsked;
  // Another file of the same build may have another commit: what is said of one says nothing of the other.
  let askedFor: string | undefined;
  const finished = new Map<string, HostProgress>();
  return async ({ commitSha, hostMayChangeBytes, written }) => {
    // Where there was nothing to remove, what the branch holds now counts.
    const commit = commitSha ?? build.branch;
    const known = finished.get(commit);
    if (known !== undefined) return known;
    if (askedFor !== commit) {
      // What is finished needs no pause before the next question.
      if (finished.size > 0) asked = { ...asked, next: Number.NEGATIVE_INFINITY };
      progress = notAsked;
      askedFor = commit;
    }
    if (clock.now() < asked.next || asked.polls >= BUILD_WAIT.polls) return progress;
    const polls = asked.polls + 1;
    const { status, run, words } = await askBuild({ commitSha: commit, written, polls });
    // A limit may be lifted earlier than the host says.
    const requested = Math.min(status.retryAfter ?? 0, options.timeout / BUILD_WAIT.longestPauses);
    asked = { next: clock.now() + Math.max(pause, requested), polls };
    const committedAt = await readCommitTime(github, status, { commitSha: commit, hostMayChangeBytes });
    // Without the host's word, what the site's build may change cannot be proven at all.
    const unread = hostMayChangeBytes && status.status === 'unknown' ? status.hint : undefined;
    const hint = run?.hint ?? unread ?? notAsked.hint ?? '';
    progress = { ...toProgress(status, words, written), hint, committedAt };
    if (progress.finished) finished.set(commit, progress);
    return progress;
  };
}

function toProgress(
  { status, detail, httpCode, notStarted = false }: BuildStatus,
  words: string,
  written: boolean,
): HostProgress {
  const parts = [detail, words].filter((part) => part !== '');
  const detailed = parts.join('; ');
  // A commit of ours that has no build yet will have one.
  const building = status === 'building' || (written && notStarted);
  return { finished: status === 'built', building, detail: detailed, httpCode };
}

/** When the commit of a finished build was made; only a proof by the marker needs it. */
async function readCommitTime(
  github: GitHubClient,
  { status }: BuildStatus,
  { commitSha, hostMayChangeBytes }: { readonly commitSha: string; readonly hostMayChangeBytes: boolean },
): Promise<number | undefined> {
  return status === 'built' && hostMayChangeBytes ? getCommitTime(github, commitSha) : undefined;
}

/** The commit that is waited for. */
interface BuildPoll {
  readonly commitSha: string;
  /** Whether this delivery made it. */
  readonly written: boolean;
  /** How many polls there were, with this one. */
  readonly polls: number;
}

interface BuildAnswer {
  readonly status: BuildStatus;
  readonly run: RunProgress | undefined;
  /** What was done to start the build, and what came of it. */
  readonly words: string;
}

/** One poll: asks how far the build is, starts it where it is due, and asks for the run that was started. */
function createBuildQuestion(
  github: GitHubClient,
  build: SiteBuild,
  options: BuildOptions,
): (poll: BuildPoll) => Promise<BuildAnswer> {
  const getStatus = build.builtBy === 'workflow' ? getDeploymentStatus : getBuildStatus;
  const starter = createBuildStarter(github, build, options);
  let request = NOT_REQUESTED;
  let failedBefore: string | undefined;
  return async ({ commitSha, written, polls }) => {
    const status = await getStatus(github, commitSha);
    // Only the first poll shows what an earlier delivery left.
    if (polls === 1 && !written && starter !== null) failedBefore = status.build;
    const isEarlier = status.build !== undefined && status.build === failedBefore;
    const run = request.started && status.status !== 'built' ? await starter?.follow?.() : undefined;
    if (status.status === 'errored' && !isEarlier)
      throw buildError(status, HINTS[build.builtBy].errored, run);
    if (run?.failure !== undefined) throw run.failure;
    if (request.again && (isEarlier || starter?.isDue(status, polls, written))) {
      request = (await starter?.start()) ?? request;
      if (isEarlier && !request.started && !request.again) {
        const detail = `${status.detail}; ${request.words}`;
        throw buildError({ ...status, detail }, HINTS[build.builtBy].errored);
      }
    }
    const words = [request.words, run?.words ?? ''].filter((part) => part !== '').join('; ');
    return { status, run, words };
  };
}

interface BuildStarter {
  /** Whether the build should be started now. */
  isDue(build: BuildStatus, polls: number, written: boolean): boolean;
  start(): Promise<BuildRequest>;
  /** How far it is, where the build itself does not tell. */
  follow?(): Promise<RunProgress>;
}

/** How a build is started that does not start by itself; `null` where it cannot be. */
function createBuildStarter(
  github: GitHubClient,
  { builtBy, branch }: SiteBuild,
  { siteWorkflow }: BuildOptions,
): BuildStarter | null {
  const isLate = (polls: number): boolean => polls >= BUILD_WAIT.pollsBeforeRequest;
  if (builtBy === 'branch') {
    const isDue: BuildStarter['isDue'] = ({ notStarted = false }, polls) => notStarted && isLate(polls);
    return { isDue, start: () => requestBuild(github) };
  }
  if (siteWorkflow === undefined) return null;
  return {
    // No deployment contains a commit that was just made, whether deployments can be read or not.
    isDue: ({ status, notStarted = false }, polls, written) =>
      notStarted || (status === 'unknown' && (written || isLate(polls))),
    ...createSiteRun(github, siteWorkflow, branch),
  };
}

const FROM_BRANCH = 'set Settings → Pages → Source to "Deploy from a branch"';

/** What to change where the site does not come, by what builds it. */
const HINTS: Readonly<Record<BuiltBy, { readonly late: Text; readonly errored: Text }>> = {
  branch: {
    late: (w) =>
      `check Settings → Pages and the "pages build and deployment" run; the file is committed, so another try only verifies, or ${w.use('K2 or K3')}`,
    errored: (w) =>
      `fix the build error, or commit an empty .nojekyll to serve files unchanged, or ${w.use('K2 or K3')}`,
  },
  workflow: {
    late: (w) =>
      `let the workflow that builds the site publish this file too, set ${w.input('site-workflow')} to start it after the commit, or ${FROM_BRANCH}, or ${w.use('K2 or K3')}`,
    errored: (w) => `fix the workflow that builds the site, or ${FROM_BRANCH}, or ${w.use('K2 or K3')}`,
  },
};

/** @see protocol 7 (pages build status is errored) */
function buildError({ detail, error }: BuildStatus, change: Text, run?: RunProgress): DeliveryError {
  const hint: Text =
    run === undefined || run.page === '' ? change : (w) => `see the run at ${run.page}: ${w.say(change)}`;
  return new DeliveryError('BUILD_ERRORED', `the site's build failed: ${error} (${detail})`, { hint });
}
