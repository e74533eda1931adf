import type { Clock } from '../../src/ports.ts';
import { NOON } from '../support/ports.ts';

/** A clock that sleeping code and slow hosts move. Its timeouts fire as soon as time has passed them, in their order. */
export class SimulatedClock implements Clock {
  /** Small, as in a young process, so that monotonic time and dates can't be confused. */
  #time = 1_000;
  #dateAhead = NOON - 1_000;
  #alarms: { readonly at: number; readonly alarm: AbortController }[] = [];
  readonly #meanwhile: () => Promise<void>;

  /** @param meanwhile called whenever time passes, such as for builds */
  constructor(meanwhile: () => Promise<void> = async () => undefined) {
    this.#meanwhile = meanwhile;
  }

  now(): number {
    return this.#time;
  }

  date(): number {
    return this.#time + this.#dateAhead;
  }

  /** Somebody sets the machine's clock. */
  jump(ms: number): void {
    this.#dateAhead += ms;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await this.advance(ms, signal);
    signal?.throwIfAborted();
  }

  timeout(ms: number): AbortSignal {
    const alarm = new AbortController();
    this.#alarms.push({ at: this.#time + ms, alarm });
    return alarm.signal;
  }

  /** Moves the clock, but not past the moment at which the signal aborts. */
  async advance(ms: number, signal?: AbortSignal): Promise<void> {
    await this.#meanwhile();
    const end = this.#time + ms;
    while (signal?.aborted !== true) {
      const next = this.#alarms.reduce((first, { at }) => Math.min(first, at), Number.POSITIVE_INFINITY);
      this.#time = Math.min(Math.max(next, this.#time), end);
      if (next > end) break;
      const due = this.#alarms.filter(({ at }) => at <= this.#time);
      this.#alarms = this.#alarms.filter(({ at }) => at > this.#time);
      for (const { alarm } of due) alarm.abort(new DOMException('The time is over', 'TimeoutError'));
    }
    // Code that waited for an alarm continues before more time passes.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
