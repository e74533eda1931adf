import type { Clock } from '../../ports.ts';

/** Aborts when a process prints nothing for too long. */
export interface SilenceTimer {
  /** Aborts when the time has run out. */
  readonly signal: AbortSignal;
  /** Starts the time again: the process has printed something. */
  restart(): void;
}

/** @param limit milliseconds without output */
export function createSilenceTimer(clock: Pick<Clock, 'timeout'>, limit: number): SilenceTimer {
  const controller = new AbortController();
  let latest: AbortSignal | undefined;
  const restart = (): void => {
    const timeout = clock.timeout(limit);
    latest = timeout;
    // An earlier timeout cannot be cancelled, so it is ignored.
    const abortIfLatest = (): void => {
      if (timeout === latest) controller.abort(timeout.reason);
    };
    timeout.addEventListener('abort', abortIfLatest, { once: true });
  };
  restart();
  return { signal: controller.signal, restart };
}
