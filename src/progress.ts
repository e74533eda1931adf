import type { Clock, Logger, ProgressUnit } from './ports.ts';
import { MEGABYTE, SECOND } from './protocol/limits.ts';

/** Progress as plain lines, at most one every `interval`. @param clear removes a line that changes in place */
export const lineProgress =
  (
    interval: number,
    clock: Pick<Clock, 'now'>,
    print: (line: string) => void,
    clear?: () => void,
  ): Logger['progress'] =>
  (title, total, unit) => {
    const started = clock.now();
    let lastPrinted = started;
    let done = 0;
    return {
      advance(amount) {
        done += amount;
        const now = clock.now();
        const isPrinted = amount > 0 && (unit !== 'milliseconds' || clear !== undefined);
        if (!isPrinted || now - lastPrinted < interval) return;
        lastPrinted = now;
        print(`${title}: ${describeProgress(done, total, unit, now - started)}`);
      },
      end: () => clear?.(),
    };
  };

/** Formats progress, such as `42 %, 12.3 MB/s, 7 s left`. @param total 0 if it is unknown */
export function describeProgress(done: number, total: number, unit: ProgressUnit, elapsed: number): string {
  if (total === 0) return `${(done / MEGABYTE).toFixed(1)} MB`;
  const percent = `${Math.floor(Math.min(done / total, 1) * 100)} %`;
  if (unit === 'milliseconds') return `${percent}, at most ${formatTimeLeft(total - done)} left`;
  if (unit === 'files') return `${percent}, ${done} of ${total}`;
  const rate = elapsed === 0 ? 0 : done / elapsed;
  const left = rate === 0 ? '' : `, ${formatTimeLeft((total - done) / rate)} left`;
  return `${percent}, ${((rate * SECOND) / MEGABYTE).toFixed(1)} MB/s${left}`;
}

const formatTimeLeft = (ms: number): string => `${Math.max(Math.ceil(ms / SECOND), 0)} s`;
