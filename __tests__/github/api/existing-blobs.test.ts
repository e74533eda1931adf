import { describe, expect, test } from '@jest/globals';
import { hasFailed } from '../../../src/errors.ts';
import { getBranchHead, getExistingBlobs, listFilesBelow } from '../../../src/github/api/existing-blobs.ts';
import { absent, FakeGitHub, failure } from '../fake-github.ts';

const COMMIT = 'c'.repeat(40);
const TREE = [
  { path: 'README.md', type: 'blob', sha: 'r' },
  { path: 'docs', type: 'tree', sha: 't' },
  { path: 'docs/a.html', type: 'blob', sha: 'a' },
  { path: 'docs/deep', type: 'tree', sha: 't2' },
  { path: 'docs/deep/b.html', type: 'blob', sha: 'b' },
  { path: 'docsy/c.html', type: 'blob', sha: 'c' },
  { path: 'module', type: 'commit', sha: 'm' },
];

/** A repository as the contents calls and the tree call return it. */
function fakeRepository({
  truncated = false,
  tree = TREE,
}: {
  truncated?: boolean;
  tree?: typeof TREE;
} = {}) {
  return new FakeGitHub({
    get_ref: { object: { sha: COMMIT } },
    tree_below: { tree, truncated },
    get_file: ({ path }: { path: string }) => {
      const entry = tree.find((one) => one.path === path);
      if (entry === undefined) return absent;
      return { type: { blob: 'file', tree: 'dir', commit: 'submodule' }[entry.type], sha: entry.sha };
    },
  });
}

const getExisting = async (github: FakeGitHub, paths: readonly string[], ref = 'main') =>
  [...(await getExistingBlobs(github, ref, paths))].map(([path, one]) => [
    path,
    hasFailed(one) ? `${one.code}: ${one.message}` : one,
  ]);

describe('getExistingBlobs', () => {
  const few = ['docs/a.html', 'docs/new.html', 'docs'];
  const many = [...few, 'docs/deep/b.html', 'docs/deep'];
  const FOLDER = 'NOT_OURS: docs is a folder of the repository';

  test('requests a few paths one by one', async () => {
    const github = fakeRepository();
    await expect(getExisting(github, few)).resolves.toEqual([
      ['docs/a.html', 'a'],
      ['docs/new.html', null],
      ['docs', FOLDER],
    ]);
    // For a path without a file, its folder is requested as well.
    expect(github.sent('get_file').map(({ path }) => path)).toEqual([...few, 'docs']);
    expect(github.sent('get_file')[0]).toEqual({ path: 'docs/a.html', ref: 'main' });
  });

  test('reads many paths from one tree', async () => {
    const github = fakeRepository();
    await expect(getExisting(github, many)).resolves.toEqual([
      ['docs/a.html', 'a'],
      ['docs/new.html', null],
      ['docs', FOLDER],
      ['docs/deep/b.html', 'b'],
      ['docs/deep', 'NOT_OURS: docs/deep is a folder of the repository'],
    ]);
    expect(github.calls).toEqual([
      { name: 'get_ref', parameters: { ref: 'heads/main' } },
      { name: 'tree_below', parameters: { tree_sha: COMMIT, recursive: '1' } },
    ]);
  });

  test('requests many paths one by one where the tree is truncated', async () => {
    const github = fakeRepository({ truncated: true });
    await expect(getExisting(github, many)).resolves.toContainEqual(['docs/deep/b.html', 'b']);
    expect(github.sent('get_file').map(({ path }) => path)).toEqual([...many, 'docs']);
  });

  test('reads the tree of a commit without reading a branch', async () => {
    const github = fakeRepository();
    const commit = 'd'.repeat(40);
    await getExisting(github, many, commit);
    expect(github.calls).toMatchObject([{ name: 'tree_below', parameters: { tree_sha: commit } }]);
  });

  test.each([
    ['few', 3],
    ['many', 5],
  ])('refuses paths below an existing file (%s paths)', async (_, count) => {
    const below = [
      'README.md/a.html',
      'README.md/deep/b.html',
      'module/c.html',
      'docs/d.html',
      'new/deep/e.html',
    ];
    const message = (path: string, file: string): string =>
      `NOT_OURS: ${file} is a file of the repository, so ${path} cannot be below it`;
    const expected = [
      ['README.md/a.html', message('README.md/a.html', 'README.md')],
      ['README.md/deep/b.html', message('README.md/deep/b.html', 'README.md')],
      ['module/c.html', message('module/c.html', 'module')],
      ['docs/d.html', null],
      ['new/deep/e.html', null],
    ];
    await expect(getExisting(fakeRepository(), below.slice(0, count))).resolves.toEqual(
      expected.slice(0, count),
    );
  });

  test('returns the failure of one path beside the blobs of the others', async () => {
    const denied = failure('NO_PERMISSION', 403);
    const github = new FakeGitHub({
      get_file: ({ path }: { path: string }) => (path === 'a' ? denied : { type: 'file', sha: 'b' }),
    });
    const blobs = await getExistingBlobs(github, 'main', ['a', 'b']);
    expect([blobs.get('a'), blobs.get('b')]).toEqual([denied, 'b']);
  });

  test('throws where the branch or its tree cannot be read', async () => {
    const denied = failure('NO_PERMISSION', 403);
    for (const call of ['get_ref', 'tree_below'] as const) {
      const github = new FakeGitHub({ get_ref: { object: { sha: COMMIT } }, [call]: denied });
      await expect(getExistingBlobs(github, 'main', many)).rejects.toBe(denied);
    }
  });
});

describe('listFilesBelow', () => {
  test('lists the files of the folder and its folders, but not of one whose name only begins the same', async () => {
    await expect(listFilesBelow(fakeRepository(), 'main', 'docs/')).resolves.toEqual([
      'docs/a.html',
      'docs/deep/b.html',
    ]);
  });

  test('lists nothing where there is no such folder', async () => {
    await expect(listFilesBelow(fakeRepository(), 'main', 'gone/')).resolves.toEqual([]);
  });

  test('lists nothing in a repository without a commit', async () => {
    const github = new FakeGitHub({ get_ref: failure('NOT_FOUND', 409) });
    await expect(listFilesBelow(github, 'main', 'docs/')).resolves.toEqual([]);
  });

  test('refuses a truncated list', async () => {
    await expect(listFilesBelow(fakeRepository({ truncated: true }), 'main', 'docs/')).rejects.toMatchObject({
      code: 'TOO_LARGE',
      hint: 'set `path:` to one file',
    });
  });
});

test('getBranchHead returns the commit that the branch points to', async () => {
  const github = fakeRepository();
  await expect(getBranchHead(github, 'docs/ä#1')).resolves.toBe(COMMIT);
  expect(github.sent('get_ref')).toEqual([{ ref: 'heads/docs/ä#1' }]);
});
