import type { Clock, Progress, ProgressUnit } from './ports.ts';
import { MEGABYTE, SECOND } from './protocol/limits.ts';

/** A meter that shows nothing. */
export const silentProgress: Progress = { advance: () => undefined, end: () => undefined };

/**
 * A meter in plain lines: percent, rate and the time that is left, a line every so often.
 * What ends before the first line is due says nothing.
 *
 * @param every milliseconds between two lines
 */
export function lineProgress(
  title: string,
  total: number,
  unit: ProgressUnit,
  every: number,
  clock: Pick<Clock, 'now'>,
  print: (line: string) => void,
): Progress {
  const begun = clock.now();
  let printed = begun;
  let done = 0;
  return {
    advance(amount) {
      done += amount;
      const now = clock.now();
      if (now - printed < every) return;
      printed = now;
      print(`${title}: ${describeProgress(done, total, unit, now - begun)}`);
    },
    end: () => undefined,
  };
}

/** Such as `42 %, 12.3 MB/s, 7 s left`. */
export function describeProgress(done: number, total: number, unit: ProgressUnit, elapsed: number): string {
  if (total === 0) return `${(done / MEGABYTE).toFixed(1)} MB`;
  const share = Math.min(done / total, 1);
  const percent = `${Math.floor(share * 100)} %`;
  if (unit === 'milliseconds') return `${percent}, ${seconds(total - done)} left at the most`;
  const rate = elapsed === 0 ? 0 : done / elapsed;
  const left = rate === 0 ? '' : `, ${seconds((total - done) / rate)} left`;
  return `${percent}, ${((rate * SECOND) / MEGABYTE).toFixed(1)} MB/s${left}`;
}

const seconds = (ms: number): string => `${Math.max(Math.ceil(ms / SECOND), 0)} s`;
