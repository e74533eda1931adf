/** How many lines end before an index of a text. */
export function newlines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/**
 * How many lines of a file end before each offset. Nothing is read behind the last one.
 *
 * @param offsets in bytes, none smaller than the one before it
 */
export async function linesBefore(
  pieces: AsyncIterable<Buffer>,
  offsets: readonly number[],
): Promise<readonly number[]> {
  const counts: number[] = [];
  let lines = 0;
  let seen = 0;
  if (offsets.length === 0) return counts;
  for await (const piece of pieces) {
    let from = 0;
    for (let next = offsets[counts.length]; next !== undefined && next <= seen + piece.length; ) {
      lines += newlinesIn(piece, from, next - seen);
      from = next - seen;
      counts.push(lines);
      next = offsets[counts.length];
    }
    if (counts.length === offsets.length) return counts;
    lines += newlinesIn(piece, from, piece.length);
    seen += piece.length;
  }
  return counts;
}

function newlinesIn(bytes: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = bytes.indexOf(0x0a, from); at !== -1 && at < to; at = bytes.indexOf(0x0a, at + 1)) count += 1;
  return count;
}
