import type { Clock } from '../../ports.ts';

/** Notices when somebody has fallen silent for too long. */
export interface SilenceTimer {
  /** Aborts once nothing was heard for the whole time. */
  readonly signal: AbortSignal;
  /** Something was heard: the time begins anew. */
  heard(): void;
}

/** @param longest milliseconds of silence that are borne */
export function createSilenceTimer(clock: Pick<Clock, 'timeout'>, longest: number): SilenceTimer {
  const silent = new AbortController();
  let latest: AbortSignal | undefined;
  const heard = (): void => {
    const alarm = clock.timeout(longest);
    latest = alarm;
    alarm.addEventListener('abort', () => void (alarm === latest && silent.abort(alarm.reason)), {
      once: true,
    });
  };
  heard();
  return { signal: silent.signal, heard };
}
