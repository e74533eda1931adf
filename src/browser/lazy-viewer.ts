import type { ScreenView, ScreenViewer } from './screen-view.ts';

/** What a delivery needs of a browser. */
export interface DeliveryScreen extends ScreenViewer {
  /**
   * Compares two pictures.
   *
   * @returns the share of pixels that differ, from 0 to 1; `null` where they can't be compared
   */
  compare(one: Uint8Array, other: Uint8Array): Promise<number | null>;
}

/** The code that drives a browser: a bundle of its own. */
export interface BrowserCode {
  /** Starts the browser with the first page. */
  readonly viewer: ScreenViewer;
  comparePictures(one: Uint8Array, other: Uint8Array): number | null;
}

/**
 * A screen that loads its code when it is first needed: a delivery without a page pays nothing for it.
 *
 * @param load loads the code that drives a browser
 */
export function createLazyViewer(load: () => Promise<BrowserCode>): DeliveryScreen {
  let code: Promise<BrowserCode> | undefined;
  const loadOnce = (): Promise<BrowserCode> => {
    code ??= load();
    return code;
  };
  return {
    view: async (page, signal) => (await loadOnce()).viewer.view(page, signal),
    async close() {
      // Whatever the end of the browser brings, the delivery is over.
      await code?.then(({ viewer }) => viewer.close()).catch(() => undefined);
    },
    async compare(one, other) {
      try {
        return (await loadOnce()).comparePictures(one, other);
      } catch {
        return null;
      }
    },
  };
}

/** The view of a page that no browser has opened. @param reason one sentence without a period at its end */
export function createUncheckedView(reason: string, hint = ''): ScreenView {
  return {
    verdict: 'not-checked',
    reason,
    hint,
    browser: '',
    httpCode: null,
    title: '',
    painted: { characters: 0, images: 0, drawings: 0 },
    isMarkerVisible: null,
    exceptions: [],
    failedRequests: [],
    blockedRequests: [],
    consoleErrors: [],
    counts: { exceptions: 0, failedRequests: 0, blockedRequests: 0, consoleErrors: 0 },
    overflow: 0,
    elapsed: 0,
    picture: null,
    isStable: null,
  };
}
