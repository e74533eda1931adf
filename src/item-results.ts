import { mapConcurrently } from './async.ts';
import { type Result, resultOf } from './errors.ts';

/** One item among several, with what its work returned or why it failed. */
export interface ItemResult<Item, Value> {
  readonly item: Item;
  readonly result: Result<Value>;
}

/**
 * Does the work for every item. An item that fails stops no other.
 *
 * @param atOnce how many items are worked on at the same time
 * @returns in the items' order
 */
export function forEachItem<Item, Value>(
  items: readonly Item[],
  work: (item: Item) => Promise<Value>,
  atOnce = 1,
): Promise<readonly ItemResult<Item, Value>[]> {
  return mapConcurrently(items, atOnce, async (item) => ({ item, result: await resultOf(() => work(item)) }));
}
