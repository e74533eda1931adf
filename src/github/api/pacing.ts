import type { Ports } from '../../ports.ts';
import { HOUR, MINUTE, WRITE_INTERVAL, WRITES_PER_HOUR } from '../../protocol/limits.ts';

/** Runs a write when its turn has come. */
export type PaceWrite = <T>(write: () => Promise<T>) => Promise<T>;

/**
 * Runs a client's writes as GitHub asks for: one after the other, at least a second between the starts of two,
 * and not more than `WRITES_PER_HOUR` in any hour.
 *
 * @see https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
export function createWritePacer({
  clock,
  logger,
  signal,
}: Pick<Ports, 'clock' | 'logger' | 'signal'>): PaceWrite {
  let queue: Promise<unknown> = Promise.resolve();
  let lastStart = Number.NEGATIVE_INFINITY;
  /** The starts of the newest writes, `WRITES_PER_HOUR` at most. */
  let starts: readonly number[] = [];

  async function waitForHour(): Promise<void> {
    const oldest = starts.length < WRITES_PER_HOUR ? undefined : starts[0];
    const pause = oldest === undefined ? 0 : Math.min(oldest + HOUR - clock.now(), HOUR);
    if (pause <= 0) return;
    const minutes = Math.ceil(pause / MINUTE);
    logger.info(`GitHub allows about ${WRITES_PER_HOUR} writes an hour: the next one is in ${minutes} min`);
    await clock.sleep(pause, signal);
  }

  async function runInTurn<T>(write: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    await waitForHour();
    const pause = lastStart + WRITE_INTERVAL - clock.now();
    // Without the limit, a machine's clock that was set back would make this pause very long.
    if (pause > 0) await clock.sleep(Math.min(pause, WRITE_INTERVAL), signal);
    lastStart = clock.now();
    starts = [...starts, lastStart].slice(-WRITES_PER_HOUR);
    return write();
  }

  return (write) => {
    const turn = queue.then(() => runInTurn(write));
    queue = turn.catch(() => undefined);
    return turn;
  };
}
