import { DeliveryError, toDeliveryError } from './errors.ts';
import { formatSeconds } from './plain-text.ts';
import type { Ports } from './ports.ts';
import { RETRY } from './protocol/limits.ts';

/** Milliseconds before the next attempt; `null` to give up. `Retry-After` replaces the backoff. */
export function pauseBeforeRetry(
  failure: DeliveryError,
  attempt: number,
  left: number,
  random: number,
): number | null {
  const { attempts, firstPause, longestPause } = retryLimitsFor(failure);
  if (!failure.retryable || attempt >= attempts) return null;
  const backoff = Math.min(firstPause * 2 ** (attempt - 1), longestPause);
  const pause =
    failure.retryAfter === undefined
      ? backoff * (0.5 + random / 2)
      : failure.retryAfter + random * RETRY.spread;
  return pause < left ? pause : null;
}

function retryLimitsFor({ code }: DeliveryError) {
  if (code === 'CONFLICT') return RETRY.conflict;
  return code === 'RATE_LIMITED' ? RETRY.limited : RETRY;
}

export type RetryPorts = Pick<Ports, 'clock' | 'logger' | 'random' | 'signal'>;

/**
 * Runs `work` until it succeeds or the policy gives up, at most `limit` milliseconds after the first failure.
 * Work that writes must first check whether an earlier attempt succeeded.
 *
 * @throws {DeliveryError} the last failure, marked as not retryable, or the signal's reason
 */
export async function withRetries<T>(
  ports: RetryPorts,
  work: () => Promise<T>,
  limit: number = RETRY.totalTime,
): Promise<T> {
  const { clock, logger, random, signal } = ports;
  let deadline = Number.POSITIVE_INFINITY;
  // Counted separately, because a conflict doesn't mean that the host is ill.
  const failures = { conflict: 0, other: 0 };
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      const failure = toDeliveryError(thrown);
      const kind = failure.code === 'CONFLICT' ? 'conflict' : 'other';
      failures[kind] += 1;
      const attempt = failures[kind];
      // A long upload before the first failure doesn't count.
      deadline = Math.min(deadline, clock.now() + limit);
      const left = deadline - clock.now();
      const pause = pauseBeforeRetry(failure, attempt, left, random());
      // Nested retries would multiply.
      if (pause === null) throw addRetryTime(failure, left, clock.date()).asFinal();
      const { attempts } = retryLimitsFor(failure);
      const next = `trying again in ${formatSeconds(pause)} (attempt ${attempt + 1} of ${attempts})`;
      logger.info(`${failure.message}; ${next}`);
      await clock.sleep(pause, signal);
    }
  }
}

/** Adds when to retry, if the host asks for a longer wait than this run has. */
function addRetryTime(failure: DeliveryError, left: number, now: number): DeliveryError {
  const { code, message, retryable, retryAfter } = failure;
  if (!retryable || retryAfter === undefined || retryAfter + RETRY.spread < left) return failure;
  const later = `the host asks to try again after ${new Date(now + retryAfter).toUTCString()}`;
  return new DeliveryError(code, `${message}; ${later}`, {
    ...failure,
    hint: failure.advice,
    cause: failure.cause,
  });
}
