import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { linesBefore, newlines } from '../../../src/rules/secrets/lines.ts';

async function* inPieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

test.each([
  ['', 0, 0],
  ['\n', 0, 0],
  ['\n', 1, 1],
  ['a\nb\n\nc', 3, 1],
  ['a\nb\n\nc', 9, 3],
])('in %j, before %i, %i lines end', (text, end, count) => {
  expect(newlines(text, end)).toBe(count);
});

test('lines are counted before every offset, whatever the pieces', async () => {
  const texts = fc.string({ unit: fc.constantFrom('a', '\n'), minLength: 1, maxLength: 60, size: 'max' });
  const places = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 6, size: 'max' });
  await fc.assert(
    fc.asyncProperty(texts, places, fc.integer({ min: 1, max: 20 }), async (text, chosen, piece) => {
      const offsets = chosen.map((at) => Math.min(at, text.length)).sort((one, other) => one - other);
      const expected = offsets.map((at) => text.slice(0, at).split('\n').length - 1);
      expect(await linesBefore(inPieces(Buffer.from(text), piece), offsets)).toEqual(expected);
    }),
  );
});

test('nothing is read behind the last offset', async () => {
  async function* pieces(): AsyncGenerator<Buffer> {
    yield Buffer.from('a\nb\n');
    throw new Error('read too far');
  }
  expect(await linesBefore(pieces(), [0, 3])).toEqual([0, 1]);
  expect(await linesBefore(pieces(), [])).toEqual([]);
});
