import { DeliveryError } from '../errors.ts';
import type { GitHub } from '../github/client.ts';
import { type BuildState, latestBuild, latestDeployment, requestBuild } from '../github/pages-site.ts';
import type { Ports } from '../ports.ts';
import { BUILD_WAIT } from '../protocol/limits.ts';
import type { HostState, Intent } from './channel.ts';

type BuiltBy = 'branch' | 'workflow';
type Watch = NonNullable<Intent['watch']>;

/** One watch for all files that the same kind of build brings live. */
export function createBuildWatch(github: GitHub, timeout: number, ports: Ports): (builtBy: BuiltBy) => Watch {
  const watches = new Map<BuiltBy, Watch>();
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
export function watchBuild(github: GitHub, builtBy: BuiltBy, timeout: number, { clock }: Ports): Watch {
  const pause = timeout / BUILD_WAIT.polls;
  let asked = { at: Number.NEGATIVE_INFINITY, polls: 0 };
  let request = { words: '', again: true };
  let state: HostState = { finished: false, detail: 'not asked yet' };

  return async ({ commitSha }) => {
    if (commitSha === undefined || state.finished) return state;
    if (clock.now() - asked.at < pause || asked.polls >= BUILD_WAIT.polls) return state;
    const build = await (builtBy === 'workflow' ? latestDeployment : latestBuild)(github, commitSha);
    asked = { at: clock.now(), polls: asked.polls + 1 };
    if (build.status === 'errored') throw errored(build);
    if (build.notStarted && request.again && asked.polls >= BUILD_WAIT.pollsBeforeRequest) {
      request = await requestBuild(github);
    }
    state = {
      finished: build.status === 'built',
      detail: [build.detail, request.words].filter((part) => part !== '').join('; '),
      httpCode: build.httpCode,
    };
    return state;
  };
}

/** @see protocol 7 (pages build status is errored) */
function errored({ detail, error }: BuildState): DeliveryError {
  return new DeliveryError('BUILD_ERRORED', `the site's build failed: ${error} (${detail})`, {
    hint: 'mend what the build complains of, or commit an empty .nojekyll to serve files as they are',
  });
}
