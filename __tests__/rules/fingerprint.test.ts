import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ContentFingerprint, createFingerprint } from '../../src/rules/fingerprint.ts';

/** The fingerprint of some chunks, whose memory is used again. */
function fingerprintOf(chunks: readonly (string | Buffer)[], marker?: string): ContentFingerprint {
  const { add, end } = createFingerprint(marker);
  for (const chunk of chunks) {
    const bytes = Buffer.from(chunk as string);
    add(bytes);
    bytes.fill('a');
  }
  return end();
}

test.each([
  ['two adjacent occurrences', ['abab'], 'ab', 2],
  ['no overlapping occurrences', ['aaaa'], 'aa', 2],
  ['no occurrence twice across a border', ['aa', 'a'], 'aa', 1],
  ['an occurrence in three chunks', ['xa', 'b', 'cx'], 'abc', 1],
  ['an occurrence after a partial match', ['aa', 'ab'], 'aab', 1],
  ['an occurrence around empty chunks', ['', 'a', '', 'b', ''], 'ab', 1],
  ['a letter whose bytes are in two chunks', [Buffer.of(0xd1), Buffer.of(0x8f)], 'я', 1],
])('The marker is counted with %s.', (_, chunks, marker, count) => {
  expect(fingerprintOf(chunks, marker).markerCount).toBe(count);
});

test('Chunks of any size give the same as the whole text.', () => {
  // Two letters only, so that a marker overlaps itself all the time.
  const letters = fc.constantFrom('a', 'b');
  const text = fc.string({ unit: letters, maxLength: 40, size: 'max' });
  const marker = fc.option(fc.string({ unit: letters, minLength: 1, maxLength: 6 }), { nil: undefined });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8, size: 'max' }), marker, (chunks, wanted) => {
      const whole = chunks.join('');
      expect(fingerprintOf(chunks, wanted)).toEqual({
        size: whole.length,
        sha256: createHash('sha256').update(whole).digest('hex'),
        // `split` finds occurrences without overlaps from the left, by independent code.
        markerCount: wanted === undefined ? null : whole.split(wanted).length - 1,
      });
    }),
    { numRuns: 1_000 },
  );
});
