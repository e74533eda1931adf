import { setTimeout as after } from 'node:timers/promises';
import type { Clock } from './ports.ts';

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    try {
      await after(ms, undefined, signal === undefined ? {} : { signal });
    } catch (thrown) {
      // Node wraps the signal's reason in an error of its own.
      signal?.throwIfAborted();
      throw thrown;
    }
  },
  timeout: (ms) => AbortSignal.timeout(Math.ceil(ms)),
};
