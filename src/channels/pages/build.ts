import { DeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import {
  type BuildStatus,
  getBuildStatus,
  getDeploymentStatus,
  requestBuild,
} from '../../github/api/pages-build.ts';
import type { Ports } from '../../ports.ts';
import { BUILD_WAIT } from '../../protocol/limits.ts';
import type { LiveStatus, PreparedUpload } from '../channel.ts';

type BuiltBy = 'branch' | 'workflow';
type WatchBuild = NonNullable<PreparedUpload['watch']>;

/** One watch for all files that the same kind of build brings live. */
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
 * Watches the build that should bring the commit live. However often it is called, the host is asked at
 * most 48 times, spread over the whole wait; a build that never starts is requested, once where the host hears of it.
 *
 * @param timeout milliseconds that the whole wait may take
 * @see protocol 3.2, 8
 */
export function watchBuild(
  github: GitHubClient,
  builtBy: BuiltBy,
  timeout: number,
  { clock }: Ports,
): WatchBuild {
  const pause = timeout / BUILD_WAIT.polls;
  let asked = { at: Number.NEGATIVE_INFINITY, polls: 0 };
  let request = { words: '', again: true };
  let state: LiveStatus = { finished: false, detail: 'not asked yet', hint: HINTS[builtBy].late };

  return async ({ commitSha }) => {
    if (commitSha === undefined || state.finished) return state;
    if (clock.now() - asked.at < pause || asked.polls >= BUILD_WAIT.polls) return state;
    const build = await (builtBy === 'workflow' ? getDeploymentStatus : getBuildStatus)(github, commitSha);
    asked = { at: clock.now(), polls: asked.polls + 1 };
    if (build.status === 'errored') throw buildError(build, HINTS[builtBy].errored);
    if (build.notStarted && request.again && asked.polls >= BUILD_WAIT.pollsBeforeRequest) {
      request = await requestBuild(github);
    }
    state = {
      ...state,
      finished: build.status === 'built',
      detail: [build.detail, request.words].filter((part) => part !== '').join('; '),
      httpCode: build.httpCode,
    };
    return state;
  };
}

const ELSE = 'or use channel: K2 or K3';

/** What to change where the site does not come, by what builds it. */
const HINTS: Readonly<Record<BuiltBy, { readonly late: string; readonly errored: string }>> = {
  branch: {
    late: `look at Settings → Pages and the "pages build and deployment" run; the file is committed, so running the step again only verifies, ${ELSE}`,
    errored: `mend what the build complains of, or commit an empty .nojekyll to serve files as they are, ${ELSE}`,
  },
  workflow: {
    late: `let the workflow that builds the site publish this file too, or set Settings → Pages → Source to "Deploy from a branch", ${ELSE}`,
    errored: `mend the workflow that builds the site, or set Settings → Pages → Source to "Deploy from a branch", ${ELSE}`,
  },
};

/** @see protocol 7 (pages build status is errored) */
function buildError({ detail, error }: BuildStatus, hint: string): DeliveryError {
  return new DeliveryError('BUILD_ERRORED', `the site's build failed: ${error} (${detail})`, { hint });
}
