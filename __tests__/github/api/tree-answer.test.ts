import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import type { DeliveryError } from '../../../src/errors.ts';
import { refuseOtherTree } from '../../../src/github/api/tree-answer.ts';
import { type HeldFiles, held } from '../../channels/pages/site/memory-branch.ts';
import { temporaryFolder } from '../../support/files.ts';
import { treeAnswers } from '../tree-answers.ts';

const FILES: HeldFiles = new Map([
  ['README.md', held('theirs')],
  ['docs/a.html', held('a')],
  ['docs/deep/b.sh', held('b', '100755')],
  ['docs/deep/link', held('c', '120000')],
  ['docs.txt', held('d')],
  ['module', held('e', '160000')],
]);
const ANSWER = treeAnswers(FILES).tree_below;
const EMPTY = treeAnswers(new Map()).tree_below;
type Listed = (typeof ANSWER.tree)[number];

const without = (path: string) => ({ ...ANSWER, tree: ANSWER.tree.filter((entry) => entry.path !== path) });
const change = (path: string, more: Partial<Listed>) => ({
  ...ANSWER,
  tree: ANSWER.tree.map((entry) => (entry.path === path ? { ...entry, ...more } : entry)),
});

/** A clone whose last commit has a folder that no git of today would write, and a file that git ignores. */
async function createOldClone(lines: readonly string[]) {
  const folder = await temporaryFolder();
  const author = ['-c', 'user.name=octo', '-c', 'user.email=octo@example.com'];
  const git = (input: string | Buffer, ...args: string[]): string =>
    execFileSync('git', [...author, ...args], { cwd: folder, input, encoding: 'utf8' }).trim();
  const write = (text: string): string => git(text, 'hash-object', '-w', '--stdin');
  const writeTree = (entries: readonly (readonly [line: string, sha: string])[]): string => {
    const bytes = entries.flatMap(([line, sha]) => [Buffer.from(`${line}\0`), Buffer.from(sha, 'hex')]);
    return git(Buffer.concat(bytes), 'hash-object', '-t', 'tree', '--literally', '-w', '--stdin');
  };
  git('', 'init', '-q', '-b', 'main');
  const old = writeTree(lines.map((line) => [line, write(line)]));
  const root = writeTree([
    ['100644 .gitignore', write('*.log\n')],
    ['100644 kept.log', write('kept')],
    ['160000 lib', 'e'.repeat(40)],
    ['40000 old', old],
  ]);
  git('', 'reset', '-q', '--hard', git('old', 'commit-tree', root));
  return { folder, git, list: () => parseTree(git) };
}

/** The last commit's tree, as GitHub lists it. */
function parseTree(git: (input: string, ...args: string[]) => string) {
  const lines = git('', 'ls-tree', '-r', '-t', 'HEAD').split('\n');
  const tree = lines.map((line) => {
    const [, mode = '', type = '', sha = '', path = ''] = /^(\d+) (\w+) (\w+)\t(.*)$/.exec(line) ?? [];
    return { mode, type, sha, path };
  });
  return { sha: git('', 'rev-parse', 'HEAD^{tree}'), tree };
}

test.each([
  ['modes of two kinds', ['100644 a.txt', '100664 b.txt']],
  ['another order', ['100644 b.txt', '100644 a.txt']],
])(
  'a folder with %s is refused, and the command of the hint writes it anew and keeps all else',
  async (_, lines) => {
    const { folder, git, list } = await createOldClone(lines);
    const before = list();
    const refuse = () => refuseOtherTree(before, before.sha);
    expect(refuse).toThrow(/git's id of the folder old\//);
    const { hint = '' } = catchError(refuse);
    const [, command = ''] = /`(git [^`]+)`/.exec(hint) ?? [];
    const env = { ...process.env, GIT_EDITOR: 'echo anew >' };
    const names = { GIT_AUTHOR_NAME: 'octo', GIT_AUTHOR_EMAIL: 'octo@example.com' };
    const committer = { GIT_COMMITTER_NAME: 'octo', GIT_COMMITTER_EMAIL: 'octo@example.com' };
    execFileSync('bash', ['-c', command], { cwd: folder, env: { ...env, ...names, ...committer } });
    const after = list();
    expect(() => refuseOtherTree(after, after.sha)).not.toThrow();
    const paths = ({ tree }: typeof after) => tree.map(({ path }) => path).toSorted();
    expect(paths(after)).toEqual(paths(before));
    expect(git('', 'status', '--short')).toBe('');
  },
);

function catchError(work: () => void): Partial<DeliveryError> {
  try {
    work();
  } catch (thrown) {
    return thrown as DeliveryError;
  }
  return {};
}

describe('a list of the files of a tree', () => {
  test('is accepted where the content of each folder has the id of that folder, in any order', () => {
    expect(() => refuseOtherTree(ANSWER, ANSWER.sha)).not.toThrow();
    expect(() => refuseOtherTree({ ...ANSWER, tree: ANSWER.tree.toReversed() }, ANSWER.sha)).not.toThrow();
    expect(() => refuseOtherTree(EMPTY, EMPTY.sha)).not.toThrow();
  });

  test.each<[string, unknown]>([
    ['has nothing', { ...ANSWER, tree: [] }],
    ['has nothing and says that it is empty', EMPTY],
    ['is that of another tree', treeAnswers(new Map([['README.md', held('ours')]])).tree_below],
    ['has the id of another tree', { ...ANSWER, sha: 'c'.repeat(40) }],
    ['has no id', { ...ANSWER, sha: undefined }],
    ['lacks a file at the root', without('README.md')],
    ['lacks a file in a folder', without('docs/deep/b.sh')],
    ['lacks a folder, and not what is in it', without('docs/deep')],
    ['has a file in place of another', change('docs/a.html', { path: 'docs/b.html' })],
    ['has other bytes of a file', change('docs/a.html', { sha: 'c'.repeat(40) })],
    ['has another mode of a file', change('docs/deep/b.sh', { mode: '100644' })],
    ['has one file twice', { ...ANSWER, tree: [...ANSWER.tree, ANSWER.tree[0]] }],
    ['begins the path of a file with a slash', change('README.md', { path: '/README.md' })],
    ['has an entry that is null', { ...ANSWER, tree: [...ANSWER.tree, null] }],
    ['is no list', { ...ANSWER, tree: {} }],
  ])('is refused where it %s', (_, answer) => {
    expect(() => refuseOtherTree(answer as typeof ANSWER, ANSWER.sha)).toThrow(
      expect.objectContaining({ code: 'HOST_ERROR', hint: expect.stringMatching(/run the step again/) }),
    );
  });

  test('is accepted where a name is no UTF-8, and with the modes of old commits', () => {
    const renamed = change('docs/a.html', { path: 'docs/\ufffd.html' });
    expect(() => refuseOtherTree(renamed, ANSWER.sha)).not.toThrow();
    // `git fsck` names it zeroPaddedFilemode; the ids were computed with git.
    const old = {
      sha: '4d8e2ffebc504eba732c788de932a70cb8335f55',
      tree: [{ path: 'a', mode: '040000', type: 'tree', sha: EMPTY.sha }],
    };
    expect(() => refuseOtherTree(old, old.sha)).not.toThrow();
    // `git fsck` calls it badFilemode: 100664, which `git ls-tree` and the API show as 100644.
    const shared = {
      sha: '6afe8361c1ce64ca1ceb779fb743464159e08bed',
      tree: [{ path: 'g', mode: '100644', type: 'blob', sha: '975fbec8256d3e8a3797e7a3611380f27c49f4ac' }],
    };
    expect(() => refuseOtherTree(shared, shared.sha)).not.toThrow();
  });

  test.each([
    ['docs/deep/b.sh', 'docs/deep/'],
    ['docs/a.html', 'docs/'],
    ['README.md', './'],
  ])('is refused with the folder whose form can not be known: without %s', (path, folder) => {
    expect(() => refuseOtherTree(without(path), ANSWER.sha)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(
          `git's id of the folder ${folder}: it is not complete, or a program`,
        ),
        hint: expect.stringMatching(/let git write the folders anew/),
      }),
    );
  });
});
