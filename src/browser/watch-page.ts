import { untilAborted } from '../async.ts';
import { SCREEN } from '../protocol/limits.ts';
import { isMarkerOnPage } from './find-marker.ts';
import { judge, judgeNavigationError, type PageJudgment } from './judge.ts';
import { evaluateApart, type OpenPage, SCROLL_BACK } from './open-page.ts';
import { toPlainLine } from './page-events.ts';
import { createUncheckedView, type ScreenView } from './screen-view.ts';
import { inspectPage, type PageSnapshot } from './view-page.ts';

/** Milliseconds to get the document's first byte, and to show the page. */
const TIMES = { navigate: 10_000, render: 10_000 } as const;

/** Milliseconds between two snapshots, or if no snapshot could be taken. */
const INTERVAL = { seen: 300, unseen: 30 } as const;

/** Milliseconds that a busy machine may need for a snapshot. */
const SNAPSHOT_TIME = 4_000;

/** Milliseconds to wait for a shown page that still moves, or for a quiet page that threw. */
const PATIENCE = 4_000;

/** Limits work to a time in milliseconds. @returns `null` on failure or timeout @throws if the delivery is stopped */
type Within = <T>(ms: number, work: Promise<T>) => Promise<T | null>;

/** Opens the URL, and watches the page until it is shown and quiet, or the time is over. */
export async function watchPage(opened: OpenPage, signal: AbortSignal): Promise<ScreenView> {
  const { wanted, events, session, page, clock } = opened;
  const within: Within = async (ms, work) => {
    try {
      return await untilAborted(AbortSignal.any([signal, events.crash.signal, clock.timeout(ms)]), work);
    } catch {
      signal.throwIfAborted();
      return null;
    }
  };
  const start = clock.now();
  const navigated = await within(TIMES.navigate, session.send('Page.navigate', { url: wanted.url }));
  if (navigated === null) return createUncheckedView('the host did not answer the browser in time');
  const { errorText, isDownload } = navigated;
  if (isDownload === true) {
    return createView(opened, {
      verdict: 'not-shown',
      reason: 'the browser downloads the page instead of showing it',
    });
  }
  if (errorText !== undefined) return createView(opened, judgeNavigationError(errorText, events));
  const deadline = clock.now() + (wanted.renderTime ?? TIMES.render);
  const snapshot = await watch(opened, deadline, within, signal);
  const isAnswering =
    snapshot?.isStable != null ||
    (await within(SNAPSHOT_TIME, evaluateApart(page.mainFrame(), '1'))) !== null;
  const elapsed = clock.now() - start;
  const judgment = judge(snapshot, events, wanted, isAnswering);
  const overflow = isAnswering ? await within(SNAPSHOT_TIME, measureOverflow(opened)) : null;
  return { ...createView(opened, judgment, snapshot), overflow: overflow ?? 0, elapsed };
}

/** Lets a page load what it loads on the way down, and returns to its top, within the pause of a shown page. */
const SCROLL_THROUGH = `(async () => {
  const { scrollHeight } = document.scrollingElement ?? document.documentElement;
  const step = Math.max(innerHeight, scrollHeight / 8);
  for (let top = innerHeight; top < scrollHeight; top += step) {
    await new Promise(requestAnimationFrame);
    scrollTo({ top, behavior: 'instant' });
  }
  await new Promise(requestAnimationFrame);
  ${SCROLL_BACK};
})()`;

/** @returns the last snapshot; `isStable` needs at least two */
async function watch(
  opened: OpenPage,
  deadline: number,
  within: Within,
  signal: AbortSignal,
): Promise<PageSnapshot | null> {
  const { events, clock, wanted, page } = opened;
  let last: PageSnapshot | null = null;
  let settledSince: number | null = null;
  while (!events.crash.signal.aborted) {
    const begun = clock.now();
    // A snapshot during a navigation may never end, so time for another must remain.
    const time = Math.max(0, deadline - begun) / 2 + SNAPSHOT_TIME;
    const snapshot: PageSnapshot | null = await within(time, inspectPage(opened, last));
    last = snapshot ?? last;
    const isShown =
      snapshot !== null &&
      judge({ ...snapshot, isMarkerVisible: snapshot.isMarkerVisible || null }, events, wanted).verdict ===
        'shown';
    const isQuiet = snapshot?.isComplete === true && events.open.size === 0 && snapshot.isStable === true;
    const now = clock.now();
    // A quiet page that threw won't change any more.
    const isSettled = isShown || (isQuiet && events.exceptions.length > 0);
    settledSince = isSettled ? (settledSince ?? now) : null;
    // The last snapshot begins after the deadline, even if the one before took long.
    const isLate = begun >= deadline && snapshot?.isStable !== null;
    const isDone = isLate || (isShown && isQuiet) || now - (settledSince ?? now) >= PATIENCE;
    if (isDone && isShown && snapshot.isMarkerVisible === false) {
      // The search scrolls the page, so it comes last.
      const isFound = await within(2 * SNAPSHOT_TIME, isMarkerOnPage(opened, wanted.marker ?? ''));
      last = { ...snapshot, isMarkerVisible: isFound === true };
    }
    if (isLate || (isDone && (!isShown || last?.isMarkerVisible !== false))) break;
    const interval = snapshot === null ? INTERVAL.unseen : INTERVAL.seen;
    const slept = clock.sleep(Math.min(interval, Math.max(1, deadline - clock.now())), signal);
    const scrolling = isShown && settledSince === now && evaluateApart(page.mainFrame(), SCROLL_THROUGH);
    await Promise.all([slept, scrolling && within(SNAPSHOT_TIME, scrolling)]);
  }
  return last;
}

function createView(
  { events }: OpenPage,
  judgment: PageJudgment,
  snapshot: PageSnapshot | null = null,
): ScreenView {
  return {
    ...createUncheckedView(''),
    ...judgment,
    httpCode: events.httpCode,
    title: toPlainLine(snapshot?.title ?? ''),
    text: snapshot?.text.slice(0, SCREEN.seen) ?? '',
    ...(snapshot && { painted: snapshot.painted }),
    isMarkerVisible: snapshot?.isMarkerVisible ?? null,
    isStable: snapshot?.isStable ?? null,
    picture: snapshot?.picture.png ?? null,
    exceptions: events.exceptions,
    failedRequests: events.listFailed(snapshot?.brokenPictures ?? []),
    blockedRequests: [...events.refused.keys()].map((url) => toPlainLine(url)),
    consoleErrors: events.consoleErrors,
    unfilledTags: snapshot?.unfilledTags.map((tag) => toPlainLine(tag)) ?? [],
    otherHosts: [...events.otherHosts].map(([host, requests]) => ({ host, requests })),
  };
}

const PHONE = { width: 390, height: 844 } as const;

/** Waits for two animation frames, so that the page adapts to its new width. */
const MEASURE = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
  const { documentElement: root, body, scrollingElement } = document;
  const isClipped = [root, body].some((one) => one && /hidden|clip/.test(getComputedStyle(one).overflowX));
  return isClipped || !scrollingElement ? 0 : Math.max(0, scrollingElement.scrollWidth - ${PHONE.width});
})`;

/** Measures by how many CSS pixels the page is wider than a phone. The page keeps the phone's window. */
async function measureOverflow({ page }: OpenPage): Promise<number> {
  await page.setViewport(PHONE);
  const wider = await evaluateApart(page.mainFrame(), MEASURE);
  return typeof wider === 'number' ? wider : 0;
}
