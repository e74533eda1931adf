import { SECOND } from '../protocol/limits.ts';

/** Times in milliseconds. */
export interface ViewTimes {
  /** In all, with the start of the browser. */
  readonly total: number;
  /** For the browser's start. */
  readonly launch: number;
  /** For the document's first byte. */
  readonly navigate: number;
  /** For the page to appear, from its first byte. */
  readonly render: number;
}

export const VIEW_TIMES: ViewTimes = {
  total: 28 * SECOND,
  launch: 12 * SECOND,
  navigate: 10 * SECOND,
  render: 10 * SECOND,
};
