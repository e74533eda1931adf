import { expect, test } from '@jest/globals';
import * as limits from '../../src/protocol/limits.ts';
import * as words from '../../src/protocol/words.ts';

test('the words equal protocol 2.1, 3.1, 4.7 and 9', () => {
  const { CHANNELS, PROTOCOL, RESULTS } = words;
  expect(PROTOCOL).toMatchObject({ version: '1.1', identifier: 'GITHUB-SCREEN-DELIVERY', vendor: 'github' });
  expect(words.GATES).toEqual(['G1_выложено', 'G2_финальный_URL', 'G3_VERIFY_200_и_маркер', 'G4_REPORT']);
  expect(words.REPORT_LINES).toEqual(['CLAIM', 'CODE', 'TEST', 'RESULT', 'UNKNOWN']);
  expect(words.STEPS).toEqual(['check', 'authorize', 'place', 'wait', 'verify', 'report']);
  expect(RESULTS).toEqual({ ready: 'ГОТОВО', notReady: 'НЕ ГОТОВО' });
  // A program that looks for the beginning must not take one for the other.
  expect(RESULTS.notReady.startsWith(RESULTS.ready)).toBe(false);
  for (const word of ['sandbox:/', '/mnt/data/', 'local path', 'promise without a URL'])
    expect(words.NOT_DELIVERY.filter((line) => line.includes(word))).toHaveLength(1);
  const named = Object.entries(CHANNELS).map(([key, { name, lifetime }]) => `${key} ${name}, ${lifetime}`);
  expect(named).toEqual([
    'K1 pages, permanent',
    'K2 release, permanent',
    'K3 filebin, about 7 days, public to anyone with the link',
    "K4 native, by the environment's rules",
  ]);
});

test('the limits equal protocol 8', () => {
  const { BUILD_WAIT, SIZE, VERIFY_DEADLINE } = limits;
  expect(SIZE).toMatchObject({ methodA: 1024 ** 2, repository: 95 * 1024 ** 2, asset: 2 * 1024 ** 3 });
  expect(BUILD_WAIT).toMatchObject({ polls: 48, interval: 5_000 });
  expect([VERIFY_DEADLINE, BUILD_WAIT.polls * BUILD_WAIT.interval]).toEqual([240_000, 240_000]);
});

test('a missing build can be requested in time', () => {
  expect(limits.BUILD_WAIT.pollsBeforeRequest).toBeLessThan(limits.BUILD_WAIT.polls);
});
