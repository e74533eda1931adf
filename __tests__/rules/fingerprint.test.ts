import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createOccurrenceCounter, fingerprintBytes } from '../../src/rules/fingerprint.ts';

async function* stream(...chunks: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
const needles = (...texts: string[]): Buffer[] => texts.map((text) => Buffer.from(text));

function countIn(chunks: readonly string[], needle: string): number {
  const counter = createOccurrenceCounter(Buffer.from(needle));
  for (const chunk of chunks) counter.push(Buffer.from(chunk));
  return counter.count();
}

/** Two letters only, so that needles overlap themselves and each other all the time. */
const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 });
const needle = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 5 });

describe('fingerprintBytes', () => {
  test('returns the size and the SHA-256 of all chunks together', async () => {
    const fingerprint = await fingerprintBytes(stream('<p>', 'при', 'вет</p>'));
    expect(fingerprint).toEqual({ size: 19, sha256: sha256('<p>привет</p>'), counts: [] });
  });

  test('returns the SHA-256 of no bytes for an empty stream', async () => {
    expect(await fingerprintBytes(stream(), needles('x'))).toEqual({
      size: 0,
      sha256: sha256(''),
      counts: [0],
    });
  });

  test('counts every needle, in the order of the needles', async () => {
    const { counts } = await fingerprintBytes(stream('abc ab', 'c ab'), needles('ab', 'abc', 'nothing'));
    expect(counts).toEqual([3, 2, 0]);
  });

  test('counts several needles in chunks of any size as in the whole text', async () => {
    const letters = fc.constantFrom('a', 'b');
    const long = fc.string({ unit: letters, minLength: 1, maxLength: 6 });
    const chunks = fc.array(fc.string({ unit: letters, maxLength: 40, size: 'max' }), {
      maxLength: 8,
      size: 'max',
    });
    await fc.assert(
      fc.asyncProperty(chunks, fc.array(long, { minLength: 2, maxLength: 4 }), async (texts, wanted) => {
        const { counts } = await fingerprintBytes(stream(...texts), needles(...wanted));
        expect(counts).toEqual(wanted.map((one) => texts.join('').split(one).length - 1));
      }),
      { numRuns: 1_000 },
    );
  });

  test('finds a letter whose bytes are in two chunks', async () => {
    const letter = Buffer.from('я');
    const { counts } = await fingerprintBytes(stream(letter.subarray(0, 1), letter.subarray(1)), [letter]);
    expect(counts).toEqual([1]);
  });

  test('passes every chunk to the callback', async () => {
    const seen: string[] = [];
    await fingerprintBytes(stream('one', 'two'), [], (chunk) => seen.push(chunk.toString()));
    expect(seen).toEqual(['one', 'two']);
  });

  test('fails with the error of an interrupted stream', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('half');
      throw new Error('cut');
    }
    await expect(fingerprintBytes(broken())).rejects.toThrow('cut');
  });

  test('returns the same result for chunks of any size', async () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(parts, async (chunks) => {
        const whole = Buffer.concat(chunks);
        expect(await fingerprintBytes(stream(...chunks.map((chunk) => Buffer.from(chunk))))).toEqual({
          size: whole.length,
          sha256: sha256(whole),
          counts: [],
        });
      }),
    );
  });
});

describe('createOccurrenceCounter', () => {
  test.each([
    ['two adjacent occurrences', ['abab'], 'ab', 2],
    ['no overlapping occurrences', ['aaaa'], 'aa', 2],
    ['no occurrence twice across a border', ['aa', 'a'], 'aa', 1],
    ['an occurrence in three chunks', ['xa', 'b', 'cx'], 'abc', 1],
    ['an occurrence after a partial match', ['aa', 'ab'], 'aab', 1],
    ['an occurrence that is a whole chunk', ['x', 'ab', 'x'], 'ab', 1],
    ['nothing in empty chunks', ['', 'a', '', 'b', ''], 'ba', 0],
    ['an occurrence around empty chunks', ['', 'a', '', 'b', ''], 'ab', 1],
    ['single bytes', ['aba', 'a'], 'a', 3],
  ])('counts %s', (_what, chunks, wanted, count) => {
    expect(countIn(chunks, wanted)).toBe(count);
  });

  test('counts the same in chunks of any size as in the whole text', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 10 }), needle, (chunks, wanted) => {
        // `split` finds occurrences without overlaps from the left, by independent code.
        expect(countIn(chunks, wanted)).toBe(chunks.join('').split(wanted).length - 1);
      }),
      { numRuns: 1_000 },
    );
  });

  test('does not read the chunk again after the call', () => {
    const counter = createOccurrenceCounter(Buffer.from('ab'));
    const reused = Buffer.from('xa');
    counter.push(reused);
    reused.fill('b');
    counter.push(reused);
    expect(counter.count()).toBe(1);
  });
});
