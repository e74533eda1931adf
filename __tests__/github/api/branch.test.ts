import { describe, expect, test } from '@jest/globals';
import { hasFailed } from '../../../src/errors.ts';
import { getExistingBlobs } from '../../../src/github/api/branch.ts';
import type { HeldFiles } from '../../channels/pages/site/memory-branch.ts';
import { type Answers, absent, FakeGitHub, failure } from '../fake-github.ts';
import { treeAnswers, treeOf } from '../tree-answers.ts';

const COMMIT = 'c'.repeat(40);
const id = (letter: string): string => letter.repeat(40);
const FILES: HeldFiles = new Map([
  ['README.md', { sha: id('1'), mode: '100644' }],
  ['docs/a.html', { sha: id('a'), mode: '100644' }],
  ['docs/deep/b.html', { sha: id('b'), mode: '100755' }],
  ['docs.txt', { sha: id('2'), mode: '120000' }],
  ['docsy/c.html', { sha: id('c'), mode: '100644' }],
  ['module', { sha: id('d'), mode: '160000' }],
]);
const TREE = treeAnswers(FILES).tree_below.sha;
const TYPES = { blob: 'file', tree: 'dir', commit: 'submodule' } as const;

/** A repository as the contents calls and the tree call return it. */
function fakeRepository(answers: Answers = {}) {
  return new FakeGitHub({
    get_ref: { object: { sha: COMMIT } },
    ...treeAnswers(FILES),
    get_file: ({ path }: { path: string }) => {
      const entry = treeOf(FILES).tree.find((one) => one.path === path);
      return entry === undefined ? absent : { type: TYPES[entry.type], sha: entry.sha };
    },
    ...answers,
  });
}

const SUBMODULE = "NOT_OURS: module is a submodule, so this branch doesn't contain its files";

async function getExisting(github: FakeGitHub, paths: readonly string[]) {
  const found = [...(await getExistingBlobs(github, 'main', paths))];
  return Object.fromEntries(
    found.map(([path, one]) => [path, hasFailed(one) ? `${one.code}: ${one.message}` : one]),
  );
}

describe('getExistingBlobs', () => {
  const few = ['docs/a.html', 'docs/new.html', 'docs'];
  const many = [...few, 'docs/deep/b.html', 'docs/deep'];
  const FOLDER = 'NOT_OURS: docs is a folder in the repository';
  const FEW = { 'docs/a.html': id('a'), 'docs/new.html': null, docs: FOLDER };

  test('requests a few paths one by one', async () => {
    const github = fakeRepository();
    await expect(getExisting(github, few)).resolves.toEqual(FEW);
    // For a path without a file, its folder is requested as well.
    expect(github.sent('get_file').map(({ path }) => path)).toEqual([...few, 'docs']);
    expect(github.sent('get_file')[0]).toEqual({ path: 'docs/a.html', ref: 'main' });
  });

  test('reads many paths from one tree', async () => {
    const github = fakeRepository();
    await expect(getExisting(github, many)).resolves.toEqual({
      ...FEW,
      'docs/deep/b.html': id('b'),
      'docs/deep': 'NOT_OURS: docs/deep is a folder in the repository',
    });
    expect(github.calls).toEqual([
      { name: 'get_ref', parameters: { ref: 'heads/main' } },
      { name: 'get_commit', parameters: { commit_sha: COMMIT } },
      { name: 'tree_below', parameters: { tree_sha: TREE, recursive: '1' } },
    ]);
  });

  test.each([3, 6])('refuses paths below an existing file, and a submodule (%s paths)', async (count) => {
    const below = (path: string, file: string): string =>
      `NOT_OURS: ${file} is a file in the repository, so it can't contain ${path}`;
    const expected = {
      'README.md/a.html': below('README.md/a.html', 'README.md'),
      'README.md/deep/b.html': below('README.md/deep/b.html', 'README.md'),
      module: SUBMODULE,
      'docs/d.html': null,
      'new/deep/e.html': null,
      'module/c.html': SUBMODULE,
    };
    const first = Object.entries(expected).slice(0, count);
    const paths = first.map(([path]) => path);
    expect(Object.entries(await getExisting(fakeRepository(), paths))).toEqual(first);
  });

  test('returns the failure of one path beside the blobs of the others', async () => {
    const denied = failure('NO_PERMISSION', 403);
    const github = new FakeGitHub({
      get_file: ({ path }: { path: string }) => (path === 'a' ? denied : { type: 'file', sha: 'b' }),
    });
    const blobs = await getExistingBlobs(github, 'main', ['a', 'b']);
    expect([blobs.get('a'), blobs.get('b')]).toEqual([denied, 'b']);
  });
});
