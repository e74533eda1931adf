import { untilAborted } from '../async.ts';
import { SCREEN, SECOND } from '../protocol/limits.ts';
import { isMarkerOnPage } from './find-marker.ts';
import { judge, judgeNavigationError, type PageJudgment } from './judge.ts';
import { evaluateApart, type OpenPage } from './open-page.ts';
import { toPlainLine } from './page-events.ts';
import { createUncheckedView, type ScreenView } from './screen-view.ts';
import { inspectPage, type PageSnapshot } from './view-page.ts';

/** Milliseconds: for the browser's start, for the document's first byte, and for the page to appear then. */
export const VIEW_TIMES = {
  launch: 12 * SECOND,
  navigate: 10 * SECOND,
  render: 10 * SECOND,
};

export type ViewTimes = typeof VIEW_TIMES;

/** Milliseconds between two looks, and before another one where nothing is there to be looked at yet. */
const INTERVAL = { seen: 300, unseen: 30 } as const;

/** Milliseconds that a look, or another answer of the page, has at least: machines are busy. */
const LOOK_TIME = 4_000;

/** Milliseconds after which a shown page that still loads or moves is not waited for, nor a quiet one that threw. */
const PATIENCE = 4_000;

/** Does some work in a time in milliseconds: `null` where it fails or needs more. @throws where the view is over */
type Within = <T>(ms: number, work: Promise<T>) => Promise<T | null>;

/** Sends the page to its address, and looks at it until it is shown and quiet, or the time is over. */
export async function watchPage(
  opened: OpenPage,
  times: ViewTimes,
  signal: AbortSignal,
): Promise<ScreenView> {
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
  const navigated = await within(times.navigate, session.send('Page.navigate', { url: wanted.url }));
  if (navigated === null) return createUncheckedView('the host did not answer the browser in time');
  const { errorText, isDownload } = navigated;
  if (isDownload === true) {
    return createView(opened, {
      verdict: 'not-shown',
      reason: 'the browser downloads the page instead of showing it',
    });
  }
  if (errorText !== undefined) return createView(opened, judgeNavigationError(errorText, events));
  const deadline = clock.now() + (wanted.renderTime ?? times.render);
  const snapshot = await watch(opened, deadline, within, signal);
  const isAnswering =
    snapshot?.isStable != null || (await within(LOOK_TIME, evaluateApart(page.mainFrame(), '1'))) !== null;
  const elapsed = clock.now() - start;
  const judgment = judge(snapshot, events, wanted, isAnswering);
  const overflow = isAnswering ? await within(LOOK_TIME, measureOverflow(opened)) : null;
  return { ...createView(opened, judgment, snapshot), overflow: overflow ?? 0, elapsed };
}

/** @returns the last look that succeeded; it says whether the page kept still only if it was not the first */
async function watch(
  opened: OpenPage,
  deadline: number,
  within: Within,
  signal: AbortSignal,
): Promise<PageSnapshot | null> {
  const { events, clock, wanted } = opened;
  let last: PageSnapshot | null = null;
  let settledSince: number | null = null;
  while (!events.crash.signal.aborted) {
    const begun = clock.now();
    // One that begins while the page goes to another address may never end: another one must follow.
    const time = Math.max(0, deadline - begun) / 2 + LOOK_TIME;
    const snapshot: PageSnapshot | null = await within(time, inspectPage(opened, last));
    last = snapshot ?? last;
    const isShown =
      snapshot !== null &&
      judge({ ...snapshot, isMarkerVisible: snapshot.isMarkerVisible || null }, events, wanted).verdict ===
        'shown';
    const isQuiet = snapshot?.isComplete === true && events.open.size === 0 && snapshot.isStable === true;
    const now = clock.now();
    // Of a page that threw and is quiet, nothing more is to be expected.
    const isSettled = isShown || (isQuiet && events.exceptions.length > 0);
    settledSince = isSettled ? (settledSince ?? now) : null;
    // What is there at the end of the time is looked at, however long the look before took.
    const isLate = begun >= deadline && snapshot?.isStable !== null;
    const isDone = isLate || (isShown && isQuiet) || now - (settledSince ?? now) >= PATIENCE;
    if (isDone && isShown && snapshot.isMarkerVisible === false) {
      // It scrolls, and so it comes last; it ends by itself.
      const isFound = await within(2 * LOOK_TIME, isMarkerOnPage(opened, wanted.marker ?? ''));
      last = { ...snapshot, isMarkerVisible: isFound === true };
    }
    if (isLate || (isDone && (!isShown || last?.isMarkerVisible !== false))) break;
    const interval = snapshot === null ? INTERVAL.unseen : INTERVAL.seen;
    await clock.sleep(Math.min(interval, Math.max(1, deadline - clock.now())), signal);
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
    failedRequests: [...events.failed.own, ...events.failed.other],
    blockedRequests: [...events.refused.keys()].map((url) => toPlainLine(url)),
    consoleErrors: events.consoleErrors,
  };
}

/** The window of a phone, in CSS pixels. */
const PHONE = { width: 390, height: 844 } as const;

/** Once the page had two frames to adapt to its new width. */
const MEASURE = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
  const { documentElement: root, body, scrollingElement } = document;
  const isClipped = [root, body].some((one) => one && /hidden|clip/.test(getComputedStyle(one).overflowX));
  return isClipped || !scrollingElement ? 0 : Math.max(0, scrollingElement.scrollWidth - ${PHONE.width});
})`;

/** CSS pixels by which the page is wider than a phone, whose window it keeps. */
async function measureOverflow({ page }: OpenPage): Promise<number> {
  await page.setViewport(PHONE);
  const wider = await evaluateApart(page.mainFrame(), MEASURE);
  return typeof wider === 'number' ? wider : 0;
}
