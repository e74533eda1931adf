import type { BrowserCode } from './lazy-viewer.ts';

type BrowserOptions = Parameters<typeof import('./browser.ts')['createScreenViewer']>[0];

/**
 * Loads the code that drives a browser. It is a bundle of its own beside the others: the import keeps its name,
 * so that the sources, `lib/` and `dist/` each load their own.
 */
export async function loadBrowserCode(options: BrowserOptions): Promise<BrowserCode> {
  const { createScreenViewer, comparePictures } = await import(/* webpackIgnore: true */ './browser.ts');
  return { createViewer: () => createScreenViewer(options), comparePictures };
}
