/** The kind of each possible byte: 0 for a byte that ends a run, an odd number for every other. */
export type ByteKinds = Uint8Array;

/** Kinds by which these Latin-1 characters belong to a run, and every other one ends it. */
export function kindsOf(characters: string): ByteKinds {
  const kinds = new Uint8Array(256);
  for (const byte of Buffer.from(characters, 'latin1')) kinds[byte] = 1;
  return kinds;
}

/**
 * The start of the first run with at least so many bytes, from a position on, or -1. A run is read backward from where
 * it would have that length, so most bytes outside of runs are never read.
 *
 * @param length at least 5
 */
export function findRun(bytes: Buffer, kinds: ByteKinds, from: number, length: number): number {
  const kindOf = (at: number): number => kinds[bytes[at] as number] as number;
  for (let last = from + length - 1; last < bytes.length; ) {
    // Three are compared together: a processor predicts the result for one byte of random content badly.
    if ((kindOf(last) & kindOf(last - 2) & kindOf(last - 4)) === 0) {
      last += length - 4;
      continue;
    }
    let at = last;
    while (at > last - length && kindOf(at) !== 0) at -= 1;
    if (at === last - length) return at + 1;
    last = at + length;
  }
  return -1;
}

/** The position after the run that contains a position. Four bytes are compared together: that takes half the time. */
export function findRunEnd(bytes: Buffer, kinds: ByteKinds, from: number): number {
  const kindOf = (at: number): number => kinds[bytes[at] as number] as number;
  const last = bytes.length - 4;
  let end = from;
  while (end <= last && (kindOf(end) & kindOf(end + 1) & kindOf(end + 2) & kindOf(end + 3)) !== 0) end += 4;
  while (end < bytes.length && kindOf(end) !== 0) end += 1;
  return end;
}
