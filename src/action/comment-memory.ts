import { parseJson, toFields, toText } from '../plain-text.ts';
import { COMMENTS } from '../protocol/limits.ts';
import type { RunNumber } from './current-run.ts';

/** A link that was proven, and when: the commit at the pull request's head, and milliseconds since the epoch. */
export interface ProvenLink {
  readonly name: string;
  readonly url: string;
  readonly commit: string | null;
  readonly time: number;
}

/** What a comment or an issue remembers, as JSON in its first line, which nobody sees. */
export interface CommentMemory {
  /** The beginning of that line, by which the comment is found again. */
  readonly marker: string;
  /** The newest run that wrote it. */
  readonly run: RunNumber | null;
  readonly proven: readonly ProvenLink[];
  /** Deliveries that an audit found lost, and none verified again. */
  readonly lost: readonly string[];
}

const FIRST_LINE = /^(<!-- \S+) (\{.*\}) -->\r?$/m;

/** What the comment or the issue remembers; `null` if it can't be read. Its author is checked before. */
export function readMemory(body: string): CommentMemory | null {
  const [, marker = '', json = ''] = FIRST_LINE.exec(body.split('\n', 1)[0] ?? '') ?? [];
  const { run = null, proven = [], lost = [] } = toFields(parseJson(json));
  if (json === '' || !Array.isArray(proven) || !Array.isArray(lost)) return null;
  const isKnown = proven.every(isLink) && lost.every((one) => toText(one) !== undefined) && isRun(run);
  return isKnown ? { marker, run, proven, lost } : null;
}

const isRun = (value: unknown): value is RunNumber | null =>
  value === null || (Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger));

function isLink(value: unknown): value is ProvenLink {
  const { name, url, commit, time } = toFields(value);
  const isShown = toText(name) !== undefined && (commit === null || toText(commit) !== undefined);
  // A time that no date can have would end the announcement.
  return isShown && /^https?:/.test(toText(url) ?? '') && URL.canParse(`${url}`) && isTime(time);
}

const isTime = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) <= 8.64e15;

/** The first line. It forgets what it has no room for, but for the number of what was lost. */
export function formatMemory({ marker, run, proven, lost }: CommentMemory): string {
  let room = COMMENTS.memory;
  const fits = (item: unknown): boolean => {
    room -= Buffer.byteLength(toHiddenJson(item)) + 1;
    return room >= 0;
  };
  const links = proven.filter(fits);
  const names = lost.filter(fits);
  const left = lost.length - names.length;
  const listed = left === 0 ? names : [...names, `${left} more`];
  return `${marker} ${toHiddenJson({ run, proven: links, lost: listed })} -->`;
}

/** Nothing in it ends the HTML comment, or refers to a person or an issue. */
const toHiddenJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[<>@#]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);

/** Whether the first run began before the second. */
export const isEarlierRun = (one: RunNumber | null, other: RunNumber | null): boolean =>
  one !== null && other !== null && (one[0] - other[0] || one[1] - other[1]) < 0;
