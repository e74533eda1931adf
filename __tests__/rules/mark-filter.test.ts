import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMarkFilter } from '../../src/rules/mark-filter.ts';

const MARKS = ['ghp_', 'ghp_', 'gho_', 'hp_a', 'aaaa', 'abab', '_aut', '://a'];
const sift = createMarkFilter(MARKS.map((mark) => [mark, Buffer.from(`${mark} and more`)] as const));

/** The same, said in the plainest way. */
const plainly = (bytes: Buffer): string[] =>
  [...new Set(MARKS.filter((mark) => bytes.includes(mark)))].sort();
const sifted = (bytes: Buffer): string[] => [...sift(bytes)].sort();

describe('the sieve', () => {
  const piece = fc.oneof(
    fc.constantFrom(...MARKS),
    fc.constantFrom(...MARKS).map((mark) => mark.slice(0, 3)),
    fc.constantFrom('a', 'b', '\0', '\xff'),
  );

  test('sees each mark at any place, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10, size: 'max' }), (pieces) => {
        const bytes = Buffer.from(pieces.join(''), 'latin1');
        expect(sifted(bytes)).toEqual(plainly(bytes));
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([0, 1, 2, 3, 4, 5])('sees a mark with %d bytes before or behind it', (length) => {
    for (const mark of MARKS) {
      const around = ' '.repeat(length);
      expect(sifted(Buffer.from(around + mark))).toEqual([mark]);
      expect(sifted(Buffer.from(mark + around))).toEqual([mark]);
    }
  });

  test('tells everybody whose mark it is', () => {
    const shared = createMarkFilter([
      ['one', Buffer.from('same')],
      ['other', Buffer.from('same')],
    ]);
    expect([...shared(Buffer.from('the same'))]).toEqual(['one', 'other']);
  });

  test('sees nothing in nothing', () => {
    expect(sifted(Buffer.alloc(0))).toEqual([]);
  });

  test('refuses a mark that is too short to be one', () => {
    expect(() => createMarkFilter([['short', Buffer.from('abc')]])).toThrow('outside buffer bounds');
  });
});
