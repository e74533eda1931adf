/** A section of a file, with enough bytes around it to judge a secret that begins in the section. */
export interface FileBlock {
  readonly bytes: Buffer;
  /** A secret that begins at an index in [from, to) belongs to this block. These ranges cover the file once. */
  readonly from: number;
  readonly to: number;
  /** Position of the first byte in the file. */
  readonly offset: number;
}

export const BLOCK_SIZES = {
  /** Of a block, unless the file ends before: at least, as it ends with a piece. */
  size: 262_144,
  /** Bytes before the range of the block. */
  before: 4_096,
  /** Bytes after the range of the block: the length of a secret that is surely found as a whole. */
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
    if (bytes.length < size) continue;
    const to = bytes.length - after;
    yield { bytes, from, to, offset };
    bytes = bytes.subarray(to - before);
    offset += to - before;
    from = before;
  }
  yield { bytes, from, to: bytes.length, offset };
}
