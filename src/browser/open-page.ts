import type { Browser, BrowserContext, CDPSession, Page } from 'puppeteer-core';
import { type AnswerPorts, answerRequests, type RequestAnswers } from './answer-requests.ts';
import { PageEvents } from './page-events.ts';
import { DESKTOP } from './pixels.ts';
import type { PageToView } from './screen-view.ts';

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
    session.send('Emulation.setDeviceMetricsOverride', { ...DESKTOP, deviceScaleFactor: 1, mobile: false }),
    denyPermissions(session, context),
  ]);
  return { page, session, events };
}

/** All of them, for every origin: nothing is granted, so everything else is denied. */
async function denyPermissions(session: CDPSession, context: BrowserContext): Promise<void> {
  const browserContextId = context.id;
  await session.send('Browser.grantPermissions', {
    permissions: [],
    ...(browserContextId === undefined ? {} : { browserContextId }),
  });
}
