import type { BrowserContext, CDPSession, Page } from 'puppeteer-core';
import type { BrowserProcess } from './browser-process.ts';
import type { LocalCertificate } from './local-certificate.ts';
import { createLocalHost } from './local-host.ts';
import type { HostConnector } from './outbound-connection.ts';
import { type OutboundProxy, PROXY_GREETING, startOutboundProxy } from './outbound-proxy.ts';
import { PageEvents } from './page-events.ts';
import { DESKTOP } from './picture.ts';
import type { PageToView } from './screen-view.ts';

/** A page may use this much of the network; the largest file of K1 has 95 MB. */
const TRAFFIC = { bytes: 268_435_456, connections: 500 } as const;

/** A blank page in a context of its own, ready to be sent to its address. */
export interface OpenPage {
  readonly page: Page;
  readonly session: CDPSession;
  readonly proxy: OutboundProxy;
  readonly events: PageEvents;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly connector: HostConnector;
  readonly certificate: LocalCertificate;
}

/** Opens a blank page whose traffic goes through a proxy of its own. */
export async function openPage(
  { browser }: BrowserProcess,
  { url, local }: PageToView,
  { connector, certificate }: OpenOptions,
): Promise<OpenPage> {
  const localHost = local === undefined ? undefined : createLocalHost(new URL(url).host, local, certificate);
  const proxy = await startOutboundProxy({ connector, limits: TRAFFIC, local: localHost });
  const endTraffic = async (): Promise<void> => {
    localHost?.close();
    await proxy.close();
  };
  try {
    const context = await browser.createBrowserContext({
      proxyServer: proxy.url,
      proxyBypassList: ['<-loopback>'],
      downloadBehavior: { policy: 'deny' },
    });
    const opened = await preparePage(context, proxy);
    return { ...opened, close: () => endTraffic().then(() => context.close()) };
  } catch (thrown) {
    await endTraffic();
    throw thrown;
  }
}

async function preparePage(context: BrowserContext, proxy: OutboundProxy): Promise<Omit<OpenPage, 'close'>> {
  const page = await context.newPage();
  const session = await page.createCDPSession();
  await denyPermissions(session, context);
  await greetProxy(session, proxy);
  await session.send('Emulation.setDeviceMetricsOverride', {
    ...DESKTOP,
    deviceScaleFactor: 1,
    mobile: false,
  });
  const events = new PageEvents();
  events.listen(page);
  return { page, session, proxy, events };
}

/** All of them, for every origin: nothing is granted, so everything else is denied. */
async function denyPermissions(session: CDPSession, context: BrowserContext): Promise<void> {
  const browserContextId = context.id;
  await session.send('Browser.grantPermissions', {
    permissions: [],
    ...(browserContextId === undefined ? {} : { browserContextId }),
  });
}

/** Lets the browser learn the credentials of the proxy; it keeps them for all requests of this context. */
async function greetProxy(session: CDPSession, proxy: OutboundProxy): Promise<void> {
  session.on('Fetch.requestPaused', ({ requestId }) => {
    session.send('Fetch.continueRequest', { requestId }).catch(() => undefined);
  });
  session.on('Fetch.authRequired', ({ requestId }) => {
    const authChallengeResponse = { response: 'ProvideCredentials' as const, ...proxy.credentials };
    session.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => undefined);
  });
  await session.send('Fetch.enable', {
    handleAuthRequests: true,
    patterns: [{ urlPattern: `${PROXY_GREETING}*` }],
  });
  await session.send('Page.navigate', { url: PROXY_GREETING });
  await session.send('Fetch.disable');
}
