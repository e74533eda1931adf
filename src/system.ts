import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from './ports.ts';

/** The clock of the operating system. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    try {
      await sleep(ms, undefined, signal === undefined ? {} : { signal });
    } catch (thrown) {
      // Node wraps the signal's reason in its own AbortError.
      signal?.throwIfAborted();
      throw thrown;
    }
  },
  timeout: (ms) => AbortSignal.timeout(Math.ceil(ms)),
};

/** A cryptographically secure number in [0, 1), for jitter and for names that must not be guessable. */
export const random = (): number => randomInt(2 ** 47) / 2 ** 47;
