import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createKeywordFilter } from '../../src/rules/keyword-filter.ts';

const KEYWORDS = ['ghp_', 'ghp_', 'gho_', 'hp_a', 'aaaa', 'abab', '_aut', '://a'];
const filter = createKeywordFilter(KEYWORDS.map((keyword) => [keyword, `${keyword} and more`] as const));

/** The expected result, by the simplest search. */
const findSimply = (bytes: Buffer): string[] =>
  [...new Set(KEYWORDS.filter((keyword) => bytes.includes(keyword)))].sort();
const find = (bytes: Buffer): string[] => [...filter(bytes)].sort();

describe('createKeywordFilter', () => {
  const piece = fc.oneof(
    fc.constantFrom(...KEYWORDS),
    fc.constantFrom(...KEYWORDS).map((keyword) => keyword.slice(0, 3)),
    fc.constantFrom('a', 'b', '\0', '\xff'),
  );

  test('finds each keyword at any position, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10, size: 'max' }), (pieces) => {
        const bytes = Buffer.from(pieces.join(''), 'latin1');
        expect(find(bytes)).toEqual(findSimply(bytes));
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([0, 1, 2, 3, 4, 5])('finds a keyword with %d bytes before or after it', (length) => {
    for (const keyword of KEYWORDS) {
      const padding = ' '.repeat(length);
      expect(find(Buffer.from(padding + keyword))).toEqual([keyword]);
      expect(find(Buffer.from(keyword + padding))).toEqual([keyword]);
    }
  });

  test('returns every name that has the keyword', () => {
    const shared = createKeywordFilter([
      ['one', 'same'],
      ['other', 'same'],
    ]);
    expect([...shared(Buffer.from('the same'))]).toEqual(['one', 'other']);
  });

  test('finds nothing in an empty buffer', () => {
    expect(find(Buffer.alloc(0))).toEqual([]);
  });

  test('refuses a keyword that is shorter than four bytes', () => {
    expect(() => createKeywordFilter([['short', 'abc']])).toThrow('fewer than 4 bytes');
  });
});
