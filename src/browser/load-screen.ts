import type { BrowserOptions } from './browser.ts';
import { findBrowser } from './find-browser.ts';
import { createUncheckedView, type Screen } from './screen-view.ts';

/**
 * A screen that loads its code when it is first needed: a delivery without a page pays nothing for it.
 *
 * @param load loads the code that drives a browser
 */
export function createLazyScreen(load: () => Promise<Screen>): Screen {
  let loaded: Promise<Screen> | undefined;
  const loadOnce = (): Promise<Screen> => {
    loaded ??= load();
    return loaded;
  };
  return {
    view: async (page, signal) => (await loadOnce()).view(page, signal),
    compare: (one, other) =>
      loadOnce()
        .then((screen) => screen.compare(one, other))
        .catch(() => null),
    // Whatever the end of the browser brings, the delivery is over.
    close: async () => loaded?.then((screen) => screen.close()).catch(() => undefined),
  };
}

/**
 * Loads the code that drives a browser, where the machine has one. It is a bundle of its own beside the others:
 * the import keeps its name, so that the sources, `lib/` and `dist/` each load their own.
 */
export async function loadScreen(options: Omit<BrowserOptions, 'executablePath'>): Promise<Screen> {
  const { CHROME_PATH } = options.environment;
  const executablePath = findBrowser(options.environment, process.platform);
  if (executablePath !== null) {
    const { createScreen } = await import(/* webpackIgnore: true */ './browser.ts');
    return createScreen({ ...options, executablePath });
  }
  const view = CHROME_PATH
    ? createUncheckedView('`CHROME_PATH` names no file that can be run', 'correct it, or unset it')
    : createUncheckedView(
        'no Chrome, Chromium or Edge was found on this machine',
        'install one, or set `CHROME_PATH`',
      );
  return { view: async () => view, compare: async () => null, close: async () => undefined };
}
