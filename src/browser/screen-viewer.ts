import { Readable } from 'node:stream';
import { untilAborted } from '../async.ts';
import type { Clock, Logger, SendHttp } from '../ports.ts';
import { type BrowserProcess, launchBrowser } from './browser-process.ts';
import type { EnvironmentVariables } from './find-browser.ts';
import type { PageToView, ScreenView, ScreenViewer } from './screen-view.ts';
import {
  describeBrokenView,
  isAnsweredWithError,
  notCheckedView,
  openPage,
  type SeenPage,
} from './view-result.ts';
import { VIEW_TIMES, type ViewTimes, watchPage } from './watch-page.ts';

const CONTROL_HTML = Buffer.from(
  '<!doctype html><title>Control</title><h1>This browser can show a page</h1>',
);

/**
 * A page that every browser shows: where this one does not, for want of fonts or of memory, a blank page says
 * nothing about the page itself.
 */
const CONTROL_PAGE: PageToView = {
  url: 'https://control.invalid/page.html',
  picture: false,
  local: new Map([
    [
      '/page.html',
      { size: CONTROL_HTML.length, contentType: 'text/html', read: () => Readable.from([CONTROL_HTML]) },
    ],
  ]),
};

const UNABLE = 'the browser can not show even a simple page on this machine';

/** Milliseconds for a page to close; the browser ends where that is not enough. */
const CLOSE_TIME = 2_000;

export interface ScreenViewerOptions {
  /** Where the browser is. */
  readonly executablePath: string;
  /** Whether the browser's own sandbox is on. */
  readonly sandbox: boolean;
  /** Only `PATH` and its like reach the browser. */
  readonly environment: EnvironmentVariables;
  /** What the browser asks for is sent through this client. */
  readonly http: SendHttp;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where the profile is created, and removed afterwards. */
  readonly tempFolder: string;
  readonly times?: ViewTimes | undefined;
}

/** Creates a viewer; the browser starts when the first page is looked at. */
export const createScreenViewer = (options: ScreenViewerOptions): ScreenViewer => new LazyViewer(options);

class LazyViewer implements ScreenViewer {
  readonly #options: ScreenViewerOptions;
  #running: BrowserProcess | null = null;
  /** Whether the browser that runs has shown a page. */
  #hasShown = false;
  /** One page after the other: a page that hangs takes the browser with it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ScreenViewerOptions) {
    this.#options = options;
  }

  view(page: PageToView, signal: AbortSignal): Promise<ScreenView> {
    const view = this.#last.then(() => this.#viewNext(page, signal));
    this.#last = view;
    return view;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#stop();
  }

  async #viewNext(page: PageToView, outer: AbortSignal): Promise<ScreenView> {
    const { clock, sandbox, times = VIEW_TIMES } = this.#options;
    const signal = AbortSignal.any([outer, clock.timeout(times.total)]);
    let browser = '';
    try {
      const running = await this.#start(AbortSignal.any([signal, clock.timeout(times.launch)]));
      browser = running.version;
      const seen = await this.#viewIn(running, page, AbortSignal.any([signal, running.ended]));
      const isTrusted = await this.#canShowPages(seen, AbortSignal.any([signal, running.ended]));
      return isTrusted ? { ...seen, browser } : { ...notCheckedView(UNABLE), browser };
    } catch (thrown) {
      this.#options.logger.debug(`browser: ${thrown instanceof Error ? thrown.stack : thrown}`);
      // Whatever state the browser is in: the next page gets a new one.
      await this.#stop();
      return { ...describeBrokenView(thrown, sandbox), browser };
    }
  }

  /** The browser that runs, or a new one. */
  async #start(signal: AbortSignal): Promise<BrowserProcess> {
    if (this.#running !== null && !this.#running.ended.aborted) return this.#running;
    await this.#stop();
    this.#options.logger.debug(`browser: ${this.#options.executablePath}`);
    this.#running = await launchBrowser(this.#options, signal);
    return this.#running;
  }

  async #viewIn({ browser }: BrowserProcess, page: PageToView, signal: AbortSignal): Promise<SeenPage> {
    const { clock, times = VIEW_TIMES } = this.#options;
    const opened = await untilAborted(signal, openPage(browser, page, this.#options));
    try {
      return await untilAborted(signal, watchPage(opened, page, { clock, signal, times }));
    } finally {
      const closing = untilAborted(AbortSignal.any([signal, clock.timeout(CLOSE_TIME)]), opened.close());
      await closing.catch(() => this.#stop());
    }
  }

  /** Whether this browser has ever shown a page. A blank one may be the browser's fault: it is tried with another. */
  async #canShowPages(seen: SeenPage, signal: AbortSignal): Promise<boolean> {
    if (seen.verdict === 'shown') this.#hasShown = true;
    if (this.#hasShown || seen.verdict === 'not-checked' || isAnsweredWithError(seen)) return true;
    const running = await this.#start(signal);
    const { verdict } = await this.#viewIn(running, CONTROL_PAGE, signal);
    this.#hasShown = verdict === 'shown';
    return this.#hasShown;
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    this.#hasShown = false;
    await running?.kill();
  }
}
