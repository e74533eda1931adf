import {
  type DeliveryError,
  followingError,
  hasFailed,
  isOfHost,
  type Result,
  resultOf,
  toDeliveryError,
} from './errors.ts';
import type { Ports } from './ports.ts';
import { CLEANUP_TIME } from './protocol/limits.ts';

/** The result of work that goes on if the signal aborts first: then its result is ignored, and this rejects. */
export async function untilAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
    // Abandoned work may still fail; without this, Node would report an unhandled rejection.
    work.catch(() => undefined);
  }
}

/** The ports with time to find out what has arrived after a stop, and to remove what is half done. */
export function withCleanupSignal<P extends Pick<Ports, 'clock' | 'signal'>>(ports: P): P {
  return { ...ports, signal: ports.clock.timeout(CLEANUP_TIME) };
}

interface PollOptions extends Pick<Ports, 'clock' | 'signal'> {
  /** Milliseconds between two probes. */
  readonly interval: number;
  /** When no further probe starts, by `Clock.now`. */
  readonly deadline: number;
}

/** Calls `probe` at once, every `interval`, and at the deadline, until it returns a value. @throws what it throws */
export async function poll<T>(
  { clock, deadline, interval, signal }: PollOptions,
  probe: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (;;) {
    signal.throwIfAborted();
    const found = await probe();
    if (found !== undefined) return found;
    const remaining = deadline - clock.now();
    if (remaining <= 0) return undefined;
    await clock.sleep(Math.min(interval, remaining), signal);
  }
}

/** Runs `work` for every item, at most `limit` at a time, in their order. The first error starts no more. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  let failed = false;
  async function worker(): Promise<void> {
    for (const [index, item] of queue) {
      if (failed) return;
      try {
        results[index] = await work(item);
      } catch (thrown) {
        failed = true;
        throw thrown;
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}

/** Does the work for every item, in their order. An item that fails stops no other. @param atOnce at a time */
export const forEachItem = <Item, Value>(
  items: readonly Item[],
  work: (item: Item) => Promise<Value>,
  atOnce = 1,
): Promise<readonly Result<Value>[]> => mapConcurrently(items, atOnce, (item) => resultOf(() => work(item)));

/** What one call answers for all items together, by item. If the call itself fails, each item fails with it. */
export async function resultsOfAll<Item, Value>(
  items: readonly Item[],
  call: (items: readonly Item[]) => Promise<readonly Result<Value>[]>,
): Promise<ReadonlyMap<Item, Result<Value>>> {
  if (items.length === 0) return new Map();
  const results = await resultOf(() => call(items));
  const missing = toDeliveryError(new Error('there is no result for one of several files'));
  return new Map(items.map((item, at) => [item, hasFailed(results) ? results : (results[at] ?? missing)]));
}

/** As `forEachItem`, until the host fails for everybody: then all that was not begun is not sent, and says why. */
export function forEachOnHost<Item, Value>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  work: (item: Item) => Promise<Value>,
  { atOnce = 1, endsAll = isOfHost } = {},
): Promise<readonly Result<Value>[]> {
  let end: DeliveryError | undefined;
  const next = async (item: Item): Promise<Value> => {
    if (end !== undefined) throw end;
    const done = await resultOf(() => work(item));
    if (!hasFailed(done)) return done;
    if (endsAll(done)) end = followingError('not sent', nameOf(item), done);
    throw done;
  };
  return forEachItem(items, next, atOnce);
}

/** Keeps the values that were used last, so that they are computed once. @param limit how many are kept */
export function keepRecent<Value>(limit: number, compute: (key: string) => Value): (key: string) => Value {
  const recent = new Map<string, Value>();
  return (key) => {
    const value = recent.has(key) ? (recent.get(key) as Value) : compute(key);
    // The order of a map is the order of its insertions: the first one was used longest ago.
    recent.delete(key);
    recent.set(key, value);
    const [oldest] = recent.keys();
    if (recent.size > limit && oldest !== undefined) recent.delete(oldest);
    return value;
  };
}
