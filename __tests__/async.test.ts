import { describe, expect, test } from '@jest/globals';
import { mapConcurrently, type PollOptions, poll } from '../src/async.ts';
import { FakeClock, NOON } from './support/ports.ts';

function pollOptions(overrides: Partial<PollOptions> = {}): PollOptions & { readonly clock: FakeClock } {
  const clock = new FakeClock();
  const signal = new AbortController().signal;
  return { interval: 5_000, deadline: NOON + 12_000, signal, ...overrides, clock };
}

/** A probe that finds something at the nth time and records when it ran. */
function probeThatFinds(
  nth: number,
  clock: FakeClock,
): { probe: () => Promise<string | undefined>; at: number[] } {
  const at: number[] = [];
  const probe = async (): Promise<string | undefined> => {
    at.push(clock.now() - NOON);
    return at.length === nth ? 'found' : undefined;
  };
  return { probe, at };
}

describe('poll', () => {
  test('probes at once, before any pause', async () => {
    const options = pollOptions();
    const { probe, at } = probeThatFinds(1, options.clock);
    expect(await poll(options, probe)).toBe('found');
    expect(at).toEqual([0]);
    expect(options.clock.slept).toEqual([]);
  });

  test('probes every interval until it finds something', async () => {
    const options = pollOptions();
    const { probe, at } = probeThatFinds(3, options.clock);
    expect(await poll(options, probe)).toBe('found');
    expect(at).toEqual([0, 5_000, 10_000]);
  });

  test('probes a last time exactly at the deadline and then gives up', async () => {
    const options = pollOptions();
    const { probe, at } = probeThatFinds(0, options.clock);
    expect(await poll(options, probe)).toBeUndefined();
    expect(at).toEqual([0, 5_000, 10_000, 12_000]);
  });

  test('probes only once at the deadline if an interval ends there too', async () => {
    const options = pollOptions({ deadline: NOON + 10_000 });
    const { probe, at } = probeThatFinds(0, options.clock);
    await poll(options, probe);
    expect(at).toEqual([0, 5_000, 10_000]);
  });

  test('probes once even if the deadline is over', async () => {
    const options = pollOptions({ deadline: NOON - 1 });
    const { probe, at } = probeThatFinds(1, options.clock);
    expect(await poll(options, probe)).toBe('found');
    expect(at).toEqual([0]);
  });

  test('probes 49 times in the 240 s of the protocol: once at the start, then 48 times every 5 s', async () => {
    const options = pollOptions({ deadline: NOON + 240_000 });
    const { probe, at } = probeThatFinds(0, options.clock);
    await poll(options, probe);
    expect(at).toHaveLength(49);
  });

  test('waits the whole interval after a probe that took long', async () => {
    const options = pollOptions();
    const at: number[] = [];
    await poll(options, async () => {
      at.push(options.clock.now() - NOON);
      options.clock.time += 4_000;
      return undefined;
    });
    expect(at).toEqual([0, 9_000]);
  });

  test.each([0, '', false, null])('returns %j as a value that was found', async (found) => {
    expect(await poll<unknown>(pollOptions(), async () => found)).toBe(found);
  });

  test('throws the error of a probe', async () => {
    const probe = async (): Promise<never> => {
      throw new Error('the probe failed');
    };
    await expect(poll(pollOptions(), probe)).rejects.toThrow('the probe failed');
  });

  test('does not probe if the signal is already aborted', async () => {
    const options = pollOptions({ signal: AbortSignal.abort(new Error('stopped')) });
    const { probe, at } = probeThatFinds(1, options.clock);
    await expect(poll(options, probe)).rejects.toThrow('stopped');
    expect(at).toEqual([]);
  });

  test('stops without another pause when the signal aborts', async () => {
    const stop = new AbortController();
    const options = pollOptions({ signal: stop.signal });
    const { probe, at } = probeThatFinds(0, options.clock);
    const polling = poll(options, async () => {
      stop.abort(new Error('stopped'));
      return probe();
    });
    await expect(polling).rejects.toThrow('stopped');
    expect(at).toEqual([0]);
    expect(options.clock.slept).toEqual([]);
  });
});

/** Work that the test ends itself; it counts how many items run at the same time. */
function controlledWork() {
  const started: number[] = [];
  const finishers = new Map<number, (failure?: Error) => void>();
  let running = 0;
  let most = 0;
  const work = async (item: number): Promise<string> => {
    started.push(item);
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve, reject) => {
      finishers.set(item, (failure) => (failure === undefined ? resolve() : reject(failure)));
    });
    running -= 1;
    return `done ${item}`;
  };
  /** Ends one item and waits until the next one has started. */
  const end = async (item: number, failure?: Error): Promise<void> => {
    finishers.get(item)?.(failure);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { started, work, end, most: () => most };
}

describe('mapConcurrently', () => {
  test('returns the results in the order of the items, even if they end in another order', async () => {
    const { work, end } = controlledWork();
    const all = mapConcurrently([1, 2, 3], 3, work);
    for (const item of [3, 1, 2]) await end(item);
    await expect(all).resolves.toEqual(['done 1', 'done 2', 'done 3']);
  });

  test('never exceeds the limit and starts the next item as soon as one ends', async () => {
    const { started, work, end, most } = controlledWork();
    const all = mapConcurrently([1, 2, 3, 4], 2, work);
    expect(started).toEqual([1, 2]);
    await end(2);
    expect(started).toEqual([1, 2, 3]);
    for (const item of [3, 4, 1]) await end(item);
    await all;
    expect([started, most()]).toEqual([[1, 2, 3, 4], 2]);
  });

  test('throws the first error and starts no further item', async () => {
    const { started, work, end } = controlledWork();
    const failure = new Error('two');
    const all = mapConcurrently([1, 2, 3, 4], 2, work);
    const thrown = expect(all).rejects.toBe(failure);
    await end(2, failure);
    await end(1);
    await thrown;
    expect(started).toEqual([1, 2]);
  });

  test('returns an empty list for no items', async () => {
    await expect(mapConcurrently([], 6, () => Promise.reject(new Error('called')))).resolves.toEqual([]);
  });
});
