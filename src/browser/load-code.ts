import { findBrowser } from './find-browser.ts';
import { type BrowserCode, createUncheckedView } from './lazy-viewer.ts';

/** How a browser is started. */
type BrowserOptions = Omit<import('./browser.ts').ScreenViewerOptions, 'executablePath'>;

/** Names the browsers that would be used, where there is none. */
const MISSING_HINT =
  'install Google Chrome, Chromium or Microsoft Edge, or set the environment variable `CHROME_PATH` to one';

/**
 * Loads the code that drives a browser, where the machine has one. It is a bundle of its own beside the others:
 * the import keeps its name, so that the sources, `lib/` and `dist/` each load their own.
 */
export async function loadBrowserCode(options: BrowserOptions): Promise<BrowserCode> {
  const { executablePath, reason } = findBrowser(options.environment, process.platform);
  if (executablePath === null) return createMissingBrowser(reason);
  const { createScreenViewer, comparePictures } = await import(/* webpackIgnore: true */ './browser.ts');
  return { createViewer: () => createScreenViewer({ ...options, executablePath }), comparePictures };
}

const createMissingBrowser = (reason: string): BrowserCode => ({
  createViewer: async () => ({
    view: async () => createUncheckedView(reason, MISSING_HINT),
    close: async () => undefined,
  }),
  comparePictures: () => null,
});
