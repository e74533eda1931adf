import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { pack } from 'tar-stream';
import { packSite, readArchive } from '../../../../src/channels/pages/deploy/site-archive.ts';
import { NOON } from '../../../support/ports.ts';

const fileOf = (path: string, bytes: Buffer) => ({
  path,
  size: bytes.length,
  read: () => Readable.from([bytes.subarray(0, 100), bytes.subarray(100)]),
});

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

describe('packSite', () => {
  test('makes a zip archive of one tar archive, which other programs unpack to the same files', async () => {
    const long = `${'folder/'.repeat(30)}${'name'.repeat(40)}.txt`;
    const files = new Map([
      ['index.html', Buffer.from('<!doctype html>'.repeat(99))],
      ['empty.txt', Buffer.alloc(0)],
      ['страница.html', Buffer.from('привет')],
      [long, Buffer.alloc(300_000, 7)],
      ['random.bin', randomBytes(3_000_000)],
      ['large.txt', Buffer.from('A line of text.\n'.repeat(200_000))],
    ]);
    const zip = await collect(
      packSite(
        [...files].map(([path, bytes]) => fileOf(path, bytes)),
        NOON,
      ),
    );
    const folder = await mkdtemp(join(tmpdir(), 'site-archive-'));
    const script = `import sys, zipfile, tarfile, io
z = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())); assert z.testzip() is None; assert z.namelist() == ['artifact.tar']
t = tarfile.open(fileobj=io.BytesIO(z.read('artifact.tar'))); assert all(m.isfile() and m.mode == 0o644 for m in t)
t.extractall(sys.argv[1], filter='data')`;
    const run = promisify(execFile)('python3', ['-c', script, folder]);
    run.child.stdin?.end(zip);
    await run;
    for (const [path, bytes] of files) {
      expect([path, bytes.equals(await readFile(join(folder, path)))]).toEqual([path, true]);
    }
    expect(await readdir(folder)).toHaveLength(files.size);
    await rm(folder, { recursive: true });
  });

  test("fails if a file can't be read, or its size changed", async () => {
    const gone = async () => Promise.reject(new Error('gone'));
    const broken = { ...fileOf('a', Buffer.from('a')), read: () => Readable.from([gone()]) };
    await expect(collect(packSite([broken], NOON))).rejects.toThrow('gone');
    for (const size of [2, 5]) {
      const changed = { ...fileOf('a', Buffer.from('abc')), size };
      await expect(collect(packSite([changed], NOON))).rejects.toThrow('no longer has');
    }
  });

  test('closes the file if nobody reads the rest', async () => {
    let isClosed = false;
    async function* read() {
      try {
        for (;;) yield Buffer.alloc(100_000);
      } finally {
        isClosed = true;
      }
    }
    for await (const chunk of packSite([{ path: 'a', size: 1e9, read }], NOON))
      if (chunk.length === 100_000) break;
    expect(isClosed).toBe(true);
  });
});

test('readArchive gives the files of a packed archive, without its folder and without links', async () => {
  const tar = pack();
  tar.entry({ name: 'octo-site-c0ffee/', type: 'directory' });
  tar.entry({ name: 'octo-site-c0ffee/a/b.txt' }, 'b');
  tar.entry({ name: 'octo-site-c0ffee/link', type: 'symlink', linkname: 'a/b.txt' });
  tar.entry({ name: 'octo-site-c0ffee/large' }, Buffer.alloc(200_000, 1));
  tar.finalize();
  const packed = gzipSync(await collect(Readable.from(tar)));
  const found: [string, number, string][] = [];
  for await (const { path, size, read } of readArchive(Readable.from([packed]))) {
    const hash = createHash('md5');
    for await (const chunk of read()) hash.update(chunk);
    found.push([path, size, hash.digest('hex')]);
  }
  const md5 = (bytes: Buffer | string) => createHash('md5').update(bytes).digest('hex');
  expect(found).toEqual([
    ['a/b.txt', 1, md5('b')],
    ['large', 200_000, md5(Buffer.alloc(200_000, 1))],
  ]);
  await expect(collectAll(packed.subarray(0, -100))).rejects.toThrow();
});

async function collectAll(packed: Buffer): Promise<void> {
  for await (const { read } of readArchive(Readable.from([packed]))) for await (const _ of read());
}
