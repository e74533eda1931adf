import { describe, expect, test } from '@jest/globals';
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
  test.each<[string, DeliveryError, number, number, number]>([
    ['a failure', retryable(), 1, 500, 750],
    ['four failures', retryable(), 4, 4_000, 6_000],
    ['a conflict', conflict, 1, 125, 187.5],
    ['so many conflicts that the pause grows no more', conflict, 39, 8_000, 12_000],
    ['a rate limit without an end', rateLimited(), 1, 60_000, 90_000],
    ['three of them', rateLimited(), 3, 240_000, 360_000],
    // At most one second more than the host asks for.
    ['a Retry-After of nothing', retryable({ retryAfter: 0 }), 1, 0, 500],
    ['a Retry-After', retryable({ retryAfter: 7_000 }), 3, 7_000, 7_500],
    ['a rate limit with an end', rateLimited({ retryAfter: 421_000 }), 1, 421_000, 421_500],
  ])('after %s is random', (_, failure, attempt, least, usual) => {
    expect(pauseBeforeRetry(failure, attempt, TOTAL_TIME, 0)).toBe(least);
    expect(pauseBeforeRetry(failure, attempt, TOTAL_TIME, 0.5)).toBe(usual);
    // No attempt starts after the deadline.
    expect(pauseBeforeRetry(failure, attempt, least + 1, 0)).toBe(least);
    expect(pauseBeforeRetry(failure, attempt, least, 0)).toBeNull();
  });

  test.each([
    ['an error that is not retryable, even with a Retry-After', errorWith('BAD_TOKEN', { retryAfter: 1 }), 1],
    ['too many attempts', retryable(), RETRY.attempts],
    ['too many conflicts', conflict, RETRY.conflict.attempts],
    ['too many rate limits', rateLimited({ retryAfter: 1 }), RETRY.limited.attempts],
    ['a Retry-After that is too long', retryable({ retryAfter: TOTAL_TIME }), 1],
  ])('gives up after %s', (_, failed, attempt) => {
    expect(pauseBeforeRetry(failed, attempt, TOTAL_TIME, 0.5)).toBeNull();
  });
});

describe('withRetries', () => {
  /** Runs work that throws these errors one after another, and then succeeds. */
  async function retried(...failures: unknown[]) {
    const ports = fakePorts();
    let runs = 0;
    const result = await withRetries(ports, async () => {
      runs += 1;
      if (runs <= failures.length) throw failures[runs - 1];
      return 'done';
    }).catch((thrown: DeliveryError) => thrown);
    return { result, runs, slept: ports.clock.slept, lines: ports.logger.lines };
  }

  test('waits between the attempts, and logs why, how long, and the number of the next attempt', async () => {
    const moved = new DeliveryError('CONFLICT', 'the branch moved', { retryable: true });
    const { result, slept, lines } = await retried(retryable(), retryable({ retryAfter: 7_000 }), moved);
    expect([result, slept]).toEqual(['done', [750, 7_500, 187.5]]);
    expect(lines).toEqual([
      'it failed; trying again in 0.8 s (attempt 2 of 5)',
      'it failed; trying again in 7.5 s (attempt 3 of 5)',
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

  test('gives up at once where the host asks for too long a time, and says which', async () => {
    const { result, runs, slept } = await retried(rateLimited({ retryAfter: 45 * 60_000 }));
    const message = 'it failed; the host asks to try again after Fri, 02 Jan 2026 03:49:05 GMT';
    expect(result).toMatchObject({ code: 'RATE_LIMITED', message, retryable: false });
    expect([runs, slept]).toEqual([1, []]);
  });

  test('throws the last error when all attempts are used up, and does not let it be retried again', async () => {
    const failures = Array.from({ length: 9 }, (_, nth) => retryable({ httpCode: 500 + nth, retryAfter: 1 }));
    const last = { httpCode: 499 + RETRY.attempts, message: 'it failed', retryable: false };
    expect(await retried(...failures)).toMatchObject({ result: last, runs: RETRY.attempts });
    // A conflict is retried more often.
    const conflicts = Array(RETRY.conflict.attempts - 1).fill(conflict);
    expect(await retried(...conflicts)).toMatchObject({ result: 'done', runs: RETRY.conflict.attempts });
  });

  test.each([
    ['an error that is not retryable', errorWith('BAD_TOKEN'), 'BAD_TOKEN'],
    ['an unexpected error', new TypeError('x is undefined'), 'INTERNAL'],
    ['the end of the delivery', stoppedError(), 'ABORTED'],
  ])('never retries %s', async (_, thrown, code) => {
    expect(await retried(thrown)).toMatchObject({ result: { code }, runs: 1, slept: [] });
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
