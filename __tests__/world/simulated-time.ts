import { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

/**
 * Loaded into the process of a step with `--import`, before the bundle: the process gets a simulated clock.
 * A pause takes no real time, it moves the clock; so a wait of minutes has the same number of polls on every
 * machine, however busy. SIGUSR2 moves the clock as well: for a process that waits for an answer. With CLOCK_FILE it
 * moves the time limits of undici too, and then writes that file.
 */

/** Milliseconds by which SIGUSR2 moves the clock: longer than any wait of a step. */
const SIGNAL_MS = 600_000;

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
AbortSignal.timeout = (ms) => {
  const controller = new AbortController();
  alarms.push({ at: time + ms, controller });
  return controller.signal;
};

/** Milliseconds. Undici reads no clock: it counts how often its one timer of this length has ended. */
const UNDICI_TICK = 499;

const { CLOCK_FILE } = process.env;
let tick = (): void => undefined;
if (CLOCK_FILE !== undefined) {
  const { setTimeout } = globalThis;
  const watched = (callback: () => void, ms?: number, ...values: []): NodeJS.Timeout => {
    if (ms === UNDICI_TICK) tick = callback;
    return setTimeout(callback, ms, ...values);
  };
  globalThis.setTimeout = Object.assign(watched, setTimeout);
}

process.on('SIGUSR2', () => {
  advance(SIGNAL_MS);
  if (CLOCK_FILE === undefined) return;
  for (let ms = 0; ms < SIGNAL_MS; ms += UNDICI_TICK) tick();
  writeFileSync(CLOCK_FILE, '');
});
