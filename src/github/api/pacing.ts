import type { Ports } from '../../ports.ts';
import { WRITE_INTERVAL } from '../../protocol/limits.ts';

/** Runs a write when its turn has come. */
export type PaceWrite = <T>(write: () => Promise<T>) => Promise<T>;

/**
 * Runs a client's writes as GitHub asks for: one after the other, at least a second between the starts of two.
 *
 * @see https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
export function createWritePacer({ clock, signal }: Pick<Ports, 'clock' | 'signal'>): PaceWrite {
  let queue: Promise<unknown> = Promise.resolve();
  let lastStart = Number.NEGATIVE_INFINITY;

  async function runInTurn<T>(write: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const pause = lastStart + WRITE_INTERVAL - clock.now();
    // Without the limit, a machine's clock that was set back would make this pause very long.
    if (pause > 0) await clock.sleep(Math.min(pause, WRITE_INTERVAL), signal);
    lastStart = clock.now();
    return write();
  }

  return (write) => {
    const turn = queue.then(() => runInTurn(write));
    queue = turn.catch(() => undefined);
    return turn;
  };
}
