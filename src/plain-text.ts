import { SECOND, SITE } from './protocol/limits.ts';
import { REPORT_LINES, RESULTS } from './protocol/words.ts';

/** The first of many names, and how many more there are. */
export function nameFew(names: readonly string[]): string {
  const more = names.length - SITE.named;
  return names.slice(0, SITE.named).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** A line that is said only under a condition, for a list of lines. */
export const lineIf = (isMeant: boolean, line: string): readonly string[] => (isMeant ? [line] : []);

/** A line that ends with some names; none without a name. */
export const namedLine = (line: string, names: readonly string[]): readonly string[] =>
  lineIf(names.length > 0, `${line}: ${nameFew(names)}`);

/** The first of many lines, and one that counts the others. */
export function firstFew<Line>(lines: readonly Line[]): readonly (Line | string)[] {
  const more = lines.length - SITE.named;
  return [...lines.slice(0, SITE.named), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** What cannot be seen or turns text around; what joins letters or chooses the form of an emoji stays. */
const INVISIBLE = /(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** The text with a readable escape, such as `\u202e`, for each bidirectional or invisible character. */
export function showInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
  });
}

/** Text on one line, with readable escapes for what a terminal would hide or obey. */
export const toOneLine = (text: string): string =>
  showInvisible(text).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');

/** Such as `1.2 s`. */
export const formatSeconds = (ms: number): string => `${(ms / SECOND).toFixed(1)} s`;

/** Such as `2026-01-02 03:04 UTC`. @param time milliseconds since the epoch */
export const formatTime = (time: number): string =>
  `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export const countFiles = (count: number): string => `${count} file${count === 1 ? '' : 's'}`;

/** The text, cut to a number of characters. */
export function shorten(text: string, most: number): string {
  // No character takes more than two units.
  const characters = [...text.slice(0, 2 * most + 2)];
  return characters.length > most ? `${characters.slice(0, most).join('')}…` : text;
}

const LINE_NAME = new RegExp(`\\b(${REPORT_LINES.join('|')})\\s*:`, 'g');
const READY = new RegExp(RESULTS.ready, 'giu');

/** Text from outside on one line, with nothing invisible and no words by which programs read a report. */
export const neutralizeText = (text: string): string =>
  text
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(LINE_NAME, '$1;')
    .replace(READY, (word) => word.toLowerCase());

/** The value of a JSON text; `undefined` where it is invalid. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The fields of an object; none for any other value. */
export const toFields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

/** A text of JSON; anything else counts as absent: no address can have half of a character. */
export const toText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.isWellFormed() ? value : undefined;

/** The known name that was most likely meant, which begins most alike; `undefined` where none does. */
export function findClosestName(given: string, names: readonly string[]): string | undefined {
  for (let length = given.length; length > 2; length -= 1) {
    const start = given.slice(0, length).toLowerCase();
    const found = names.find((name) => name.startsWith(start));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A text as it is compared with what a page shows. */
export const withoutSpace = (text: string): string => text.normalize('NFC').replace(/\s+/g, '');
