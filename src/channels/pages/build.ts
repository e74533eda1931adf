import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import {
  type BuildStatus,
  getBuildStatus,
  getDeploymentStatus,
  getPagesDeploymentStatus,
  requestBuild,
} from '../../github/api/pages-build.ts';
import { type RepositoryContext, requireGitHub } from '../../github/api/repository.ts';
import { STATUS_HINT } from '../../github/refusals.ts';
import type { Clock, Ports } from '../../ports.ts';
import { isRemovedCheck } from '../../proof/check.ts';
import { BUILD_WAIT } from '../../protocol/limits.ts';
import type { Text } from '../../words.ts';
import type { Channel, HostProgress, Placement } from '../channel.ts';
import type { PagesDestination, PagesOptions } from './destination.ts';
import { type BuildStarter, createSiteRun, type RunProgress } from './site-workflow.ts';
import type { PagesTask } from './target.ts';

type SiteBuild = Pick<PagesDestination, 'branch' | 'builtBy'>;

type BuildOptions = Pick<PagesOptions, 'timeout' | 'siteWorkflow'>;

/** How far the host is with its build: one watch for all that is placed together. */
export function watchBuilds(
  access: RepositoryContext,
  options: BuildOptions & Pick<PagesOptions, 'setup'>,
  { clock }: Pick<Ports, 'clock'>,
): ReturnType<NonNullable<Channel<PagesTask>['watch']>> {
  let watch: BuildWatch | undefined;
  return {
    async ask({ task, placement }) {
      if (access.pagesSettings === null && !options.setup) return NO_BUILD;
      watch ??= new BuildWatch(requireGitHub(access), task.destination, options, clock);
      return watch.ask(placement);
    },
  };
}

/** Where GitHub has no site, another host may have one: its address alone tells. */
const NO_BUILD: HostProgress = { finished: false, detail: 'GitHub builds no Pages site of this repository' };

const READERS = {
  branch: getBuildStatus,
  workflow: getDeploymentStatus,
  deployment: getPagesDeploymentStatus,
} as const;

/**
 * Watches the build that should publish the commit, with at most 48 requests. A deployment of our own may be finished and
 * still serve the old site: there the address alone ends the wait.
 *
 * @see protocol 3.2, 8
 */
export class BuildWatch {
  readonly #github: GitHubClient;
  readonly #build: SiteBuild;
  readonly #timeout: number;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #starter: BuildStarter | null;
  /** What was said last of each commit: that of one says nothing of another. */
  readonly #lastProgress = new Map<string, HostProgress>();
  #polls = 0;
  #nextPoll = Number.NEGATIVE_INFINITY;
  /** How the build was started, in words, or why the host did not; `null` before. */
  #start: Result<string> | null = null;
  /** The build that an earlier delivery left, and that had failed before the first poll. */
  #failedBefore: string | undefined;
  /** Whether the newest build had failed at the last poll. */
  #hasFailed = false;

  constructor(github: GitHubClient, build: SiteBuild, options: BuildOptions, clock: Pick<Clock, 'now'>) {
    this.#github = github;
    this.#build = build;
    this.#timeout = options.timeout;
    this.#clock = clock;
    this.#starter = createStarter(github, build, options);
  }

  async ask({ commitSha, deployment, first, written }: Placement): Promise<HostProgress> {
    const isRemoval = isRemovedCheck(first);
    const needsWord = ['built', 'replaced'].includes(first.expect.is);
    // Where there was nothing to remove, what the branch holds now counts.
    const commit = commitSha ?? this.#build.branch;
    const isOwn = this.#build.builtBy === 'deployment';
    const late = isRemoval ? undefined : HINTS[this.#build.builtBy].late;
    const asked = isOwn ? deployment : commit;
    if (asked === undefined) return { finished: true, detail: 'nothing had to be deployed' };
    const known = this.#lastProgress.get(asked);
    // What is finished needs no pause before the next question.
    const isNext = known === undefined && [...this.#lastProgress.values()].some(({ finished }) => finished);
    const isDue = isNext || this.#clock.now() >= this.#nextPoll;
    if (known?.finished || !isDue || this.#polls >= BUILD_WAIT.polls) {
      return known ?? { finished: false, detail: 'not asked yet', hint: late };
    }
    const { status, run } = await this.#poll(asked, written);
    const start = hasFailed(this.#start) ? this.#start : { message: this.#start ?? '', advice: undefined };
    const finished = status.status === 'built' && !isOwn;
    // Without the host's word, what the site's build may change cannot be proven at all.
    const isNeeded = isOwn || (needsWord && status.status === 'unknown');
    const progress = {
      finished,
      building: isToCome(status, written),
      detail: joinParts(status.detail, status.error ?? '', start.message, run?.text ?? ''),
      httpCode: status.httpCode,
      hint: run?.hint ?? (isNeeded ? status.hint : undefined) ?? start.advice ?? late,
      builtAt: finished ? status.begun : undefined,
    };
    this.#lastProgress.set(asked, progress);
    return progress;
  }

  /** Asks how far the build is, and the run that was started for it; starts it where it is due. */
  async #poll(asked: string, written: boolean) {
    this.#polls += 1;
    const status = await READERS[this.#build.builtBy](this.#github, asked);
    // A limit may be lifted earlier than the host says.
    const pause = Math.min(status.retryAfter ?? 0, this.#timeout / BUILD_WAIT.longestPauses);
    this.#nextPoll = this.#clock.now() + Math.max(this.#timeout / BUILD_WAIT.polls, pause);
    if (this.#polls === 1 && !written && this.#starter !== null) this.#failedBefore = status.build;
    const isEarlier = status.build !== undefined && status.build === this.#failedBefore;
    const isOpen = typeof this.#start === 'string' && status.status !== 'built';
    const run = isOpen ? await this.#starter?.follow?.() : undefined;
    const isFailed = status.status === 'errored' && !isEarlier;
    const failure = isFailed ? buildError(status, HINTS[this.#build.builtBy].errored, run) : run?.failure;
    // A build may fail because a later one overtakes it, which can appear a moment later.
    if (failure !== undefined && this.#hasFailed) throw failure;
    this.#hasFailed = failure !== undefined;
    if (isEarlier || this.#isLate(status, written)) await this.#startBuild(status, isEarlier);
    return { status, run };
  }

  /** Whether no build has begun that should have by now. */
  #isLate({ status, notStarted = false, httpCode }: BuildStatus, written: boolean): boolean {
    const isLate = this.#polls >= BUILD_WAIT.pollsBeforeRequest;
    // Who may not read builds may not start them either: the refusal names all that is missing.
    if (this.#build.builtBy === 'branch') return isLate && (notStarted || httpCode === 403);
    // No deployment contains a commit that was just made, whether deployments can be read or not.
    return notStarted || (status === 'unknown' && (written || isLate));
  }

  /** Starts the build once; what the host refuses for a while is tried again at the next poll. */
  async #startBuild(status: BuildStatus, isEarlier: boolean): Promise<void> {
    const starter = this.#starter;
    const mayStart = this.#start === null || (hasFailed(this.#start) && this.#start.retryable);
    if (starter === null || !mayStart) return;
    this.#start = await resultOf(() => starter.start());
    if (!hasFailed(this.#start) || this.#start.retryable) return;
    const { builtBy } = this.#build;
    if (builtBy === 'workflow') throw this.#start;
    if (!isEarlier) return;
    const detail = joinParts(status.detail, this.#start.message);
    throw buildError({ ...status, detail }, this.#start.advice ?? HINTS[builtBy].errored);
  }
}

/** What starts a build that does not start by itself; `null` where that is not known. */
function createStarter(github: GitHubClient, { branch, builtBy }: SiteBuild, { siteWorkflow }: BuildOptions) {
  if (builtBy === 'branch') return { start: () => requestBuild(github) };
  return siteWorkflow === undefined ? null : createSiteRun(github, siteWorkflow, branch);
}

/**
 * Whether the build that counts is still to come: then a removed file may be served as long as it takes, whichever run
 * removed it. Of a site that was never built, or whose builds can't be read, only a commit of ours says so.
 */
const isToCome = ({ status, notStarted = false, httpCode }: BuildStatus, written: boolean): boolean =>
  status === 'unknown' ? notStarted && (written || httpCode !== 404) : status !== 'built';

const joinParts = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('; ');

const FROM_BRANCH = 'set Settings → Pages → Source to "Deploy from a branch"';

const HINTS: Readonly<Record<SiteBuild['builtBy'], { readonly late: Text; readonly errored: Text }>> = {
  branch: {
    late: (w) =>
      `check Settings → Pages and the "pages build and deployment" run; the file is committed, so another try only verifies${w.orUse(['K2', 'K3'])}`,
    errored: (w) =>
      `fix the build error, or commit an empty .nojekyll to serve files unchanged${w.orUse(['K2', 'K3'])}`,
  },
  workflow: {
    late: (w) =>
      `let the workflow that builds the site publish this file too, set ${w.input('site-workflow')} to start it after the commit, or ${FROM_BRANCH}${w.orUse(['K2', 'K3'])}`,
    errored: (w) => `fix the workflow that builds the site, or ${FROM_BRANCH}${w.orUse(['K2', 'K3'])}`,
  },
  deployment: {
    late: (w) =>
      `look at https://www.githubstatus.com, and set a longer ${w.input('timeout')}; the deployment was not cancelled, and may still come`,
    errored: STATUS_HINT,
  },
};

/** @see protocol 7 (pages build status is errored) */
function buildError({ detail, error }: BuildStatus, change: Text, run?: RunProgress): DeliveryError {
  const hint: Text =
    run === undefined || run.page === '' ? change : (w) => `see the run at ${run.page}: ${w.say(change)}`;
  return new DeliveryError('BUILD_ERRORED', `the site's build failed: ${error} (${detail})`, { hint });
}
