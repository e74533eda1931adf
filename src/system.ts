import { type ChildProcess, spawn } from 'node:child_process';
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

/**
 * Watches for an end of the process that no work expects: because nothing is left to wait for, or because an error was
 * thrown that nobody handles.
 *
 * @returns a promise that rejects then; it is for `Promise.race`
 */
export function watchForEnd(): { readonly comes: Promise<never>; unwatch(): void } {
  const { promise: comes, reject } = Promise.withResolvers<never>();
  const endsEarly = (): void =>
    reject(new Error('the delivery stopped without a result: nothing was left to wait for'));
  process.once('beforeExit', endsEarly).once('uncaughtException', reject).once('unhandledRejection', reject);
  comes.catch(() => undefined);
  const unwatch = (): void => {
    process.off('beforeExit', endsEarly).off('uncaughtException', reject).off('unhandledRejection', reject);
  };
  return { comes, unwatch };
}

/** Whether a child process can lead a process group, with which its own children are killed. */
export const HAS_GROUPS = process.platform !== 'win32';

/** Kills a process that leads a group (`detached: HAS_GROUPS`) with all its children; never throws. */
export function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    if (HAS_GROUPS) process.kill(-pid, 'SIGKILL');
    else spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
  } catch {
    // It has ended already.
  }
}
