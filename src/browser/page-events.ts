import type { Frame, HTTPRequest, Page } from '#puppeteer';
import { shorten, toOneLine } from '../plain-text.ts';
import type { FailedRequest } from './screen-view.ts';

const MOST = 1_000;

export const toPlainLine = (text: string, most = 300): string =>
  toOneLine(shorten(text.trim(), most)).replace(/\s+/g, ' ');

/** Nobody reads the data of a `data:` URL. */
const toShortUrl = (url: string): string => toPlainLine(url, /^data:/i.test(url) ? 60 : undefined);

/** Ignored: failed requests have their own list, and no WebSocket can connect here. */
const TRAFFIC_ERROR =
  /^(Failed to load resource|WebSocket connection to '|Failed to establish a connection to )/;

/** Collects what happens on an open page. Texts are plain lines; lists are bounded. */
export class PageEvents {
  readonly exceptions: string[] = [];
  readonly consoleErrors: string[] = [];
  readonly failed = { own: [] as FailedRequest[], other: [] as FailedRequest[] };
  /** Refused internal URLs, with the reason. */
  readonly refused = new Map<string, string>();
  /** Something that a visitor's page gets, but this check can't provide; or empty. */
  missing = '';
  readonly failedFrames = new Set<Frame | null>();
  /** The last document's code; `null` before it arrives. */
  httpCode: number | null = null;
  contentType = '';
  /** The URL to which the page navigated by itself, or empty. */
  ledTo = '';
  /** Data that scripts requested from the page's host: the first failure, and the number of successes. */
  readonly ownData = { missing: null as FailedRequest | null, found: 0 };
  /** Requests by other host. */
  readonly otherHosts = new Map<string, number>();
  navigations = 0;
  dialogs = 0;
  readonly open = new Set<HTTPRequest>();
  readonly crash = new AbortController();
  readonly #origin: string;

  constructor(url: string) {
    this.#origin = new URL(url).origin;
  }

  listen(page: Page): void {
    page.on('pageerror', (error) =>
      add(this.exceptions, error instanceof Error ? `${error.name}: ${error.message}` : String(error)),
    );
    page.on('error', () => this.crash.abort());
    page.on('console', (message) => {
      const isOwn = message.type() === 'error' && !TRAFFIC_ERROR.test(message.text());
      if (isOwn) add(this.consoleErrors, message.text());
    });
    page.on('dialog', (dialog) => {
      this.dialogs += 1;
      dialog.dismiss().catch(() => undefined);
    });
    const isMain = (request: HTTPRequest): boolean =>
      request.isNavigationRequest() && request.frame() === page.mainFrame();
    page.on('request', (request) => {
      this.open.add(request);
      if (isMain(request)) this.navigations += 1;
    });
    page.on('requestfinished', (request) => this.open.delete(request));
    page.on('requestfailed', (request) => {
      this.open.delete(request);
      this.#addFailed(request.url(), request.failure()?.errorText ?? 'failed');
    });
    page.on('response', (response) => {
      const [request, status] = [response.request(), response.status()];
      if (isMain(request)) {
        this.httpCode = status;
        this.ledTo = this.navigations > 1 ? response.url() : '';
        this.contentType = response.headers()['content-type'] ?? '';
      } else this.#addAnswer(request, status);
    });
  }

  addRefused({ href }: URL, why: string): void {
    if (this.refused.size < MOST) this.refused.set(href, why);
  }

  #addAnswer(request: HTTPRequest, status: number): void {
    const [url, isMissing] = [request.url(), status >= 400];
    if (request.isNavigationRequest()) this.failedFrames[isMissing ? 'add' : 'delete'](request.frame());
    if (isMissing) this.#addFailed(url, String(status));
    if (!/^(?:fetch|xhr)$/.test(request.resourceType()) || !this.#isOwn(url)) return;
    if (isMissing) this.ownData.missing ??= { error: String(status), url: toShortUrl(url) };
    else this.ownData.found += 1;
  }

  /** Failed requests, and pictures that arrived but are broken. The browser upgrades `http:` to `https:`. */
  listFailed(pictures: readonly string[]): readonly FailedRequest[] {
    const failed = [...this.failed.own, ...this.failed.other];
    const known = new Set([...failed.map(({ url }) => url), ...[...this.refused.keys()].map(toShortUrl)]);
    const broken = pictures.map((url) => toShortUrl(url.replace(/^http:/, 'https:')));
    const others = [...new Set(broken)].filter((url) => !known.has(url));
    return [...failed, ...others.map((url) => ({ error: 'broken picture', url }))].slice(0, MOST);
  }

  /** Counts a request to another host. Other schemes, such as `attachment:`, name no host. */
  addHost({ host }: URL): void {
    if (host === '' || host === new URL(this.#origin).host) return;
    const known = this.otherHosts.get(host) ?? 0;
    if (known > 0 || this.otherHosts.size < MOST) this.otherHosts.set(host, known + 1);
  }

  #isOwn(url: string): boolean {
    return new URL(url).origin === this.#origin;
  }

  #addFailed(url: string, reason: string): void {
    // Ignored: requests that the page cancelled or that we refused, and the browser's own request for an icon.
    const isMeant = !/^net::ERR_(?:ABORTED$|BLOCKED_BY_CLIENT)/.test(reason);
    if (!isMeant || new URL(url).pathname === '/favicon.ico') return;
    const list = this.#isOwn(url) ? this.failed.own : this.failed.other;
    if (list.length < MOST) list.push({ error: toPlainLine(reason), url: toShortUrl(url) });
  }
}

function add(list: string[], text: string): void {
  if (list.length < MOST) list.push(toPlainLine(text));
}
