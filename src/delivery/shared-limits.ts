import type { Ports } from '../ports.ts';
import { SECOND } from '../protocol/limits.ts';

/** Returns a signal for a request that may take so many milliseconds. */
export type TimeLimit = (milliseconds: number) => AbortSignal;

/**
 * Time limits for thousands of short requests. The timer of a signal can't be canceled: it would be kept until its time
 * is over, long after its request. So requests that begin in the same second share one, which gives each of them the
 * time that it may take, and at most two seconds more.
 *
 * @returns signals that also abort when the delivery is stopped
 */
export function createSharedLimits({ clock, signal: stop }: Pick<Ports, 'clock' | 'signal'>): TimeLimit {
  const signals = new Map<number, AbortSignal>();
  let current = Number.NaN;
  return (milliseconds) => {
    const second = Math.floor(clock.now() / SECOND);
    if (second !== current) signals.clear();
    current = second;
    const seconds = Math.ceil(milliseconds / SECOND) + 1;
    const known = signals.get(seconds);
    if (known !== undefined) return known;
    const signal = AbortSignal.any([stop, clock.timeout(seconds * SECOND)]);
    signals.set(seconds, signal);
    return signal;
  };
}
