import { describe, expect, test } from '@jest/globals';
import { random, systemClock, watchForEnd } from '../src/system.ts';

/** Longer than any test may take. */
const AN_HOUR = 3_600_000;

describe('systemClock', () => {
  test('returns milliseconds since the epoch', () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  test('sleeps at least the given time', async () => {
    const started = performance.now();
    await systemClock.sleep(5);
    // Timers in Node count whole milliseconds and may fire within the last one.
    expect(performance.now() - started).toBeGreaterThanOrEqual(4);
  });

  test('sleeps with a signal that does not abort', async () => {
    await expect(systemClock.sleep(1, new AbortController().signal)).resolves.toBeUndefined();
  });

  test.each([
    ['before', true],
    ['during', false],
  ])('rejects with the reason of a signal that aborts %s the sleep', async (_when, early) => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    if (early) stop.abort(reason);
    const sleeping = systemClock.sleep(AN_HOUR, stop.signal);
    if (!early) stop.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });

  test('creates a signal that aborts when the time is over', async () => {
    const signal = systemClock.timeout(1);
    expect(signal.aborted).toBe(false);
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  test('creates a signal for a fraction of a millisecond', () => {
    // For example, the remaining time of `timeout: 60.0005`.
    expect(systemClock.timeout(60_000.5).aborted).toBe(false);
  });
});

describe('watchForEnd', () => {
  test.each(['beforeExit', 'uncaughtException', 'unhandledRejection'])(
    'ends work that nothing would end any more: %s',
    async (event) => {
      const before = process.listenerCount(event);
      const { comes, unwatch } = watchForEnd();
      process.emit(event as 'uncaughtException', new Error('thrown'));
      unwatch();
      await expect(comes).rejects.toThrow(event === 'beforeExit' ? 'nothing was left to wait for' : 'thrown');
      expect(process.listenerCount(event)).toBe(before);
    },
  );

  test('says nothing where the process goes on', async () => {
    const { comes, unwatch } = watchForEnd();
    unwatch();
    await expect(Promise.race([comes, systemClock.sleep(1)])).resolves.toBeUndefined();
  });
});

describe('random', () => {
  const numbers = Array.from({ length: 10_000 }, random);

  test('returns numbers that are at least 0 and less than 1', () => {
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
  });

  test('returns numbers in every part of that range, and never the same one twice', () => {
    const tenths = new Set(numbers.map((number) => Math.floor(number * 10)));
    expect(tenths.size).toBe(10);
    // Two equal numbers among 10,000 of 2^47 are very unlikely; a less precise source would repeat numbers.
    expect(new Set(numbers).size).toBe(numbers.length);
  });
});
