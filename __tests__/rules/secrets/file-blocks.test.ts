import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BLOCK_SIZES, type FileBlock, readBlocks } from '../../../src/rules/secrets/file-blocks.ts';

const SIZES = { size: 20, before: 3, after: 5 };

async function* splitIntoPieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** Reads all blocks and copies their bytes. */
async function listBlocks(bytes: Buffer, piece: number): Promise<FileBlock[]> {
  const blocks: FileBlock[] = [];
  for await (const block of readBlocks(splitIntoPieces(bytes, piece), SIZES)) {
    blocks.push({ ...block, bytes: Buffer.from(block.bytes) });
  }
  return blocks;
}

const files = fc.uint8Array({ maxLength: 200, size: 'max' }).map((bytes) => Buffer.from(bytes));
const pieces = fc.integer({ min: 1, max: 60 });

describe('readBlocks', () => {
  test('returns blocks with enough around their ranges, which cover each byte of the file once', async () => {
    await fc.assert(
      fc.asyncProperty(files, pieces, async (bytes, piece) => {
        const blocks = await listBlocks(bytes, piece);
        expect(Buffer.concat(blocks.map((one) => one.bytes.subarray(one.from, one.to)))).toEqual(bytes);
        for (const [index, block] of blocks.entries()) {
          expect(block.bytes.length).toBeLessThanOrEqual(SIZES.size);
          expect(block.from).toBe(index === 0 ? 0 : SIZES.before);
          expect(block.bytes.length - block.to).toBe(index === blocks.length - 1 ? 0 : SIZES.after);
          expect(block.bytes).toEqual(bytes.subarray(block.offset, block.offset + block.bytes.length));
        }
      }),
    );
  });

  test('uses the same memory for all blocks', async () => {
    const memory = new Set<ArrayBufferLike>();
    for await (const { bytes } of readBlocks(splitIntoPieces(Buffer.alloc(100), 7), SIZES))
      memory.add(bytes.buffer);
    expect(memory.size).toBe(1);
  });

  test('uses blocks of 256 KiB with 16 KiB of overlap', () => {
    expect(BLOCK_SIZES.size).toBe(256 * 1_024);
    expect(BLOCK_SIZES.before + BLOCK_SIZES.after).toBe(16 * 1_024);
  });
});
