import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { BATCH } from '../../src/protocol/limits.ts';
import { findFiles } from '../../src/request/find-files.ts';
import { readExclusions } from '../../src/request/patterns.ts';
import { temporaryFolder, withLocked } from '../support/files.ts';

const FILES = [
  'page.html',
  '[x].html',
  'x.html',
  '!odd.html',
  'my report.html',
  'out/a.html',
  'out/b.md',
  'out/.hidden.html',
  'out/.cache/c.html',
  'out/deep/d.html',
  'reports/e.html',
  'many/f.html',
  'many/.git/config',
];

let workspace: string;
const home = process.cwd();

async function folderWith(files: readonly string[], name = 'workspace'): Promise<string> {
  const folder = join(await temporaryFolder(), name);
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), file);
  }
  return folder;
}

beforeAll(async () => {
  workspace = await folderWith(FILES);
  // A step may run anywhere.
  process.chdir(await temporaryFolder());
});
afterAll(() => process.chdir(home));

/** Each file as given, with its relative path if that differs. */
const find = async (lines: readonly string[], folder = workspace): Promise<readonly string[]> =>
  [...(await findFiles(lines, folder))].map(([given, { relativePath }]) =>
    given === relativePath ? given : `${given} at ${relativePath}`,
  );

describe('findFiles, with patterns', () => {
  test.each<[string, string[], string[]]>([
    ['a star', ['out/*.html'], ['out/a.html at a.html']],
    ['a star below ./', ['./out/*.md'], ['out/b.md at b.md']],
    ['two stars', ['out/**/*.html'], ['out/a.html at a.html', 'out/deep/d.html at deep/d.html']],
    ['a question mark', ['reports/?.html'], ['reports/e.html at e.html']],
    ['a class', ['out/[ab].*'], ['out/a.html at a.html', 'out/b.md at b.md']],
    ['several, with their folders', ['out/*.md', 'reports/*'], ['out/b.md', 'reports/e.html']],
    ['two folders', ['out/deep/*', 'out/*.md'], ['out/b.md at b.md', 'out/deep/d.html at deep/d.html']],
    ['what ! leaves out', ['out/**', '!out/deep/**', '!**/*.md'], ['out/a.html at a.html']],
    ['what a ! before it leaves', ['!out/deep/**', '!**/*.md', 'out/**'], ['out/a.html at a.html']],
    ['what a ! with a folder leaves', ['out/**', '!out/deep', '!**/*.md'], ['out/a.html at a.html']],
    ['what a ! with a slash leaves', ['out/**', '!out/deep/', '!**/*.md'], ['out/a.html at a.html']],
    ['what a ! with a name leaves', ['out/**', '! **/deep', '!./out/b.md'], ['out/a.html at a.html']],
    ['named files that no ! names', ['page.html', 'out/a.html', '!out/*'], ['page.html']],
    [
      'no hidden file that a ! matches',
      ['page.html', 'out/.hidden.html', '!**/*.html', 'out/*.md'],
      ['out/b.md at b.md'],
    ],
    ['a named folder', ['out', '!out/deep'], ['out']],
    ['a named folder that is not here', ['gone/', '!gone/drafts/**', '!**/*.map'], ['gone/ at gone']],
    ['alternatives', ['out/{a,c}.h*'], ['out/a.html at a.html']],
    ['a name that begins with !', ['./!odd.html'], ['./!odd.html at !odd.html']],
    ['a class, if no file has that name', ['out/[a].html'], ['out/a.html at a.html']],
    ['a named file, spelled as given', ['./out/a.html', 'out/*.html'], ['./out/a.html at a.html']],
    ['a name with a space', ['my*.html'], ['my report.html']],
    ['a file of two lines once', ['out/a.html', 'out/*.html', 'reports/*'], ['out/a.html', 'reports/e.html']],
    ['what is in a hidden folder that it names', ['out/.cache/*.html'], ['out/.cache/c.html at c.html']],
    [
      'hidden names that it writes out',
      ['**/.cache/*', '*/.hidden.html'],
      ['out/.cache/c.html', 'out/.hidden.html'],
    ],
    ['a way out of the workspace', ['../workspace/rep*/e.html'], ['reports/e.html']],
    ['no line', [], []],
    ['an exact name among patterns', ['[x].html', 'reports/*'], ['[x].html', 'reports/e.html']],
    ['a file that does not exist, which the check reports', ['gone.html'], ['gone.html']],
  ])('finds %s', async (_, lines, expected) => {
    expect((await find(lines)).toSorted()).toEqual(expected.toSorted());
  });

  test('takes an absolute pattern', async () => {
    await expect(find([`${workspace}/rep*/e.html`])).resolves.toEqual(['reports/e.html']);
  });

  const OUT = 'is a symbolic link that leads out of its folder';
  const LINKS = ['gone.html is a symbolic link to nothing', `link.html ${OUT}`];
  const PIPE = 'pipe.html is not a regular file';
  const FOLDERS = [`linked/ ${OUT}`, "locked/ can't be read (EACCES)"];

  test.each<[string, string[], string[]]>([
    ['files', ['out/*'], [...LINKS, 'loop is a symbolic link in a circle', PIPE]],
    ['files in folders', ['out/**/*.html'], [...LINKS, ...FOLDERS.slice(1), PIPE]],
    ['folders', ['o*/l*/*'], FOLDERS],
    ['what a ! leaves', ['out/*/*.html', '!out/*.html', '!out/locked/**'], FOLDERS.slice(0, 1)],
    ['nothing, once a ! left it out', ['out/**/*.html', '!out/[glp]*.html', '!out/l*/**'], []],
    ['nothing that it does not match', ['out/*.txt'], []],
  ])('names files that match a pattern but are not deliverable: %s', async (_, lines, names) => {
    const folder = await folderWith(['out/a.html', 'out/b.txt', 'out/locked/c.html', '../secret/b.html']);
    await symlink(join(folder, '../secret'), join(folder, 'out', 'linked'));
    await symlink(join(folder, '../secret/b.html'), join(folder, 'out', 'link.html'));
    await symlink('nowhere', join(folder, 'out', 'gone.html'));
    await symlink('loop', join(folder, 'out', 'loop'));
    execFileSync('mkfifo', [join(folder, 'out', 'pipe.html')]);
    const found = withLocked(join(folder, 'out', 'locked'), () => findFiles(lines, folder));
    if (names.length === 0) return expect((await found).size).toBe(1);
    await expect(found).rejects.toMatchObject({
      code: 'BAD_FILE',
      findings: names.map((name) => `out/${name}`).toSorted(),
      hint: expect.stringContaining('`!out/'),
    });
  });
});

test('a pattern follows links that stay in its folder, but `**` follows no link to a folder', async () => {
  const folder = await folderWith(['out/real/a.html', 'out/b.html']);
  await symlink('real', join(folder, 'out/linked'));
  await symlink('..', join(folder, 'out/real/around'));
  await symlink('../b.html', join(folder, 'out/real/c.html'));
  const found = (names: readonly string[]) =>
    names.map((relativePath) => [`out/${relativePath}`, { relativePath, root: join(folder, 'out') }]);
  const real = ['real/a.html', 'real/c.html'];
  expect([...(await findFiles(['out/**/*.html'], folder))]).toEqual(found(['b.html', ...real]));
  const linked = ['linked/a.html', 'linked/c.html'];
  expect([...(await findFiles(['out/*/*.html'], folder))]).toEqual(found([...linked, ...real]));
  expect([...(await findFiles(['out/l*/**'], folder))]).toEqual(found(linked));
  await expect(findFiles(['out/real/*'], folder)).rejects.toMatchObject({
    findings: ['out/real/c.html is a symbolic link that leads out of its folder'],
  });
});

test.each<[string, string, string[]]>([
  ['drafts behind a named link', 'a.html !pk/**/drafts', []],
  ['the target of a named link', 'a.html x.css !pk/drafts/s.html', ['x.css']],
  ['a link in a chain', '*.html !pk/b.html', ['a.html']],
  ['a link in a chain, by a pattern', '*.html !**/b.*', ['a.html', 'd.html']],
  ['a linked folder in a chain', '*/*.html !pk/**/later', ['drafts/s.html', 'now/c.html']],
  ['a linked folder that has another link', '*/*.html !pk/now', ['drafts/s.html']],
  ['a file by the name of a linked folder', '*/*.html !pk/now/c.html', ['drafts/s.html']],
])('a link delivers nothing that a ! excludes: %s', async (_, lines, left) => {
  const folder = await folderWith(['pk/drafts/s.html', 'pk/x.css', 'pk/.store/v/c.html']);
  const links = { 'a.html': 'drafts/s.html', 'b.html': '.store/v/c.html', 'c.html': 'b.html' };
  const folders = { now: '.store/v', later: '.store/v', last: 'later', 'd.html': '.store/v/c.html' };
  for (const [name, target] of Object.entries({ ...links, ...folders }))
    await symlink(target, join(folder, 'pk', name));
  const found = find(
    lines.split(' ').map((line) => (line.startsWith('!') ? line : `pk/${line}`)),
    folder,
  );
  if (left.length === 0) return expect(found).rejects.toThrow(/exclude all of pk\/a\.html/);
  expect((await found).map((name) => name.replace(/^pk\/| at .*/g, ''))).toEqual(left);
});

test('a link with `..` behind another link delivers nothing that a ! excludes', async () => {
  const folder = await folderWith(['pk/index.html', 'pk/private/a.html', 'pk/private/deep/x.txt']);
  await symlink('private/deep', join(folder, 'pk/alias'));
  await symlink('alias/../a.html', join(folder, 'pk/pub.html'));
  await expect(find(['pk/*.html', '!pk/private'], folder)).resolves.toEqual(['pk/index.html at index.html']);
});

describe('findFiles, with the exact name of a file', () => {
  test.each(['[x].html', 'my report.html'])('finds exactly %s', async (line) => {
    await expect(find([line])).resolves.toEqual([line]);
  });

  test('finds a hidden file and a symbolic link, which later checks refuse', async () => {
    await expect(find(['out/.hidden.html'])).resolves.toEqual(['out/.hidden.html at .hidden.html']);
    const folder = await folderWith(['a.html']);
    await symlink(join(folder, 'a.html'), join(folder, 'l[i]nk.html'));
    await expect(find(['l[i]nk.html'], folder)).resolves.toEqual(['l[i]nk.html']);
  });

  test('keeps the order of the lines', async () => {
    const lines = ['x.html', 'page.html', 'out/b.md'];
    await expect(find(lines)).resolves.toEqual(lines);
  });
});

describe('findFiles, with a wrong pattern', () => {
  test.each<[string, string[], string]>([
    ['that matches nothing', ['gone/*.html'], 'gone/*.html'],
    ['whose folder does not exist', ['gone/**'], 'gone/**'],
    ['that matches only folders', ['o?t'], 'o?t'],
    ['of which a ! leaves nothing', ['out/*', '!**'], 'out/*'],
    ['below what a ! leaves out', ['page.html', 'out/deep/*', '!out/deep'], 'out/deep/*'],
    ['of hidden files alone', ['out/.*'], 'out/.*'],
    ['of a part of a hidden name', ['**/.hid*.html'], '**/.hid*.html'],
    ['of hidden folders', ['out/.c*/*.html'], 'out/.c*/*.html'],
    ["of git's own data", ['**/.git/*'], '**/.git/*'],
    ['beside a file that exists', ['page.html', 'gone/*'], 'gone/*'],
  ])('refuses a pattern %s', async (_, lines, named) => {
    await expect(findFiles(lines, workspace)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      step: 'check',
      message: `input \`file\` matches no file: ${named}`,
      hint: expect.stringMatching(/correct the pattern, which is relative to the workspace$/),
    });
  });

  test.each<[string, string[], RegExp]>([
    ['all named files', ['page.html', '!**'], /^the `!` lines exclude all of page\.html$/],
    ['a named folder', ['out/', '!out/**'], /^the `!` lines exclude all of out\/$/],
    ['what is not named', ['!odd.html'], /^only `!` lines are given$/],
  ])('refuses ! lines that exclude %s', async (_, lines, message) => {
    const hint = expect.not.stringContaining('deliver');
    const refusal = { code: 'BAD_INPUT', step: 'check', message: expect.stringMatching(message), hint };
    await expect(findFiles(lines, workspace)).rejects.toMatchObject(refusal);
  });

  test('refuses a pattern with backslashes, with what to write', async () => {
    const hint = expect.stringMatching(/^write \/ between folders/);
    await expect(findFiles(['out\\*.html'], workspace)).rejects.toMatchObject({ hint });
  });

  test.each<[string, string[], string]>([
    ['of files', ['out/**', '!a.html'], '!a.html'],
    ['of named files', ['page.html', '!pages.html'], '!pages.html'],
    ['of a named folder', ['out/', '!out/draft/**'], '!out/draft/**'],
    ['beside one with an effect', ['out/', '!out/deep', '!out/depe'], '!out/depe'],
  ])('refuses a ! that excludes nothing %s', async (_, lines, named) => {
    await expect(findFiles(lines, workspace)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      step: 'check',
      message: `the line ${named} does not exclude anything`,
      hint: expect.stringContaining('relative to the workspace'),
    });
  });

  test.each<[string, string[], string[]]>([
    ['outside alone', ['TEMP/out', '!**/drafts'], ['a.html']],
    ['outside, by a pattern', ['TEMP/out/**', '!**/drafts/**'], ['a.html']],
    ['outside, with the folder of the pattern', ['TEMP/out/**', '!**/out/drafts'], ['a.html']],
    ['outside and inside', ['TEMP/out/*/*', 'many/*', '!**/drafts', '!**/f.*'], []],
    ['outside, a file', ['TEMP/out/a.html', 'TEMP/out/drafts/b.html', '!**/b.*'], ['a.html']],
  ])('a ! that begins with ** excludes by name: %s', async (_, lines, left) => {
    const temp = await folderWith(['out/a.html', 'out/drafts/b.html'], 'temp');
    const given = lines.map((line) => line.replace('TEMP', temp));
    const { isLeftOut } = readExclusions(given, workspace);
    const names = ['out/a.html', 'out/drafts/b.html'].filter((name) => !isLeftOut(join(temp, name)));
    expect(names).toEqual(['out/a.html']);
    const found = findFiles(given, workspace);
    if (left.length === 0) return expect(found).rejects.toMatchObject({ code: 'BAD_INPUT' });
    expect([...(await found)].length).toBe(1);
  });

  test.each(['!**/caf\u00e9.*', '!\u00e9/caf\u00e9.html', '!\u00e9/*\u00e9*'])(
    'takes %s for a name with the accent apart, and the other way round',
    async (line) => {
      for (const [written, form] of [
        ['NFC', 'NFD'],
        ['NFD', 'NFC'],
      ] as const) {
        const names = ['\u00e9/caf\u00e9.html', '\u00e9/b.html'].map((name) => name.normalize(form));
        const folder = await folderWith(names);
        const given = ['\u00e9/*'.normalize(form), line.normalize(written)];
        await expect(find(given, folder)).resolves.toEqual([`${names[1]} at b.html`]);
      }
    },
  );

  test('takes a pattern of ! lines that matches nothing', async () => {
    const all = await findFiles(['out/**'], workspace);
    expect(await findFiles(['out/**', '!out/**/*.map', '!**/drafts'], workspace)).toEqual(all);
  });

  test.each(['out/{a.html,deep/*}', '!out/{a,deep/d}.html'])('refuses %s by name', async (line) => {
    const message = `the pattern ${line.replace('!', '')} has a / between { and }`;
    await expect(findFiles(['out/**', line], workspace)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message,
    });
  });

  test('refuses a pattern that matches more files than a step takes, but not one fewer', async () => {
    const names = Array.from({ length: 501 }, (_, at) => `f${at}.html`);
    const folder = await folderWith(names);
    await expect(findFiles(['*.html'], folder)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: 'input `file` matches more than 500 files',
      hint: 'narrow the pattern, and deliver the rest in a second step',
    });
    await expect(find(['*.html', '!f500.html'], folder)).resolves.toHaveLength(500);
  });
});

test('a search that finds nothing ends when it is stopped', async () => {
  const signal = AbortSignal.abort(new Error('stopped'));
  await expect(findFiles(['**/*.nomatch'], workspace, signal)).rejects.toThrow('stopped');
});

test('a search through too many files is refused', async () => {
  const before = BATCH.looked;
  Object.assign(BATCH, { looked: FILES.length });
  const refusal = findFiles(['**/*.nomatch'], workspace).finally(() =>
    Object.assign(BATCH, { looked: before }),
  );
  await expect(refusal).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: `**/*.nomatch has to check more than ${FILES.length} files`,
  });
});
