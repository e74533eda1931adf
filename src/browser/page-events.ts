import type { Frame, HTTPRequest, Page } from '#puppeteer';
import { shorten, toOneLine } from '../plain-text.ts';
import type { FailedRequest } from './screen-view.ts';

/** Entries that are counted in each list. */
const MOST = 1_000;

/** A text of a page as one plain, bounded line. */
export const toPlainLine = (text: string, most = 300): string =>
  toOneLine(shorten(text.trim(), most)).replace(/\s+/g, ' ');

/** What could not be loaded is among the requests, and what no browser opens here is no error of the page. */
const TRAFFIC_ERROR =
  /^(Failed to load resource|WebSocket connection to '|Failed to establish a connection to )/;

/** What happens on a page while it is open. All texts are plain lines, and each list is bounded. */
export class PageEvents {
  readonly exceptions: string[] = [];
  readonly consoleErrors: string[] = [];
  /** Requests that failed: to the page's own host, and to others. */
  readonly failed = { own: [] as FailedRequest[], other: [] as FailedRequest[] };
  /** Addresses that were refused because they are internal, and why. */
  readonly refused = new Map<string, string>();
  /** What the page asked for and can't get here, though a visitor may; empty where that is nothing. */
  missing = '';
  /** Frames whose document was answered with an error: what they show is the host's. */
  readonly failedFrames = new Set<Frame | null>();
  /** Of the last document; `null` before it arrived. */
  httpCode: number | null = null;
  contentType = '';
  /** Its address, where the page itself led to it. */
  ledTo = '';
  /** What scripts asked their own host for as data: the first failure, and how many it had. */
  readonly ownData = { missing: null as FailedRequest | null, found: 0 };
  navigations = 0;
  dialogs = 0;
  /** Requests whose answer is not complete. */
  readonly open = new Set<HTTPRequest>();
  /** Aborts when the page has crashed: nothing of it answers from then on. */
  readonly crash = new AbortController();
  readonly #origin: string;

  /** @param url of the page */
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

  /** An answer to what the page asks for. */
  #addAnswer(request: HTTPRequest, status: number): void {
    const [url, isMissing] = [request.url(), status >= 400];
    if (request.isNavigationRequest()) this.failedFrames[isMissing ? 'add' : 'delete'](request.frame());
    if (isMissing) this.#addFailed(url, String(status));
    if (!/^(?:fetch|xhr)$/.test(request.resourceType()) || !this.#isOwn(url)) return;
    if (isMissing) this.ownData.missing ??= { error: String(status), url: toPlainLine(url) };
    else this.ownData.found += 1;
  }

  #isOwn(url: string): boolean {
    return new URL(url).origin === this.#origin;
  }

  #addFailed(url: string, reason: string): void {
    // The page changed its mind, the browser asked for its own sake, or the request was refused.
    const isMeant = !/^net::ERR_(?:ABORTED$|BLOCKED_BY_CLIENT)/.test(reason);
    if (!isMeant || new URL(url).pathname === '/favicon.ico') return;
    const list = this.#isOwn(url) ? this.failed.own : this.failed.other;
    if (list.length < MOST) list.push({ error: toPlainLine(reason), url: toPlainLine(url) });
  }
}

function add(list: string[], text: string): void {
  if (list.length < MOST) list.push(toPlainLine(text));
}
