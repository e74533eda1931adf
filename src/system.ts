import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { stoppedError } from './errors.ts';
import type { Clock } from './ports.ts';
import { TOOL } from './protocol/words.ts';

export const systemClock: Clock = {
  now: () => Number(process.hrtime.bigint() / 1_000_000n),
  date: () => Date.now(),
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

/** Rejects when the process would end: nothing is left to wait for, or nobody handles an error. */
export function watchForEnd(): { readonly comes: Promise<never>; unwatch(): void } {
  const { promise: comes, reject } = Promise.withResolvers<never>();
  const endsEarly = (): void =>
    reject(new Error('the delivery stopped without a result: nothing was left to wait for'));
  // Each error that nobody handles, also one after the first: the outputs are still to be written.
  process.once('beforeExit', endsEarly).on('uncaughtException', reject).on('unhandledRejection', reject);
  comes.catch(() => undefined);
  const unwatch = (): void => {
    process.off('beforeExit', endsEarly).off('uncaughtException', reject).off('unhandledRejection', reject);
  };
  return { comes, unwatch };
}

/** What tells a process to end: a key, the system, or the end of its terminal. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** @returns a signal that aborts when the process is told to end; once it is not watched, that ends the process at once */
export function watchForStop(): { readonly signal: AbortSignal; unwatch(): void } {
  const stop = new AbortController();
  const abort = (): void => stop.abort(stoppedError());
  for (const name of STOP_SIGNALS) process.once(name, abort);
  const unwatch = (): void => STOP_SIGNALS.forEach((name) => void process.off(name, abort));
  return { signal: stop.signal, unwatch };
}

/** Whether a child process can lead a process group, with which its own children are killed. */
export const HAS_GROUPS = process.platform !== 'win32';

/** A process that was just spawned, once it runs. @throws the system's error if it can't be started */
export async function whenStarted<Child extends ChildProcess>(child: Child): Promise<Child> {
  await once(child, 'spawn');
  // How it ends tells of later errors. Without a listener, each would end this process.
  return child.on('error', () => undefined);
}

/** Kills a process that leads a group (`detached: HAS_GROUPS`) with all its children; never throws. */
export function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    if (HAS_GROUPS) process.kill(-pid, 'SIGKILL');
    else {
      const kill = spawn('taskkill', ['/pid', String(pid), '/T', '/F'], {
        stdio: 'ignore',
        windowsHide: true,
      });
      kill.on('error', () => undefined);
    }
  } catch {
    // It has ended already.
  }
}

/**
 * Each chunk of a body becomes garbage immediately. V8 would let its young generation grow to 134 MB before it collects
 * them. Together these two settings save about 5 MB more than each does alone.
 */
export function keepYoungHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--scavenger-max-new-space-capacity-mb=1');
}

/** V8's old generation would grow to several times what is in use. A single large file would need 30 MB more. */
export function keepOldHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=20');
}

/** Makes a new folder that only this user may read. */
export const createTemporaryFolder = (parent: string, purpose = ''): Promise<string> =>
  mkdtemp(join(parent, `${TOOL.name}-${purpose}`));
