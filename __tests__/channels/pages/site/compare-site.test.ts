import { describe, expect, test } from '@jest/globals';
import { formatCommitMessage, parseMessage } from '../../../../src/channels/pages/commit-message.ts';
import { SITE } from '../../../../src/protocol/limits.ts';
import { heldFiles, MemoryBranch } from './memory-branch.ts';
import { type Contents, memoryFile, shaOf } from './memory-files.ts';
import { deliverFile, deliverSite, planSite } from './site-runs.ts';

const FOLDER = 'p/1/';
const CONTENTS = { 'index.html': 'page', 'css/a.css': 'style' };

type PlanOptions = Parameters<typeof planSite>[3] & { readonly folder?: string };

const plan = (branch: MemoryBranch, contents: Contents, { folder = FOLDER, ...options }: PlanOptions = {}) =>
  planSite(branch, folder, contents, options);

const pictures = [memoryFile('picture', 'index.html.png')];

test("the plan for a folder doesn't mistake a separately delivered file for the page's picture", async () => {
  const branch = new MemoryBranch();
  await deliverFile(branch, 'p/1/index.html.png', 'mine');
  await expect(plan(branch, { 'index.html': 'page' }, { pictures })).rejects.toMatchObject({
    code: 'NOT_OURS',
    message: expect.stringMatching(/^p\/1\/index\.html\.png has the path of the page's picture,/),
    hint: expect.stringContaining('`picture: false`'),
  });
  branch.change({ 'p/1/index.html.png': 'theirs' });
  await expect(plan(branch, { 'index.html': 'page', 'index.html.png': 'a file' })).rejects.toMatchObject({
    message: expect.stringMatching(/^p\/1\/index\.html\.png already exists /),
  });
  branch.change({ 'p/1/index.html.png': 'mine' });
  const planned = await plan(branch, { 'index.html': 'page' }, { pictures, overwrite: true });
  expect(planned.written).toContain('p/1/index.html.png');
});

test('the plan for a folder takes over the picture that was delivered with a single page', async () => {
  const branch = new MemoryBranch();
  const delivered = {
    ...{ itemPath: 'p/1/index.html', object: shaOf('page'), kept: [] },
    beside: [{ path: 'p/1/index.html.png', sha: shaOf('old') }],
  };
  const message = formatCommitMessage(delivered.itemPath, { verb: 'ADD', essence: 'x', delivered });
  branch.commit(heldFiles({ 'p/1/index.html': 'page', 'p/1/index.html.png': 'old' }), message, null);
  const planned = await plan(branch, { 'index.html': 'page' }, { pictures });
  expect(planned.written).toEqual(['p/1/index.html.png']);
  // The user didn't deliver this file.
  expect(planned.changes).toMatchObject({ added: [], changed: [], removed: [] });
});

test.each([
  [true, ['p/1/old.txt']],
  [false, []],
])(
  'what a folder had before goes with `prune: %s` as %j, and no equal file of others is ours',
  async (...row) => {
    const [prune, removed] = row;
    const branch = new MemoryBranch();
    await deliverSite(branch, FOLDER, { 'old.txt': 'old' });
    branch.change({ 'p/1/equal.txt': 'equal' });
    const contents = { 'index.html': 'page', 'equal.txt': 'equal' };
    const { change, changes, removals } = await plan(branch, contents, { prune });
    expect([removals, changes?.kept]).toEqual([removed, ['equal.txt']]);
    expect(change?.message).toMatch(/^UPDATE /);
  },
);

test.each<[string, Contents, Contents]>([
  ['a file is where a folder of theirs is', { 'p/1/a/b': 'theirs' }, { a: 'ours' }],
  ['a folder is where a file of theirs is', { 'p/1/a': 'theirs' }, { 'a/b': 'ours' }],
  ['the folder itself is a file', { 'p/1': 'theirs' }, CONTENTS],
  ['the folder lies in a file', { p: 'theirs' }, CONTENTS],
])(
  'a folder with files of others is refused where %s, whatever `overwrite` says',
  async (_, theirs, contents) => {
    for (const overwrite of [false, true]) {
      const branch = new MemoryBranch(heldFiles(theirs));
      const hint = 'set `path:` to a folder of its own';
      await expect(plan(branch, contents, { overwrite })).rejects.toMatchObject({ code: 'NOT_OURS', hint });
    }
  },
);

describe('older folders beside it', () => {
  const contents = (text: string) => ({ 'index.html': text });
  const keeping = (keep: number): PlanOptions => ({ folder: 'p/9/', keep });

  async function branchWithSites(): Promise<MemoryBranch> {
    const branch = new MemoryBranch(heldFiles({ 'p/theirs/index.html': 'theirs', 'other/a': 'theirs' }));
    for (const nth of [1, 3, 2]) await deliverSite(branch, `p/${nth}/`, contents(`site ${nth}`));
    return branch;
  }

  test('are removed, the oldest in the history first, until `keep` is reached', async () => {
    const branch = await branchWithSites();
    const removed = async (keep: number) =>
      (await plan(branch, contents('new'), keeping(keep))).changes?.removedFolders;
    await expect(removed(4)).resolves.toEqual([]);
    await expect(removed(3)).resolves.toEqual(['p/1/']);
    await expect(removed(1)).resolves.toEqual(['p/1/', 'p/2/', 'p/3/']);
    const { change, removals } = await plan(branch, contents('new'), keeping(3));
    expect(removals).toEqual(['p/1/index.html']);
    expect(parseMessage(change?.message ?? '')?.delivered?.itemPath).toBe('p/9/');
    expect((await plan(branch, contents('new'), { folder: 'p/9/' })).changes?.removedFolders).toEqual([]);
  });

  test('of the same second are removed in the order of the history', async () => {
    const branch = new MemoryBranch();
    branch.hours = 0;
    for (const nth of [10, 8]) await deliverSite(branch, `p/${nth}/`, contents(`site ${nth}`));
    const { changes } = await plan(branch, contents('new'), keeping(2));
    expect(changes?.removedFolders).toEqual(['p/10/']);
  });

  test('are counted and kept if they are delivered together', async () => {
    const branch = await branchWithSites();
    const removed = async (keep: number, ...others: string[]) => {
      const together = ['p/9/', ...others];
      return (await plan(branch, contents('new'), { ...keeping(keep), together })).changes?.removedFolders;
    };
    await expect(removed(1, 'p/1/')).resolves.toEqual(['p/2/', 'p/3/']);
    await expect(removed(3, 'p/1/')).resolves.toEqual(['p/3/']);
    await expect(removed(1, 'p/1/', 'p/2/', 'p/3/')).resolves.toEqual([]);
    await expect(removed(4, 'q/1/')).resolves.toEqual([]);
  });
});

test("the file that switches Jekyll off is written at the site's root if it is missing", async () => {
  const branch = new MemoryBranch(heldFiles({ 'docs/README.md': 'theirs' }));
  const more = { folder: 'docs/p/1/', siteRoot: 'docs/', nojekyll: true };
  const { change, written } = await plan(branch, { 'index.html': 'x' }, more);
  expect(written).toEqual(['docs/.nojekyll', 'docs/p/1/index.html']);
  expect(parseMessage(change?.message ?? '')?.delivered?.kept).toEqual([]);
  branch.change({ 'docs/.nojekyll': 'theirs' });
  expect((await plan(branch, { 'index.html': 'x' }, more)).written).toEqual(['docs/p/1/index.html']);
});

test('a site above the limit of Pages is refused before anything is sent', async () => {
  const branch = new MemoryBranch(heldFiles({ 'large.bin': 'large', 'p/0/old': 'x' }));
  branch.sizes.set(shaOf('large'), SITE.size - 4);
  expect((await plan(branch, { 'i.html': 'abc' })).servedSize).toBe(SITE.size);
  await expect(plan(branch, { 'i.html': 'abcd' })).rejects.toMatchObject({
    code: 'TOO_LARGE',
    hint: expect.stringContaining('`keep:`'),
    leftBehind: [],
  });
  // Pages doesn't serve files outside its folder.
  const outside = { folder: 'p/1/', siteRoot: 'p/' };
  expect((await plan(branch, { 'i.html': 'abcd' }, outside)).servedSize).toBe(5);
});
