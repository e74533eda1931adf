import type { Clock } from '../ports.ts';
import { isPainted, isWaiting, judge } from './judge.ts';
import type { OpenPage } from './open-page.ts';
import type { PageEvents } from './page-events.ts';
import { containsMarker, toPlainLine } from './page-text.ts';
import { limitPicture } from './picture.ts';
import type { PageToView, ScreenView } from './screen-view.ts';
import { lookAtPage, measureOverflow, type PageSight } from './view-page.ts';
import { EMPTY_VIEW } from './view-result.ts';
import type { ViewTimes } from './view-times.ts';

/** Milliseconds between two looks. */
const INTERVAL = 300;

export interface WatchOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly times: ViewTimes;
  readonly browser: string;
}

/** Sends the page to its address, and looks at it until it is shown and quiet, or the time is over. */
export async function watchPage(
  opened: OpenPage,
  wanted: PageToView,
  options: WatchOptions,
): Promise<ScreenView> {
  const { clock } = options;
  const start = clock.now();
  const navigated = await opened.session.send('Page.navigate', { url: wanted.url });
  if (navigated.errorText !== undefined) {
    return {
      ...EMPTY_VIEW,
      verdict: 'not-shown',
      browser: options.browser,
      reason: toPlainLine(navigated.errorText),
    };
  }
  const { sight, isStable } = await watch(opened, wanted.marker, options);
  const elapsed = clock.now() - start;
  const { events } = opened;
  const judgment = judge(sight, events, wanted.marker);
  const overflow =
    sight === null ? 0 : await measureOverflow(opened.page, opened.session, clock).catch(() => 0);
  return {
    ...EMPTY_VIEW,
    ...judgment,
    ...describeEvents(opened),
    browser: options.browser,
    httpCode: events.httpCode,
    title: toPlainLine(sight?.title ?? ''),
    painted: sight?.painted ?? EMPTY_VIEW.painted,
    isMarkerVisible: wanted.marker === undefined ? null : containsMarker(sight?.text ?? '', wanted.marker),
    overflow,
    elapsed,
    picture: wanted.picture && sight !== null ? limitPicture(sight.png) : null,
    isStable,
  };
}

interface Watched {
  readonly sight: PageSight | null;
  readonly isStable: boolean | null;
}

async function watch(opened: OpenPage, marker: string | undefined, options: WatchOptions): Promise<Watched> {
  const { clock, signal, times } = options;
  const { events } = opened;
  const deadline = clock.now() + times.render;
  let sight: PageSight | null = null;
  let isStable: boolean | null = null;
  let since: number | null = null;
  while (!events.hasCrashed) {
    const before: PageSight | null = sight;
    const looked = lookAtPage(opened.page, opened.session).catch(() => null);
    const timeout = clock.sleep(Math.max(0, deadline - clock.now()), signal).then(() => null);
    const found = await Promise.race([looked, timeout]);
    if (found !== null) {
      sight = found;
      isStable = before === null ? null : before.hash === found.hash;
      const isShown = judge(found, events, marker).verdict === 'shown';
      since = isShown ? (since ?? clock.now()) : null;
      if (isShown && isStable !== null && isQuiet(found, events, isStable)) break;
      if (since !== null && clock.now() - since > 4_000) break;
    }
    if (clock.now() >= deadline) break;
    await clock.sleep(Math.min(INTERVAL, deadline - clock.now()), signal);
  }
  return { sight, isStable };
}

const isQuiet = (sight: PageSight, events: PageEvents, isStable: boolean): boolean =>
  sight.isComplete && events.openRequests === 0 && isStable && isPainted(sight) && !isWaiting(sight);

function describeEvents({ events, proxy }: OpenPage): Partial<ScreenView> {
  const isRefused = (url: string): boolean => {
    const { hostname, port, protocol } = new URL(url);
    return proxy.refused.has(`${hostname}:${port || (/^(http|ws):$/.test(protocol) ? '80' : '443')}`);
  };
  const describe = ({ url, reason }: { url: string; reason: string }): string =>
    toPlainLine(`${reason} ${url}`);
  const blocked = events.failed.filter(({ url }) => isRefused(url)).map(({ url }) => toPlainLine(url));
  const failed = events.failed.filter(({ url }) => !isRefused(url)).map(describe);
  const { exceptions, consoleErrors } = events;
  return {
    exceptions: exceptions.items,
    consoleErrors: consoleErrors.items,
    failedRequests: failed.slice(0, 10),
    blockedRequests: blocked.slice(0, 10),
    counts: {
      exceptions: exceptions.count,
      consoleErrors: consoleErrors.count,
      failedRequests: failed.length,
      blockedRequests: blocked.length,
    },
  };
}
