import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { folderChannelError } from '../../src/delivery/choose-channel.ts';
import { siteName } from '../../src/delivery/find-files.ts';
import { openSite } from '../../src/delivery/open-files.ts';
import { stoppedError } from '../../src/errors.ts';
import { SIZE } from '../../src/protocol/limits.ts';
import { listOpenFiles } from '../support/file-handles.ts';
import { temporaryFolder } from '../support/files.ts';
import { fakePorts } from '../support/ports.ts';
import { requestWith } from './builders.ts';

const PAGE = '<!doctype html><p>shown</p>';

async function foundFolder(files: Readonly<Record<string, string>>) {
  const path = join(await temporaryFolder(), 'dist');
  await mkdir(path);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
  return { path, given: 'dist', relativePath: 'dist' };
}

async function open(
  files: Readonly<Record<string, string>>,
  request: Parameters<typeof requestWith> = [{ file: 'dist', channel: 'K1' }],
) {
  const ports = fakePorts();
  return { ports, opened: openSite(await foundFolder(files), true, requestWith(...request), ports) };
}

const getError = async (opened: Promise<unknown>) =>
  opened.then(
    () => null,
    (error: Error) => error,
  );

describe('opening a site', () => {
  test('reads every file once, with its sizes and hashes, an empty one as well', async () => {
    const { opened, ports } = await open({
      'index.html': PAGE,
      'css/a.css': 'p {}',
      'empty.txt': '',
      '.env': 'x',
    });
    const site = await opened;
    expect(site.files.map(({ path, file }) => [path, file.size])).toEqual([
      ['css/a.css', 4],
      ['empty.txt', 0],
      ['index.html', PAGE.length],
    ]);
    expect(site).toMatchObject({ entry: { path: 'index.html' }, size: PAGE.length + 4, leftOut: ['.env'] });
    expect(ports.logger.lines).toEqual([
      `3 files, ${PAGE.length + 4} bytes, no secret found`,
      'hidden, and so left out: .env',
    ]);
    expect(ports.logger.shownProgress).toMatchObject([{ total: 3, done: 3, ended: true }]);
  });

  test('refuses an entry without a byte', async () => {
    const { opened } = await open({ 'index.html': '', 'a.css': '' });
    await expect(opened).rejects.toMatchObject({
      code: 'BAD_FILE',
      message: expect.stringMatching(/index\.html is empty$/),
    });
  });

  test('keeps no file open, and reads each again where it is sent', async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, nth) => [`f${nth}.txt`, `x${nth}`]));
    const found = await foundFolder({ 'index.html': PAGE, ...files });
    const site = await openSite(found, true, requestWith({ file: 'dist', channel: 'K1' }), fakePorts());
    expect(listOpenFiles(found.path)).toEqual([]);
    for (const { file } of site.files) await file.read().toArray();
    expect(listOpenFiles(found.path)).toEqual([]);
  });

  test('counts the marker in the entry only', async () => {
    const files = { 'index.html': PAGE, 'other.html': 'other' };
    const { opened } = await open(files, [{ file: 'dist', channel: 'K1', marker: 'shown' }]);
    expect((await opened).files.map(({ file }) => file.markerCount)).toEqual([1, null]);
    const missing = await open(files, [{ file: 'dist', channel: 'K1', marker: 'other' }]);
    await expect(missing.opened).rejects.toMatchObject({ code: 'BAD_INPUT' });
  });

  test('takes another entry, and names the pages where it does not exist', async () => {
    const files = { 'start.html': PAGE, 'deep/page.htm': PAGE, 'a.txt': 'x' };
    const { opened } = await open(files, [{ file: 'dist', channel: 'K1', entry: 'start.html' }]);
    expect((await opened).entry.path).toBe('start.html');
    await expect((await open(files)).opened).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: 'the folder dist has no page index.html',
      hint: 'set `entry: start.html`, or another of its pages: deep/page.htm',
    });
    // As Jest writes its coverage.
    const coverage = { 'clover.xml': 'x', 'lcov-report/a.js.html': PAGE, 'lcov-report/index.html': PAGE };
    await expect((await open(coverage)).opened).rejects.toMatchObject({
      hint: 'set `entry: lcov-report/index.html`, or another of its pages: lcov-report/a.js.html',
    });
    await expect((await open({ 'a.txt': 'x' })).opened).rejects.toMatchObject({
      hint: expect.stringContaining('name its files'),
    });
  });
});

describe('a site with something that may not be published', () => {
  const secret = `token=ghp_${'x7Kq2mZ9'.repeat(4)}aBcD`;
  const own = 'the-secret-of-this-job-0123456789';

  test('is refused with all findings together', async () => {
    const files = { 'index.html': PAGE, 'a.js': `x("${own}")`, 'b/c.js': `y("${own}")` };
    const around = { secrets: [own] };
    const { opened } = await open(files, [{ file: 'dist', channel: 'K1' }, around]);
    const error = await getError(opened);
    expect(error).toMatchObject({
      code: 'BAD_FILE',
      message: expect.stringMatching(/^the folder dist can't be a site: .*dist\/a\.js.*; .*dist\/b\/c\.js/),
      hint: expect.stringContaining('revoke it'),
    });
    expect(error?.message).not.toContain(own);
  });

  test('is refused for its secrets first, and in the same round for what its pages miss', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n`;
    const page = `${PAGE}<script src="gone.js"></script>`;
    const { opened } = await open({ 'a.png': pointer, 'b.js': secret, 'index.html': page });
    expect(await getError(opened)).toMatchObject({
      about: "the folder dist can't be a site",
      findings: [
        expect.stringContaining('b.js contains what looks like a secret: github in line 1 column 7'),
        expect.stringContaining('a.png is a Git LFS pointer'),
        expect.stringMatching(/^index\.html line \d+: .*gone\.js/),
      ],
    });
  });

  test("is refused where it is git's own folder, also one in it", async () => {
    const { path } = await foundFolder({
      'index.html': PAGE,
      '.git/index.html': PAGE,
      '.git/logs/index.html': '',
    });
    for (const name of ['.git', '.git/logs']) {
      const found = { path: join(path, name), given: name, relativePath: name };
      const opened = openSite(found, true, requestWith({ file: name, channel: 'K1' }), fakePorts());
      await expect(opened).rejects.toMatchObject({
        code: 'BAD_FILE',
        message: `the folder ${name} holds git's own data`,
      });
    }
  });

  test('is refused with the one finding as it is', async () => {
    const { opened } = await open({ 'index.html': PAGE, 'a.js': secret });
    const error = await getError(opened);
    expect(error?.message).toMatch(/a\.js/);
    expect(error?.message).not.toMatch(/can't be a site|ghp_/);
  });

  test('is refused where one file is too large for the branch', async () => {
    const found = await foundFolder({ 'index.html': PAGE, 'large.bin': '' });
    await truncate(join(found.path, 'large.bin'), SIZE.repository + 1);
    const opened = openSite(found, true, requestWith({ file: 'dist', channel: 'K1' }), fakePorts());
    await expect(opened).rejects.toMatchObject({
      code: 'TOO_LARGE',
      hint: expect.stringContaining('leave it out of the folder'),
    });
  });

  test('is refused where it lies behind a symbolic link outside of the allowed folders', async () => {
    const found = await foundFolder({ 'index.html': PAGE });
    await symlink(found.path, join(found.path, '..', 'link'));
    const link = { ...found, path: join(found.path, '..', 'link'), given: 'link' };
    const request = requestWith(
      { file: 'link', channel: 'K1' },
      { folder: dirname(found.path), allowedRoots: [dirname(found.path)] },
    );
    await expect(openSite(link, true, request, fakePorts())).rejects.toMatchObject({ code: 'BAD_FILE' });
  });

  test('is not read on after the step was stopped', async () => {
    const ports = fakePorts();
    const found = await foundFolder({ 'index.html': PAGE, 'a.txt': 'x' });
    ports.stop.abort(stoppedError());
    await expect(openSite(found, true, requestWith({ file: 'dist' }), ports)).rejects.toThrow('stopped');
    expect(ports.logger.shownProgress.every(({ ended }) => ended)).toBe(true);
  });
});

describe('channels that take no folder', () => {
  test.each(['K2', 'K3', 'K1+K2'])('are refused with the ways out: %s', async (channel) => {
    const { opened } = await open({ 'index.html': PAGE }, [{ file: 'dist', channel }]);
    await expect(opened).rejects.toMatchObject({
      code: 'BAD_INPUT',
      hint: expect.stringContaining('name its files (`dist/*`), or pack it'),
    });
  });

  test('are named with the reason why they were chosen', () => {
    expect(folderChannelError('out/dist/', 'K3', 'there is no site').message).toBe(
      'there is no site, and K3 takes single files, not the folder out/dist/',
    );
  });
});

test.each<[string | undefined, boolean, string]>([
  [undefined, true, 'dist'],
  ['previews/1/', true, 'previews/1/'],
  ['previews/1/', false, 'previews/1/dist'],
  ['./', true, './'],
  ['./', false, 'dist'],
  [undefined, false, 'dist'],
])('with path %j, alone %j, the folder dist gets the name %j', (path, isOnly, name) => {
  expect(siteName({ path: '/work/dist', given: 'dist', relativePath: 'dist' }, { path, isOnly })).toBe(name);
});
