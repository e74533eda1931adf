import { untilAborted } from '../async.ts';
import { toDeliveryError } from '../errors.ts';
import { neutralizeText } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import { SCREEN } from '../protocol/limits.ts';
import type { BrowserOptions } from './browser.ts';
import { findBrowser } from './find-browser.ts';
import { type BrowserDriver, createUncheckedView, type Screen, type ScreenView } from './screen-view.ts';

/** Loads the browser's code for the first page only. A silent browser costs at most `SCREEN.lost` in total. */
export function createLazyScreen(
  load: () => Promise<BrowserDriver>,
  { clock, signal }: Pick<Ports, 'clock' | 'signal'>,
): Screen {
  let loaded: Promise<BrowserDriver> | undefined;
  const loadOnce = (): Promise<BrowserDriver> => (loaded ??= load());
  let lost = 0;
  return {
    async view(page) {
      const remaining = SCREEN.lost - lost;
      if (remaining <= 0) return createUncheckedView('the browser did not open earlier pages of this run');
      const stopped = AbortSignal.any([signal, clock.timeout(remaining)]);
      const begun = clock.now();
      const viewing = loadOnce().then((driver) => driver.view(page, stopped));
      // A browser that misses its deadline must not delay the delivery.
      const view = await untilAborted(stopped, viewing).catch((thrown) => {
        signal.throwIfAborted();
        return createUncheckedView(
          stopped.aborted
            ? 'the browser did not answer in time'
            : `the browser can't be used: ${toDeliveryError(thrown).message}`,
        );
      });
      if (view.verdict === 'not-checked') lost += clock.now() - begun;
      return cleanView(view, new URL(page.url));
    },
    compare: (before, after) =>
      loadOnce()
        .then((driver) => driver.compare(before, after))
        .catch(() => null),
    close: async () => loaded?.then((driver) => driver.close()).catch(() => undefined),
  };
}

function cleanView(view: ScreenView, { origin }: URL): ScreenView {
  const clean = (text: string): string =>
    neutralizeText(text.replaceAll(`${origin}/`, '/').replaceAll(origin, ''));
  return {
    ...view,
    reason: clean(view.reason),
    cause: clean(view.cause),
    title: clean(view.title),
    exceptions: view.exceptions.map(clean),
    failedRequests: view.failedRequests.map(({ error, url }) => ({ error, url: clean(url) })),
    blockedRequests: view.blockedRequests.map(clean),
    consoleErrors: view.consoleErrors.map(clean),
    unfilledTags: view.unfilledTags.map(clean),
  };
}

/** Imports the code, if the machine has a browser. It is a separate bundle in `lib/` and `dist/`. */
export async function loadScreen(options: Omit<BrowserOptions, 'executablePath'>): Promise<BrowserDriver> {
  const { CHROME_PATH } = options.env;
  const executablePath = findBrowser(options.env, process.platform);
  if (executablePath !== null) {
    const { OwnBrowser } = await import(/* webpackIgnore: true */ './browser.ts');
    return new OwnBrowser({ ...options, executablePath });
  }
  const view = CHROME_PATH
    ? createUncheckedView("the file in `CHROME_PATH` can't be run", 'correct or unset `CHROME_PATH`')
    : createUncheckedView(
        'no Chrome, Chromium or Edge was found on this machine',
        'install a browser, or set `CHROME_PATH`',
      );
  return { view: async () => view, compare: async () => null, close: async () => undefined };
}
