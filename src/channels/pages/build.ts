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

/** Watches one build for everything that was published together. */
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

/** Another host may serve the site, so only a request to the URL decides. */
const NO_BUILD: HostProgress = {
  finished: false,
  detail: "GitHub doesn't build a Pages site for this repository",
};

const READERS = {
  branch: getBuildStatus,
  workflow: getDeploymentStatus,
  deployment: getPagesDeploymentStatus,
} as const;

/**
 * Watches the build that publishes the commit, with at most 48 requests. Our own deployment may be finished and the
 * site still old, so then only the URL ends the wait.
 * @see protocol 3.2, 8
 */
export class BuildWatch {
  readonly #github: GitHubClient;
  readonly #build: SiteBuild;
  readonly #timeout: number;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #starter: BuildStarter | null;
  /** By commit: each has its own build. */
  readonly #lastProgress = new Map<string, HostProgress>();
  #polls = 0;
  #nextPoll = Number.NEGATIVE_INFINITY;
  /** How the build was started, or why starting it failed; `null` before. */
  #start: Result<string> | null = null;
  #failedBefore: string | undefined;
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
    // If there was nothing to remove, the branch as it is now counts.
    const commit = commitSha ?? this.#build.branch;
    const isOwn = this.#build.builtBy === 'deployment';
    const lateHint = isRemoval ? undefined : HINTS[this.#build.builtBy].late;
    const id = isOwn ? deployment : commit;
    if (id === undefined) return { finished: true, detail: 'nothing had to be deployed' };
    const known = this.#lastProgress.get(id);
    // After a finished build, the next commit is polled at once.
    const isNext = known === undefined && [...this.#lastProgress.values()].some(({ finished }) => finished);
    const isDue = isNext || this.#clock.now() >= this.#nextPoll;
    if (known?.finished || !isDue || this.#polls >= BUILD_WAIT.polls) {
      return known ?? { finished: false, detail: 'not checked yet', hint: lateHint };
    }
    const { status, run } = await this.#poll(id, written);
    const start = hasFailed(this.#start) ? this.#start : { message: this.#start ?? '', advice: undefined };
    const finished = status.status === 'built' && !isOwn;
    // Only GitHub can confirm a build that changes the content.
    const isNeeded = isOwn || (needsWord && status.status === 'unknown');
    const progress = {
      finished,
      building: isToCome(status, written),
      detail: joinParts(status.detail, status.error ?? '', start.message, run?.text ?? ''),
      httpCode: status.httpCode,
      hint: run?.hint ?? (isNeeded ? status.hint : undefined) ?? start.advice ?? lateHint,
      builtAt: finished ? status.begun : undefined,
    };
    this.#lastProgress.set(id, progress);
    return progress;
  }

  /** Requests the state of the build and of its run, and starts the build if it is late. */
  async #poll(id: string, written: boolean) {
    this.#polls += 1;
    const status = await READERS[this.#build.builtBy](this.#github, id);
    // A rate limit may end earlier than announced.
    const pause = Math.min(status.retryAfter ?? 0, this.#timeout / BUILD_WAIT.longestPauses);
    this.#nextPoll = this.#clock.now() + Math.max(this.#timeout / BUILD_WAIT.polls, pause);
    if (this.#polls === 1 && !written && this.#starter !== null) this.#failedBefore = status.build;
    const isEarlier = status.build !== undefined && status.build === this.#failedBefore;
    const isOpen = typeof this.#start === 'string' && status.status !== 'built';
    const run = isOpen ? await this.#starter?.follow?.() : undefined;
    const isFailed = status.status === 'errored' && !isEarlier;
    const failure = isFailed ? buildError(status, HINTS[this.#build.builtBy].errored, run) : run?.failure;
    // A newer build cancels this one, and may appear a moment later.
    if (failure !== undefined && this.#hasFailed) throw failure;
    this.#hasFailed = failure !== undefined;
    if (isEarlier || this.#isLate(status, written)) await this.#startBuild(status, isEarlier);
    return { status, run };
  }

  #isLate({ status, notStarted = false, httpCode }: BuildStatus, written: boolean): boolean {
    const isLate = this.#polls >= BUILD_WAIT.pollsBeforeRequest;
    // A token that can't read builds can't start them: the refusal then names both permissions.
    if (this.#build.builtBy === 'branch') return isLate && (notStarted || httpCode === 403);
    // A new commit has no deployment yet, so a failed read changes nothing.
    return notStarted || (status === 'unknown' && (written || isLate));
  }

  /** Starts the build once. A temporary refusal is retried at the next poll. */
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

/** Returns what starts a build that doesn't start by itself; `null` if unknown. */
function createStarter(github: GitHubClient, { branch, builtBy }: SiteBuild, { siteWorkflow }: BuildOptions) {
  if (builtBy === 'branch') return { start: () => requestBuild(github) };
  return siteWorkflow === undefined ? null : createSiteRun(github, siteWorkflow, branch);
}

/** Whether the build is still to come. Without a readable build, only our own commit proves that. */
const isToCome = ({ status, notStarted = false, httpCode }: BuildStatus, written: boolean): boolean =>
  status === 'unknown' ? notStarted && (written || httpCode !== 404) : status !== 'built';

const joinParts = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('; ');

const FROM_BRANCH = 'set Settings → Pages → Source to "Deploy from a branch"';

const HINTS: Readonly<Record<SiteBuild['builtBy'], { readonly late: Text; readonly errored: Text }>> = {
  branch: {
    late: (w) =>
      `run it again: the file is committed, so it only verifies; if it fails again, ${w.person('check the "pages build and deployment" run')}${w.orUse(['K2', 'K3'])}`,
    errored: (w) =>
      `${w.person('fix the build error, or commit an empty .nojekyll to serve files unchanged')}${w.orUse(['K2', 'K3'])}`,
  },
  workflow: {
    late: (w) =>
      `set ${w.input('site-workflow')} to start the workflow that builds the site after the commit${w.orUse(['K2', 'K3'])}`,
    errored: (w) =>
      `${w.person(`fix the workflow that builds the site, or ${FROM_BRANCH}`)}${w.orUse(['K2', 'K3'])}`,
  },
  deployment: {
    late: (w) =>
      `set a longer ${w.input('timeout')}, or check https://www.githubstatus.com; the deployment was not cancelled and may still finish`,
    errored: STATUS_HINT,
  },
};

/** @see protocol 7 (pages build status is errored) */
function buildError({ detail, error }: BuildStatus, change: Text, run?: RunProgress): DeliveryError {
  const hint: Text =
    run === undefined || run.page === '' ? change : (w) => `see the run at ${run.page}: ${w.say(change)}`;
  return new DeliveryError('BUILD_ERRORED', `the site's build failed: ${error} (${detail})`, { hint });
}
