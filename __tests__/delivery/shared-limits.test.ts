import { describe, expect, test } from '@jest/globals';
import { createSharedLimits } from '../../src/delivery/probe-session.ts';
import { FakeClock } from '../support/ports.ts';

/** A clock that remembers its timeouts, which a test ends. */
class ManualClock extends FakeClock {
  readonly timeouts: { readonly end: number; readonly controller: AbortController }[] = [];

  override timeout(ms = 0): AbortSignal {
    const controller = new AbortController();
    this.timeouts.push({ end: this.time + ms, controller });
    return controller.signal;
  }

  pass(ms: number): void {
    this.time += ms;
    for (const { end, controller } of this.timeouts) if (end <= this.time) controller.abort();
  }
}

describe('the time limits of many requests', () => {
  test('need one timer for each second in which requests begin, however many these are', () => {
    const clock = new ManualClock();
    const limitTo = createSharedLimits({ clock, signal: new AbortController().signal });
    for (let nth = 0; nth < 10_000; nth += 1) {
      limitTo(60_000 + (nth % 3) * 300);
      clock.pass(1);
    }
    expect(clock.timeouts.length).toBeLessThanOrEqual(2 * 11);
  });

  test.each([1_000, 1_500, 60_000, 60_200])(
    'give a request %d ms wherever in a second it begins, and at most two seconds more',
    (wanted) => {
      for (const begin of [0, 1, 500, 999]) {
        const clock = new ManualClock();
        const limitTo = createSharedLimits({ clock, signal: new AbortController().signal });
        limitTo(wanted);
        clock.pass(begin - (clock.time % 1_000));
        const signal = limitTo(wanted);
        clock.pass(wanted - 1);
        expect(signal.aborted).toBe(false);
        clock.pass(2_001);
        expect(signal.aborted).toBe(true);
      }
    },
  );

  test('end with the delivery', () => {
    const stop = new AbortController();
    const signal = createSharedLimits({ clock: new ManualClock(), signal: stop.signal })(60_000);
    expect(signal.aborted).toBe(false);
    stop.abort();
    expect(signal.aborted).toBe(true);
  });
});
