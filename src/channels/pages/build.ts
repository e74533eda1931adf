import { DeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { getCommitTime } from '../../github/api/contents.ts';
import {
  type BuildStatus,
  getBuildStatus,
  getDeploymentStatus,
  requestBuild,
} from '../../github/api/pages-build.ts';
import type { PagesSite } from '../../github/api/pages-site.ts';
import type { Ports } from '../../ports.ts';
import { BUILD_WAIT } from '../../protocol/limits.ts';
import type { HostProgress, PreparedTask } from '../channel.ts';

type BuiltBy = PagesSite['builtBy'];
type WatchBuild = NonNullable<PreparedTask['watch']>;

/** One watch for all files that the same kind of build publishes. */
export function createBuildWatches(
  github: GitHubClient,
  timeout: number,
  ports: Ports,
): (builtBy: BuiltBy) => WatchBuild {
  const watches = new Map<BuiltBy, WatchBuild>();
  return (builtBy) => {
    const watch = watches.get(builtBy) ?? watchBuild(github, builtBy, timeout, ports);
    watches.set(builtBy, watch);
    return watch;
  };
}

/**
 * Watches the build that should publish the commit. The host is asked at most 48 times, spread over the whole
 * wait, however often the watch is called. A build that does not start is requested, once if the host accepts.
 *
 * @param timeout milliseconds that the whole wait may take
 * @see protocol 3.2, 8
 */
export function watchBuild(
  github: GitHubClient,
  builtBy: BuiltBy,
  timeout: number,
  { clock }: Pick<Ports, 'clock'>,
): WatchBuild {
  const pause = timeout / BUILD_WAIT.polls;
  let asked = { at: Number.NEGATIVE_INFINITY, polls: 0 };
  let request = { words: '', again: true };
  const notAsked: HostProgress = { finished: false, detail: 'not asked yet', hint: HINTS[builtBy].late };
  let progress = notAsked;
  // Another file of the same build may have another commit: what is said of one says nothing of the other.
  let askedFor: string | undefined;
  const finished = new Map<string, HostProgress>();

  return async ({ commitSha, hostMayChangeBytes }) => {
    if (commitSha === undefined) return progress;
    const known = finished.get(commitSha);
    if (known !== undefined) return known;
    if (askedFor !== commitSha) {
      // What is finished needs no pause before the next question.
      if (finished.size > 0) asked = { ...asked, at: Number.NEGATIVE_INFINITY };
      progress = notAsked;
      askedFor = commitSha;
    }
    if (clock.now() - asked.at < pause || asked.polls >= BUILD_WAIT.polls) return progress;
    const build = await (builtBy === 'workflow' ? getDeploymentStatus : getBuildStatus)(github, commitSha);
    asked = { at: clock.now(), polls: asked.polls + 1 };
    if (build.status === 'errored') throw buildError(build, HINTS[builtBy].errored);
    if (build.notStarted && request.again && asked.polls >= BUILD_WAIT.pollsBeforeRequest) {
      request = await requestBuild(github);
    }
    const isFinished = build.status === 'built';
    progress = {
      ...notAsked,
      finished: isFinished,
      // Only a proof by the marker needs it.
      committedAt: isFinished && hostMayChangeBytes ? await getCommitTime(github, commitSha) : undefined,
      detail: [build.detail, request.words].filter((part) => part !== '').join('; '),
      httpCode: build.httpCode,
    };
    if (isFinished) finished.set(commitSha, progress);
    return progress;
  };
}

const OTHER_CHANNEL = 'or use channel: K2 or K3';
const FROM_BRANCH = 'set Settings → Pages → Source to "Deploy from a branch"';

/** What to change where the site does not come, by what builds it. */
const HINTS: Readonly<Record<BuiltBy, { readonly late: string; readonly errored: string }>> = {
  branch: {
    late: `check Settings → Pages and the "pages build and deployment" run; the file is committed, so running the step again only verifies, ${OTHER_CHANNEL}`,
    errored: `fix the build error, or commit an empty .nojekyll to serve files unchanged, ${OTHER_CHANNEL}`,
  },
  workflow: {
    late: `let the workflow that builds the site publish this file too, or ${FROM_BRANCH}, ${OTHER_CHANNEL}`,
    errored: `fix the workflow that builds the site, or ${FROM_BRANCH}, ${OTHER_CHANNEL}`,
  },
};

/** @see protocol 7 (pages build status is errored) */
function buildError({ detail, error }: BuildStatus, hint: string): DeliveryError {
  return new DeliveryError('BUILD_ERRORED', `the site's build failed: ${error} (${detail})`, { hint });
}
