import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeUtf8,
  extractAsciiStrings,
  extractUtf16Strings,
} from '../../../src/rules/secrets/block-text.ts';
import type { FileBlock } from '../../../src/rules/secrets/file-blocks.ts';

const wholeBlock = (bytes: Buffer): FileBlock => ({ bytes, from: 0, to: bytes.length, offset: 0 });
const splitStrings = (text: string): string[] => text.split('\n\0\n').slice(0, -1);

/** The expected strings, by the simplest search. */
const findAscii = (bytes: Buffer): string[] => bytes.toString('latin1').match(/[\t\n\r -~]{6,}/g) ?? [];
const findUtf16 = (bytes: Buffer): string[] =>
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

describe('the printable strings of a block', () => {
  test('have at least six characters, including line breaks and tabs', () => {
    const bytes = Buffer.from('\0short\0longer\0two\n\tlines\r\n\x7fé"quoted"');
    expect(splitStrings(extractAsciiStrings(wholeBlock(bytes)).text)).toEqual([
      'longer',
      'two\n\tlines\r\n',
      '"quoted"',
    ]);
  });

  test('are all found in ASCII and UTF-16', () => {
    fc.assert(
      fc.property(noisy, (bytes) => {
        expect(splitStrings(extractAsciiStrings(wholeBlock(bytes)).text)).toEqual(findAscii(bytes));
        expect(splitStrings(extractUtf16Strings(wholeBlock(bytes)).text)).toEqual(findUtf16(bytes));
      }),
      { numRuns: 1_000 },
    );
  });

  test.each(Array.from({ length: 23 }, (_, shift) => shift))(
    'are found in UTF-16 at offset %i in both byte orders',
    (shift) => {
      for (const noise of [0, 7]) {
        const little = Buffer.from('string', 'utf16le');
        const big = Buffer.from('strings', 'utf16le').swap16();
        const filler = Buffer.alloc(shift, noise);
        expect(
          splitStrings(extractUtf16Strings(wholeBlock(Buffer.concat([filler, little, filler]))).text),
        ).toEqual(['string']);
        expect(
          splitStrings(extractUtf16Strings(wholeBlock(Buffer.concat([filler, big, filler]))).text),
        ).toEqual([expect.stringMatching(/^string/)]);
      }
    },
  );

  test.each([
    ['begins in a string', 3, 16, '.two\n\0\nthree'],
    ['begins after a string', 9, 21, '\n\0\nthree.four'],
    ['begins with a string', 11, 12, '\n\0\nt'],
    ['is between two strings', 8, 10, ''],
    ['ends in a string', 0, 3, 'one'],
    ['is the whole block', 0, 21, 'one.two\n\0\nthree.four'],
  ])('have the right range if the range of the block %s', (_, from, to, expected) => {
    const bytes = Buffer.from('one.two\0\0\0\0three.four');
    const inAscii = extractAsciiStrings({ bytes, from, to, offset: 0 });
    expect(inAscii.text.slice(inAscii.from, inAscii.to)).toBe(expected);
    const wide = { bytes: Buffer.from(bytes.toString(), 'utf16le'), from: 2 * from, to: 2 * to, offset: 0 };
    const inUtf16 = extractUtf16Strings(wide);
    expect(inUtf16.text.slice(inUtf16.from, inUtf16.to)).toBe(expected);
  });
});

describe('decodeUtf8', () => {
  const words = fc.string({ unit: fc.constantFrom('a', 'ы', '€', '😀', '\n'), maxLength: 30, size: 'max' });
  const positions = fc.tuple(fc.nat(40), fc.nat(40));

  test('decodes the whole block and cuts no letter at the borders of the range', () => {
    fc.assert(
      fc.property(words, positions, (word, ends) => {
        const bytes = Buffer.from(word);
        const [from, to] = ends.map((at) => Math.min(at, bytes.length)).sort((one, other) => one - other);
        const decoded = decodeUtf8({ bytes, from: from ?? 0, to: to ?? 0, offset: 0 });
        expect(decoded.text).toBe(word);
        const range = Buffer.from(word.slice(decoded.from, decoded.to));
        // A letter belongs to the range in which it begins.
        expect(range.length).toBe(findLetterStart(bytes, to ?? 0) - findLetterStart(bytes, from ?? 0));
      }),
    );
  });

  /** The start of the letter to which a byte belongs. */
  function findLetterStart(bytes: Buffer, index: number): number {
    const text = bytes.toString();
    let at = 0;
    for (const letter of text) {
      const end = at + Buffer.byteLength(letter);
      if (index < end) return at;
      at = end;
    }
    return at;
  }

  test('accepts invalid bytes', () => {
    const bytes = Buffer.alloc(40, 0x80);
    const { text, from, to } = decodeUtf8({ bytes, from: 10, to: 30, offset: 0 });
    expect([from <= to, text.length > 0]).toEqual([true, true]);
  });
});
