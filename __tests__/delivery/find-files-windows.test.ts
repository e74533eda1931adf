import { describe, expect, jest, test } from '@jest/globals';

const windows = await import('node:path').then(({ win32 }) => win32);
jest.unstable_mockModule('node:path', () => ({ ...windows, default: windows }));
const { deliveredName, withRelativePaths } = await import('../../src/delivery/find-files.ts');

/** The names that files on Windows get, by their absolute paths and the folders that were searched. */
const nameAll = (paths: readonly string[], roots: readonly string[], path?: string) =>
  withRelativePaths(
    paths.map((one) => ({ path: one, given: one })),
    roots,
    'C:\\work',
  ).map((found) => deliveredName(found, path));

describe('the name of a file on Windows', () => {
  test('has the slashes of an address, and keeps the folders below the one that was searched', () => {
    expect(nameAll(['C:\\work\\out\\a.html', 'C:\\work\\out\\deep\\b c.html'], ['C:\\work\\out'])).toEqual([
      'a.html',
      'deep/b-c.html',
    ]);
  });

  test('keeps the folders below the one that all have in common', () => {
    const roots = ['C:\\work\\one', 'C:\\work\\two'];
    expect(nameAll(['C:\\work\\one\\a.html', 'C:\\work\\two\\a.html'], roots)).toEqual([
      'one/a.html',
      'two/a.html',
    ]);
  });

  test('has no drive, where the files are on several', () => {
    expect(nameAll(['C:\\one\\a.html', 'D:\\two\\b.html'], ['C:\\one', 'D:\\two'])).toEqual([
      'a.html',
      'b.html',
    ]);
  });

  test('is the one that a path names', () => {
    expect(nameAll(['C:\\one\\a.html'], ['C:\\one'], 'pages/x.html')).toEqual(['x.html']);
  });
});
