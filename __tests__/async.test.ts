import { describe, expect, test } from '@jest/globals';
import { forEachItem, keepRecent, mapConcurrently, poll, resultsOfAll } from '../src/async.ts';
import { DeliveryError, hasFailed } from '../src/errors.ts';
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
  const tick = () => new Promise((resolve) => setImmediate(resolve));

  test('never exceeds the limit, starts the next item as soon as one ends, and keeps the order', async () => {
    const log: string[] = [];
    let [running, most] = [0, 0];
    const results = await mapConcurrently([4, 1, 2], 2, async (ticks) => {
      running += 1;
      most = Math.max(most, running);
      log.push(`starts ${ticks}`);
      for (let nth = 0; nth < ticks; nth += 1) await tick();
      running -= 1;
      log.push(`ends ${ticks}`);
      return ticks * 10;
    });
    expect([results, most]).toEqual([[40, 10, 20], 2]);
    expect(log).toEqual(['starts 4', 'starts 1', 'ends 1', 'starts 2', 'ends 2', 'ends 4']);
  });

  test('throws the first error and starts no further item', async () => {
    const started: number[] = [];
    const failure = new Error('two');
    const work = async (item: number): Promise<void> => {
      started.push(item);
      await tick();
      if (item === 2) throw failure;
      await tick();
    };
    await expect(mapConcurrently([1, 2, 3, 4], 2, work)).rejects.toBe(failure);
    await tick();
    expect(started).toEqual([1, 2]);
  });
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

describe('resultsOfAll', () => {
  const TAKEN = new DeliveryError('NOT_OURS', 'taken');
  type Call = (items: readonly string[]) => ReturnType<typeof forEachItem<string, string>>;
  const echo: Call = (items) =>
    forEachItem(items, async (item) => {
      if (item === 'b') throw TAKEN;
      return item.toUpperCase();
    });

  test.each<[string, readonly string[], Call, readonly string[]]>([
    ['gives each item its own result', ['a', 'b'], echo, ['a: A', 'b: taken']],
    ['gives all the error of the call', ['a', 'b'], () => Promise.reject(TAKEN), ['a: taken', 'b: taken']],
    ['does not call without items', [], () => Promise.reject(new Error('called')), []],
    [
      'fails what the call left out',
      ['a', 'c'],
      (items) => echo(items.slice(0, 1)),
      ['a: A', 'c: unexpected error: the call returned fewer results than files'],
    ],
  ])('%s', async (_, items, call, expected) => {
    const results = await resultsOfAll(items, call);
    const told = [...results].map(([item, one]) => `${item}: ${hasFailed(one) ? one.message : one}`);
    expect(told).toEqual(expected);
  });
});
