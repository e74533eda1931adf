import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  BLOCK_SIZES,
  countNewlines,
  countNewlinesBefore,
  type FileBlock,
  readBlocks,
} from '../../../src/rules/secrets/file-blocks.ts';

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
  test('returns ranges that cover each byte of the file once', async () => {
    await fc.assert(
      fc.asyncProperty(files, pieces, async (bytes, piece) => {
        const ranges = (await listBlocks(bytes, piece)).map((block) =>
          block.bytes.subarray(block.from, block.to),
        );
        expect(Buffer.concat(ranges)).toEqual(bytes);
      }),
    );
  });

  test('returns blocks of the given size with enough bytes around each range', async () => {
    await fc.assert(
      fc.asyncProperty(files, pieces, async (bytes, piece) => {
        const blocks = await listBlocks(bytes, piece);
        for (const [index, block] of blocks.entries()) {
          expect(block.bytes.length).toBeLessThanOrEqual(SIZES.size);
          expect(block.from).toBe(index === 0 ? 0 : SIZES.before);
          expect(block.bytes.length - block.to).toBe(index === blocks.length - 1 ? 0 : SIZES.after);
        }
      }),
    );
  });

  test('returns the offset of each block', async () => {
    await fc.assert(
      fc.asyncProperty(files, pieces, async (bytes, piece) => {
        for (const block of await listBlocks(bytes, piece)) {
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

describe('countNewlines', () => {
  test.each([
    ['', 0, 0],
    ['\n', 0, 0],
    ['\n', 1, 1],
    ['a\nb\n\nc', 3, 1],
    ['a\nb\n\nc', 9, 3],
  ])('in %j before index %i returns %i in total', (text, end, count) => {
    expect(countNewlines(text, end)).toBe(count);
  });
});

describe('countNewlinesBefore', () => {
  test('counts before every offset, with pieces of any size', async () => {
    const texts = fc.string({ unit: fc.constantFrom('a', '\n'), minLength: 1, maxLength: 60, size: 'max' });
    const positions = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 6, size: 'max' });
    await fc.assert(
      fc.asyncProperty(texts, positions, fc.integer({ min: 1, max: 20 }), async (text, chosen, piece) => {
        const offsets = chosen.map((at) => Math.min(at, text.length)).sort((one, other) => one - other);
        const expected = offsets.map((at) => text.slice(0, at).split('\n').length - 1);
        expect(await countNewlinesBefore(splitIntoPieces(Buffer.from(text), piece), offsets)).toEqual(
          expected,
        );
      }),
    );
  });

  test('reads nothing after the last offset', async () => {
    async function* failingPieces(): AsyncGenerator<Buffer> {
      yield Buffer.from('a\nb\n');
      throw new Error('read too far');
    }
    expect(await countNewlinesBefore(failingPieces(), [0, 3])).toEqual([0, 1]);
    expect(await countNewlinesBefore(failingPieces(), [])).toEqual([]);
  });
});
