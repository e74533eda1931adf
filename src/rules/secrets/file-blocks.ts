/** A section of a file, with enough bytes around it to judge secrets that begin in it. */
export interface FileBlock {
  readonly bytes: Buffer;
  /** A secret belongs to the block if it begins in [from, to). These ranges cover the file once. */
  readonly from: number;
  readonly to: number;
  readonly offset: number;
}

export const BLOCK_SIZES = {
  size: 262_144,
  before: 4_096,
  /** Bytes after the range of the block: longer secrets may be cut. */
  after: 12_288,
} as const;

/** Divides a file into overlapping blocks. @param pieces the bytes, in pieces of any length */
export async function* readBlocks(pieces: AsyncIterable<Buffer>): AsyncGenerator<FileBlock, void, undefined> {
  const { size, before, after } = BLOCK_SIZES;
  let bytes: Buffer = Buffer.alloc(0);
  let from = 0;
  let offset = 0;
  for await (const piece of pieces) {
    bytes = Buffer.concat([bytes, piece]);
    while (bytes.length >= size) {
      const to = size - after;
      yield { bytes: bytes.subarray(0, size), from, to, offset };
      bytes = bytes.subarray(to - before);
      offset += to - before;
      from = before;
    }
  }
  yield { bytes, from, to: bytes.length, offset };
}
