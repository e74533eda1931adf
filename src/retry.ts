import { asDeliveryError, type DeliveryError } from './errors.ts';
import type { Clock } from './ports.ts';
import { RETRY } from './protocol/limits.ts';

/**
 * The one retry policy: how long to wait before the next attempt, or `null` to give up.
 * Only failures that are known to pass are tried again; what the host asks for beats our own backoff.
 *
 * @param attempt number of attempts made so far, from 1
 * @param random a number in [0, 1)
 */
export function pauseBefore(failure: DeliveryError, attempt: number, random: number): number | null {
  if (!failure.passing) return null;
  const { attempts, firstPause, longestPause } = failure.code === 'CONFLICT' ? RETRY.conflict : RETRY;
  if (attempt >= attempts) return null;
  if (failure.retryAfter !== undefined) {
    return failure.retryAfter <= RETRY.longestPause ? failure.retryAfter : null;
  }
  const backoff = Math.min(firstPause * 2 ** (attempt - 1), longestPause);
  return backoff * (0.5 + random / 2);
}

export interface RetryPorts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/**
 * Runs `work` until it succeeds or the policy gives up.
 * The work of a write looks first whether an earlier attempt has already landed.
 */
export async function retrying<T>(ports: RetryPorts, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (thrown) {
      const failure = asDeliveryError(thrown);
      const pause = pauseBefore(failure, attempt, ports.random());
      // Retries within retries would multiply.
      if (pause === null) throw failure.final();
      await ports.clock.sleep(pause, ports.signal);
    }
  }
}
