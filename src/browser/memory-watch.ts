import { readFile } from 'node:fs/promises';
import type { Browser } from 'puppeteer-core';
import type { Clock } from '../ports.ts';
import { MEGABYTE } from '../protocol/limits.ts';

/** Bytes of memory that the browser may use for a page, all its processes together. */
export const MOST_MEMORY = 2_048 * MEGABYTE;

/** Milliseconds between two measurements. */
const INTERVAL = 500;

/** Thrown for a page that needs more memory than it may use. */
export class PageMemoryError extends Error {
  override readonly name = 'PageMemoryError';
}

/**
 * Measures the browser's memory until the signal aborts. Only Linux tells it; elsewhere the limit of the scripts'
 * memory remains.
 *
 * @returns whether it was more than `most` bytes
 */
export async function exceedsMemory(
  browser: Browser,
  most: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<boolean> {
  try {
    const session = await browser.target().createCDPSession();
    for (;;) {
      const { processInfo } = await session.send('SystemInfo.getProcessInfo');
      const sizes = await Promise.all(processInfo.map(({ id }) => readPrivateMemory(id)));
      if (sizes.reduce((sum, size) => sum + size, 0) > most) return true;
      await clock.sleep(INTERVAL, signal);
    }
  } catch {
    // The view is over, or the browser has ended.
    return false;
  }
}

/** Bytes that a process does not share with others; 0 where the system does not tell. */
async function readPrivateMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}
