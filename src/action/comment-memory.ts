import { parseJson, toFields, toText } from '../plain-text.ts';
import { COMMENTS } from '../protocol/limits.ts';
import type { RunNumber } from './current-run.ts';

/** A verified link, with the commit at the pull request's head and the time in milliseconds since the epoch. */
export interface ProvenLink {
  readonly name: string;
  readonly url: string;
  readonly commit: string | null;
  readonly time: number;
}

/** What a comment or issue remembers, as JSON in its hidden first line. */
export interface CommentMemory {
  /** The beginning of that line, by which a later run finds the comment. */
  readonly mark: string;
  /** The newest run that wrote it. */
  readonly run: RunNumber | null;
  readonly proven: readonly ProvenLink[];
  /** Lost deliveries that no audit has verified again. */
  readonly lost: readonly string[];
}

const FIRST_LINE = /^(<!-- \S+) (\{.*\}) -->/;

/** Returns `null` if the memory can't be read. Callers check the author first. */
export function readMemory(body: string): CommentMemory | null {
  const [, mark = '', json = ''] = FIRST_LINE.exec(body) ?? [];
  const { run = null, proven, lost } = toFields(parseJson(json));
  const isRun = run === null || isListOf(isNumber, run);
  if (!isRun || !isListOf(isLink, proven) || !isListOf(isText, lost)) return null;
  return { mark, run: run as RunNumber | null, proven, lost };
}

const isListOf = <T>(isOne: (value: unknown) => value is T, list: unknown): list is readonly T[] =>
  Array.isArray(list) && list.every(isOne);

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value);

const isText = (value: unknown): value is string => toText(value) !== undefined;

function isLink(value: unknown): value is ProvenLink {
  const { name, url, commit, time } = toFields(value);
  const isShown = isText(name) && (commit === null || isText(commit)) && isNumber(time);
  return (
    isShown && !Number.isNaN(new Date(time).getTime()) && /^https?:/.test(URL.parse(`${url}`)?.href ?? '')
  );
}

/** The first line. Without room for all lost deliveries, it keeps the number of the others. */
export function formatMemory({ mark, run, proven, lost }: CommentMemory): string {
  let room = COMMENTS.memory;
  const fits = (item: unknown): boolean => {
    room -= Buffer.byteLength(toHiddenJson(item)) + 1;
    return room >= 0;
  };
  const links = proven.filter(fits);
  const names = lost.filter(fits);
  const omitted = lost.length - names.length;
  const listed = omitted === 0 ? names : [...names, `${omitted} more`];
  return `${mark} ${toHiddenJson({ run, proven: links, lost: listed })} -->`;
}

/** Escapes all that could end the HTML comment or its line, or mention a person or issue. */
const toHiddenJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>@#\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Whether the first run began before the second. */
export const isEarlierRun = (run: RunNumber | null, other: RunNumber | null): boolean =>
  run !== null && other !== null && (run[0] - other[0] || run[1] - other[1]) < 0;
