import type { Browser, BrowserContext, CDPSession, Page } from 'puppeteer-core';
import { toMessage } from '../errors.ts';
import { type AnswerPorts, answerRequests, type RequestAnswers } from './answer-requests.ts';
import { BrowserLaunchError } from './browser-process.ts';
import { toPlainLine } from './error-text.ts';
import type { PageJudgment } from './judge.ts';
import { createUncheckedView } from './lazy-viewer.ts';
import { PageEvents } from './page-events.ts';
import { DESKTOP } from './pixels.ts';
import type { PageToView, ScreenView } from './screen-view.ts';
import { type PageSight, setWindow } from './view-page.ts';

/** A view without the name of the browser, which is the same for all of them. */
export type SeenPage = Omit<ScreenView, 'browser'>;

/** Entries of each list. */
const MOST_LISTED = 10;

const { browser: _, ...EMPTY_VIEW } = createUncheckedView('');

/** The view of a page that could not be judged. */
export const notCheckedView = (reason: string, hint = ''): SeenPage => ({ ...EMPTY_VIEW, reason, hint });

/** Whether the host's answer says that this is not the page. */
export const isAnsweredWithError = ({ httpCode }: SeenPage): boolean =>
  httpCode !== null && (httpCode < 200 || httpCode > 299);

/** The view of a page whose browser could not be started, ended by itself or did not answer in time. */
export function describeBrokenView(thrown: unknown, sandbox: boolean): SeenPage {
  if (!(thrown instanceof BrowserLaunchError)) {
    const isTimeout = thrown instanceof Error && /^(Timeout|Abort)Error$/.test(thrown.name);
    const reason = toMessage(thrown);
    return notCheckedView(
      isTimeout ? 'the browser did not answer in time' : `the browser failed: ${toPlainLine(reason, 200)}`,
    );
  }
  if (sandbox && /sandbox/i.test(thrown.output)) {
    return notCheckedView(
      "the browser's own sandbox can't run here, as for root in a container",
      'if all pages of this repository are your own, `browser-sandbox` can be set to false',
    );
  }
  const [last = ''] = thrown.output.trim().split('\n').slice(-1);
  return notCheckedView(`the browser could not be started: ${toPlainLine(last || thrown.message, 200)}`);
}

/** The view of a page that was opened, with what happened on it. */
export function createView({ events, answers }: OpenPage, judgment: PageJudgment): SeenPage {
  const blocked = [...answers.refused.keys()];
  const failed = events.failed
    .filter(({ url }) => !answers.refused.has(withoutFragment(url)))
    .sort((one, other) => Number(other.isOwn) - Number(one.isOwn));
  const { exceptions, consoleErrors } = events;
  return {
    ...EMPTY_VIEW,
    ...judgment,
    httpCode: events.httpCode,
    exceptions: exceptions.items,
    consoleErrors: consoleErrors.items,
    failedRequests: failed.slice(0, MOST_LISTED).map(({ url, reason }) => toPlainLine(`${reason} ${url}`)),
    blockedRequests: blocked.slice(0, MOST_LISTED).map((url) => toPlainLine(url)),
    counts: {
      exceptions: exceptions.count,
      consoleErrors: consoleErrors.count,
      failedRequests: failed.length,
      blockedRequests: blocked.length,
    },
  };
}

const withoutFragment = (url: string): string => url.replace(/#.*$/s, '');

/** What was seen of the page itself. */
export function describeSight(
  sight: PageSight | null,
  { marker, picture }: PageToView,
): Pick<SeenPage, 'title' | 'painted' | 'isMarkerVisible' | 'picture'> {
  const isMarkerVisible = marker === undefined ? null : sight?.isMarkerVisible === true;
  if (sight === null) return { title: '', painted: EMPTY_VIEW.painted, isMarkerVisible, picture: null };
  return {
    title: toPlainLine(sight.title),
    painted: sight.painted,
    isMarkerVisible,
    picture: picture ? sight.picture.png : null,
  };
}

/** A blank page in a context of its own, ready to be sent to its address. */
export interface OpenPage {
  readonly page: Page;
  readonly session: CDPSession;
  readonly answers: RequestAnswers;
  readonly events: PageEvents;
  close(): Promise<void>;
}

/** Opens a blank page whose requests are answered here. */
export async function openPage(browser: Browser, wanted: PageToView, ports: AnswerPorts): Promise<OpenPage> {
  const answers = await answerRequests(browser, wanted, ports);
  try {
    const context = await browser.createBrowserContext({ downloadBehavior: { policy: 'deny' } });
    const opened = await preparePage(context, answers, new URL(wanted.url).origin);
    return { ...opened, answers, close: () => answers.close().then(() => context.close()) };
  } catch (thrown) {
    await answers.close();
    throw thrown;
  }
}

async function preparePage(
  context: BrowserContext,
  answers: RequestAnswers,
  origin: string,
): Promise<Pick<OpenPage, 'page' | 'session' | 'events'>> {
  const page = await context.newPage();
  const session = await page.createCDPSession();
  session.on('Network.webSocketCreated', ({ url }) => answers.addSocket(url));
  const events = new PageEvents();
  events.listen(page, origin);
  await Promise.all([
    session.send('Network.enable'),
    setWindow(session, DESKTOP),
    // All of them, for every origin: nothing is granted, so everything else is denied.
    session.send('Browser.grantPermissions', {
      permissions: [],
      ...(context.id !== undefined && { browserContextId: context.id }),
    }),
  ]);
  return { page, session, events };
}
