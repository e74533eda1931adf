import { untilAborted } from '../async.ts';
import type { ResolveHost } from '../http/public-lookup.ts';
import type { Clock, Logger } from '../ports.ts';
import { type BrowserProcess, launchBrowser } from './browser-process.ts';
import { type EnvironmentVariables, findBrowser } from './find-browser.ts';
import { createLocalCertificate, type LocalCertificate } from './local-certificate.ts';
import { openPage } from './open-page.ts';
import type { PageToView, ScreenView, ScreenViewer } from './screen-view.ts';
import { readTrustedKeys } from './trusted-keys.ts';
import { describeLaunchFailure, notCheckedView, type SeenPage } from './view-result.ts';
import { VIEW_TIMES, type ViewTimes } from './view-times.ts';
import { watchPage } from './watch-page.ts';

/** Milliseconds for a page to close; the browser ends where that is not enough. */
const CLOSE_TIME = 2_000;

export interface ScreenViewerOptions {
  /** Where the browser is; found on the machine where it is not given. */
  readonly executablePath?: string | undefined;
  /** Whether the browser's own sandbox is on. */
  readonly sandbox: boolean;
  /** For the proxy and the certificate authorities; nothing else of it reaches the browser. */
  readonly environment: EnvironmentVariables;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where the profile is created, and removed afterwards. */
  readonly tempFolder: string;
  readonly times?: ViewTimes | undefined;
  /** The resolver of the operating system, unless another one is given. */
  readonly resolve?: ResolveHost | undefined;
}

/** Creates a viewer; the browser starts when the first page is looked at. */
export async function createScreenViewer(options: ScreenViewerOptions): Promise<ScreenViewer> {
  return new LazyViewer(
    options,
    createLocalCertificate(Date.now()),
    await readTrustedKeys(options.environment),
  );
}

class LazyViewer implements ScreenViewer {
  readonly #options: ScreenViewerOptions;
  readonly #certificate: LocalCertificate;
  readonly #trustedKeys: readonly string[];
  #running: BrowserProcess | null = null;
  /** One page after the other: a page that hangs takes the browser with it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ScreenViewerOptions, certificate: LocalCertificate, trustedKeys: readonly string[]) {
    this.#options = options;
    this.#certificate = certificate;
    this.#trustedKeys = [...trustedKeys, certificate.keyHash];
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
      if (typeof running === 'string') return { ...notCheckedView(running), browser };
      browser = running.version;
      const seen = await this.#viewIn(running, page, AbortSignal.any([signal, running.ended]));
      return { ...seen, browser };
    } catch (thrown) {
      // Whatever state the browser is in: the next page gets a new one.
      await this.#stop();
      return { ...describeLaunchFailure(thrown, sandbox), browser };
    }
  }

  /** The browser that runs, a new one, or the reason why there is none. */
  async #start(signal: AbortSignal): Promise<BrowserProcess | string> {
    if (this.#running !== null && !this.#running.ended.aborted) return this.#running;
    await this.#stop();
    const { environment, logger } = this.#options;
    const found = findBrowser(environment, process.platform);
    const executablePath = this.#options.executablePath ?? found.executablePath;
    if (executablePath === null) return found.reason;
    logger.debug(`browser: ${executablePath}`);
    this.#running = await launchBrowser(
      { ...this.#options, executablePath, trustedKeys: this.#trustedKeys },
      signal,
    );
    return this.#running;
  }

  async #viewIn(running: BrowserProcess, page: PageToView, signal: AbortSignal): Promise<SeenPage> {
    const { environment, resolve, clock, times = VIEW_TIMES } = this.#options;
    const connector = { environment, resolve };
    const opening = openPage(running, page, { connector, certificate: this.#certificate });
    const opened = await untilAborted(signal, opening);
    try {
      return await untilAborted(signal, watchPage(opened, page, { clock, signal, times }));
    } finally {
      const closing = untilAborted(AbortSignal.any([signal, clock.timeout(CLOSE_TIME)]), opened.close());
      await closing.catch(() => this.#stop());
    }
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.kill();
  }
}
