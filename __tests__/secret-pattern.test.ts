import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createSecretPattern } from '../src/secret-pattern.ts';

/** What a keyword is followed by where it is there by chance. */
const CHANCE = '\u0001é~\u0007'.repeat(40);
/** Characters; the whole pattern has 146,000, and the one of its beginning 22,000. */
const WHOLE_PATTERN = 100_000;

const Original = globalThis.RegExp;
let largest = 0;

beforeEach(() => {
  largest = 0;
  globalThis.RegExp = class extends Original {
    constructor(pattern: string | RegExp, flags?: string) {
      super(pattern, flags);
      largest = Math.max(largest, this.source.length);
    }
  } as RegExpConstructor;
});
afterEach(() => {
  globalThis.RegExp = Original;
});

test('a keyword that is there by chance never compiles the whole pattern, which takes 25 MB', () => {
  const secret = 'ghs_0123456789abcdefghijklmnopqrstuvwxyzAB';
  const pattern = createSecretPattern(secret);
  const matched = pattern.keywords.filter((keyword) => pattern.isAt(keyword + CHANCE, 0));
  expect(matched).toEqual([]);
  expect(largest).toBeLessThan(WHOLE_PATTERN);
  expect(pattern.isAt(secret, 0)).toBe(true);
  expect(largest).toBeGreaterThan(WHOLE_PATTERN);
});
