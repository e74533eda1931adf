import { findBrowser } from './find-browser.ts';
import { type BrowserCode, createUncheckedView } from './lazy-viewer.ts';

/** How a browser is started. */
export type BrowserOptions = Omit<import('./browser.ts').ScreenViewerOptions, 'executablePath'>;

/**
 * Loads the code that drives a browser, where the machine has one. It is a bundle of its own beside the others:
 * the import keeps its name, so that the sources, `lib/` and `dist/` each load their own.
 */
export async function loadBrowserCode(options: BrowserOptions): Promise<BrowserCode> {
  const { executablePath, reason } = findBrowser(options.environment, process.platform);
  if (executablePath === null) {
    const hint = options.environment.CHROME_PATH
      ? 'correct it, or unset it'
      : 'install one, or set `CHROME_PATH`';
    const viewer = { view: async () => createUncheckedView(reason, hint), close: async () => undefined };
    return { viewer, comparePictures: () => null };
  }
  const { createScreenViewer, comparePictures } = await import(/* webpackIgnore: true */ './browser.ts');
  return { viewer: createScreenViewer({ ...options, executablePath }), comparePictures };
}
