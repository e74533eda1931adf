import { untilAborted } from '../async.ts';
import { toMessage } from '../errors.ts';
import type { Ports } from '../ports.ts';
import {
  BrowserLaunchError,
  type BrowserProcess,
  type LaunchOptions,
  launchBrowser,
} from './browser-process.ts';
import { openPage } from './open-page.ts';
import { toPlainLine } from './page-events.ts';
import { comparePictures } from './pixels.ts';
import { type BrowserDriver, createUncheckedView, type PageToView, type ScreenView } from './screen-view.ts';
import { watchPage } from './watch-page.ts';

/** If a browser can't show even this, it lacks fonts or memory, and the delivered page may be fine. */
const CONTROL_PAGE: PageToView = { url: 'data:text/html,<h1>This browser can show a page</h1>' };

/** Milliseconds to start the browser. */
const LAUNCH_TIME = 12_000;

/** Milliseconds for a page to close before the browser is killed. */
const CLOSE_TIME = 2_000;

export interface BrowserOptions extends LaunchOptions, Pick<Ports, 'http' | 'clock' | 'logger'> {
  /** The last way out: how the user turns the sandbox off. Empty for an interface that withholds it. */
  readonly sandboxHint: () => string;
}

export class OwnBrowser implements BrowserDriver {
  readonly #options: BrowserOptions;
  #running: BrowserProcess | null = null;
  #hasShown = false;
  /** Pages are opened one by one, because a page that hangs kills the browser. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: BrowserOptions) {
    this.#options = options;
  }

  view(page: PageToView, signal: AbortSignal): Promise<ScreenView> {
    const view = this.#last.then(() => this.#viewNext(page, signal));
    this.#last = view;
    return view;
  }

  compare = async (before: Uint8Array, after: Uint8Array): Promise<number | null> =>
    comparePictures(before, after);

  async close(): Promise<void> {
    await this.#last;
    await this.#stop();
  }

  async #viewNext(page: PageToView, signal: AbortSignal): Promise<ScreenView> {
    const { sandbox, sandboxHint, logger } = this.#options;
    try {
      const seen = await this.#viewIn(page, signal);
      if (await this.#canShowPages(seen, signal)) return seen;
      const reason = "the browser can't show even a simple page on this machine";
      return { ...createUncheckedView(reason), browser: seen.browser };
    } catch (thrown) {
      logger.debug(`browser: ${thrown instanceof Error ? thrown.stack : thrown}`);
      const browser = this.#running?.version ?? '';
      await this.#stop();
      return { ...describeFault(thrown, sandbox ? sandboxHint : null), browser };
    }
  }

  async #start(signal: AbortSignal): Promise<BrowserProcess> {
    if (this.#running !== null && !this.#running.ended.aborted) return this.#running;
    await this.#stop();
    this.#options.logger.debug(`browser: ${this.#options.executablePath}`);
    const launching = AbortSignal.any([signal, this.#options.clock.timeout(LAUNCH_TIME)]);
    this.#running = await launchBrowser(this.#options, launching);
    return this.#running;
  }

  async #viewIn(page: PageToView, outer: AbortSignal): Promise<ScreenView> {
    const { browser, version, ended } = await this.#start(outer);
    const signal = AbortSignal.any([outer, ended]);
    const opened = await untilAborted(signal, openPage(browser, page, this.#options));
    try {
      const view = await untilAborted(signal, watchPage(opened, signal));
      return { ...view, browser: version };
    } finally {
      const closed = AbortSignal.any([signal, this.#options.clock.timeout(CLOSE_TIME)]);
      await untilAborted(closed, opened.close()).catch(() => this.#stop());
    }
  }

  /** If this browser has shown no page yet, a blank page may be its fault: the control page decides. */
  async #canShowPages({ verdict, httpCode }: ScreenView, signal: AbortSignal): Promise<boolean> {
    if (verdict === 'shown') this.#hasShown = true;
    const isRefused = httpCode !== null && (httpCode < 200 || httpCode > 299);
    if (this.#hasShown || verdict === 'not-checked' || isRefused) return true;
    this.#hasShown = (await this.#viewIn(CONTROL_PAGE, signal)).verdict === 'shown';
    return this.#hasShown;
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    this.#hasShown = false;
    await running?.kill();
  }
}

function describeFault(thrown: unknown, sandboxHint: BrowserOptions['sandboxHint'] | null): ScreenView {
  const message = toMessage(thrown);
  if (!(thrown instanceof BrowserLaunchError)) {
    const isTimeout = thrown instanceof Error && /^(Timeout|Abort)Error$/.test(thrown.name);
    return createUncheckedView(
      isTimeout ? 'the browser did not answer in time' : `the browser failed: ${toPlainLine(message, 200)}`,
    );
  }
  if (sandboxHint !== null && /sandbox/i.test(message)) {
    return createUncheckedView(
      "the browser's sandbox can't run here, for example as root in a container",
      `allow its sandbox on this machine${sandboxHint()}`,
    );
  }
  const [last = ''] = message.split('\n').slice(-1);
  return createUncheckedView(`the browser did not start: ${toPlainLine(last, 200)}`);
}
