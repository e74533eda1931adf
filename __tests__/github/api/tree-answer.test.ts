import { describe, expect, test } from '@jest/globals';
import { refuseOtherTree } from '../../../src/github/api/tree-answer.ts';
import { type HeldFiles, held } from '../../channels/pages/site/memory-branch.ts';
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

  test('names what to do where the form of an old tree can not be known', () => {
    const other = { ...ANSWER, sha: 'c'.repeat(40) };
    expect(() => refuseOtherTree(other, other.sha)).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/let git write the folders anew/) }),
    );
  });
});
