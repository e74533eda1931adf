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

interface BlockSizes {
  readonly size: number;
  /** Bytes before the range of the block. */
  readonly before: number;
  /** Bytes after the range of the block: the length of a secret that is surely found as a whole. */
  readonly after: number;
}

/** 256 KiB, of which 16 KiB overlap; in UTF-16 that is half as many characters. */
export const BLOCK_SIZES: BlockSizes = { size: 262_144, before: 4_096, after: 12_288 };

/**
 * Divides a file into overlapping blocks, which all use the same memory.
 *
 * @param pieces the bytes, in pieces of any length; none is kept
 */
export async function* readBlocks(
  pieces: AsyncIterable<Buffer>,
  { size, before, after }: BlockSizes = BLOCK_SIZES,
): AsyncGenerator<FileBlock, void, undefined> {
  // A small file needs no whole block of memory.
  let buffer: Buffer = Buffer.alloc(0);
  let filled = 0;
  let from = 0;
  let offset = 0;
  for await (const piece of pieces) {
    if (filled + piece.length > buffer.length) buffer = enlarge(buffer, filled + piece.length, size);
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

/** The same bytes in a larger buffer, which doubles each time but has at most so many bytes. */
function enlarge(buffer: Buffer, wanted: number, most: number): Buffer {
  const length = Math.min(Math.max(wanted, 2 * buffer.length), most);
  if (length <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafe(length);
  buffer.copy(larger);
  return larger;
}
