import { createHash } from 'node:crypto';
import { createMarkFilter } from './mark-filter.ts';

/** What one pass over some bytes tells of them. */
export interface ContentFingerprint {
  readonly size: number;
  /** Lowercase hex. */
  readonly sha256: string;
  /** How often each needle occurs, in the order in which they were given; occurrences don't overlap. */
  readonly counts: readonly number[];
}

/**
 * Reads a stream once, in memory bounded by a chunk and the longest needle.
 *
 * @param needles byte strings to count, each at least one byte
 * @param onChunk sees every chunk as well: another hash, a limit
 */
export async function fingerprintBytes(
  bytes: AsyncIterable<Buffer>,
  needles: readonly Buffer[] = [],
  onChunk: (chunk: Buffer) => void = () => undefined,
): Promise<ContentFingerprint> {
  const hash = createHash('sha256');
  const counters = needles.map(createOccurrenceCounter);
  const mayHold = whichOf(needles);
  let size = 0;
  for await (const chunk of bytes) {
    onChunk(chunk);
    hash.update(chunk);
    size += chunk.length;
    const held = mayHold(chunk);
    for (const [nth, counter] of counters.entries()) counter.push(chunk, held.has(nth));
  }
  return { size, sha256: hash.digest('hex'), counts: counters.map((counter) => counter.count()) };
}

/** A needle below this length, and a single one, is searched for at once. */
const SHORT = 4;

/** Which of the needles may stand in a chunk, so that several cost little more than one. */
function whichOf(needles: readonly Buffer[]): (chunk: Buffer) => ReadonlySet<number> {
  const all = new Set(needles.keys());
  if (needles.length < 2 || needles.some(({ length }) => length < SHORT)) return () => all;
  return createMarkFilter(needles.entries());
}

/** Counts a needle in a stream of chunks, across their borders. */
export function createOccurrenceCounter(needle: Buffer): {
  /** @param mayHold false where the chunk surely does not hold the whole needle */
  push(chunk: Buffer, mayHold?: boolean): void;
  count(): number;
} {
  let found = 0;
  /** The end of what came before: shorter than the needle, and not part of a counted occurrence. */
  let tail: Buffer = Buffer.alloc(0);
  /** Counts in a text, and keeps the end of it. */
  const search = (text: Buffer, start: number, mayHold: boolean): void => {
    let from = start;
    for (let at = mayHold ? text.indexOf(needle, from) : -1; at !== -1; at = text.indexOf(needle, from)) {
      found += 1;
      from = at + needle.length;
    }
    tail = Buffer.from(text.subarray(Math.max(from, text.length - needle.length + 1)));
  };
  return {
    push(chunk, mayHold = true) {
      if (chunk.length < needle.length) return search(Buffer.concat([tail, chunk]), 0, true);
      // Only what spans the border is looked for in a copy.
      const seam = Buffer.concat([tail, chunk.subarray(0, needle.length - 1)]);
      const across = seam.indexOf(needle);
      if (across !== -1) found += 1;
      search(chunk, across === -1 ? 0 : across + needle.length - tail.length, mayHold);
    },
    count: () => found,
  };
}
