/** Times in milliseconds. */
export interface ViewTimes {
  /** In all, with the start of the browser. */
  readonly total: number;
  /** For the browser's start. */
  readonly launch: number;
  /** For a page to appear, from its first byte. */
  readonly render: number;
}

export const VIEW_TIMES: ViewTimes = { total: 30_000, launch: 12_000, render: 10_000 };
