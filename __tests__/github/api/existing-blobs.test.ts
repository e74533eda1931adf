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

/** The repository as its contents calls show it, and as one tree. */
function repository({ truncated = false, tree = TREE }: { truncated?: boolean; tree?: typeof TREE } = {}) {
  return new FakeGitHub({
    get_ref: { object: { sha: COMMIT } },
    tree_below: { tree, truncated },
    get_file: ({ path }: { path: string }) => {
      const entry = tree.find((one) => one.path === decodeURIComponent(path));
      if (entry === undefined) return absent;
      return { type: { blob: 'file', tree: 'dir', commit: 'submodule' }[entry.type], sha: entry.sha };
    },
  });
}

const shown = async (github: FakeGitHub, paths: readonly string[], ref = 'main') =>
  [...(await getExistingBlobs(github, ref, paths))].map(([path, one]) => [
    path,
    hasFailed(one) ? `${one.code}: ${one.message}` : one,
  ]);

describe('what stands at some paths', () => {
  const few = ['docs/a.html', 'docs/new.html', 'docs'];
  const many = [...few, 'docs/deep/b.html', 'docs/deep'];
  const FOLDER = 'NOT_OURS: docs is a folder of the repository';

  test('is asked for one by one, where they are few', async () => {
    const github = repository();
    await expect(shown(github, few)).resolves.toEqual([
      ['docs/a.html', 'a'],
      ['docs/new.html', null],
      ['docs', FOLDER],
    ]);
    // Where nothing stands, its folder is asked for, too.
    expect(github.sent('get_file').map(({ path }) => path)).toEqual([...few, 'docs']);
    expect(github.sent('get_file')[0]).toEqual({ path: 'docs/a.html', ref: 'main' });
  });

  test('is read in one tree, where they are many', async () => {
    const github = repository();
    await expect(shown(github, many)).resolves.toEqual([
      ['docs/a.html', 'a'],
      ['docs/new.html', null],
      ['docs', FOLDER],
      ['docs/deep/b.html', 'b'],
      ['docs/deep', 'NOT_OURS: docs/deep is a folder of the repository'],
    ]);
    expect(github.calls).toEqual([
      { name: 'get_ref', once: false, parameters: { branch: 'main' } },
      { name: 'tree_below', once: false, parameters: { sha: COMMIT, recursive: '1' } },
    ]);
  });

  test('is asked for one by one after all, where the host cuts the tree short', async () => {
    const github = repository({ truncated: true });
    await expect(shown(github, many)).resolves.toContainEqual(['docs/deep/b.html', 'b']);
    expect(github.sent('get_file').map(({ path }) => path)).toEqual([...many, 'docs']);
  });

  test('is read at the very commit that is named', async () => {
    const github = repository();
    const commit = 'd'.repeat(40);
    await shown(github, many, commit);
    expect(github.calls).toMatchObject([{ name: 'tree_below', parameters: { sha: commit } }]);
  });

  test.each([
    ['few', 3],
    ['many', 5],
  ])('is nobody’s to build on, where a file stands in a folder’s place (%s)', async (_, count) => {
    const below = [
      'README.md/a.html',
      'README.md/deep/b.html',
      'module/c.html',
      'docs/d.html',
      'new/deep/e.html',
    ];
    const words = (path: string, file: string): string =>
      `NOT_OURS: ${file} is a file of the repository, and ${path} would lie below it`;
    const expected = [
      ['README.md/a.html', words('README.md/a.html', 'README.md')],
      ['README.md/deep/b.html', words('README.md/deep/b.html', 'README.md')],
      ['module/c.html', words('module/c.html', 'module')],
      ['docs/d.html', null],
      ['new/deep/e.html', null],
    ];
    await expect(shown(repository(), below.slice(0, count))).resolves.toEqual(expected.slice(0, count));
  });

  test('of which one can’t be asked for is known for the others', async () => {
    const denied = failure('NO_PERMISSION', 403);
    const github = new FakeGitHub({
      get_file: ({ path }: { path: string }) => (path === 'a' ? denied : { type: 'file', sha: 'b' }),
    });
    const standing = await getExistingBlobs(github, 'main', ['a', 'b']);
    expect([standing.get('a'), standing.get('b')]).toEqual([denied, 'b']);
  });

  test('is not guessed, where the branch or its tree can’t be read', async () => {
    const denied = failure('NO_PERMISSION', 403);
    for (const call of ['get_ref', 'tree_below'] as const) {
      const github = new FakeGitHub({ get_ref: { object: { sha: COMMIT } }, [call]: denied });
      await expect(getExistingBlobs(github, 'main', many)).rejects.toBe(denied);
    }
  });
});

describe('the files below a folder', () => {
  test('are those of its own folders, and of none that only begins alike', async () => {
    await expect(listFilesBelow(repository(), 'main', 'docs/')).resolves.toEqual([
      'docs/a.html',
      'docs/deep/b.html',
    ]);
  });

  test('are none where there is no such folder', async () => {
    await expect(listFilesBelow(repository(), 'main', 'gone/')).resolves.toEqual([]);
  });

  test('are not half of them, where the host cuts the list short', async () => {
    await expect(listFilesBelow(repository({ truncated: true }), 'main', 'docs/')).rejects.toMatchObject({
      code: 'TOO_LARGE',
      hint: 'set `path:` to one file',
    });
  });
});

test('the branch is named so that no sign of it ends the address early', async () => {
  const github = repository();
  await expect(getBranchHead(github, 'docs/ä#1')).resolves.toBe(COMMIT);
  expect(github.sent('get_ref')).toEqual([{ branch: 'docs/%C3%A4%231' }]);
});
