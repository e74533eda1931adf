import { type FileHandle, open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';

/** The file handles whose descriptor was used while some work was done, also to write; and which are still open. */
export interface UsedHandles {
  readonly used: number;
  readonly open: number;
}

/**
 * Tells which file handles some work leaves open. It needs no list of the system's open files, which only some
 * systems have: a handle that is closed has no descriptor any more.
 */
export async function watchFileHandles(work: () => Promise<unknown>): Promise<UsedHandles> {
  const any = await open(fileURLToPath(import.meta.url));
  await any.close();
  const used = jest.spyOn(Object.getPrototypeOf(any) as FileHandle, 'fd', 'get');
  try {
    await work();
    const handles = new Set(used.mock.contexts as readonly FileHandle[]);
    return { used: handles.size, open: [...handles].filter(({ fd }) => fd !== -1).length };
  } finally {
    used.mockRestore();
  }
}
