import { expect, test } from '@jest/globals';
import { createSilenceTimer } from '../../../src/github/git/silence-timer.ts';
import { MovingClock } from '../../faults/moving-clock.ts';

test.each([
  ['nothing at all is heard', [], 300],
  ['nothing more is heard', [200, 200], 700],
])('silence is noticed where %s', async (_what, pauses, after) => {
  const clock = new MovingClock();
  const begun = clock.now();
  const { signal, restart } = createSilenceTimer(clock, 300);
  for (const pause of pauses) {
    await clock.pass(pause);
    expect(signal.aborted).toBe(false);
    restart();
  }
  await clock.pass(10_000, signal);
  expect(signal.aborted).toBe(true);
  expect(clock.now() - begun).toBe(after);
});
