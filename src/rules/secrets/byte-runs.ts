/** The kind of each possible byte: 0 for a byte that ends a run, an odd number for every other. */
export type ByteKinds = Uint8Array;

/** Kinds by which these Latin-1 characters belong to a run, and every other one ends it. */
export function kindsOf(characters: string): ByteKinds {
  const kinds = new Uint8Array(256);
  for (const byte of Buffer.from(characters, 'latin1')) kinds[byte] = 1;
  return kinds;
}

/** Compares positions of possible runs, and returns the first last position that may be one's, or the end of the bytes. */
type SkipShortRuns = (bytes: Buffer, kinds: ByteKinds, from: number, length: number) => number;

/** Runs of this length on are found by more comparisons at fewer positions. */
const LONG = 24;

/**
 * The start of the first run with at least so many bytes, from a position on, or -1. A run is read backward from where
 * it would have that length, so most bytes outside of runs are never read.
 *
 * @param length at least 5
 */
export function findRun(bytes: Buffer, kinds: ByteKinds, from: number, length: number): number {
  const skip: SkipShortRuns = length < LONG ? compareThree : compareNine;
  for (let last = from + length - 1; ; ) {
    last = skip(bytes, kinds, last, length);
    if (last >= bytes.length) return -1;
    let at = last;
    while (at > last - length && kinds[bytes[at] as number] !== 0) at -= 1;
    if (at === last - length) return at + 1;
    last = at + length;
  }
}

/**
 * Moves the last position of a possible run on while one of three bytes in it ends a run. Three are compared together,
 * because a processor predicts the result for one byte of random content badly.
 */
const compareThree: SkipShortRuns = (bytes, kinds, from, length) => {
  const end = bytes.length;
  for (let last = from; last < end; last += length - 4) {
    const [one, two, three] = [bytes[last - 4] as number, bytes[last - 2] as number, bytes[last] as number];
    if (((kinds[one] as number) & (kinds[two] as number) & (kinds[three] as number)) !== 0) return last;
  }
  return end;
};

/** The same with nine bytes, which are rarely all inside one word; the second six only where the first three are. */
const compareNine: SkipShortRuns = (bytes, kinds, from, length) => {
  const end = bytes.length;
  const kindOf = (at: number): number => kinds[bytes[at] as number] as number;
  for (let last = from; last < end; last += length - 8) {
    if ((kindOf(last) & kindOf(last - 4) & kindOf(last - 8)) === 0) continue;
    const [first, second] = [kindOf(last - 1) & kindOf(last - 2), kindOf(last - 3) & kindOf(last - 5)];
    if ((first & second & kindOf(last - 6) & kindOf(last - 7)) !== 0) return last;
  }
  return end;
};

/** The position after the run that contains a position. Four bytes are compared together: that takes half the time. */
export function findRunEnd(bytes: Buffer, kinds: ByteKinds, from: number): number {
  const kindOf = (at: number): number => kinds[bytes[at] as number] as number;
  const last = bytes.length - 4;
  let end = from;
  while (end <= last && (kindOf(end) & kindOf(end + 1) & kindOf(end + 2) & kindOf(end + 3)) !== 0) end += 4;
  while (end < bytes.length && kindOf(end) !== 0) end += 1;
  return end;
}
