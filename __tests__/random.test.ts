import { expect, test } from '@jest/globals';
import { random } from '../src/random.ts';

const drawn = Array.from({ length: 10_000 }, random);

test('a random number is at least 0 and less than 1', () => {
  for (const number of drawn) {
    expect(number).toBeGreaterThanOrEqual(0);
    expect(number).toBeLessThan(1);
  }
});

test('random numbers reach every part of that range, and none comes twice', () => {
  const tenths = new Set(drawn.map((number) => Math.floor(number * 10)));
  expect(tenths.size).toBe(10);
  // 10 000 of 2^47 numbers: two alike are a matter of one in millions; a coarse source repeats itself.
  expect(new Set(drawn).size).toBe(drawn.length);
});
