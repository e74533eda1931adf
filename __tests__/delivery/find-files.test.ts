import { describe, expect, test } from '@jest/globals';
import {
  deliveredName,
  type FoundFile,
  findLiteralFiles,
  refuseOneNameForMany,
  withRelativePaths,
} from '../../src/delivery/find-files.ts';

const at = (path: string): FoundFile => ({ path, given: path, relativePath: path });
const found = (below: string): FoundFile => ({
  path: `/project/${below}`,
  given: below,
  relativePath: below,
});

describe('files that are named letter by letter', () => {
  test.each<[string, string[], string[], string[]]>([
    ['one', ['out/a.html'], ['/project/out/a.html'], ['a.html']],
    ['one at the root', ['a.html'], ['/project/a.html'], ['a.html']],
    ['one outside', ['/tmp/x/a.html'], ['/tmp/x/a.html'], ['a.html']],
    [
      'several in a folder',
      ['out/a.html', 'out/b.html'],
      ['/project/out/a.html', '/project/out/b.html'],
      ['a.html', 'b.html'],
    ],
    [
      'several in folders of one',
      ['out/a/x.html', 'out/b/x.html'],
      ['/project/out/a/x.html', '/project/out/b/x.html'],
      ['a/x.html', 'b/x.html'],
    ],
    [
      'one below the other',
      ['out/a.html', 'out/deep/b.html'],
      ['/project/out/a.html', '/project/out/deep/b.html'],
      ['a.html', 'deep/b.html'],
    ],
    [
      'folders that only begin alike',
      ['out/a.html', 'output/b.html'],
      ['/project/out/a.html', '/project/output/b.html'],
      ['out/a.html', 'output/b.html'],
    ],
    [
      'nothing in common',
      ['a.html', '/tmp/b.html'],
      ['/project/a.html', '/tmp/b.html'],
      ['a.html', 'b.html'],
    ],
    [
      'some above the folder of the command',
      ['../x/a.html', 'b.html', 'deep/c.html'],
      ['/x/a.html', '/project/b.html', '/project/deep/c.html'],
      ['a.html', 'b.html', 'deep/c.html'],
    ],
    [
      'several elsewhere',
      ['out/a.html', '/tmp/x/one/b.html', '/tmp/x/two/b.html'],
      ['/project/out/a.html', '/tmp/x/one/b.html', '/tmp/x/two/b.html'],
      ['a.html', 'one/b.html', 'two/b.html'],
    ],
    [
      'several in folders of the machine',
      ['/tmp/x/a.html', '/home/me/b.html'],
      ['/tmp/x/a.html', '/home/me/b.html'],
      ['a.html', 'b.html'],
    ],
    [
      'ways around',
      ['out/../a.html', './b.html'],
      ['/project/a.html', '/project/b.html'],
      ['a.html', 'b.html'],
    ],
    [
      'signs of a pattern',
      ['[x]*.html', '!a.html'],
      ['/project/[x]*.html', '/project/!a.html'],
      ['[x]*.html', '!a.html'],
    ],
  ])('%s lie below the folder that they have in common', async (_, lines, paths, below) => {
    const files = await findLiteralFiles(lines, '/project');
    expect(files.map((file) => file.path)).toEqual(paths);
    expect(files.map((file) => file.relativePath)).toEqual(below);
    expect(files.map((file) => file.given)).toEqual(lines);
  });
});

describe('laying out what was searched for', () => {
  test.each<[string, string[], string[], string[]]>([
    ['below the folder of the search', ['/project/out/a.html'], ['/project/out'], ['a.html']],
    ['with the folders between', ['/project/out/deep/a.html'], ['/project/out'], ['deep/a.html']],
    [
      'below what several searches share',
      ['/project/a/x.html', '/project/b/x.html'],
      ['/project/a', '/project/b'],
      ['a/x.html', 'b/x.html'],
    ],
    ['below the outer one of two', ['/project/a/x.html'], ['/project/a/b', '/project'], ['a/x.html']],
    [
      'each below its own, where one is outside of the folder of the command',
      ['/project/x.html'],
      ['/project', '/tmp'],
      ['x.html'],
    ],
    ['nothing', [], [], []],
  ])('%s', (_, paths, roots, below) => {
    expect(withRelativePaths(paths.map(at), roots, '/project').map((file) => file.relativePath)).toEqual(
      below,
    );
  });
});

describe('the name of a file', () => {
  test.each<[string, string, string | undefined, string]>([
    ['its own', 'page.html', undefined, 'page.html'],
    ['its own in a folder', 'page.html', 'docs/', 'page.html'],
    ['its own with the folders it lies in', 'css/deep/page.css', 'docs/', 'css/deep/page.css'],
    ['the one that the path gives', 'page.html', 'docs/b.html', 'b.html'],
    ['the one that a path without folders gives', 'css/page.css', 'b.css', 'b.css'],
    ['without spaces, folder by folder', 'my pages/ a  page .html', undefined, 'my-pages/a-page-.html'],
    ['composed', 'e\u0301.html', undefined, 'é.html'],
  ])('is %s', (_, below, path, name) => {
    expect(deliveredName(found(below), path)).toBe(name);
  });

  test.each([
    ['.git/config', /\.git/],
    ['.github/workflows/x.yml', /\.github/],
    ['a\\b.html', /backslash/],
    ['a\u200b.html', /control characters/],
    [`${'a/'.repeat(600)}b.html`, /longer than 1024/],
  ])('is refused for %j by the rule it breaks', (below, message) => {
    expect(() => deliveredName(found(below), 'docs/')).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', message: expect.stringMatching(message) }),
    );
  });

  test.each<[number, string | undefined, boolean]>([
    [2, 'one.html', true],
    [2, 'docs/one.html', true],
    [2, 'docs/', false],
    [2, undefined, false],
    [1, 'one.html', false],
    [0, 'one.html', false],
  ])('for %i files with path %j: refused %s', (count, path, refused) => {
    const files = Array.from({ length: count }, (_, nth) => found(`${nth}.html`));
    const work = () => refuseOneNameForMany(files, path);
    if (refused) {
      expect(work).toThrow(
        expect.objectContaining({
          code: 'BAD_INPUT',
          step: 'check',
          hint: expect.stringContaining(`${path}/`),
        }),
      );
    } else expect(work).not.toThrow();
  });
});
