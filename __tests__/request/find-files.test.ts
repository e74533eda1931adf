import { describe, expect, test } from '@jest/globals';
import { createRelativePaths, findLiteralFiles, refuseOneNameForMany } from '../../src/request/find-files.ts';
import { deliveredName } from '../../src/rules/naming.ts';

test.each<[string, string[], string[]]>([
  ['one', ['out/a.html'], ['a.html']],
  ['one outside', ['/tmp/x/a.html'], ['a.html']],
  ['several in a folder', ['out/a.html', 'out/b.html'], ['a.html', 'b.html']],
  ['several in folders of one', ['out/a/x.html', 'out/b/x.html'], ['a/x.html', 'b/x.html']],
  ['one below the other', ['out/a.html', 'out/deep/b.html'], ['a.html', 'deep/b.html']],
  ['folders that only begin alike', ['out/a.html', 'output/b.html'], ['out/a.html', 'output/b.html']],
  ['nothing in common', ['a.html', '/tmp/b.html'], ['a.html', 'b.html']],
  ['some above the folder', ['../x/a.html', 'b.html', 'c/c.html'], ['a.html', 'b.html', 'c/c.html']],
  ['several elsewhere', ['out/a.html', '/t/x/1/b.html', '/t/x/2/b.html'], ['a.html', '1/b.html', '2/b.html']],
  ['several in folders of the machine', ['/tmp/x/a.html', '/home/me/b.html'], ['a.html', 'b.html']],
  ['ways around', ['out/../a.html', './b.html'], ['a.html', 'b.html']],
  ['signs of a pattern', ['[x]*.html', './!a.html'], ['[x]*.html', '!a.html']],
  ['a sign at the beginning', ['!a.html'], ['!a.html']],
])('literal file names are relative to the folder that they share: %s', async (_, lines, below) => {
  const files = await findLiteralFiles(lines, '/project');
  expect([...files].map(([given, { relativePath }]) => [given, relativePath])).toEqual(
    lines.map((line, nth) => [line, below[nth]]),
  );
});

test('literal file names refuse a `!` line', async () => {
  const message = '!dist/drafts/** excludes no file here';
  const refusal = findLiteralFiles(['dist/', '!dist/drafts/**'], '/project');
  await expect(refusal).rejects.toMatchObject({ code: 'BAD_INPUT', message });
});

test.each<[string, string, string[], string]>([
  ['below the outer one of two folders', '/project/a/x.html', ['/project/a/b', '/project'], 'a/x.html'],
  ['below the folder of the command', '/project/x.html', ['/project', '/tmp'], 'x.html'],
])('a searched path is %s', (_, path, roots, below) => {
  expect(createRelativePaths(roots, '/project')(path)).toBe(below);
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
    expect(deliveredName(below, path)).toBe(name);
  });

  test.each([
    ['.git/config', /\.git/],
    ['.github/workflows/x.yml', /\.github/],
    ['a\\b.html', /backslash/],
    ['a\u200b.html', /control characters/],
    [`${'a/'.repeat(600)}b.html`, /longer than 1024/],
  ])('is refused for %j by the rule it breaks', (below, message) => {
    expect(() => deliveredName(below, 'docs/')).toThrow(
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
    const refusing = () => refuseOneNameForMany(count, path);
    if (!refused) return refusing();
    const hint = expect.stringContaining(`${path}/`);
    expect(refusing).toThrow(expect.objectContaining({ code: 'BAD_INPUT', step: 'check', hint }));
  });
});
