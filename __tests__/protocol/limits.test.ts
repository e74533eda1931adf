import { describe, expect, test } from '@jest/globals';
import {
  ASSETS,
  BIN_NAME,
  BUILD_WAIT,
  EXCHANGE,
  MAX_FETCHED_BODY,
  MIN_POLL_INTERVAL,
  RETRY,
  SIZE,
  VERIFY_DEADLINE,
} from '../../src/protocol/limits.ts';

describe('the limits of protocol 8', () => {
  test.each([
    ['K1 method A takes 1 MB', SIZE.methodA, 1 * 1024 ** 2],
    ['K1 method B takes 95 MB', SIZE.repository, 95 * 1024 ** 2],
    ['a release asset takes 2 GB', SIZE.asset, 2 * 1024 ** 3],
    ['a build is polled at most 48 times', BUILD_WAIT.polls, 48],
    ['a build is polled 5 s apart', BUILD_WAIT.interval, 5_000],
    ['a build is waited for at most 240 s', BUILD_WAIT.polls * BUILD_WAIT.interval, 240_000],
    ['verification ends after 240 s', VERIFY_DEADLINE, 240_000],
  ])('%s', (_title, limit, value) => {
    expect(limit).toBe(value);
  });

  test('the polls of a build and their interval add up to the whole wait', () => {
    expect(BUILD_WAIT.polls * BUILD_WAIT.interval).toBe(VERIFY_DEADLINE);
  });
});

describe('the limits of this tool allow everything that the protocol allows', () => {
  test('the largest asset can be fetched back completely', () => {
    expect(MAX_FETCHED_BODY).toBeGreaterThan(SIZE.asset);
  });

  test('a missing build is requested before the wait for it ends', () => {
    expect(BUILD_WAIT.pollsBeforeRequest).toBeLessThan(BUILD_WAIT.polls);
  });

  test('a rate limit without an end is waited for, for at least one minute', () => {
    expect(RETRY.limited.firstPause).toBeGreaterThanOrEqual(2 * 60_000);
    expect(RETRY.limited.firstPause).toBeLessThan(RETRY.totalTime);
  });

  test('one request without a response does not use the whole time for verification', () => {
    expect(EXCHANGE.connect + EXCHANGE.headers + EXCHANGE.stall).toBeLessThan(VERIFY_DEADLINE);
  });

  test('the shortest pause between polls is shorter than the usual one', () => {
    expect(MIN_POLL_INTERVAL).toBeLessThan(BUILD_WAIT.interval);
  });
});

describe('the limits of the hosts', () => {
  test('the name of a bin has 8 to 60 characters', () => {
    expect(BIN_NAME).toEqual({ shortest: 8, longest: 60 });
  });

  test('a release has at most 1,000 assets, listed in pages of at most 100', () => {
    expect(ASSETS.total).toBe(1_000);
    expect(ASSETS.page).toBeLessThanOrEqual(100);
  });
});
