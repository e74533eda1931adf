import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DeliveryError, type ErrorCode, type ErrorDetails, stoppedError } from '../src/errors.ts';
import { RETRY } from '../src/protocol/limits.ts';
import { pauseBeforeRetry, withRetries } from '../src/retry.ts';
import { fakePorts, NOON } from './support/ports.ts';

const errorWith = (code: ErrorCode, details: ErrorDetails = {}): DeliveryError =>
  new DeliveryError(code, 'it failed', details);

const retryable = (details: ErrorDetails = {}): DeliveryError =>
  errorWith('HOST_ERROR', { retryable: true, ...details });

const conflict = errorWith('CONFLICT', { retryable: true });
const rateLimited = (details: ErrorDetails = {}): DeliveryError =>
  errorWith('RATE_LIMITED', { retryable: true, ...details });
const TOTAL_TIME = RETRY.totalTime;

describe('pauseBeforeRetry', () => {
  test.each([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [4, 8_000],
  ])('after attempt %d returns a random pause of at most %d ms', (attempt, most) => {
    expect(pauseBeforeRetry(retryable(), attempt, TOTAL_TIME, 0)).toBe(most / 2);
    expect(pauseBeforeRetry(retryable(), attempt, TOTAL_TIME, 0.5)).toBe(most * 0.75);
    expect(pauseBeforeRetry(retryable(), attempt, TOTAL_TIME, 0.999_999)).toBeCloseTo(most, 0);
  });

  test.each([
    [1, 250],
    [3, 1_000],
    // Not longer than the longest pause for conflicts.
    [39, 16_000],
  ])('after conflict %d returns a shorter pause of at most %d ms', (attempt, most) => {
    expect(pauseBeforeRetry(conflict, attempt, TOTAL_TIME, 0)).toBe(most / 2);
  });

  test.each([
    [1, 60_000],
    [2, 120_000],
    [3, 240_000],
  ])('after rate limit %d without an end returns at least %d ms', (attempt, least) => {
    expect(pauseBeforeRetry(rateLimited(), attempt, TOTAL_TIME, 0)).toBe(least);
    expect(pauseBeforeRetry(rateLimited(), attempt, TOTAL_TIME, 0.5)).toBe(least * 1.5);
  });

  test.each([
    ['an error that is not retryable', errorWith('BAD_TOKEN'), 1],
    ['an error that is not retryable, even with a Retry-After', errorWith('BAD_TOKEN', { retryAfter: 1 }), 1],
    ['a conflict that is not retryable', errorWith('CONFLICT'), 1],
    ['too many attempts', retryable(), RETRY.attempts],
    ['too many attempts, even with a Retry-After', retryable({ retryAfter: 1 }), RETRY.attempts],
    ['too many conflicts', conflict, RETRY.conflict.attempts],
    ['too many rate limits', rateLimited({ retryAfter: 1 }), RETRY.limited.attempts],
    ['a Retry-After that is too long', retryable({ retryAfter: TOTAL_TIME }), 1],
    ['a rate limit that is too long', rateLimited({ retryAfter: TOTAL_TIME }), 1],
  ])('gives up after %s', (_case, failed, attempt) => {
    expect(pauseBeforeRetry(failed, attempt, TOTAL_TIME, 0.5)).toBeNull();
  });

  test.each([0, 1, 7_000, 421_000])(
    'waits the %d ms that the host asks for, and at most one second more',
    (retryAfter) => {
      for (const failed of [retryable({ retryAfter }), rateLimited({ retryAfter })]) {
        expect(pauseBeforeRetry(failed, 1, TOTAL_TIME, 0)).toBe(retryAfter);
        expect(pauseBeforeRetry(failed, 1, TOTAL_TIME, 0.5)).toBe(retryAfter + 500);
      }
    },
  );

  test.each([
    ['the backoff', retryable(), 1_000],
    ['the Retry-After', retryable({ retryAfter: 7_000 }), 7_000],
    ['the pause after a conflict', conflict, 250],
  ])('gives up if %s would end after the deadline', (_case, failed, most) => {
    const pause = pauseBeforeRetry(failed, 1, TOTAL_TIME, 0) ?? Number.NaN;
    expect(pause).toBeLessThanOrEqual(most);
    expect(pauseBeforeRetry(failed, 1, pause + 1, 0)).toBe(pause);
    expect(pauseBeforeRetry(failed, 1, pause, 0)).toBeNull();
    expect(pauseBeforeRetry(failed, 1, -1, 0)).toBeNull();
  });

  test('is never longer than the longest pause and never shorter than half of the first', () => {
    const attempts = fc.integer({ min: 1, max: RETRY.conflict.attempts - 1 });
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(attempts, random, (attempt, chance) => {
        const pause = pauseBeforeRetry(conflict, attempt, TOTAL_TIME, chance);
        expect(pause).toBeGreaterThanOrEqual(RETRY.conflict.firstPause / 2);
        expect(pause).toBeLessThanOrEqual(RETRY.conflict.longestPause);
      }),
    );
  });
});

describe('withRetries', () => {
  /** Work that throws these errors one after another, and then succeeds. */
  function failWith(...failures: unknown[]): { work: () => Promise<string>; runs: () => number } {
    let runs = 0;
    return {
      runs: () => runs,
      work: async () => {
        runs += 1;
        if (runs <= failures.length) throw failures[runs - 1];
        return 'done';
      },
    };
  }

  test('runs work that succeeds only once and without a pause', async () => {
    const ports = fakePorts();
    const { work, runs } = failWith();
    expect(await withRetries(ports, work)).toBe('done');
    expect(runs()).toBe(1);
    expect(ports.clock.slept).toEqual([]);
  });

  test('waits between the attempts as pauseBeforeRetry says', async () => {
    const ports = fakePorts();
    const { work } = failWith(retryable(), retryable({ retryAfter: 7_000 }), retryable());
    expect(await withRetries(ports, work)).toBe('done');
    expect(ports.clock.slept).toEqual([750, 7_500, 3_000]);
  });

  test('logs in one line why and how long it waits, and the number of the next attempt', async () => {
    const ports = fakePorts();
    const busy = new DeliveryError('HOST_ERROR', 'reading the branch answered HTTP 503', { retryable: true });
    const moved = new DeliveryError('CONFLICT', 'the branch moved', { retryable: true });
    await withRetries(ports, failWith(busy, moved).work);
    expect(ports.logger.lines).toEqual([
      'reading the branch answered HTTP 503; trying again in 0.8 s (attempt 2 of 5)',
      'the branch moved; trying again in 0.2 s (attempt 2 of 40)',
    ]);
  });

  test('starts no attempt after the total time', async () => {
    const ports = fakePorts();
    const started: number[] = [];
    const work = async (): Promise<never> => {
      started.push(ports.clock.now() - NOON);
      ports.clock.time += 200_000;
      throw retryable();
    };
    await expect(withRetries(ports, work)).rejects.toMatchObject({ message: 'it failed', retryable: false });
    // The time counts from the first failure, so a long upload before it does not count.
    expect(started).toEqual([0, 200_750, 402_250, 605_250]);
  });

  test.each([
    ['a rate limit', rateLimited({ retryAfter: 45 * 60_000 }), 'the limit is lifted at 03:49 UTC'],
    [
      'any other Retry-After',
      retryable({ retryAfter: 45 * 60_000 }),
      'the host asks to try again at 03:49 UTC',
    ],
    [
      'a rate limit of a day',
      rateLimited({ retryAfter: 86_400_000 }),
      'the limit is lifted after a day or more',
    ],
    [
      'a rate limit beyond the range of dates',
      rateLimited({ retryAfter: 1e300 }),
      'the limit is lifted after a day or more',
    ],
  ])('gives up immediately and says when to try again: %s', async (_case, thrown, suffix) => {
    const ports = fakePorts();
    const { work, runs } = failWith(thrown);
    await expect(withRetries(ports, work)).rejects.toMatchObject({
      code: thrown.code,
      message: `it failed; ${suffix}`,
      retryable: false,
    });
    expect(runs()).toBe(1);
    expect(ports.clock.slept).toEqual([]);
  });

  test('says no time if only the number of attempts is used up', async () => {
    const { work } = failWith(...Array(RETRY.attempts).fill(rateLimited({ retryAfter: 1_000 })));
    await expect(withRetries(fakePorts(), work)).rejects.toMatchObject({ message: 'it failed' });
  });

  test('throws the last error when it gives up', async () => {
    const ports = fakePorts();
    const failures = Array.from({ length: RETRY.attempts + 1 }, (_, nth) =>
      retryable({ httpCode: 500 + nth }),
    );
    const { work, runs } = failWith(...failures);
    await expect(withRetries(ports, work)).rejects.toMatchObject({
      httpCode: 500 + RETRY.attempts - 1,
      retryable: false,
    });
    expect(runs()).toBe(RETRY.attempts);
    expect(ports.clock.slept).toHaveLength(RETRY.attempts - 1);
  });

  test('retries a conflict more often', async () => {
    const { work, runs } = failWith(...Array(RETRY.conflict.attempts - 1).fill(conflict));
    expect(await withRetries(fakePorts(), work)).toBe('done');
    expect(runs()).toBe(RETRY.conflict.attempts);
  });

  test.each([
    ['an error that is not retryable', errorWith('BAD_TOKEN'), 'BAD_TOKEN'],
    ['an unexpected error', new TypeError('x is undefined'), 'INTERNAL'],
    ['the end of the delivery', stoppedError(), 'ABORTED'],
  ])('never retries %s', async (_case, thrown, code) => {
    const ports = fakePorts();
    const { work, runs } = failWith(thrown);
    await expect(withRetries(ports, work)).rejects.toMatchObject({ code });
    expect(runs()).toBe(1);
    expect(ports.clock.slept).toEqual([]);
  });

  test('starts no further attempt after the signal aborts', async () => {
    const ports = fakePorts();
    let runs = 0;
    const work = async (): Promise<never> => {
      runs += 1;
      ports.stop.abort(new Error('stopped'));
      throw retryable();
    };
    await expect(withRetries(ports, work)).rejects.toThrow('stopped');
    expect(runs).toBe(1);
  });
});
