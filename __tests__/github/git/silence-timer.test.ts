import { expect, test } from '@jest/globals';
import { createSilenceTimer } from '../../../src/github/git/silence-timer.ts';
import { SimulatedClock } from '../../faults/simulated-clock.ts';

test.each([
  ['nothing at all is heard', [], 300],
  ['nothing more is heard', [200, 200], 700],
])('silence is noticed where %s', async (_what, pauses, after) => {
  const clock = new SimulatedClock();
  const startedAt = clock.now();
  const { signal, heard } = createSilenceTimer(clock, 300);
  for (const pause of pauses) {
    await clock.advance(pause);
    expect(signal.aborted).toBe(false);
    heard();
  }
  await clock.advance(10_000, signal);
  expect(signal.aborted).toBe(true);
  expect(clock.now() - startedAt).toBe(after);
});
