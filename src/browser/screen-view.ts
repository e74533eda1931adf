import type { Readable } from 'node:stream';

export interface PageToView {
  readonly url: string;
  readonly marker?: string | undefined;
  /** The beginning of its HTML's text, without spaces; absent if unknown. */
  readonly ownText?: string | undefined;
  /** Template tags in that text, which no script of the page can fill in. */
  readonly ownTags?: readonly string[] | undefined;
  readonly local?: LocalFiles | undefined;
  /** Whether this host may be in a private network, because the page was verified there. No other host may. */
  readonly isPrivateHost?: boolean | undefined;
  /** Milliseconds for the page to appear, if not the default. */
  readonly renderTime?: number | undefined;
}

/** Finds a file by its decoded path, such as `/repository/reports/page.html`. */
export type LocalFiles = (
  path: string,
) => Readonly<{ size: number; contentType: string; read(): Readable }> | undefined;

export type ScreenVerdict = 'shown' | 'not-shown' | 'not-checked';

/** `error` is an HTTP code, a browser error such as `net::ERR_FAILED`, or `broken picture`. */
export interface FailedRequest {
  readonly error: string;
  /** Only the path for the page's own host. */
  readonly url: string;
}

export interface RequestedHost {
  readonly host: string;
  readonly requests: number;
}

export const isOwnRequest = ({ url }: FailedRequest): boolean => url.startsWith('/');

export const formatRequest = ({ error, url }: FailedRequest): string => `${error} ${url}`;

/** What a browser found on one page. Texts are plain and bounded; a list has at most 1,000. */
export interface ScreenFacts {
  readonly verdict: ScreenVerdict;
  /** Why the page is not shown or not checked, without a period; empty for a shown page. */
  readonly reason: string;
  /** A way out, or empty. */
  readonly hint: string;
  /** Such as `HeadlessChrome/147.0.7727.0`; empty if no browser was started. */
  readonly browser: string;
  /** The document's code; `null` if none arrived. */
  readonly httpCode: number | null;
  readonly title: string;
  /** What is visible in the window. Drawings are canvas, SVG and the like. */
  readonly painted: { readonly characters: number; readonly images: number; readonly drawings: number };
  /** `null` without a marker. */
  readonly isMarkerVisible: boolean | null;
  /** Uncaught exceptions. */
  readonly exceptions: readonly string[];
  readonly failedRequests: readonly FailedRequest[];
  /** URLs that this tool refused, because they are internal. */
  readonly blockedRequests: readonly string[];
  readonly consoleErrors: readonly string[];
  /** Template tags on the page that nothing filled in, such as `{{ title }}`. */
  readonly unfilledTags: readonly string[];
  /** Other hosts that the page requested something from, also without success. */
  readonly otherHosts: readonly RequestedHost[];
  /** CSS pixels by which the page is wider than a phone's 390; 0 if it fits. */
  readonly overflow: number;
  /** Milliseconds from the start of the navigation to the verdict. */
  readonly elapsed: number;
  /** Whether two pictures of the page agree; `null` if there are no two. */
  readonly isStable: boolean | null;
}

export interface ScreenView extends ScreenFacts {
  /** The exception or request that the reason names, or empty. */
  readonly cause: string;
  /** The beginning of the visible text, unchanged. */
  readonly text: string;
  /** PNG of 1280 × 800 CSS pixels, at most 5 MB; `null` if none could be taken. */
  readonly picture: Uint8Array | null;
}

export interface Screen {
  /**
   * Opens a page. A failure is a view with a reason. Texts name the page's own host by paths only, and can't be mistaken
   * for a report.
   *
   * @throws if the delivery is stopped
   */
  view(page: PageToView): Promise<ScreenView>;
  /** The share of different pixels, from 0 to 1; `null` if the pictures can't be compared. */
  compare(before: Uint8Array, after: Uint8Array): Promise<number | null>;
  close(): Promise<void>;
}

export interface BrowserDriver extends Omit<Screen, 'view'> {
  view(page: PageToView, signal: AbortSignal): Promise<ScreenView>;
}

/** The view of a page that no browser opened. @param reason without a period at its end */
export function createUncheckedView(reason: string, hint = ''): ScreenView {
  return {
    verdict: 'not-checked',
    reason,
    cause: '',
    hint,
    browser: '',
    httpCode: null,
    title: '',
    text: '',
    painted: { characters: 0, images: 0, drawings: 0 },
    isMarkerVisible: null,
    exceptions: [],
    failedRequests: [],
    blockedRequests: [],
    consoleErrors: [],
    unfilledTags: [],
    otherHosts: [],
    overflow: 0,
    elapsed: 0,
    picture: null,
    isStable: null,
  };
}
