import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { findPatternFiles } from '../../src/cli/find-files.ts';
import { temporaryFolder } from '../support/files.ts';

let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  for (const name of ['out/deep', 'out/.hidden', 'many'])
    await mkdir(join(folder, name), { recursive: true });
  const names = ['a.html', 'b.html', 'odd[1].html', '.c.html', 'deep/d.html', '.hidden/e.html', 'f.txt'];
  for (const name of names) await writeFile(join(folder, 'out', name), 'x');
  await symlink(join(folder, 'out/a.html'), join(folder, 'out/link.html'));
  for (let at = 0; at < 501; at += 1) await writeFile(join(folder, `many/${at}.html`), 'x');
});

const find = async (...lines: string[]) =>
  (await findPatternFiles(lines, folder)).map(({ given, relativePath }) => [given, relativePath]);

describe('findPatternFiles', () => {
  test.each<[string[], string[][]]>([
    [
      ['out/?.html'],
      [
        ['out/a.html', 'a.html'],
        ['out/b.html', 'b.html'],
      ],
    ],
    [
      ['out/**/[ad].html'],
      [
        ['out/a.html', 'a.html'],
        ['out/deep/d.html', 'deep/d.html'],
      ],
    ],
    [
      ['out/a.html', 'out/*.txt'],
      [
        ['out/a.html', 'a.html'],
        ['out/f.txt', 'f.txt'],
      ],
    ],
    [['out/a.html', 'out/a*.html'], [['out/a.html', 'a.html']]],
    // What exists is meant letter by letter, a link and what is missing too: the checks say what is wrong with it.
    [['out/odd[1].html'], [['out/odd[1].html', 'odd[1].html']]],
    [['out/link.html'], [['out/link.html', 'link.html']]],
    [['out/missing.html'], [['out/missing.html', 'missing.html']]],
  ])('finds %j, no hidden file and no link', async (lines, found) => {
    await expect(find(...lines)).resolves.toEqual(found);
  });

  test.each([
    [['out/*.pdf'], /matches no file: out\/\*\.pdf/],
    [['out/a.html', 'out/.hid*/*'], /matches no file: out\/\.hid/],
    [['many/*'], /matches more than 500 files/],
  ])('refuses %j', async (lines, message) => {
    await expect(find(...lines)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: expect.stringMatching(message),
    });
  });
});
