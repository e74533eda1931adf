import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { findFiles } from '../../src/delivery/find-files.ts';
import { temporaryFolder } from '../support/files.ts';

const FILES = [
  'page.html',
  '[x].html',
  'x.html',
  '!odd.html',
  '#odd.html',
  'my report.html',
  'out/a.html',
  'out/b.md',
  'out/.hidden.html',
  'out/.cache/c.html',
  'out/deep/d.html',
  'reports/e.html',
  'many/f.html',
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

const find = async (lines: readonly string[], folder = workspace) =>
  (await findFiles(lines, folder)).map(({ given, relativePath }) => [given, relativePath]);

describe('findFiles, with patterns', () => {
  test.each<[string, string[], string[][]]>([
    ['a star', ['out/*.html'], [['out/a.html', 'a.html']]],
    ['a star below ./', ['./out/*.md'], [['out/b.md', 'b.md']]],
    [
      'two stars, with the folders in between',
      ['out/**/*.html'],
      [
        ['out/a.html', 'a.html'],
        ['out/deep/d.html', 'deep/d.html'],
      ],
    ],
    ['a question mark', ['reports/?.html'], [['reports/e.html', 'e.html']]],
    [
      'a class',
      ['out/[ab].*'],
      [
        ['out/a.html', 'a.html'],
        ['out/b.md', 'b.md'],
      ],
    ],
    [
      'several patterns, with the layout below their common folder',
      ['out/*.md', 'reports/*'],
      [
        ['out/b.md', 'out/b.md'],
        ['reports/e.html', 'reports/e.html'],
      ],
    ],
    [
      'one pattern below the other',
      ['out/deep/*', 'out/*.md'],
      [
        ['out/b.md', 'b.md'],
        ['out/deep/d.html', 'deep/d.html'],
      ],
    ],
    [
      'patterns that exclude files with !',
      ['out/**', '!out/deep/**', '!**/*.md'],
      [['out/a.html', 'a.html']],
    ],
    [
      'a pattern that includes files again after a !',
      ['out/*', '!out/*', 'out/*.md'],
      [['out/b.md', 'b.md']],
    ],
    ['a class of one character, if no file has that name', ['out/[a].html'], [['out/a.html', 'a.html']]],
    ['a named file, spelled as given', ['./out/a.html', 'out/*.html'], [['./out/a.html', 'a.html']]],
    ['a pattern below a comment', ['# all of it', 'reports/*'], [['reports/e.html', 'e.html']]],
    ['a name with a space', ['my*.html'], [['my report.html', 'my report.html']]],
    [
      'a named file and a pattern, each file once',
      ['out/a.html', 'out/*.html', 'reports/*'],
      [
        ['out/a.html', 'out/a.html'],
        ['reports/e.html', 'reports/e.html'],
      ],
    ],
  ])('finds files for %s', async (_, lines, expected) => {
    expect((await find(lines)).toSorted()).toEqual(expected.toSorted());
  });

  test('reads patterns relative to the workspace, and returns absolute paths', async () => {
    const [file] = await findFiles(['rep*/e.html'], workspace);
    expect(file?.path).toBe(join(workspace, 'reports/e.html'));
  });

  test('climbs out of the workspace, as a line with a name does', async () => {
    await expect(find(['../workspace/rep*/e.html'])).resolves.toEqual([['reports/e.html', 'reports/e.html']]);
  });

  test('finds nothing where nothing is named', async () => {
    await expect(find([])).resolves.toEqual([]);
  });

  test('accepts an absolute pattern', async () => {
    await expect(find([`${workspace}/reports/*`])).resolves.toEqual([['reports/e.html', 'e.html']]);
  });

  test.each(['out/*', 'out/**', '**/*.html'])(
    'finds no hidden file for %s, which holds credentials more often than pages',
    async (pattern) => {
      const files = await find([pattern]);
      expect(files.filter(([given]) => given?.includes('/.'))).toEqual([]);
    },
  );

  test('follows no symbolic link, to a folder or a file', async () => {
    const folder = await folderWith(['out/a.html', 'secret/b.html']);
    await symlink(join(folder, 'secret'), join(folder, 'out', 'linked'));
    await symlink(join(folder, 'secret/b.html'), join(folder, 'out', 'linked.html'));
    await expect(find(['out/**/*.html'], folder)).resolves.toEqual([['out/a.html', 'a.html']]);
  });

  test.each(['a [b]', 'a*b', 'a?b', 'a\\b', "it's"])(
    'reads patterns correctly in a workspace named %j',
    async (name) => {
      const folder = await folderWith(['out/a.html'], name);
      // What the name would match, were it taken for a pattern.
      for (const other of ['a b', 'aXb', 'ab'])
        await mkdir(join(dirname(folder), other), { recursive: true });
      await expect(find(['out/*.html'], folder)).resolves.toEqual([['out/a.html', 'a.html']]);
    },
  );
});

describe('findFiles, with the exact name of a file', () => {
  test.each(['[x].html', '!odd.html', '#odd.html', 'my report.html', 'out/.hidden.html'])(
    'finds exactly %s',
    async (line) => {
      const [name] = line.split('/').slice(-1);
      await expect(find([line])).resolves.toEqual([[line, name]]);
    },
  );

  test('keeps a named file that a later ! matches', async () => {
    await expect(find(['page.html', 'x.html', 'rep*/*', '!**'])).resolves.toEqual([
      ['page.html', 'page.html'],
      ['x.html', 'x.html'],
    ]);
  });

  test('means a symbolic link too: the checks say what is wrong with it', async () => {
    const folder = await folderWith(['a.html']);
    await symlink(join(folder, 'a.html'), join(folder, 'l[i]nk.html'));
    await expect(find(['l[i]nk.html'], folder)).resolves.toEqual([['l[i]nk.html', 'l[i]nk.html']]);
  });

  test('finds exactly that file among patterns as well', async () => {
    const files = await find(['[x].html', 'reports/*']);
    expect(files.map(([given]) => given)).toEqual(['[x].html', 'reports/e.html']);
  });

  test('returns a file that does not exist: the check reports it', async () => {
    await expect(find(['gone.html'])).resolves.toEqual([['gone.html', 'gone.html']]);
  });

  test('keeps the order of the lines', async () => {
    const lines = ['x.html', 'page.html', 'out/b.md'];
    expect((await find(lines)).map(([given]) => given)).toEqual(lines);
  });
});

describe('findFiles, with a wrong pattern', () => {
  test.each<[string, string[], RegExp, RegExp]>([
    [
      'that matches nothing',
      ['gone/*.html'],
      /matches no file: gone\/\*\.html$/,
      /make sure that the file is there/,
    ],
    ['whose folder does not exist', ['gone/**'], /matches no file/, /relative to the workspace/],
    ['that matches only folders', ['o?t'], /matches no file/, /relative/],
    ['of comments alone', ['# out/*'], /matches no file/, /relative/],
    ['that excludes everything', ['out/*', '!**'], /matches no file: out\/\* !\*\*/, /relative/],
    ...['out/.*', 'out/.cache/*', '**/.hidden.html'].map((line): [string, string[], RegExp, RegExp] => [
      `of hidden files alone: ${line}`,
      [line],
      /matches no file/,
      /relative/,
    ]),
    ['beside a file that exists', ['page.html', 'gone/*'], /matches no file: gone/, /relative/],
  ])('refuses a pattern %s', async (_, lines, message, hint) => {
    await expect(findFiles(lines, workspace)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      step: 'check',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });

  test('refuses a pattern that matches more files than a step takes, but not one fewer', async () => {
    const names = Array.from({ length: 501 }, (_, at) => `f${at}.html`);
    const folder = await folderWith(names);
    await expect(findFiles(['*.html'], folder)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: 'input `file` matches more than 500 files',
      hint: 'narrow the pattern',
    });
    await expect(findFiles(['*.html', '!f500.html'], folder)).resolves.toHaveLength(500);
  });
});
