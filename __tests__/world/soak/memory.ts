import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const SETTLE_MS = 200;

/** The memory and handles of a process after some deliveries. */
export interface MemoryUsage {
  readonly after: number;
  /** Bytes. */
  readonly heap: number;
  readonly rss: number;
  /** Open file descriptors; `null` where the system does not report them. */
  readonly descriptors: number | null;
  /** Timers, sockets and the like that keep the process alive. */
  readonly handles: number;
}

/** Measures this process after garbage collection; needs `--expose-gc`. */
export async function measureMemory(after: number): Promise<MemoryUsage> {
  // Closed handles disappear a moment later.
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
