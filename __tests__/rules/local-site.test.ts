import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { SITE } from '../../src/protocol/limits.ts';
import { listSiteFiles, refuseLargeFolder } from '../../src/rules/local-site.ts';
import { temporaryFolder, withLocked } from '../support/files.ts';

async function folderWith(...paths: string[]): Promise<string> {
  const folder = await temporaryFolder();
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), 'x');
  }
  return folder;
}

describe('listing the files of a site', () => {
  test('finds them in all folders, in the order of their paths, and names the hidden ones', async () => {
    const folder = await folderWith('b/c.txt', 'a.html', 'b/.env', '.git/config', 'b/d/e', 'Z');
    await mkdir(join(folder, 'empty'));
    const { paths, leftOut } = await listSiteFiles(folder, 'dist');
    expect(paths).toEqual(['Z', 'a.html', 'b/c.txt', 'b/d/e']);
    expect([...leftOut].sort()).toEqual(['.git/', 'b/.env']);
  });

  test.each([[[]], [['.hidden', '.well-known/x']]])(
    'refuses one with nothing to deliver: %j',
    async (paths) => {
      const message = 'the folder dist has no file to deliver';
      const folder = await folderWith(...paths);
      await expect(listSiteFiles(folder, 'dist')).rejects.toMatchObject({ code: 'BAD_FILE', message });
    },
  );

  test('refuses everything that no site can have, together', async () => {
    const folder = await folderWith('index.html', 'a\u202Eb.html', 'back\\slash', 'line\nbreak');
    await symlink('index.html', join(folder, 'link.html'));
    await symlink('.', join(folder, 'loop'));
    const server = createServer().listen(join(folder, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    // A name that is not UTF-8.
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x61, 0xff])]), 'x');
    const { findings, ...refusal } = await listSiteFiles(folder, 'dist').catch((thrown) => thrown);
    server.close();
    expect(refusal).toMatchObject({ code: 'BAD_FILE', hint: expect.stringContaining('`cp -rL`') });
    for (const finding of [
      '"a\u202Eb.html" has a control character in its name',
      '"back\\\\slash" has a backslash in its name',
      '"line\\nbreak" has a control character in its name',
      'link.html is a symbolic link',
      'loop is a symbolic link',
      'socket is no regular file',
      'not UTF-8',
    ]) {
      expect(findings).toContainEqual(expect.stringContaining(finding));
    }
  });

  test('names a folder that can not be read, whatever the reason', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'a'));
    await writeFile(join(folder, 'a', 'x.txt'), 'x');
    const message = "the folder dist can't be a site: ./ can't be read (ENOTDIR)";
    const listed = listSiteFiles(join(folder, 'a', 'x.txt'), 'dist');
    await expect(listed).rejects.toMatchObject({ code: 'BAD_FILE', message });
    await expect(listSiteFiles(join(folder, 'n'.repeat(300)), 'dist')).rejects.toThrow('ENAMETOOLONG');
    const locked = withLocked(join(folder, 'a'), () => listSiteFiles(folder, 'dist'));
    await expect(locked).rejects.toThrow("the folder dist can't be a site: a/ can't be read (EACCES)");
  });
});

test.each<[string, keyof typeof SITE, (path: string) => void]>([
  ['50 files', 'files', (path) => writeFileSync(path, '')],
  ['50 files and folders', 'entries', (path) => writeFileSync(join(path, `../.${basename(path)}`), '')],
  ['50 files and folders', 'entries', (path) => mkdirSync(path)],
])('a folder with more than %s is refused (%s)', async (most, limit, add) => {
  const folder = await folderWith('index.html');
  const usual = SITE[limit];
  // Fewer are enough to see the bound, and a folder of 50,000 takes long to write.
  Object.assign(SITE, { [limit]: 50 });
  try {
    for (let nth = 1; nth < 50; nth += 1) add(join(folder, String(nth)));
    await expect(listSiteFiles(folder, 'dist')).resolves.toBeDefined();
    add(join(folder, '50'));
    await expect(listSiteFiles(folder, 'dist')).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: `the folder has more than ${most}`,
      hint: expect.stringContaining('channel: K2'),
    });
  } finally {
    Object.assign(SITE, { [limit]: usual });
  }
});

test('a folder above the size of a site is refused before its files are read', async () => {
  const folder = await folderWith('a', 'b');
  await truncate(join(folder, 'a'), SITE.size - 1);
  expect(() => refuseLargeFolder(folder, 'dist', ['a', 'b'])).not.toThrow();
  await truncate(join(folder, 'a'), SITE.size);
  const message = 'the folder dist has 1024 MB, and GitHub serves at most 1024';
  const refuse = () => refuseLargeFolder(folder, 'dist', ['a', 'b']);
  expect(refuse).toThrow(expect.objectContaining({ code: 'TOO_LARGE', message }));
});
