import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { hashTree } from '../../../src/github/api/tree-id.ts';
import { shaOf } from '../../channels/pages/site/memory-files.ts';
import { temporaryFolder } from '../../support/files.ts';

const BLOB = shaOf('content');
const filesAt = (...paths: string[]) => paths.map((path) => ({ path, sha: BLOB }));

async function hashWithGit(paths: readonly string[]): Promise<string> {
  const cwd = await temporaryFolder();
  const git = (args: string, input = '') =>
    execFileSync('git', args.split(' '), { cwd, input }).toString().trim();
  git('init --quiet');
  const sha = git('hash-object -w --stdin', 'content');
  git('update-index -z --index-info', paths.map((path) => `100644 ${sha}\t${path}\0`).join(''));
  return git('write-tree');
}

test('hashTree gives the tree without a file the id that git gives it', () => {
  expect(hashTree([])).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904');
});

test.each([
  ['one file', ['index.html']],
  ['folders in folders', ['a/b/c/d.txt', 'a/b/e.txt', 'index.html']],
  ['a folder between names that begin with its own', ['a.b', 'a/x', 'a0', 'a-b', 'a b', 'aa', 'A']],
  ['a file among the same names', ['a', 'a.b', 'a0', 'a-b/x', 'aa/a']],
  ['names beyond ASCII', ['ä.html', 'я/é', '\u{1F600}.txt', '\uFF5E.txt', 'z']],
])('hashTree gives %s the id that git gives it, in whatever order', async (_, paths) => {
  const sha = await hashWithGit(paths);
  expect(hashTree(filesAt(...paths))).toBe(sha);
  expect(hashTree(filesAt(...paths.toReversed()))).toBe(sha);
});
