import { untilAborted } from '../async.ts';
import type { Clock } from '../ports.ts';
import { SECOND } from '../protocol/limits.ts';
import { isErrorPageName } from './error-text.ts';
import { judge, judgeNavigationError, type PageContext } from './judge.ts';
import { DESKTOP } from './pixels.ts';
import type { PageToView } from './screen-view.ts';
import { evaluateApart, lookAtPage, type PageAccess, type PageSight, setWindow } from './view-page.ts';
import { createView, describeSight, notCheckedView, type OpenPage, type SeenPage } from './view-result.ts';

/** Times in milliseconds. */
export interface ViewTimes {
  /** In all, with the start of the browser. */
  readonly total: number;
  /** For the browser's start. */
  readonly launch: number;
  /** For the document's first byte. */
  readonly navigate: number;
  /** For the page to appear, from its first byte. */
  readonly render: number;
}

export const VIEW_TIMES: ViewTimes = {
  total: 28 * SECOND,
  launch: 12 * SECOND,
  navigate: 10 * SECOND,
  render: 10 * SECOND,
};

/** Milliseconds between two looks, and before another one where nothing is there to be looked at yet. */
const INTERVAL = { seen: 300, unseen: 30 } as const;

/** Milliseconds that a look has at least, at the end as well. */
const LOOK_TIME = 1_000;

/** Milliseconds after which a shown page that still loads or moves is not waited for, nor a quiet one that threw. */
const PATIENCE = 4_000;

/** Milliseconds for a page that runs to answer. */
const ANSWER_TIME = 3_000;

/** Milliseconds for one more look at a page that runs, on a machine that is too busy for two until then. */
const LAST_LOOK_TIME = 4_000;

/** Milliseconds for the measurement of the width on a phone. */
const MEASURE_TIME = 2_000;

interface WatchOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly times: ViewTimes;
}

/** What ends a wait early: the view is over, or the page has crashed. */
interface WaitBounds extends WatchOptions {
  readonly crashed: AbortSignal;
  /** What is known of the page before it is opened. */
  readonly known: Pick<PageContext, 'isErrorPage' | 'isScripted'>;
}

/** Sends the page to its address, and looks at it until it is shown and quiet, or the time is over. */
export async function watchPage(
  opened: OpenPage,
  wanted: PageToView,
  options: WatchOptions,
): Promise<SeenPage> {
  const { clock } = options;
  const times = { ...options.times, render: wanted.renderTime ?? options.times.render };
  const isErrorPage = isErrorPageName(new URL(wanted.url).pathname);
  const known = { isErrorPage, isScripted: wanted.isScripted === true };
  const bounds: WaitBounds = { ...options, times, crashed: opened.events.crashed, known };
  const start = clock.now();
  const navigating = opened.session.send('Page.navigate', { url: wanted.url });
  const navigated = await within(bounds, times.navigate, navigating);
  if (navigated === null) return notCheckedView('the host did not answer the browser in time');
  const { errorText, isDownload = false } = navigated;
  if (errorText !== undefined || isDownload) return viewUnopened(opened, errorText ?? '', isDownload);
  const main = opened.page.mainFrame();
  const first = await watch(opened, wanted.marker, bounds);
  // Two looks in a row are an answer.
  const isAnswering =
    first.isStable !== null || (await within(bounds, ANSWER_TIME, evaluateApart(main, '1'))) !== null;
  const watched =
    isAnswering && first.isStable === null ? await lookOnceMore(opened, wanted.marker, bounds, first) : first;
  const elapsed = clock.now() - start;
  const judgment = judge(watched.sight, opened.events, {
    ...known,
    isAnswering,
    isMoving: watched.isStable !== true,
    missing: opened.answers.missing,
  });
  const measuring = isAnswering ? measureOverflow({ ...opened, clock }) : Promise.resolve(0);
  const overflow = await within(bounds, MEASURE_TIME, measuring);
  return {
    ...createView(opened, judgment),
    ...describeSight(watched.sight, wanted),
    overflow: overflow ?? 0,
    elapsed,
    isStable: watched.isStable,
  };
}

/** A page that the browser did not open. */
function viewUnopened(opened: OpenPage, errorText: string, isDownload: boolean): SeenPage {
  const judgment = judgeNavigationError(errorText, opened.events, isDownload);
  // Where the page's own host is refused, there is nothing else that could be.
  const [refusal = ''] = judgment.verdict === 'not-checked' ? opened.answers.refused.values() : [];
  return createView(opened, refusal === '' ? judgment : { ...judgment, reason: `not opened: ${refusal}` });
}

/** What was seen until now, and what one more look adds. */
async function lookOnceMore(
  opened: OpenPage,
  marker: string | undefined,
  bounds: WaitBounds,
  first: Watched,
): Promise<Watched> {
  const { clock } = bounds;
  const sight = await within(bounds, LAST_LOOK_TIME, lookAtPage({ ...opened, clock }, marker, first.sight));
  return sight === null ? first : { sight, isStable: compareSights(first.sight, sight) };
}

const compareSights = (before: PageSight | null, after: PageSight): boolean | null =>
  before === null ? null : before.picture === after.picture;

interface Watched {
  /** The last look that succeeded. */
  readonly sight: PageSight | null;
  readonly isStable: boolean | null;
}

async function watch(opened: OpenPage, marker: string | undefined, bounds: WaitBounds): Promise<Watched> {
  const { clock, signal, times, known } = bounds;
  const { events } = opened;
  const deadline = clock.now() + times.render;
  let watched: Watched = { sight: null, isStable: null };
  let shownSince: number | null = null;
  let failedSince: number | null = null;
  while (!events.hasCrashed) {
    const left = deadline - clock.now();
    const { sight: before } = watched;
    const look = lookAtPage({ ...opened, clock }, marker, before);
    const sight = await within(bounds, Math.max(left, LOOK_TIME), look);
    if (sight !== null) watched = { sight, isStable: compareSights(before, sight) };
    const isShown =
      sight !== null &&
      judge(sight, events, { ...known, isMoving: watched.isStable !== true }).verdict === 'shown';
    const isQuiet = sight?.isComplete === true && events.openRequests === 0 && watched.isStable === true;
    const now = clock.now();
    shownSince = isShown ? (shownSince ?? now) : null;
    // Of a page that threw and is quiet, nothing more is to be expected.
    failedSince = !isShown && isQuiet && events.exceptions.count > 0 ? (failedSince ?? now) : null;
    const since = shownSince ?? failedSince ?? now;
    if ((isShown && isQuiet) || now - since >= PATIENCE || now >= deadline) break;
    const interval = sight === null ? INTERVAL.unseen : INTERVAL.seen;
    await clock.sleep(Math.min(interval, Math.max(1, deadline - clock.now())), signal);
  }
  return watched;
}

/** The result of some work; `null` where it fails or needs more time. @throws the signal's reason */
async function within<T>(bounds: WaitBounds, ms: number, work: Promise<T>): Promise<T | null> {
  const { clock, signal, crashed } = bounds;
  try {
    return await untilAborted(AbortSignal.any([signal, crashed, clock.timeout(ms)]), work);
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** The window of a phone, in CSS pixels. */
const PHONE = { width: 390, height: 844 } as const;

/** Once the page had two frames to adapt to its new width. */
const MEASURE = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
  const { documentElement: root, body, scrollingElement } = document;
  const isClipped = [root, body].some((one) => one && /hidden|clip/.test(getComputedStyle(one).overflowX));
  return isClipped || !scrollingElement ? 0 : Math.max(0, scrollingElement.scrollWidth - ${PHONE.width});
})`;

/** CSS pixels by which the page is wider than a phone; the window is a desktop's again afterwards. */
async function measureOverflow({ page, session }: PageAccess): Promise<number> {
  await setWindow(session, PHONE);
  const wider = await evaluateApart(page.mainFrame(), MEASURE);
  await setWindow(session, DESKTOP);
  return typeof wider === 'number' ? wider : 0;
}
