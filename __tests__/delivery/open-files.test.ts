import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { newDelivery } from '../../src/delivery/delivery.ts';
import { openSite } from '../../src/delivery/open-files.ts';
import { stoppedError } from '../../src/errors.ts';
import { SIZE } from '../../src/protocol/limits.ts';
import { siteName } from '../../src/rules/naming.ts';
import { temporaryFolder } from '../support/files.ts';
import { fakePorts } from '../support/ports.ts';
import { requestWith } from './builders.ts';

const PAGE = '<!doctype html><p>shown</p>';
type Files = Readonly<Record<string, string>>;
type Request = Parameters<typeof requestWith>;

async function createFolder(files: Files): Promise<string> {
  const path = join(await temporaryFolder(), 'dist');
  await mkdir(path);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
  return path;
}

async function openFolder(path: string, [inputs, around]: Request = [], ports = fakePorts()) {
  const request = requestWith({ channel: 'K1', ...inputs }, { folder: dirname(path), ...around });
  const run = { ...ports, request };
  const { site, unknown } = await openSite(newDelivery('deliver', basename(path)), path, run);
  if (site === null) throw new Error('there is a site');
  return { ...site, unknown };
}

const open = async (files: Files, ...request: Request) => openFolder(await createFolder(files), request);

describe('opening a site', () => {
  test('reads every file once, with its sizes and hashes, an empty one as well', async () => {
    const ports = fakePorts();
    const files = { 'index.html': PAGE, 'css/a.css': 'p {}', 'empty.txt': '', '.env': 'x' };
    const site = await openFolder(await createFolder(files), [], ports);
    expect(site.files.map(({ name, size }) => [name, size])).toEqual([
      ['css/a.css', 4],
      ['empty.txt', 0],
      ['index.html', PAGE.length],
    ]);
    expect(site).toMatchObject({ entry: { name: 'index.html' }, size: PAGE.length + 4, leftOut: ['.env'] });
    expect(ports.logger.lines).toEqual([
      `3 files, ${PAGE.length + 4} bytes, no secret found`,
      'not published: .env',
    ]);
    expect(ports.logger.shownProgress).toMatchObject([{ total: 3, done: 3, ended: true }]);
  });

  test('counts the marker in the entry only, and takes another entry', async () => {
    const files = { 'index.html': PAGE, 'other.html': 'other' };
    const { files: counted } = await open(files, { marker: 'shown' });
    expect(counted.map(({ markerCount }) => markerCount)).toEqual([1, null]);
    expect((await open(files, { marker: 'other', entry: 'other.html' })).entry.name).toBe('other.html');
  });

  test('tells what was allowed though it looks like a secret', async () => {
    const files = { 'index.html': PAGE, 'a.js': token };
    const refused: unknown = await open(files).catch((thrown: unknown) => thrown);
    const [, fingerprint = ''] = /fingerprint (\w+)/.exec(String(refused)) ?? [];
    const { unknown } = await open(files, { 'allow-secret': fingerprint });
    expect(unknown).toEqual(['whether allowed findings that look like secrets are harmless: a.js']);
  });

  // As Jest writes its coverage.
  const COVERAGE = { 'clover.xml': 'x', 'lcov-report/a.js.html': PAGE, 'lcov-report/index.html': PAGE };
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n`;
  const own = 'the-secret-of-this-job-0123456789';
  const token = `ghp_${'x7Kq2mZ9'.repeat(4)}aBcD`;
  const NO_PAGE = /^the folder dist has no page index\.html$/;
  test.each<[string, Files, Request, RegExp, RegExp]>([
    ['an entry without a byte', { 'index.html': '' }, [], /index\.html is empty$/, /./],
    [
      'no marker',
      { 'index.html': PAGE, 'a.txt': 'x' },
      [{ marker: 'gone' }],
      /expected text was not found/,
      /./,
    ],
    [
      'another page',
      { 'start.html': PAGE, 'deep/page.htm': PAGE },
      [],
      NO_PAGE,
      /^set `entry: start\.html`, or another of its pages: deep\/page\.htm$/,
    ],
    // As Qwik and Jest write it, and as rustdoc.
    ['a folder with all pages', COVERAGE, [], NO_PAGE, /^deliver the folder dist\/lcov-report\/, which has/],
    [
      'inner pages',
      { ...COVERAGE, 'help.html': PAGE },
      [],
      NO_PAGE,
      /^set `entry: lcov-report\/index\.html`, .*: help\.html/,
    ],
    ['no page', { 'a.txt': 'x' }, [], NO_PAGE, /deliver the files by name/],
    [
      'credentials of the job',
      { 'index.html': PAGE, 'a.js': `x("${own}")`, 'b/c.js': `y("${own}")` },
      [{}, { secrets: [{ name: 'DB_SECRET', value: own }] }],
      /^the folder dist can't be delivered: .*dist\/a\.js.*; .*dist\/b\/c\.js/,
      /revoke it/,
    ],
    [
      'secrets, which come first, and what its pages miss',
      { 'a.png': pointer, 'b.js': `token=${token}`, 'index.html': `${PAGE}<script src="gone.js"></script>` },
      [],
      /b\.js contains what looks like a secret: GitHub token in line 1 column 7.*; .*a\.png is a Git LFS pointer.*; index\.html line \d+: .*gone\.js/,
      /./,
    ],
    ['one finding', { 'index.html': PAGE, 'a.js': token }, [], /^(?!.*can't be delivered).*a\.js/, /./],
    ...['K2', 'K3', 'K1+K2'].map((channel): [string, Files, Request, RegExp, RegExp] => [
      `a page, for ${channel}`,
      { 'index.html': PAGE },
      [{ channel }],
      /takes single files/,
      /otherwise pack it/,
    ]),
  ])('is refused with %s', async (_, files, request, message, hint) => {
    const error: unknown = await open(files, ...request).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
    expect(String(error)).not.toMatch(new RegExp(`${own}|${token}`));
  });

  test("is refused where it is git's own folder, also one in it", async () => {
    const path = await createFolder({ '.git/index.html': PAGE, '.git/logs/index.html': '' });
    for (const name of ['.git', '.git/logs']) {
      const message = `the folder ${basename(name)} holds git's own data`;
      await expect(openFolder(join(path, name))).rejects.toMatchObject({ code: 'BAD_FILE', message });
    }
  });

  test('is refused where one file is too large for the branch', async () => {
    const path = await createFolder({ 'index.html': PAGE, 'large.bin': '' });
    await truncate(join(path, 'large.bin'), SIZE.repository + 1);
    const hint = expect.stringContaining('leave it out of the folder');
    await expect(openFolder(path)).rejects.toMatchObject({ code: 'TOO_LARGE', hint });
  });

  test('is refused where it lies behind a symbolic link outside of the allowed folders', async () => {
    const path = await createFolder({ 'index.html': PAGE });
    const folder = dirname(path);
    await symlink(path, join(folder, 'link'));
    const opened = openFolder(join(folder, 'link'), [{}, { allowedRoots: [folder] }]);
    await expect(opened).rejects.toMatchObject({ code: 'BAD_FILE' });
  });

  test('is not read on after the step was stopped', async () => {
    const ports = fakePorts();
    ports.stop.abort(stoppedError());
    const path = await createFolder({ 'index.html': PAGE, 'a.txt': 'x' });
    await expect(openFolder(path, [], ports)).rejects.toThrow('stopped');
    expect(ports.logger.shownProgress.every(({ ended }) => ended)).toBe(true);
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
  expect(siteName('/work/dist', path, isOnly)).toBe(name);
});
