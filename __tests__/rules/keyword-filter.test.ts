import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createKeywordSearch } from '../../src/rules/keyword-filter.ts';

const KEYWORDS = ['ghp_', 'ghp_', 'gho_', 'hp_a', 'aaaa', 'abab', '_aut', '://a'];

/** Finds the names whose keywords occur in some bytes. */
function createFilter(keywords: readonly (readonly [string, string])[]): (bytes: Buffer) => string[] {
  const findEach = createKeywordSearch(keywords);
  return (bytes) => {
    const found = new Set<string>();
    const isEnded = findEach(bytes, (name) => {
      found.add(name);
      return false;
    });
    expect(isEnded).toBe(false);
    return [...found].sort();
  };
}

const find = createFilter(KEYWORDS.map((keyword) => [keyword, keyword] as const));

/** The expected result, by the simplest search. */
const findSimply = (bytes: Buffer): string[] =>
  [...new Set(KEYWORDS.filter((keyword) => bytes.includes(keyword)))].sort();

describe('createKeywordSearch', () => {
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

  test('finds every name that has the keyword, of which all bytes count', () => {
    const same = ['one', 'other'].map((name) => [name, 'same'] as const);
    const shared = createFilter([...same, ['longer', 'same old']]);
    expect(shared(Buffer.from('the same'))).toEqual(['one', 'other']);
    expect(shared(Buffer.from('the same old'))).toEqual(['longer', 'one', 'other']);
  });
});
