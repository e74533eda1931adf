/** A stretch of a file, with enough around it to judge what begins in its middle. */
export interface FileBlock {
  /** Valid until the next block is asked for. */
  readonly bytes: Buffer;
  /** What begins at an index in [from, to) belongs to this block; the blocks' shares tile the whole file. */
  readonly from: number;
  readonly to: number;
  /** Where in the file its first byte lies. */
  readonly offset: number;
}

export interface BlockSizes {
  /** Bytes of a block. */
  readonly size: number;
  /** Bytes that are seen before the first index that belongs to a block. */
  readonly before: number;
  /** Bytes that are seen from its last index on: the longest thing that is surely found whole. */
  readonly after: number;
}

/** 256 KiB, of which 16 KiB overlap: in UTF-16, half as many characters. */
export const BLOCKS: BlockSizes = { size: 262_144, before: 4_096, after: 12_288 };

/**
 * Cuts a file into overlapping blocks, all in one and the same memory.
 *
 * @param pieces the bytes, in pieces of any length; none is kept
 */
export async function* readBlocks(
  pieces: AsyncIterable<Buffer>,
  { size, before, after }: BlockSizes = BLOCKS,
): AsyncGenerator<FileBlock, void, undefined> {
  const room = Buffer.allocUnsafe(size);
  let filled = 0;
  let from = 0;
  let offset = 0;
  for await (const piece of pieces) {
    for (let taken = 0; taken < piece.length; ) {
      if (filled === size) {
        yield { bytes: room, from, to: size - after, offset };
        const step = size - before - after;
        room.copyWithin(0, step);
        filled -= step;
        offset += step;
        from = before;
      }
      const more = piece.copy(room, filled, taken);
      filled += more;
      taken += more;
    }
  }
  yield { bytes: room.subarray(0, filled), from, to: filled, offset };
}
