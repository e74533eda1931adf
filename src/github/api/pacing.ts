import type { Ports } from '../../ports.ts';
import { WRITE_INTERVAL } from '../../protocol/limits.ts';

/** Lets a write through when its turn has come. */
export type PaceWrite = <T>(write: () => Promise<T>) => Promise<T>;

/**
 * The pace of a client's writes, as GitHub asks for it: one after the other, and a second from the
 * beginning of one to that of the next.
 *
 * @see https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
export function createWritePacer({ clock, signal }: Pick<Ports, 'clock' | 'signal'>): PaceWrite {
  let queue: Promise<unknown> = Promise.resolve();
  let last = Number.NEGATIVE_INFINITY;

  async function inTurn<T>(write: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const pause = last + WRITE_INTERVAL - clock.now();
    // A machine's clock that was set back must not hold up anything.
    if (pause > 0) await clock.sleep(Math.min(pause, WRITE_INTERVAL), signal);
    last = clock.now();
    return write();
  }

  return (write) => {
    const turn = queue.then(() => inTurn(write));
    queue = turn.catch(() => undefined);
    return turn;
  };
}
