import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from '@jest/globals';
import { inspectFile, type LocalFile } from '../../src/rules/inspect.ts';

const folders: string[] = [];

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** Creates a folder that is removed after the tests. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'screen-delivery-'));
  folders.push(folder);
  return folder;
}

/** Does some work while nobody can read a folder: root reads every folder, and so gives up its rights meanwhile. */
export async function withLocked<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const { seteuid, geteuid } = process;
  const isRoot = geteuid?.() === 0;
  // Other users may pass through the folders above.
  for (let above = dirname(folder); above !== tmpdir(); above = dirname(above)) await chmod(above, 0o755);
  await chmod(folder, 0o000);
  if (isRoot) seteuid?.(65_534);
  try {
    return await work();
  } finally {
    if (isRoot) seteuid?.(0);
    await chmod(folder, 0o755);
  }
}

/** Writes a file to disk and inspects it. */
export async function localFile(
  bytes: string | Buffer,
  name = 'page.html',
  marker?: string,
): Promise<LocalFile> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, bytes);
  return inspectFile({ path, given: name, marker, secrets: [], signal: new AbortController().signal });
}

/** The file with another stream of bytes. */
export const withRead = (file: LocalFile, read: LocalFile['read']): LocalFile => ({
  ...file,
  read,
  pieces: () => file.pieces(),
  prefixSha256: (length) => file.prefixSha256(length),
});
