import type { Ports } from './ports.ts';
import { CLEANUP_TIME } from './protocol/limits.ts';

/**
 * What `work` brings, or the signal's reason as soon as that aborts: some work can't be interrupted,
 * waiting for it can.
 */
export async function untilAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
    // Nobody is left to hear how abandoned work fails.
    work.catch(() => undefined);
  }
}

/** What may still be asked for a short while after a stop: what has arrived, and what must be cleared away. */
export function withCleanupSignal<P extends Pick<Ports, 'clock' | 'signal'>>(ports: P): P {
  return { ...ports, signal: ports.clock.timeout(CLEANUP_TIME) };
}
