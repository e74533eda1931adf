import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { SITE } from '../../src/protocol/limits.ts';
import { readExclusions } from '../../src/request/patterns.ts';
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

  test('takes `.well-known/` if hidden files may be delivered, but not the record of a deployed site', async () => {
    const names = ['security.txt', 'screen-delivery.json', '.env'].map((name) => `.well-known/${name}`);
    const folder = await folderWith('a.html', ...names, 'b/.well-known/c.txt');
    expect(await listSiteFiles(folder, 'dist')).toEqual({
      paths: ['.well-known/security.txt', 'a.html', 'b/.well-known/c.txt'],
      leftOut: ['.well-known/.env', '.well-known/screen-delivery.json'],
    });
    expect(await listSiteFiles(folder, 'dist', { refusesHidden: true })).toEqual({
      paths: ['a.html'],
      leftOut: ['.well-known/', 'b/.well-known/'],
    });
  });

  test('follows links that stay in it, also of folders, in chains and by absolute paths', async () => {
    const folder = await folderWith(
      'a.html',
      '.store/lib/x.js',
      '.store/lib/.env',
      'b/c.txt',
      'drafts/d.html',
    );
    await mkdir(join(folder, 'node_modules'));
    for (const [target, path] of [
      ['../.store/lib', 'node_modules/lib'],
      ['node_modules/lib', 'chain'],
      [join(folder, 'a.html'), 'b/index.html'],
      ['a.html', 'absolute.html'],
      ['drafts', 'latest'],
      ['drafts/d.html', 'newest.html'],
    ] as const) {
      await symlink(target, join(folder, path));
    }
    const { isLeftOut } = readExclusions(['!drafts'], folder);
    expect(await listSiteFiles(folder, 'dist', { isLeftOut })).toEqual({
      paths: ['a.html', 'absolute.html', 'b/c.txt', 'b/index.html', 'chain/x.js', 'node_modules/lib/x.js'],
      leftOut: ['.store/', 'chain/.env', 'drafts/', 'latest', 'newest.html', 'node_modules/lib/.env'],
    });
    await expect(listSiteFiles(folder, 'dist', { isLeftOut, refusesHidden: true })).rejects.toMatchObject({
      findings: [
        'chain/ is a symbolic link to a hidden file or folder',
        'node_modules/lib/ is a symbolic link to a hidden file or folder',
      ],
    });
  });

  test('ends in circles of links, and with many links to one folder', async () => {
    const folder = await folderWith('a/a.html', 'b/b.html');
    await symlink('../b', join(folder, 'a/b'));
    await symlink('../a', join(folder, 'b/a'));
    await symlink('../..', join(folder, 'a/up'));
    const { findings } = await listSiteFiles(folder, 'dist').catch((thrown) => thrown);
    expect(findings.toSorted()).toEqual([
      'a/b/a/ is a symbolic link in a circle',
      'a/up/ is a symbolic link that leads out of its folder',
      'b/a/b/ is a symbolic link in a circle',
      'b/a/up/ is a symbolic link that leads out of its folder',
    ]);
    const deep = await folderWith('index.html');
    for (let nth = 0; nth < 20; nth += 1) {
      await mkdir(join(deep, `d${nth}`));
      for (const name of ['x', 'y']) await symlink(`../d${nth + 1}`, join(deep, `d${nth}`, name));
    }
    await mkdir(join(deep, 'd20'));
    const usual = SITE.entries;
    Object.assign(SITE, { entries: 500 });
    const refusal = listSiteFiles(deep, 'dist').finally(() => Object.assign(SITE, { entries: usual }));
    await expect(refusal).rejects.toMatchObject({ code: 'TOO_LARGE' });
  });

  test.each([[[]], [['.hidden', '.well-known/.x', '.well-known/screen-delivery.json']]])(
    'refuses one with nothing to deliver: %j',
    async (paths) => {
      const message = 'the folder dist contains no files to deliver';
      const folder = await folderWith(...paths);
      await expect(listSiteFiles(folder, 'dist')).rejects.toMatchObject({ code: 'BAD_FILE', message });
    },
  );

  test('refuses everything that no site can have, together', async () => {
    const folder = await folderWith('index.html', 'a\u202Eb.html', 'back\\slash', 'line\nbreak');
    await symlink('/etc/hostname', join(folder, 'link.html'));
    await symlink('gone', join(folder, 'dangling'));
    await symlink('.', join(folder, 'loop'));
    await symlink('self', join(folder, 'self'));
    await writeFile(join(folder, '.env'), 'x');
    await symlink('.env', join(folder, 'env.txt'));
    const server = createServer().listen(join(folder, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    // A name that is not UTF-8.
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x61, 0xff])]), 'x');
    const refusal = await listSiteFiles(folder, 'dist').catch((thrown) => thrown);
    const { findings } = refusal;
    server.close();
    expect(refusal).toMatchObject({ code: 'BAD_FILE', hint: 'correct the program that writes them' });
    for (const finding of [
      '"a\u202Eb.html" has a control character in its name',
      '"back\\\\slash" has a backslash in its name',
      '"line\\nbreak" has a control character in its name',
      'link.html is a symbolic link that leads out of its folder',
      'dangling is a symbolic link to nothing',
      'loop/ is a symbolic link in a circle',
      'self is a symbolic link in a circle',
      'env.txt is a symbolic link to a hidden file',
      'socket is not a regular file',
      'not UTF-8',
    ]) {
      expect(findings).toContainEqual(expect.stringContaining(finding));
    }
  });

  test('names a folder that can not be read, whatever the reason', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'a'));
    await writeFile(join(folder, 'a', 'x.txt'), 'x');
    const message = "the folder dist can't be delivered: ./ can't be read (ENOTDIR)";
    const listed = listSiteFiles(join(folder, 'a', 'x.txt'), 'dist');
    await expect(listed).rejects.toMatchObject({ code: 'BAD_FILE', message });
    await expect(listSiteFiles(join(folder, 'n'.repeat(300)), 'dist')).rejects.toThrow('ENAMETOOLONG');
    const locked = withLocked(join(folder, 'a'), () => listSiteFiles(folder, 'dist'));
    await expect(locked).rejects.toThrow("the folder dist can't be delivered: a/ can't be read (EACCES)");
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
