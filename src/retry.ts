import { DeliveryError, toDeliveryError } from './errors.ts';
import type { Clock, Logger } from './ports.ts';
import { DAY, RETRY, SECOND } from './protocol/limits.ts';

/**
 * The one retry policy: how long to wait before the next attempt, or `null` to give up.
 * Only failures that are known to pass are tried again. The host's own Retry-After or reset beats our
 * backoff; a little is added to it, since others were told the same.
 *
 * @param attempt number of attempts that failed so, from 1
 * @param left milliseconds in which a further attempt may still begin
 * @param random a number in [0, 1)
 */
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

/** How often, and how far apart in milliseconds, a kind of failure is tried again. */
interface RetryLimits {
  readonly attempts: number;
  readonly firstPause: number;
  readonly longestPause: number;
}

function retryLimitsFor({ code }: DeliveryError): RetryLimits {
  if (code === 'CONFLICT') return RETRY.conflict;
  return code === 'RATE_LIMITED' ? RETRY.limited : RETRY;
}

export interface RetryPorts {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info'>;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/**
 * Runs `work` until it succeeds or the policy gives up; no attempt begins later than `RETRY.patience` after
 * the first failure. The work of a write looks first whether an earlier attempt has already landed.
 */
export async function withRetries<T>(ports: RetryPorts, work: () => Promise<T>): Promise<T> {
  const { clock, logger, random, signal } = ports;
  let deadline = Number.POSITIVE_INFINITY;
  // Races that were lost say nothing of how the host fares, nor the other way round.
  let races = 0;
  let faults = 0;
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      const failure = toDeliveryError(thrown);
      if (failure.code === 'CONFLICT') races += 1;
      else faults += 1;
      const attempt = failure.code === 'CONFLICT' ? races : faults;
      // What went well so far, such as most of a long upload, is not counted.
      deadline = Math.min(deadline, clock.now() + RETRY.patience);
      const left = deadline - clock.now();
      const pause = pauseBeforeRetry(failure, attempt, left, random());
      // Retries within retries would multiply.
      if (pause === null) throw addRetryTime(failure, left, clock.now()).asFinal();
      const again = `trying again in ${formatSeconds(pause)} (attempt ${attempt + 1} of ${retryLimitsFor(failure).attempts})`;
      logger.info(`${failure.message}; ${again}`);
      await clock.sleep(pause, signal);
    }
  }
}

/** The failure, with the time at which it may pass where that is later than anybody waits here. */
function addRetryTime(failure: DeliveryError, left: number, now: number): DeliveryError {
  const { code, message, retryable, retryAfter } = failure;
  if (!retryable || retryAfter === undefined || retryAfter + RETRY.spread < left) return failure;
  const lifted = code === 'RATE_LIMITED' ? 'the limit is lifted' : 'the host asks to come back';
  return new DeliveryError(code, `${message}; ${lifted} ${formatTimeAhead(now, retryAfter)}`, {
    ...failure,
    cause: failure.cause,
  });
}

function formatTimeAhead(now: number, ahead: number): string {
  if (ahead >= DAY) return 'in a day or later';
  return `at ${new Date(now + ahead).toISOString().slice(11, 16)} UTC`;
}

const formatSeconds = (ms: number): string => `${Number((ms / SECOND).toFixed(1))} s`;
