import { findBrowser } from './find-browser.ts';
import { type BrowserCode, createUncheckedView } from './lazy-viewer.ts';

/** How a browser is started. */
type BrowserOptions = Omit<import('./browser.ts').ScreenViewerOptions, 'executablePath'>;

/**
 * Loads the code that drives a browser, where the machine has one. It is a bundle of its own beside the others:
 * the import keeps its name, so that the sources, `lib/` and `dist/` each load their own.
 */
export async function loadBrowserCode(options: BrowserOptions): Promise<BrowserCode> {
  const { executablePath, reason } = findBrowser(options.environment, process.platform);
  const hint = options.environment.CHROME_PATH
    ? 'correct it, or unset it'
    : 'install one, or set `CHROME_PATH`';
  if (executablePath === null) return createMissingBrowser(reason, hint);
  const { createScreenViewer, comparePictures } = await import(/* webpackIgnore: true */ './browser.ts');
  return { createViewer: () => createScreenViewer({ ...options, executablePath }), comparePictures };
}

const createMissingBrowser = (reason: string, hint: string): BrowserCode => ({
  createViewer: () => ({
    view: async () => createUncheckedView(reason, hint),
    close: async () => undefined,
  }),
  comparePictures: () => null,
});
