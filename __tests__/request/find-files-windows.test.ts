import { expect, jest, test } from '@jest/globals';

const windows = await import('node:path').then(({ win32 }) => win32);
jest.unstable_mockModule('node:path', () => ({ ...windows, default: windows }));
const { createRelativePaths } = await import('../../src/request/find-files.ts');
const { deliveredName } = await import('../../src/rules/naming.ts');

/** The names that files on Windows get, by their absolute paths and the folders that were searched. */
const nameAll = (paths: readonly string[], roots: readonly string[], path?: string) =>
  paths.map(createRelativePaths(roots, 'C:\\work')).map((below) => deliveredName(below, path));

test.each<[string, string[], string[], string | undefined, string[]]>([
  [
    'has the slashes of an address, and keeps the folders below the one that was searched',
    ['C:\\work\\out\\a.html', 'C:\\work\\out\\deep\\b c.html'],
    ['C:\\work\\out'],
    undefined,
    ['a.html', 'deep/b-c.html'],
  ],
  [
    'keeps the folders below the one that all have in common',
    ['C:\\work\\one\\a.html', 'C:\\work\\two\\a.html'],
    ['C:\\work\\one', 'C:\\work\\two'],
    undefined,
    ['one/a.html', 'two/a.html'],
  ],
  [
    'has no drive if the files are on several',
    ['C:\\one\\a.html', 'D:\\two\\b.html'],
    ['C:\\one', 'D:\\two'],
    undefined,
    ['a.html', 'b.html'],
  ],
  ['is the one that a path names', ['C:\\one\\a.html'], ['C:\\one'], 'pages/x.html', ['x.html']],
])('the name of a file on Windows %s', (_, paths, roots, path, names) => {
  expect(nameAll(paths, roots, path)).toEqual(names);
});
