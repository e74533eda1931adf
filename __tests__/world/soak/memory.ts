import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const SETTLE_MS = 200;

/** What a process holds after so many deliveries. */
export interface MemoryUsage {
  readonly after: number;
  /** Bytes. */
  readonly heap: number;
  readonly rss: number;
  /** Open file descriptors; `null` where the system doesn't tell. */
  readonly descriptors: number | null;
  /** Timers, sockets and the like that keep the process alive. */
  readonly handles: number;
}

/** Looks at this process once its rubbish is gone; it runs with `--expose-gc`. */
export async function measureMemory(after: number): Promise<MemoryUsage> {
  // What is closed is gone a moment later.
  await sleep(SETTLE_MS);
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed: heap, rss } = process.memoryUsage();
  const descriptors = await readdir('/proc/self/fd').then(
    ({ length }) => length,
    () => null,
  );
  return { after, heap, rss, descriptors, handles: process.getActiveResourcesInfo().length };
}
