import { expect, test } from '@jest/globals';
import { createSecretPattern } from '../src/secret-pattern.ts';

test('a token has few keywords and a short pattern: its search is fast, and needs little memory', () => {
  const { keywords, regex } = createSecretPattern('ghs_0123456789abcdefghijklmnopqrstuvwxyzAB');
  expect(keywords.length).toBeLessThanOrEqual(20);
  expect(regex.source.length).toBeLessThan(4_000);
});

test('a text is searched from its beginning each time', () => {
  const { isIn } = createSecretPattern('ghs_AbCd0123');
  expect([isIn('a ghs_AbCd0123'), isIn('ghs_AbCd0123'), isIn('ghs_AbCd012')]).toEqual([true, true, false]);
});

test('nothing is found of a value that is too short to be a secret', () => {
  expect(createSecretPattern('x').isIn('YWJjZGVm 0123')).toBe(false);
});
