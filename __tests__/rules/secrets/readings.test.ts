import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { FileBlock } from '../../../src/rules/secrets/blocks.ts';
import { asciiStrings, asText, utf16Strings } from '../../../src/rules/secrets/readings.ts';

const whole = (bytes: Buffer): FileBlock => ({ bytes, from: 0, to: bytes.length, offset: 0 });
const stringsIn = (text: string): string[] => text.split('\n\0\n').slice(0, -1);

/** What the bytes hold, said in the plainest way. */
const plainly = (bytes: Buffer): string[] => bytes.toString('latin1').match(/[\t\n\r -~]{6,}/g) ?? [];
const plainlyWide = (bytes: Buffer): string[] =>
  (bytes.toString('latin1').match(/(?:[\t\n\r -~]\0){6,}/g) ?? []).map((wide) => wide.replaceAll('\0', ''));

const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 12, size: 'max' });
const noisy = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 255 }).map((byte) => Buffer.of(byte)),
      fc.constant(Buffer.of(0)),
      letters.map((text) => Buffer.from(text)),
      letters.map((text) => Buffer.from(text, 'utf16le')),
    ),
    { maxLength: 12, size: 'max' },
  )
  .map((parts) => Buffer.concat(parts));

describe('printable strings', () => {
  test('are runs of six characters and more, line breaks and tabs within', () => {
    const bytes = Buffer.from('\0short\0longer\0two\n\tlines\r\n\x7fé"quoted"');
    expect(stringsIn(asciiStrings(whole(bytes)).text)).toEqual(['longer', 'two\n\tlines\r\n', '"quoted"']);
  });

  test('are all found', () => {
    fc.assert(
      fc.property(noisy, (bytes) => {
        expect(stringsIn(asciiStrings(whole(bytes)).text)).toEqual(plainly(bytes));
        expect(stringsIn(utf16Strings(whole(bytes)).text)).toEqual(plainlyWide(bytes));
      }),
      { numRuns: 1_000 },
    );
  });

  test.each(Array.from({ length: 23 }, (_, shift) => shift))(
    'in UTF-16 are found at any place, in either byte order: %i',
    (shift) => {
      for (const noise of [0, 7]) {
        const little = Buffer.from('string', 'utf16le');
        const big = Buffer.from('strings', 'utf16le').swap16();
        const filler = Buffer.alloc(shift, noise);
        expect(stringsIn(utf16Strings(whole(Buffer.concat([filler, little, filler]))).text)).toEqual([
          'string',
        ]);
        expect(stringsIn(utf16Strings(whole(Buffer.concat([filler, big, filler]))).text)).toEqual([
          expect.stringMatching(/^string/),
        ]);
      }
    },
  );

  test.each([
    ['begins in a string', 3, 16, '.two\n\0\nthree'],
    ['begins behind a string', 9, 21, '\n\0\nthree.four'],
    ['begins with a string', 11, 12, '\n\0\nt'],
    ['lies between strings', 8, 10, ''],
    ['ends in a string', 0, 3, 'one'],
    ['is all', 0, 21, 'one.two\n\0\nthree.four'],
  ])('know what belongs to a share that %s', (_, from, to, expected) => {
    const bytes = Buffer.from('one.two\0\0\0\0three.four');
    const inAscii = asciiStrings({ bytes, from, to, offset: 0 });
    expect(inAscii.text.slice(inAscii.from, inAscii.to)).toBe(expected);
    const wide = { bytes: Buffer.from(bytes.toString(), 'utf16le'), from: 2 * from, to: 2 * to, offset: 0 };
    const inUtf16 = utf16Strings(wide);
    expect(inUtf16.text.slice(inUtf16.from, inUtf16.to)).toBe(expected);
  });
});

describe('a text', () => {
  const words = fc.string({ unit: fc.constantFrom('a', 'ы', '€', '😀', '\n'), maxLength: 30, size: 'max' });
  const places = fc.tuple(fc.nat(40), fc.nat(40));

  test('is what the bytes say in UTF-8, and no letter is cut by the borders of the share', () => {
    fc.assert(
      fc.property(words, places, (word, ends) => {
        const bytes = Buffer.from(word);
        const [from, to] = ends.map((at) => Math.min(at, bytes.length)).sort((one, other) => one - other);
        const reading = asText({ bytes, from: from ?? 0, to: to ?? 0, offset: 0 });
        expect(reading.text).toBe(word);
        const share = Buffer.from(word.slice(reading.from, reading.to));
        // A letter belongs to the share in which it begins.
        expect(share.length).toBe(beginningOf(bytes, to ?? 0) - beginningOf(bytes, from ?? 0));
      }),
    );
  });

  /** Where the letter begins to which a byte belongs. */
  function beginningOf(bytes: Buffer, index: number): number {
    const text = bytes.toString();
    let at = 0;
    for (const letter of text) {
      const end = at + Buffer.byteLength(letter);
      if (index < end) return at;
      at = end;
    }
    return at;
  }

  test('of broken letters is a text all the same', () => {
    const bytes = Buffer.alloc(40, 0x80);
    const { text, from, to } = asText({ bytes, from: 10, to: 30, offset: 0 });
    expect([from <= to, text.length > 0]).toEqual([true, true]);
  });
});
