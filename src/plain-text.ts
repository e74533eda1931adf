import { MEGABYTE, SECOND, SITE } from './protocol/limits.ts';
import { REPORT_LINES, RESULTS } from './protocol/words.ts';

/** Lists the first names and counts the rest. */
export function nameFew(names: readonly string[], most: number = SITE.named): string {
  const more = names.length - most;
  return names.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** A conditional line of a list. */
export const lineIf = (isMeant: boolean, line: string): readonly string[] => (isMeant ? [line] : []);

/** A line that ends with names; no line without names. */
export const namedLine = (line: string, names: readonly string[]): readonly string[] =>
  lineIf(names.length > 0, `${line}: ${nameFew(names)}`);

/** The first of many lines, and a count of the rest. */
export function firstFew<Line>(lines: readonly Line[]): readonly (Line | string)[] {
  const more = lines.length - SITE.named;
  return [...lines.slice(0, SITE.named), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** Invisible and bidirectional characters, except those that form letters and emoji. */
const INVISIBLE = /(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Escapes each bidirectional or invisible character, such as `\u202e`. */
export function showInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
  });
}

/** Text on one line, with escapes for characters that a terminal would hide or obey. */
export const toOneLine = (text: string): string =>
  showInvisible(text).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');

/** Such as `1.2 s`. */
export const formatSeconds = (ms: number): string => `${(ms / SECOND).toFixed(1)} s`;

/** Such as `2026-01-02 03:04 UTC`. @param time milliseconds since the epoch */
export const formatTime = (time: number): string =>
  `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export const countFiles = (count: number): string => `${count} file${count === 1 ? '' : 's'}`;

/** Cuts the text to a number of characters. */
export function shorten(text: string, most: number): string {
  // No character takes more than two units.
  const characters = [...text.slice(0, 2 * most + 2)];
  return characters.length > most ? `${characters.slice(0, most).join('')}…` : text;
}

const LINE_NAME = new RegExp(`\\b(${REPORT_LINES.join('|')})\\s*:`, 'g');
const READY = new RegExp(RESULTS.ready, 'giu');

/** A text as HTML, also in an attribute. */
export const toHtml = (text: string): string =>
  showInvisible(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Such as `63 bytes`, `244.1 KB` or `9.3 MB`. @param size bytes */
export function formatSize(size: number): string {
  if (size < 1_024) return `${size} bytes`;
  return size < MEGABYTE ? `${(size / 1_024).toFixed(1)} KB` : `${(size / MEGABYTE).toFixed(1)} MB`;
}

/** Foreign text on one line, without invisible characters and words that programs find reports by. */
export const neutralizeText = (text: string): string =>
  text
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(LINE_NAME, '$1;')
    .replace(READY, (word) => word.toLowerCase());

/** Parses JSON; `undefined` if it is invalid. */
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

/** A well-formed string; other values count as absent, because URLs can't hold half a character. */
export const toText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.isWellFormed() ? value : undefined;

/** The known name with the longest common start; `undefined` if no name begins alike. */
export function findClosestName(given: string, names: readonly string[]): string | undefined {
  for (let length = given.length; length > 2; length -= 1) {
    const start = given.slice(0, length).toLowerCase();
    const found = names.find((name) => name.startsWith(start));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A text for comparison with a page's visible text. */
export const withoutSpace = (text: string): string => text.normalize('NFC').replace(/\s+/g, '');
