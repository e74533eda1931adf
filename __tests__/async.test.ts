import { describe, expect, test } from '@jest/globals';
import { mapConcurrently, type PollOptions, poll } from '../src/async.ts';
import { FakeClock, NOON } from './support/ports.ts';

function patience(over: Partial<PollOptions> = {}): PollOptions & { readonly clock: FakeClock } {
  const clock = new FakeClock();
  const signal = new AbortController().signal;
  return { interval: 5_000, deadline: NOON + 12_000, signal, ...over, clock };
}

/** A look that finds something at the nth time, and notes when it looked. */
function finding(nth: number, clock: FakeClock): { look: () => Promise<string | undefined>; at: number[] } {
  const at: number[] = [];
  const look = async (): Promise<string | undefined> => {
    at.push(clock.now() - NOON);
    return at.length === nth ? 'found' : undefined;
  };
  return { look, at };
}

describe('poll', () => {
  test('looks at once, before any pause', async () => {
    const asked = patience();
    const { look, at } = finding(1, asked.clock);
    expect(await poll(asked, look)).toBe('found');
    expect(at).toEqual([0]);
    expect(asked.clock.slept).toEqual([]);
  });

  test('looks every interval until it finds something', async () => {
    const asked = patience();
    const { look, at } = finding(3, asked.clock);
    expect(await poll(asked, look)).toBe('found');
    expect(at).toEqual([0, 5_000, 10_000]);
  });

  test('looks a last time right at the deadline, and then gives up', async () => {
    const asked = patience();
    const { look, at } = finding(0, asked.clock);
    expect(await poll(asked, look)).toBeUndefined();
    expect(at).toEqual([0, 5_000, 10_000, 12_000]);
  });

  test('looks once at the deadline where that falls on an interval', async () => {
    const asked = patience({ deadline: NOON + 10_000 });
    const { look, at } = finding(0, asked.clock);
    await poll(asked, look);
    expect(at).toEqual([0, 5_000, 10_000]);
  });

  test('looks once even when the deadline has passed already', async () => {
    const asked = patience({ deadline: NOON - 1 });
    const { look, at } = finding(1, asked.clock);
    expect(await poll(asked, look)).toBe('found');
    expect(at).toEqual([0]);
  });

  test('makes 49 looks of the 240 s of the protocol: one at once, and 48 polls 5 s apart', async () => {
    const asked = patience({ deadline: NOON + 240_000 });
    const { look, at } = finding(0, asked.clock);
    await poll(asked, look);
    expect(at).toHaveLength(49);
  });

  test('gives the time that a look takes no pause back', async () => {
    const asked = patience();
    const at: number[] = [];
    await poll(asked, async () => {
      at.push(asked.clock.now() - NOON);
      asked.clock.time += 4_000;
      return undefined;
    });
    expect(at).toEqual([0, 9_000]);
  });

  test.each([0, '', false, null])('takes %j for something that was found', async (found) => {
    expect(await poll<unknown>(patience(), async () => found)).toBe(found);
  });

  test('ends with the error of a look', async () => {
    const look = async (): Promise<never> => {
      throw new Error('the look failed');
    };
    await expect(poll(patience(), look)).rejects.toThrow('the look failed');
  });

  test('does not look at all when it was stopped before', async () => {
    const asked = patience({ signal: AbortSignal.abort(new Error('stopped')) });
    const { look, at } = finding(1, asked.clock);
    await expect(poll(asked, look)).rejects.toThrow('stopped');
    expect(at).toEqual([]);
  });

  test('stops without the pause that would come next', async () => {
    const stop = new AbortController();
    const asked = patience({ signal: stop.signal });
    const { look, at } = finding(0, asked.clock);
    const polling = poll(asked, async () => {
      stop.abort(new Error('stopped'));
      return look();
    });
    await expect(polling).rejects.toThrow('stopped');
    expect(at).toEqual([0]);
    expect(asked.clock.slept).toEqual([]);
  });
});

/** Work that ends when the test says so, and notes how much of it is going on at once. */
function heldWork() {
  const begun: number[] = [];
  const endings = new Map<number, (failure?: Error) => void>();
  let going = 0;
  let most = 0;
  const work = async (item: number): Promise<string> => {
    begun.push(item);
    going += 1;
    most = Math.max(most, going);
    await new Promise<void>((resolve, reject) => {
      endings.set(item, (failure) => (failure === undefined ? resolve() : reject(failure)));
    });
    going -= 1;
    return `done ${item}`;
  };
  /** Ends one, and lets what follows from it happen. */
  const end = async (item: number, failure?: Error): Promise<void> => {
    endings.get(item)?.(failure);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, work, end, most: () => most };
}

describe('a pool', () => {
  test('answers in the order of the items, whatever the order in which they end', async () => {
    const { work, end } = heldWork();
    const all = mapConcurrently([1, 2, 3], 3, work);
    for (const item of [3, 1, 2]) await end(item);
    await expect(all).resolves.toEqual(['done 1', 'done 2', 'done 3']);
  });

  test('works on so many at once and no more, and begins the next as soon as one ends', async () => {
    const { begun, work, end, most } = heldWork();
    const all = mapConcurrently([1, 2, 3, 4], 2, work);
    expect(begun).toEqual([1, 2]);
    await end(2);
    expect(begun).toEqual([1, 2, 3]);
    for (const item of [3, 4, 1]) await end(item);
    await all;
    expect([begun, most()]).toEqual([[1, 2, 3, 4], 2]);
  });

  test('throws what the first failing work threw, and begins nothing further', async () => {
    const { begun, work, end } = heldWork();
    const failure = new Error('two');
    const all = mapConcurrently([1, 2, 3, 4], 2, work);
    const thrown = expect(all).rejects.toBe(failure);
    await end(2, failure);
    await end(1);
    await thrown;
    expect(begun).toEqual([1, 2]);
  });

  test('of nothing is done at once', async () => {
    await expect(mapConcurrently([], 6, () => Promise.reject(new Error('called')))).resolves.toEqual([]);
  });
});
