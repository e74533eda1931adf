import { describe, expect, test } from '@jest/globals';
import { createSilenceTimer } from '../src/async.ts';
import { SimulatedClock } from './faults/simulated-clock.ts';

describe('createSilenceTimer', () => {
  test.each([
    ['is never restarted', [], 300],
    ['was restarted twice', [200, 200], 700],
  ])('aborts after its limit when it %s', async (_title, pauses, expected) => {
    const clock = new SimulatedClock();
    const start = clock.now();
    const { signal, restart } = createSilenceTimer(clock, 300);
    for (const pause of pauses) {
      await clock.advance(pause);
      expect(signal.aborted).toBe(false);
      restart();
    }
    await clock.advance(10_000, signal);
    expect(signal.aborted).toBe(true);
    expect(clock.now() - start).toBe(expected);
  });
});
