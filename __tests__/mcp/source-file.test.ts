import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { openSourceFile } from '../../src/mcp/source-file.ts';

const ROOTS = ['/root', '/link'] as const;

describe('a content', () => {
  test('becomes a file that only this user can read, and is removed after the call', async () => {
    const source = await openSourceFile({ content: '<p>x</p>', name: 'Мой файл.html' }, ROOTS);
    const path = join(source.folder, source.file);
    expect(source).toMatchObject({ file: 'Мой файл.html', roots: [source.folder] });
    expect((await readFile(path)).toString()).toBe('<p>x</p>');
    for (const one of [source.folder, path]) expect((await stat(one)).mode & 0o77).toBe(0);
    await source.remove();
    expect(existsSync(source.folder)).toBe(false);
  });

  test('may be empty: the check of the file refuses it', async () => {
    const source = await openSourceFile({ content: '', name: 'a.html' }, ROOTS);
    await source.remove();
    expect(source.file).toBe('a.html');
  });

  test.each([
    undefined,
    '',
    '.',
    '..',
    '../a.html',
    'a/b.html',
    'a\\b.html',
    '/etc/passwd',
    'C:a.html',
    ' a.html',
    'a.html\n',
    'a\nb.html',
    'a\0.html',
    'a'.repeat(256),
    'я'.repeat(128),
  ])('is refused with the name %j', async (name) => {
    await expect(openSourceFile({ content: 'x', name }, ROOTS)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      hint: expect.stringContaining('`name:`'),
    });
  });

  test.each([
    ['beside a file', { content: 'x', name: 'a.html', file: 'b.html' }, /both/],
    ['that is only a name', { name: 'a.html' }, /name/],
    ['with more bytes than allowed', { content: 'я'.repeat(3_000_000), name: 'a.html' }, /more than 5 MB/],
  ])('is refused %s', async (_, args, message) => {
    await expect(openSourceFile(args, ROOTS)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: expect.stringMatching(message),
    });
  });
});

test('a file is read below the root', async () => {
  await expect(openSourceFile({ file: 'a.html\nb.html' }, ROOTS)).resolves.toMatchObject({
    file: 'a.html\nb.html',
    folder: '/root',
    roots: ROOTS,
  });
});
