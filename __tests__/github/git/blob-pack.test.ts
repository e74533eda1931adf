import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { beforeEach, expect, test } from '@jest/globals';
import type { FileWrite } from '../../../src/github/change.ts';
import { writeBlobPack } from '../../../src/github/git/blob-pack.ts';
import { localFile, temporaryFolder, withRead } from '../../support/files.ts';

let folder: string;

const git = (...args: string[]): string =>
  execFileSync('git', ['-C', folder, ...args], { encoding: 'latin1', maxBuffer: 2 ** 24, stdio: 'pipe' });

const write = (files: readonly FileWrite[], signal = new AbortController().signal): Promise<void> =>
  writeBlobPack(folder, files, signal);

const listPacks = (): Promise<string[]> => readdir(join(folder, 'objects', 'pack'));

beforeEach(async () => {
  folder = await temporaryFolder();
  git('init', '--quiet', '--bare', '.');
});

test('git reads every blob of the pack, and finds no fault in it', async () => {
  // Around each border of the format: the size's groups of bits, a block, a read.
  const sizes = [1, 15, 16, 2_047, 2_048, 65_535, 65_536, 131_070, 262_145, 3_000_000];
  const contents = [...sizes.map((size) => randomBytes(size)), Buffer.alloc(1_000_000, 255)];
  const files = await Promise.all(contents.map((bytes) => localFile(bytes)));
  await write(files.map((file, nth) => ({ path: `${nth}.bin`, file })));
  const [index = '', pack = ''] = (await listPacks()).sort();
  expect([index, pack]).toEqual([
    expect.stringMatching(/^pack-[0-9a-f]{40}\.idx$/),
    index.replace('.idx', '.pack'),
  ]);
  git('fsck', '--full', '--strict');
  git('verify-pack', join('objects', 'pack', index));
  for (const [nth, { blobSha }] of files.entries()) {
    expect(git('cat-file', 'blob', blobSha)).toBe(contents[nth]?.toString('latin1'));
  }
});

test('bytes that are not those that were checked make no pack', async () => {
  const [file, other] = [await localFile('one'), await localFile('two')];
  await expect(
    write([{ path: 'docs/a.bin', file: withRead(file, () => other.read()) }]),
  ).rejects.toMatchObject({ code: 'BAD_FILE', message: expect.stringContaining('docs/a.bin changed') });
  expect((await listPacks()).filter((name) => name.startsWith('pack-'))).toEqual([]);
});

test('an abort ends the writing with its reason', async () => {
  const stop = new AbortController();
  const file = await localFile(randomBytes(400_000));
  const read = (): Readable =>
    file.read().on('data', () => {
      stop.abort(new Error('stopped'));
    });
  await expect(write([{ path: 'a.bin', file: withRead(file, read) }], stop.signal)).rejects.toThrow(
    'stopped',
  );
});
