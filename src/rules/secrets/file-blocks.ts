/** A section of a file, with enough bytes around it to judge a secret that begins in the section. */
export interface FileBlock {
  /** Valid until the next block is requested. */
  readonly bytes: Buffer;
  /** A secret that begins at an index in [from, to) belongs to this block. These ranges cover the file once. */
  readonly from: number;
  readonly to: number;
  /** Position of the first byte in the file. */
  readonly offset: number;
}

/** 256 KiB, of which 16 KiB overlap. */
export const BLOCK_SIZES = {
  size: 262_144,
  /** Bytes before the range of the block. */
  before: 4_096,
  /** Bytes after the range of the block: the length of a secret that is surely found as a whole. */
  after: 12_288,
} as const;

/**
 * Divides a file into overlapping blocks, which all use the same memory.
 *
 * @param pieces the bytes, in pieces of any length; none is kept
 * @param most how many bytes there may be: a small file needs no whole block of memory
 */
export async function* readBlocks(
  pieces: AsyncIterable<Buffer>,
  most: number,
): AsyncGenerator<FileBlock, void, undefined> {
  const { size, before, after } = BLOCK_SIZES;
  const buffer = Buffer.allocUnsafe(Math.min(size, most));
  let filled = 0;
  let from = 0;
  let offset = 0;
  for await (const piece of pieces) {
    for (let used = 0; used < piece.length; ) {
      if (filled === size) {
        yield { bytes: buffer, from, to: size - after, offset };
        const step = size - before - after;
        buffer.copyWithin(0, step);
        filled -= step;
        offset += step;
        from = before;
      }
      const copied = piece.copy(buffer, filled, used);
      filled += copied;
      used += copied;
    }
  }
  yield { bytes: buffer.subarray(0, filled), from, to: filled, offset };
}
