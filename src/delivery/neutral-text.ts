import { REPORT_LINES, RESULTS } from '../protocol/words.ts';

/** Characters that hide or reorder text: zero width, direction, byte order mark. */
const INVISIBLE = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

const LINE_NAMES = new RegExp(
  `(?<![\\p{L}\\p{N}_])(${REPORT_LINES.join('|')})[^\\S\\n]*[:\uFF1A\uFE55\u2236]`,
  'gu',
);
const READY = new RegExp(RESULTS.ready, 'giu');

/**
 * Text from outside (a host's message, a file's name) for use within a report: on one line, and without the
 * words by which a reader recognizes a line of the report or its result.
 */
export function neutralizeText(text: string): string {
  return text
    .replace(INVISIBLE, '')
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(LINE_NAMES, (_, name: string) => `${name};`)
    .replace(READY, RESULTS.ready.toLowerCase());
}
