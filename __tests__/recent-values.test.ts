import { expect, test } from '@jest/globals';
import { keepRecent } from '../src/async.ts';

test('keepRecent computes a value once while it is one of those that were used last', () => {
  const computed: string[] = [];
  const get = keepRecent(2, (key) => {
    computed.push(key);
    return key.toUpperCase();
  });
  expect(['a', 'b', 'a', 'c', 'a', 'b'].map(get)).toEqual(['A', 'B', 'A', 'C', 'A', 'B']);
  expect(computed).toEqual(['a', 'b', 'c', 'b']);
});

test('keepRecent keeps a value that is undefined too', () => {
  let count = 0;
  const get = keepRecent(1, () => {
    count += 1;
    return undefined;
  });
  expect([get('a'), get('a'), count]).toEqual([undefined, undefined, 1]);
});
