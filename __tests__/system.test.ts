import { describe, expect, test } from '@jest/globals';
import { random, systemClock } from '../src/system.ts';

/** Longer than any test may take: who waits for it hangs. */
const AN_HOUR = 3_600_000;

describe('the machine’s clock', () => {
  test('tells milliseconds since the epoch', () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  test('sleeps at least as long as it was told to', async () => {
    const begun = performance.now();
    await systemClock.sleep(5);
    // Node's timers count whole milliseconds, and may fire within the last one.
    expect(performance.now() - begun).toBeGreaterThanOrEqual(4);
  });

  test('sleeps with a signal that nobody gives', async () => {
    await expect(systemClock.sleep(1, new AbortController().signal)).resolves.toBeUndefined();
  });

  test.each([
    ['before it fell asleep', (stop: AbortController, reason: Error) => stop.abort(reason), true],
    ['while it sleeps', (stop: AbortController, reason: Error) => stop.abort(reason), false],
  ])('is woken by a signal %s, and rejects with its reason', async (_when, abort, early) => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    if (early) abort(stop, reason);
    const sleeping = systemClock.sleep(AN_HOUR, stop.signal);
    if (!early) abort(stop, reason);
    await expect(sleeping).rejects.toBe(reason);
  });

  test('gives a signal that fires when the time is over', async () => {
    const signal = systemClock.timeout(1);
    expect(signal.aborted).toBe(false);
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  test('gives such a signal for a part of a millisecond, too', () => {
    // Such as what is left of `timeout: 60.0005`.
    expect(systemClock.timeout(60_000.5).aborted).toBe(false);
  });
});

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
