import { describe, expect, test } from '@jest/globals';
import { createSilenceTimer, keepRecent, mapConcurrently, poll } from '../src/async.ts';
import { SimulatedClock } from './faults/simulated-clock.ts';
import { FakeClock, NOON } from './support/ports.ts';

describe('poll', () => {
  /** Polls with a probe that finds something at the nth time; when it probed. */
  async function polled(found: number, { deadline = 12_000, signal = new AbortController().signal } = {}) {
    const clock = new FakeClock();
    const at: number[] = [];
    const options = { interval: 5_000, deadline: NOON + deadline, clock, signal };
    const result = await poll(options, async () => {
      at.push(clock.now() - NOON);
      return at.length === found ? 'found' : undefined;
    });
    return { at, result };
  }

  test.each<[string, number, number, readonly number[], string | undefined]>([
    ['at once, before any pause', 1, 12_000, [0], 'found'],
    ['every interval until it finds something', 3, 12_000, [0, 5_000, 10_000], 'found'],
    ['a last time exactly at the deadline', 0, 12_000, [0, 5_000, 10_000, 12_000], undefined],
    ['only once at the deadline if an interval ends there too', 0, 10_000, [0, 5_000, 10_000], undefined],
    ['once even if the deadline is over', 1, -1, [0], 'found'],
  ])('probes %s', async (_, found, deadline, at, result) => {
    expect(await polled(found, { deadline })).toEqual({ at, result });
  });

  test.each([0, '', false, null])('returns %j as a value that was found', async (found) => {
    const { signal } = new AbortController();
    const options = { interval: 1, deadline: 0, clock: new FakeClock(), signal };
    expect(await poll<unknown>(options, async () => found)).toBe(found);
  });

  test('stops without another probe or pause when the signal aborts', async () => {
    const stopped = AbortSignal.abort(new Error('stopped'));
    await expect(polled(1, { signal: stopped })).rejects.toThrow('stopped');
    const [clock, stop] = [new FakeClock(), new AbortController()];
    const options = { interval: 5_000, deadline: NOON + 12_000, clock, signal: stop.signal };
    const polling = poll(options, async () => stop.abort(new Error('stopped')));
    await expect(polling).rejects.toThrow('stopped');
    expect(clock.slept).toEqual([]);
  });
});

describe('mapConcurrently', () => {
  /** Work that the test ends itself; it counts how many items run at the same time. */
  function controlledWork() {
    const started: number[] = [];
    const ends = new Map<number, PromiseWithResolvers<void>>();
    let [running, most] = [0, 0];
    const work = async (item: number): Promise<string> => {
      started.push(item);
      running += 1;
      most = Math.max(most, running);
      const end = Promise.withResolvers<void>();
      ends.set(item, end);
      await end.promise;
      running -= 1;
      return `done ${item}`;
    };
    /** Ends one item and waits until the next one has started. */
    const end = async (item: number, failure?: Error): Promise<void> => {
      if (failure === undefined) ends.get(item)?.resolve();
      else ends.get(item)?.reject(failure);
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { started, work, end, most: () => most };
  }

  test('never exceeds the limit, starts the next item as soon as one ends, and keeps the order', async () => {
    const { started, work, end, most } = controlledWork();
    const all = mapConcurrently([1, 2, 3, 4], 2, work);
    expect(started).toEqual([1, 2]);
    await end(2);
    expect(started).toEqual([1, 2, 3]);
    for (const item of [3, 4, 1]) await end(item);
    await expect(all).resolves.toEqual([1, 2, 3, 4].map((item) => `done ${item}`));
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
});

test.each([
  ['is never restarted', [], 300],
  ['was restarted twice', [200, 200], 700],
])('a silence timer aborts after its limit when it %s', async (_, pauses, expected) => {
  const clock = new SimulatedClock();
  const start = clock.now();
  const { signal, restart } = createSilenceTimer(clock, 300);
  for (const pause of pauses) {
    await clock.advance(pause);
    expect(signal.aborted).toBe(false);
    restart();
  }
  await clock.advance(10_000, signal);
  expect([signal.aborted, clock.now() - start]).toEqual([true, expected]);
});

test('keepRecent computes a value once while it is one of those that were used last', () => {
  const computed: string[] = [];
  const get = keepRecent(2, (key) => {
    computed.push(key);
    return key.toUpperCase();
  });
  expect(['a', 'b', 'a', 'c', 'a', 'b'].map(get)).toEqual(['A', 'B', 'A', 'C', 'A', 'B']);
  expect(computed).toEqual(['a', 'b', 'c', 'b']);
});
