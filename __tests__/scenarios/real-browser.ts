import { createHash, X509Certificate } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, launch, type Page } from 'puppeteer-core';
import { chromiumPath } from '../support/chromium.ts';
import { getMediaType } from '../world/media-types.ts';
import type { GitHubWorld } from '../world/world.ts';
import type { FolderFiles } from './generator-outputs.ts';

/** How a real browser shows a page. */
export interface BrowserView {
  /** Requests that failed or were answered with an error, exceptions, and errors on the console. */
  readonly problems: readonly string[];
  /** How many different addresses were requested. */
  readonly requests: number;
  /** PNG */
  readonly picture: Buffer;
}

/** Milliseconds without a request until a page is complete. */
const QUIET = 250;

/** Starts a Chromium that reaches the local GitHub at its real addresses. */
export async function launchBrowser({ proxyUrl, ca }: GitHubWorld): Promise<Browser> {
  const key = new X509Certificate(ca).publicKey.export({ type: 'spki', format: 'der' });
  const pin = createHash('sha256').update(key).digest('base64');
  return launch({
    executablePath: await chromiumPath(),
    pipe: true,
    headless: 'shell',
    args: [
      // Only pages of the tests are opened, and root has no sandbox.
      '--no-sandbox',
      '--hide-scrollbars',
      `--proxy-server=${proxyUrl}`,
      `--ignore-certificate-errors-spki-list=${pin}`,
    ],
  });
}

/** Opens a page with an empty profile, and waits until it has sent that many requests and sends no more. */
export async function viewPage(browser: Browser, url: string, requests: number): Promise<BrowserView> {
  const profile = await browser.createBrowserContext();
  try {
    const page = await profile.newPage();
    const { problems, addresses } = watchPage(page);
    const all = page.waitForRequest(() => addresses.size >= requests);
    await Promise.all([page.goto(url, { waitUntil: 'load' }), all]);
    await page.waitForNetworkIdle({ idleTime: QUIET });
    return { problems, requests: addresses.size, picture: Buffer.from(await page.screenshot()) };
  } finally {
    await profile.close();
  }
}

function watchPage(page: Page): { readonly problems: string[]; readonly addresses: Set<string> } {
  const problems: string[] = [];
  const addresses = new Set<string>();
  page.on('request', (request) => void addresses.add(request.url()));
  page.on('requestfailed', (request) => problems.push(`${request.failure()?.errorText} ${request.url()}`));
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  return { problems, addresses };
}

/** A plain local server with a folder at its root. */
export async function serveFolder(
  files: FolderFiles,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname).slice(1);
    const file = files[path === '' ? 'index.html' : path];
    if (file === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': getMediaType(path || 'index.html') }).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
