import { SECOND } from '../protocol/limits.ts';

type Headers = Readonly<Record<string, string | number | string[] | undefined>>;

/** A header's first value. */
export function firstHeader({ headers }: { readonly headers: Headers }, name: string): string | undefined {
  const value = headers[name];
  const first = Array.isArray(value) ? value[0] : value;
  return first === undefined ? undefined : String(first);
}

/** Milliseconds that a Retry-After asks for, where it names seconds or a date. */
export function parseRetryAfter(answer: { readonly headers: Headers }, now: number): number | undefined {
  const value = firstHeader(answer, 'retry-after');
  if (value === undefined) return undefined;
  // Date.parse takes almost anything for a date, such as "1.5" or "-5"; an HTTP date ends in GMT.
  const ms = /^\d+$/.test(value) ? Number(value) * SECOND : Date.parse(/GMT$/.test(value) ? value : '') - now;
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}
