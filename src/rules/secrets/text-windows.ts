/** A stretch of a longer text, with enough around it to judge what begins in its middle. */
export interface TextWindow {
  readonly text: string;
  /** What begins at an index in [from, to) belongs to this window; the windows' shares tile the whole text. */
  readonly from: number;
  readonly to: number;
  /** Line of the window's first character, from 1. */
  readonly line: number;
}

export interface WindowSizes {
  /** Characters of a window. */
  readonly size: number;
  /** Characters that are seen before the first index that belongs to a window. */
  readonly before: number;
  /** Characters that are seen from its last index on: the longest thing that is surely found whole. */
  readonly after: number;
}

/** 256 KiB, of which 8 KiB overlap. */
export const WINDOWS: WindowSizes = { size: 262_144, before: 2_048, after: 6_144 };

/**
 * Cuts a text of any length into overlapping windows; holds one window and one piece at a time.
 *
 * @param pieces the text, in pieces of any length
 */
export async function* textWindows(
  pieces: AsyncIterable<string>,
  { size, before, after }: WindowSizes = WINDOWS,
): AsyncGenerator<TextWindow, void, undefined> {
  const step = size - before - after;
  let text = '';
  let from = 0;
  let line = 1;
  for await (const piece of pieces) {
    text += piece;
    while (text.length > size) {
      yield { text: text.slice(0, size), from, to: size - after, line };
      line += newlines(text, step);
      text = text.slice(step);
      from = before;
    }
  }
  yield { text, from, to: text.length, line };
}

/** How many lines end before an index of a text. */
export function newlines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
