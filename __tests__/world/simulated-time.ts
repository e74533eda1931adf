import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

/**
 * Gives a step's process a simulated clock, loaded with `--import` before the bundle. A pause only moves the
 * clock, so a wait has the same number of polls on every machine.
 */

let time = Date.now();
let alarms: { readonly at: number; readonly controller: AbortController }[] = [];

function advance(ms: number): void {
  time += ms;
  const due = alarms.filter(({ at }) => at <= time);
  alarms = alarms.filter(({ at }) => at > time);
  for (const { controller } of due) controller.abort(new DOMException('The time is over', 'TimeoutError'));
}

async function pause<T>(
  ms = 0,
  value?: T,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<T | undefined> {
  signal?.throwIfAborted();
  advance(ms);
  await new Promise((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
  return value;
}

Object.assign(timers, { setTimeout: pause });
syncBuiltinESMExports();
Date.now = () => time;
process.hrtime.bigint = () => BigInt(Math.floor(time)) * 1_000_000n;
AbortSignal.timeout = (ms) => {
  const controller = new AbortController();
  alarms.push({ at: time + ms, controller });
  return controller.signal;
};
