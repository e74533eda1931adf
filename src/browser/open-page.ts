import type { Browser, Frame, Protocol } from '#puppeteer';
import type { Ports } from '../ports.ts';
import { PageEvents } from './page-events.ts';
import { openNetwork } from './page-network.ts';
import { decodePicture, type PixelGrid } from './pixels.ts';
import type { PageToView } from './screen-view.ts';

export type OpenPage = Awaited<ReturnType<typeof openPage>>;

/** Keeps all shadow roots open, so that their content can be read. */
const OPEN_ROOTS = `{
  const { attachShadow } = Element.prototype;
  Element.prototype.attachShadow = function (options) { return attachShadow.call(this, { ...options, mode: 'open' }) };
}`;

/** Opens a blank page. @throws if the browser can't be used any more */
export async function openPage(browser: Browser, wanted: PageToView, ports: Pick<Ports, 'http' | 'clock'>) {
  const events = new PageEvents(wanted.url);
  const network = await openNetwork(browser, { ...ports, page: wanted, events });
  const context = await browser.createBrowserContext({ downloadBehavior: { policy: 'deny' } });
  const page = await context.newPage();
  const session = await page.createCDPSession();
  // WebSockets are not paused, but they can't connect either.
  session.on('Network.webSocketCreated', ({ url }) => {
    events.addHost(new URL(url));
    network.noteStream(new URL(url), 'a WebSocket');
  });
  events.listen(page);
  await Promise.all([
    session.send('Network.enable'),
    session.send('Page.enable'),
    page.evaluateOnNewDocument(OPEN_ROOTS),
    // An empty grant denies every permission to every origin.
    session.send('Browser.grantPermissions', {
      permissions: [],
      ...(context.id !== undefined && { browserContextId: context.id }),
    }),
  ]);
  const close = (): Promise<void> => network.close().then(() => context.close());
  return { wanted, page, session, events, clock: ports.clock, close };
}

export interface PagePicture {
  readonly png: Buffer;
  readonly grid: PixelGrid;
}

/**
 * @param before returned again if the page looks the same
 * @throws if the page navigates away, because the browser may then never answer
 */
export async function takePicture(
  { session }: Pick<OpenPage, 'session'>,
  before?: PagePicture,
): Promise<PagePicture> {
  const navigatedAway = Promise.withResolvers<never>();
  const leave = ({ frame }: Protocol.Page.FrameNavigatedEvent): void => {
    if (frame.parentId === undefined) navigatedAway.reject(new Error('the page navigated away'));
  };
  session.on('Page.frameNavigated', leave);
  try {
    const taken = session.send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true });
    const png = Buffer.from((await Promise.race([taken, navigatedAway.promise])).data, 'base64');
    return before?.png.equals(png) ? before : { png, grid: decodePicture(png) };
  } finally {
    session.off('Page.frameNavigated', leave);
  }
}

export const SCROLL_BACK = "scrollTo({ top: 0, left: 0, behavior: 'instant' })";

/** Runs an expression in Puppeteer's isolated world, which the page's scripts can't change. */
export const evaluateApart = (frame: Frame, expression: string): Promise<unknown> =>
  frame.isolatedRealm().evaluate(expression);
