import { describe, expect, test } from '@jest/globals';
import { mapConcurrently } from '../src/pool.ts';

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
