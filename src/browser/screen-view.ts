import type { Readable } from 'node:stream';

export interface PageToView {
  /** The address as it is handed over. */
  readonly url: string;
  /** Text that must be visible; absent where there is none or where it is not text. */
  readonly marker?: string | undefined;
  /** What its own HTML says, without spaces, at least its beginning; absent where it is not known. */
  readonly ownText?: string | undefined;
  /** The files to show instead of what the host has, before anything is published. */
  readonly local?: LocalFiles | undefined;
  /** Whether its host may be in a private network, because it was proven there; no other host or port ever may. */
  readonly isPrivateHost?: boolean | undefined;
  /** Milliseconds that it may take to appear; the usual time where absent. */
  readonly renderTime?: number | undefined;
}

interface UnpublishedFile {
  readonly size: number;
  readonly contentType: string;
  /** Its bytes from the beginning, once per call. */
  read(): Readable;
}

/** Finds a file by its decoded path below the host, such as `/repository/reports/page.html`. */
export type LocalFiles = (path: string) => UnpublishedFile | undefined;

export type ScreenVerdict = 'shown' | 'not-shown' | 'not-checked';

/** A request that failed, by an HTTP code or an error of the browser, such as `404` or `net::ERR_FAILED`. */
export interface FailedRequest {
  readonly error: string;
  /** Only the path if the page's own host was asked. */
  readonly url: string;
}

export const isOwnRequest = ({ url }: FailedRequest): boolean => url.startsWith('/');

export const formatRequest = ({ error, url }: FailedRequest): string => `${error} ${url}`;

/** What a browser saw of one page, without its picture. Texts are plain and bounded; a list has at most 1,000. */
export interface ScreenFacts {
  readonly verdict: ScreenVerdict;
  /** One sentence without a period at its end: why it is not shown, or was not checked; empty for a shown page. */
  readonly reason: string;
  /** What would help; empty where nothing is known. */
  readonly hint: string;
  /** Such as `HeadlessChrome/147.0.7727.0`; empty where none was started. */
  readonly browser: string;
  /** Of the document; `null` where none arrived. */
  readonly httpCode: number | null;
  readonly title: string;
  /** What can be seen in the window: characters of text, pictures, and drawings such as canvas or SVG. */
  readonly painted: { readonly characters: number; readonly images: number; readonly drawings: number };
  /** `null` without a marker. */
  readonly isMarkerVisible: boolean | null;
  /** Uncaught exceptions, in their order. */
  readonly exceptions: readonly string[];
  readonly failedRequests: readonly FailedRequest[];
  /** Requests that this tool refused, because they lead to an internal address. */
  readonly blockedRequests: readonly string[];
  readonly consoleErrors: readonly string[];
  /** CSS pixels by which the page is wider than a phone's 390; 0 where it fits. */
  readonly overflow: number;
  /** Milliseconds from the start of the navigation to the verdict. */
  readonly elapsed: number;
  /** Whether the pixels of two looks at the page agree; `null` where there were none. */
  readonly isStable: boolean | null;
}

export interface ScreenView extends ScreenFacts {
  /** The exception or the request that the reason names too; empty for none. */
  readonly cause: string;
  /** The text that can be seen in the window, at least its beginning, as the page has it. */
  readonly text: string;
  /** PNG of 1280 × 800 CSS pixels, at most 5 MB; `null` where none could be taken. */
  readonly picture: Uint8Array | null;
}

export interface Screen {
  /**
   * Opens a page. What fails is a view that says so. Its texts have paths for addresses of the page's own host, and
   * not the words of a report.
   *
   * @throws where the delivery is stopped
   */
  view(page: PageToView): Promise<ScreenView>;
  /** The share of pixels in which two pictures differ, from 0 to 1; `null` where they can't be compared. */
  compare(before: Uint8Array, after: Uint8Array): Promise<number | null>;
  close(): Promise<void>;
}

export interface BrowserDriver extends Omit<Screen, 'view'> {
  /** Opens a page. What fails is a view that says so; its texts are plain lines. */
  view(page: PageToView, signal: AbortSignal): Promise<ScreenView>;
}

/** The view of a page that no browser has opened. @param reason one sentence without a period at its end */
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
    overflow: 0,
    elapsed: 0,
    picture: null,
    isStable: null,
  };
}
