import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BLOCKS, type FileBlock, readBlocks } from '../../../src/rules/secrets/blocks.ts';

const SIZES = { size: 20, before: 3, after: 5 };

async function* inPieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** The blocks, each with bytes of its own. */
async function blocksOf(bytes: Buffer, piece: number): Promise<FileBlock[]> {
  const found: FileBlock[] = [];
  for await (const one of readBlocks(inPieces(bytes, piece), SIZES)) {
    found.push({ ...one, bytes: Buffer.from(one.bytes) });
  }
  return found;
}

const files = fc.uint8Array({ maxLength: 200, size: 'max' }).map((bytes) => Buffer.from(bytes));
const pieces = fc.integer({ min: 1, max: 60 });

describe('blocks of a file', () => {
  test('their shares are the file, each byte once', async () => {
    await fc.assert(
      fc.asyncProperty(files, pieces, async (bytes, piece) => {
        const shares = (await blocksOf(bytes, piece)).map((one) => one.bytes.subarray(one.from, one.to));
        expect(Buffer.concat(shares)).toEqual(bytes);
      }),
    );
  });

  test('each shows enough around its share, or the end of the file, and is no larger than asked', async () => {
    await fc.assert(
      fc.asyncProperty(files, pieces, async (bytes, piece) => {
        const found = await blocksOf(bytes, piece);
        for (const [nth, one] of found.entries()) {
          expect(one.bytes.length).toBeLessThanOrEqual(SIZES.size);
          expect(one.from).toBe(nth === 0 ? 0 : SIZES.before);
          expect(one.bytes.length - one.to).toBe(nth === found.length - 1 ? 0 : SIZES.after);
        }
      }),
    );
  });

  test('each knows where it lies', async () => {
    await fc.assert(
      fc.asyncProperty(files, pieces, async (bytes, piece) => {
        for (const one of await blocksOf(bytes, piece)) {
          expect(one.bytes).toEqual(bytes.subarray(one.offset, one.offset + one.bytes.length));
        }
      }),
    );
  });

  test('all lie in the same memory', async () => {
    const memory = new Set<ArrayBufferLike>();
    for await (const { bytes } of readBlocks(inPieces(Buffer.alloc(100), 7), SIZES)) memory.add(bytes.buffer);
    expect(memory.size).toBe(1);
  });

  test('are 256 KiB with 16 KiB of overlap', () => {
    expect(BLOCKS.size).toBe(256 * 1_024);
    expect(BLOCKS.before + BLOCKS.after).toBe(16 * 1_024);
  });
});
