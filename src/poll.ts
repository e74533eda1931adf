import type { Clock } from './ports.ts';

export interface PollOptions {
  /** Milliseconds between two looks. */
  readonly interval: number;
  /** Milliseconds since the epoch after which no further look is begun. */
  readonly deadline: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Looks, first at once and then every `interval`, until `look` returns something or the deadline has come.
 * The last pause is cut short, so that one look happens right at the deadline.
 *
 * @returns what `look` found, or `undefined` when time ran out.
 */
export async function poll<T>(
  patience: PollOptions,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const { clock, deadline, interval, signal } = patience;
  for (;;) {
    signal.throwIfAborted();
    const found = await look();
    if (found !== undefined) return found;
    const left = deadline - clock.now();
    if (left <= 0) return undefined;
    await clock.sleep(Math.min(interval, left), signal);
  }
}
