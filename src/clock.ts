import { setTimeout as after } from 'node:timers/promises';
import type { Clock } from './ports.ts';

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => after(ms, undefined, signal === undefined ? {} : { signal }),
  timeout: (ms) => AbortSignal.timeout(ms),
};
