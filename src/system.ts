import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
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

/** A secure number in [0, 1), because some names must not be guessable. */
export const random = (): number => randomInt(2 ** 47) / 2 ** 47;

/** Rejects if the process would end without a result: nothing to wait for, or an unhandled error. */
export function watchForEnd(): { readonly comes: Promise<never>; unwatch(): void } {
  const { promise: comes, reject } = Promise.withResolvers<never>();
  const endsEarly = (): void =>
    reject(new Error('the delivery stopped without a result: nothing was left to wait for'));
  // Also catches later errors, because outputs must still be written.
  process.once('beforeExit', endsEarly).on('uncaughtException', reject).on('unhandledRejection', reject);
  comes.catch(() => undefined);
  const unwatch = (): void => {
    process.off('beforeExit', endsEarly).off('uncaughtException', reject).off('unhandledRejection', reject);
  };
  return { comes, unwatch };
}

/** A key, the system, or the end of the terminal stops the process. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Returns a signal that aborts if the process is asked to stop. */
export function watchForStop(): { readonly signal: AbortSignal; unwatch(): void } {
  const stop = new AbortController();
  const abort = (): void => stop.abort(stoppedError());
  for (const name of STOP_SIGNALS) process.once(name, abort);
  const unwatch = (): void => STOP_SIGNALS.forEach((name) => void process.off(name, abort));
  return { signal: stop.signal, unwatch };
}

/** Whether a child process can lead a group, to be killed with its own children. */
export const HAS_GROUPS = process.platform !== 'win32';

/** Waits until a spawned process runs. @throws the system's error if it can't start */
export async function whenStarted<Child extends ChildProcess>(child: Child): Promise<Child> {
  await once(child, 'spawn');
  // An error without a listener would end this process.
  return child.on('error', () => undefined);
}

/** Kills a process group (`detached: HAS_GROUPS`); never throws. */
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
    // The process has ended already.
  }
}

/** Body chunks are garbage at once, but V8 would let them grow to 134 MB. Both settings together save most. */
export function keepYoungHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--scavenger-max-new-space-capacity-mb=1');
}

/** V8's old generation would grow far beyond its use: 30 MB for a single large file. */
export function keepOldHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=20');
}

/** Creates a folder that only this user can read. */
export const createTemporaryFolder = (parent: string, purpose = ''): Promise<string> =>
  mkdtemp(join(parent, `${TOOL.name}-${purpose}`));

/** Private folders for one request, which are removed together. A leftover folder doesn't undo the delivery. */
export function createWorkFolders(parent: string) {
  const opened: Promise<string>[] = [];
  return {
    open(): Promise<string> {
      const folder = createTemporaryFolder(parent);
      opened.push(folder);
      return folder;
    },
    async remove(): Promise<void> {
      const remove = async (folder: Promise<string>) =>
        rm(await folder, { recursive: true, force: true, maxRetries: 5 });
      await Promise.allSettled(opened.map(remove));
    },
  } as const;
}
