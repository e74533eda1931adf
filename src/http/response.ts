import type { HttpResponse } from '../ports.ts';
import { SECOND, TEXT } from '../protocol/limits.ts';

type Headers = Readonly<Record<string, string | number | string[] | undefined>>;

/** Closes a response without reading its body. */
export function discard(response: HttpResponse): void {
  response.body.on('error', () => undefined).destroy();
}

/** Whether a host answers so where nothing exists. */
export const isAbsence = (status: number): boolean => status === 404 || status === 410;

/** The first value of a header; header names are in lower case. */
export function firstHeader({ headers }: { readonly headers: Headers }, name: string): string | undefined {
  const value = headers[name];
  const first = Array.isArray(value) ? value[0] : value;
  return first === undefined ? undefined : String(first);
}

/** Whether the body is a page: of a proxy on the way, or of another host than the one that is meant. */
export const isPage = (response: { readonly headers: Headers }): boolean =>
  /html/i.test(firstHeader(response, 'content-type') ?? '');

/** The time by the host's own clock, with which its dates are compared; by ours where it does not tell. */
export function getHostTime(response: { readonly headers: Headers }, now: number): number {
  const date = Date.parse(firstHeader(response, 'date') ?? '');
  return Number.isNaN(date) ? now : date;
}

/** The pause in milliseconds that a Retry-After header asks for, as seconds or as a date. */
export function parseRetryAfter(response: { readonly headers: Headers }, now: number): number | undefined {
  const value = firstHeader(response, 'retry-after');
  if (value === undefined) return undefined;
  // Date.parse accepts almost anything, such as "1.5" or "-5"; an HTTP date ends in GMT.
  const ms = /^\d+$/.test(value)
    ? Number(value) * SECOND
    : Date.parse(/GMT$/.test(value) ? value : '') - getHostTime(response, now);
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

/**
 * A host's text for use in a message: on one line, and at most `TEXT.hostMessage` characters long. No word is
 * cut: the redactor recognizes a secret only as a whole.
 */
export function shortHostMessage(text: unknown): string {
  const line = String(text ?? '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (line.length <= TEXT.hostMessage) return line;
  const start = line.slice(0, TEXT.hostMessage);
  const isInWord = WORD_START.test(line.slice(TEXT.hostMessage));
  return `${isInWord ? start.replace(WORD_END, '') : start}…`;
}

/** What cannot be seen ends no word, nor does the half of a character. */
const WORD_START = /^[!-~\p{Default_Ignorable_Code_Point}\p{Cs}]/u;
const WORD_END = /[!-~\p{Default_Ignorable_Code_Point}\p{Cs}]+$/u;
