import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DeliveryError, type ErrorCode, type ErrorDetails } from '../src/errors.ts';
import { RETRY } from '../src/protocol/limits.ts';
import { pauseBeforeRetry, withRetries } from '../src/retry.ts';
import { fakePorts, NOON } from './support/ports.ts';

const failure = (code: ErrorCode, details: ErrorDetails = {}): DeliveryError =>
  new DeliveryError(code, 'it failed', details);

const passing = (details: ErrorDetails = {}): DeliveryError =>
  failure('HOST_ERROR', { retryable: true, ...details });

const conflict = failure('CONFLICT', { retryable: true });
const limited = (details: ErrorDetails = {}): DeliveryError =>
  failure('RATE_LIMITED', { retryable: true, ...details });
const PLENTY = RETRY.patience;

describe('pauseBefore', () => {
  test.each([
    ['the first pause', 1, 1_000],
    ['twice as long each time', 2, 2_000],
    ['and again', 3, 4_000],
    ['until the last', 4, 8_000],
  ])('waits, backing off: %s', (_which, attempt, most) => {
    expect(pauseBeforeRetry(passing(), attempt, PLENTY, 0)).toBe(most / 2);
    expect(pauseBeforeRetry(passing(), attempt, PLENTY, 0.5)).toBe(most * 0.75);
    expect(pauseBeforeRetry(passing(), attempt, PLENTY, 0.999_999)).toBeCloseTo(most, 0);
  });

  test.each([
    ['a conflict is tried again sooner', 1, 250],
    ['twice as long each time', 3, 1_000],
    ['but never above its own longest pause', 39, 16_000],
  ])('of a lost race: %s', (_which, attempt, most) => {
    expect(pauseBeforeRetry(conflict, attempt, PLENTY, 0)).toBe(most / 2);
  });

  test.each([
    ['a minute at least', 1, 60_000],
    ['twice as long each time', 2, 120_000],
    ['and again', 3, 240_000],
  ])('of a limit that names no end: %s', (_which, attempt, least) => {
    expect(pauseBeforeRetry(limited(), attempt, PLENTY, 0)).toBe(least);
    expect(pauseBeforeRetry(limited(), attempt, PLENTY, 0.5)).toBe(least * 1.5);
  });

  test.each([
    ['a failure that does not pass', failure('BAD_TOKEN'), 1],
    ['a failure that does not pass, whatever the host asks', failure('BAD_TOKEN', { retryAfter: 1 }), 1],
    ['a conflict that does not pass', failure('CONFLICT'), 1],
    ['too many attempts', passing(), RETRY.attempts],
    ['too many attempts, whatever the host asks', passing({ retryAfter: 1 }), RETRY.attempts],
    ['too many lost races', conflict, RETRY.conflict.attempts],
    ['too many limits', limited({ retryAfter: 1 }), RETRY.limited.attempts],
    ['a host that asks for too long a pause', passing({ retryAfter: PLENTY }), 1],
    ['a limit that lasts for too long', limited({ retryAfter: PLENTY }), 1],
  ])('gives up after %s', (_what, failed, attempt) => {
    expect(pauseBeforeRetry(failed, attempt, PLENTY, 0.5)).toBeNull();
  });

  test.each([0, 1, 7_000, 421_000])(
    'waits the %d ms that the host asks for, never less, and at most a second more',
    (retryAfter) => {
      for (const failed of [passing({ retryAfter }), limited({ retryAfter })]) {
        expect(pauseBeforeRetry(failed, 1, PLENTY, 0)).toBe(retryAfter);
        expect(pauseBeforeRetry(failed, 1, PLENTY, 0.5)).toBe(retryAfter + 500);
      }
    },
  );

  test.each([
    ['the backoff', passing(), 1_000],
    ['what the host asks for', passing({ retryAfter: 7_000 }), 7_000],
    ['the pause after a lost race', conflict, 250],
  ])('gives up where %s would end behind the deadline', (_what, failed, most) => {
    const pause = pauseBeforeRetry(failed, 1, PLENTY, 0) ?? Number.NaN;
    expect(pause).toBeLessThanOrEqual(most);
    expect(pauseBeforeRetry(failed, 1, pause + 1, 0)).toBe(pause);
    expect(pauseBeforeRetry(failed, 1, pause, 0)).toBeNull();
    expect(pauseBeforeRetry(failed, 1, -1, 0)).toBeNull();
  });

  test('is never longer than the longest pause, and never shorter than half the first', () => {
    const attempts = fc.integer({ min: 1, max: RETRY.conflict.attempts - 1 });
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(attempts, random, (attempt, chance) => {
        const pause = pauseBeforeRetry(conflict, attempt, PLENTY, chance);
        expect(pause).toBeGreaterThanOrEqual(RETRY.conflict.firstPause / 2);
        expect(pause).toBeLessThanOrEqual(RETRY.conflict.longestPause);
      }),
    );
  });
});

describe('retrying', () => {
  /** Work that throws these one after the other, and then succeeds. */
  function failing(...failures: unknown[]): { work: () => Promise<string>; runs: () => number } {
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

  test('runs work that succeeds once, without a pause', async () => {
    const ports = fakePorts();
    const { work, runs } = failing();
    expect(await withRetries(ports, work)).toBe('done');
    expect(runs()).toBe(1);
    expect(ports.clock.slept).toEqual([]);
  });

  test('waits between the attempts as the policy says', async () => {
    const ports = fakePorts();
    const { work } = failing(passing(), passing({ retryAfter: 7_000 }), passing());
    expect(await withRetries(ports, work)).toBe('done');
    expect(ports.clock.slept).toEqual([750, 7_500, 3_000]);
  });

  test('says in one line why it waits, for how long, and which attempt comes', async () => {
    const ports = fakePorts();
    const busy = new DeliveryError('HOST_ERROR', 'reading the branch answered HTTP 503', { retryable: true });
    const race = new DeliveryError('CONFLICT', 'the branch moved', { retryable: true });
    await withRetries(ports, failing(busy, race).work);
    expect(ports.logger.lines).toEqual([
      'reading the branch answered HTTP 503; trying again in 0.8 s (attempt 2 of 5)',
      'the branch moved; trying again in 0.2 s (attempt 2 of 40)',
    ]);
  });

  test('begins no attempt later than its patience lasts', async () => {
    const ports = fakePorts();
    const begun: number[] = [];
    const work = async (): Promise<never> => {
      begun.push(ports.clock.now() - NOON);
      ports.clock.time += 200_000;
      throw passing();
    };
    await expect(withRetries(ports, work)).rejects.toMatchObject({ message: 'it failed', retryable: false });
    // It counts from the first failure: what went well before it, such as most of an upload, does not.
    expect(begun).toEqual([0, 200_750, 402_250, 605_250]);
  });

  test.each([
    ['a limit', limited({ retryAfter: 45 * 60_000 }), 'the limit is lifted at 03:49 UTC'],
    ['any other wait', passing({ retryAfter: 45 * 60_000 }), 'the host asks to come back at 03:49 UTC'],
    ['a limit of days', limited({ retryAfter: 86_400_000 }), 'the limit is lifted in a day or later'],
    ['a time beyond all dates', limited({ retryAfter: 1e300 }), 'the limit is lifted in a day or later'],
  ])('gives up at once, and says when to come back: %s', async (_what, thrown, says) => {
    const ports = fakePorts();
    const { work, runs } = failing(thrown);
    await expect(withRetries(ports, work)).rejects.toMatchObject({
      code: thrown.code,
      message: `it failed; ${says}`,
      retryable: false,
    });
    expect(runs()).toBe(1);
    expect(ports.clock.slept).toEqual([]);
  });

  test('names no time where only the attempts are used up', async () => {
    const { work } = failing(...Array(RETRY.attempts).fill(limited({ retryAfter: 1_000 })));
    await expect(withRetries(fakePorts(), work)).rejects.toMatchObject({ message: 'it failed' });
  });

  test('throws the last failure when the policy gives up', async () => {
    const ports = fakePorts();
    const failures = Array.from({ length: RETRY.attempts + 1 }, (_, nth) => passing({ httpCode: 500 + nth }));
    const { work, runs } = failing(...failures);
    await expect(withRetries(ports, work)).rejects.toMatchObject({
      httpCode: 500 + RETRY.attempts - 1,
      retryable: false,
    });
    expect(runs()).toBe(RETRY.attempts);
    expect(ports.clock.slept).toHaveLength(RETRY.attempts - 1);
  });

  test('tries a lost race more often', async () => {
    const { work, runs } = failing(...Array(RETRY.conflict.attempts - 1).fill(conflict));
    expect(await withRetries(fakePorts(), work)).toBe('done');
    expect(runs()).toBe(RETRY.conflict.attempts);
  });

  test.each([
    ['a failure that does not pass', failure('BAD_TOKEN'), 'BAD_TOKEN'],
    ['a mistake of our own', new TypeError('x is undefined'), 'INTERNAL'],
    ['an abort', Object.assign(new Error('aborted'), { name: 'AbortError' }), 'ABORTED'],
  ])('never tries %s again', async (_what, thrown, code) => {
    const ports = fakePorts();
    const { work, runs } = failing(thrown);
    await expect(withRetries(ports, work)).rejects.toMatchObject({ code });
    expect(runs()).toBe(1);
    expect(ports.clock.slept).toEqual([]);
  });

  test('starts no further attempt once it is stopped', async () => {
    const ports = fakePorts();
    let runs = 0;
    const work = async (): Promise<never> => {
      runs += 1;
      ports.stop.abort(new Error('stopped'));
      throw passing();
    };
    await expect(withRetries(ports, work)).rejects.toThrow('stopped');
    expect(runs).toBe(1);
  });
});
