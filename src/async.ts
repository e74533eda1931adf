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

/** Waits for the work, or rejects as soon as the signal aborts. The work goes on, and its result is ignored. */
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

/** The ports with time to clean up after a stop. */
export function withCleanupSignal<P extends Pick<Ports, 'clock' | 'signal'>>(ports: P): P {
  return { ...ports, signal: ports.clock.timeout(CLEANUP_TIME) };
}

interface PollOptions extends Pick<Ports, 'clock' | 'signal'> {
  /** Milliseconds between two probes. */
  readonly interval: number;
  /** No probe starts later, by `Clock.now`. */
  readonly deadline: number;
}

/** Calls `probe` at once, every `interval`, and at the deadline, until it returns a value. */
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

/** Runs `work` for every item in order, at most `limit` at a time. Stops at the first error. */
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

/** Runs `work` for every item in order, at most `atOnce` at a time. A failure doesn't stop the others. */
export const forEachItem = <Item, Value>(
  items: readonly Item[],
  work: (item: Item) => Promise<Value>,
  atOnce = 1,
): Promise<readonly Result<Value>[]> => mapConcurrently(items, atOnce, (item) => resultOf(() => work(item)));

/** Maps each item to its result of one joint call. If the call fails, every item fails. */
export async function resultsOfAll<Item, Value>(
  items: readonly Item[],
  call: (items: readonly Item[]) => Promise<readonly Result<Value>[]>,
): Promise<ReadonlyMap<Item, Result<Value>>> {
  if (items.length === 0) return new Map();
  const results = await resultOf(() => call(items));
  const missing = toDeliveryError(new Error('the call returned fewer results than files'));
  return new Map(items.map((item, at) => [item, hasFailed(results) ? results : (results[at] ?? missing)]));
}

/** As `forEachItem`, but once the host fails for everybody, the remaining items fail without a request. */
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

/** Caches the `limit` most recently used values. */
export function keepRecent<Value>(limit: number, compute: (key: string) => Value): (key: string) => Value {
  const recent = new Map<string, Value>();
  return (key) => {
    const value = recent.has(key) ? (recent.get(key) as Value) : compute(key);
    // A map keeps insertion order, so its first key is the least recently used.
    recent.delete(key);
    recent.set(key, value);
    const [oldest] = recent.keys();
    if (recent.size > limit && oldest !== undefined) recent.delete(oldest);
    return value;
  };
}
