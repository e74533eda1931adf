import type { Frame, HTTPRequest, Page } from 'puppeteer-core';
import { toPlainLine } from './error-text.ts';

/** Entries of each list; the others are only counted. */
const MOST_LISTED = 10;

/** Some of a kind, and how many there were in all. */
class CountedList {
  readonly items: string[] = [];
  count = 0;

  add(text: string): void {
    this.count += 1;
    if (this.items.length < MOST_LISTED) this.items.push(toPlainLine(text));
  }
}

/** A request that did not get its answer. */
interface FailedRequest {
  readonly url: string;
  readonly reason: string;
  /** Whether it was sent to the page's own host. */
  readonly isOwn: boolean;
}

/** Requests that are remembered to tell failed from refused ones. */
const MOST_FAILED = 1_000;

/** What could not be loaded is among the requests, and what no browser opens here is no error of the page. */
const TRAFFIC_ERROR =
  /^(Failed to load resource|WebSocket connection to '|Failed to establish a connection to )/;

/** What happens on a page while it is open. */
export class PageEvents {
  readonly exceptions = new CountedList();
  readonly consoleErrors = new CountedList();
  readonly failed: FailedRequest[] = [];
  /** Those whose document was answered with an error: what they show is the host's. */
  readonly failedFrames = new Set<Frame | null>();
  /** Of the last document; `null` before it arrived. */
  httpCode: number | null = null;
  contentType = '';
  /** Its address, where the page itself led to it. */
  ledTo = '';
  /** What scripts asked their own host for as data: the first failure, such as `404 https://…`, and how many it had. */
  readonly ownData = { missing: '', found: 0 };
  navigations = 0;
  dialogs = 0;
  readonly #crash = new AbortController();
  readonly #open = new Set<HTTPRequest>();
  #origin = '';

  /** Aborts when the page has crashed: nothing of it answers from then on. */
  get crashed(): AbortSignal {
    return this.#crash.signal;
  }

  get hasCrashed(): boolean {
    return this.crashed.aborted;
  }

  /** Requests whose answer is not complete. */
  get openRequests(): number {
    return this.#open.size;
  }

  /** The address of the first of them. */
  get openUrl(): string | undefined {
    return [...this.#open][0]?.url();
  }

  /** @param origin of the page's address */
  listen(page: Page, origin: string): void {
    this.#origin = origin;
    const main = page.mainFrame();
    page.on('pageerror', (error) => {
      this.exceptions.add(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    });
    page.on('error', () => this.#crash.abort());
    page.on('console', (message) => {
      const isOwn = message.type() === 'error' && !TRAFFIC_ERROR.test(message.text());
      if (isOwn) this.consoleErrors.add(message.text());
    });
    page.on('dialog', (dialog) => {
      this.dialogs += 1;
      dialog.dismiss().catch(() => undefined);
    });
    page.on('request', (request) => {
      this.#open.add(request);
      if (request.isNavigationRequest() && request.frame() === main) this.navigations += 1;
    });
    page.on('requestfinished', (request) => this.#open.delete(request));
    page.on('requestfailed', (request) => this.#fail(request, request.failure()?.errorText ?? 'failed'));
    page.on('response', (response) => {
      const request = response.request();
      const isMissing = response.status() >= 400;
      if (request.isNavigationRequest()) this.failedFrames[isMissing ? 'add' : 'delete'](request.frame());
      if (request.isNavigationRequest() && request.frame() === main) {
        this.httpCode = response.status();
        this.ledTo = this.navigations > 1 ? response.url() : '';
        this.contentType = response.headers()['content-type'] ?? '';
        return;
      }
      if (isMissing) this.#fail(request, String(response.status()), false);
      if (!/^(?:fetch|xhr)$/.test(request.resourceType()) || !this.#isOwn(request.url())) return;
      if (isMissing) this.ownData.missing ||= `${response.status()} ${request.url()}`;
      else this.ownData.found += 1;
    });
  }

  #isOwn(url: string): boolean {
    return new URL(url).origin === this.#origin;
  }

  #fail(request: HTTPRequest, reason: string, isOver = true): void {
    if (isOver) this.#open.delete(request);
    const url = request.url();
    // The page changed its mind, or the browser asked for its own sake.
    if (reason === 'net::ERR_ABORTED' || new URL(url).pathname === '/favicon.ico') return;
    if (this.failed.length < MOST_FAILED) this.failed.push({ url, reason, isOwn: this.#isOwn(url) });
  }
}
