/**
 * Does the work on every item, a few at a time, and answers in the items' order.
 *
 * @param width how many are worked on at once
 * @throws what the first failing work threw; nothing further is begun then.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  let failed = false;
  async function worker(): Promise<void> {
    for (const [at, item] of queue) {
      if (failed) return;
      try {
        results[at] = await work(item);
      } catch (thrown) {
        failed = true;
        throw thrown;
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return results;
}
