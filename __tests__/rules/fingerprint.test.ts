import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createFingerprint, fingerprintBytes } from '../../src/rules/fingerprint.ts';

async function* stream(...chunks: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

const sha256 = (bytes: string): string => createHash('sha256').update(bytes).digest('hex');
const needles = (...texts: string[]): Buffer[] => texts.map((text) => Buffer.from(text));

test.each([
  ['two adjacent occurrences', ['abab'], 'ab', 2],
  ['no overlapping occurrences', ['aaaa'], 'aa', 2],
  ['no occurrence twice across a border', ['aa', 'a'], 'aa', 1],
  ['an occurrence in three chunks', ['xa', 'b', 'cx'], 'abc', 1],
  ['an occurrence after a partial match', ['aa', 'ab'], 'aab', 1],
  ['an occurrence that is a whole chunk', ['x', 'ab', 'x'], 'ab', 1],
  ['an occurrence around empty chunks', ['', 'a', '', 'b', ''], 'ab', 1],
])('fingerprintBytes counts %s', async (_, chunks, wanted, count) => {
  expect((await fingerprintBytes(stream(...chunks), needles(wanted))).counts).toEqual([count]);
});

test('fingerprintBytes returns the same for chunks of any size as for the whole text', async () => {
  // Two letters only, so that needles overlap themselves and each other all the time.
  const letters = fc.constantFrom('a', 'b');
  const chunks = fc.array(fc.string({ unit: letters, maxLength: 40, size: 'max' }), {
    maxLength: 8,
    size: 'max',
  });
  const wanted = fc.array(fc.string({ unit: letters, minLength: 1, maxLength: 6 }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(chunks, wanted, async (texts, texted) => {
      const seen: string[] = [];
      const found = await fingerprintBytes(stream(...texts), needles(...texted), (chunk) =>
        seen.push(chunk.toString()),
      );
      const whole = texts.join('');
      expect(seen).toEqual(texts);
      expect(found).toEqual({
        size: whole.length,
        sha256: sha256(whole),
        // `split` finds occurrences without overlaps from the left, by independent code.
        counts: texted.map((one) => whole.split(one).length - 1),
      });
    }),
    { numRuns: 1_000 },
  );
});

test('fingerprintBytes finds a letter whose bytes are in two chunks', async () => {
  const letter = Buffer.from('я');
  const { counts } = await fingerprintBytes(stream(letter.subarray(0, 1), letter.subarray(1)), [letter]);
  expect(counts).toEqual([1]);
});

test('fingerprintBytes fails with the error of an interrupted stream', async () => {
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from('half');
    throw new Error('cut');
  }
  await expect(fingerprintBytes(broken())).rejects.toThrow('cut');
});

test('createFingerprint does not read a chunk again after the call', () => {
  const fingerprint = createFingerprint(needles('ab'));
  const reused = Buffer.from('xa');
  fingerprint.add(reused);
  reused.fill('b');
  fingerprint.add(reused);
  expect(fingerprint.end().counts).toEqual([1]);
});
