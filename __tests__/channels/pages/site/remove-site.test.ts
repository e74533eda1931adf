import { describe, expect, test } from '@jest/globals';
import { createPagesRemover } from '../../../../src/channels/pages/remove.ts';
import { hasFailed } from '../../../../src/errors.ts';
import { pagesOptionsWith } from '../../pages-options.ts';
import { accessWith } from '../../repository-context.ts';
import { heldFiles, MemoryBranch, shaOf } from './memory-branch.ts';
import { connect, deliverFile, deliverSite, type RunOutcome, withdrawFolder } from './site-runs.ts';

const FOLDER = 'p/1/';
const CONTENTS = { 'index.html': 'page', 'css/a.css': 'style' };

async function deliveredBranch(files: Readonly<Record<string, string>> = {}): Promise<MemoryBranch> {
  const branch = new MemoryBranch(heldFiles({ 'README.md': 'theirs', ...files }));
  await deliverSite(branch, FOLDER, CONTENTS);
  return branch;
}

const placementOf = (outcome: RunOutcome | undefined) => {
  if (outcome === undefined || hasFailed(outcome)) throw outcome ?? new Error('there is no outcome');
  return outcome;
};

describe('withdrawing a site', () => {
  test('removes it in one commit, and looks at every address, the page of the folder first', async () => {
    const branch = await deliveredBranch();
    const before = branch.head;
    const [outcome, ...more] = await withdrawFolder(branch, FOLDER);
    expect(more).toEqual([]);
    expect(branch.head.parent).toBe(before);
    expect(branch.head.message).toBe(
      'REMOVE 1: from run 7 of Deliver\n\nDelivered-by: screen-delivery\nRemoved-folder: p/1/',
    );
    expect(branch.now).toEqual({ 'README.md': shaOf('theirs') });
    expect(placementOf(outcome)).toMatchObject({
      evidence: `commit ${branch.head.sha} removes it`,
      url: new URL('https://octo.github.io/site/p/1/'),
      written: true,
      parts: [{ path: 'p/1/css/a.css', url: new URL('https://octo.github.io/site/p/1/css/a.css') }],
      notes: ['2 files removed', expect.any(String)],
    });
  });

  test('leaves what others have there, their file with our bytes included', async () => {
    const branch = await deliveredBranch({ 'p/1/index.html': 'page' });
    branch.change({ 'p/1/notes.txt': 'theirs' });
    await withdrawFolder(branch, FOLDER);
    expect(Object.keys(branch.now)).toEqual(['README.md', 'p/1/index.html', 'p/1/notes.txt']);
  });

  test('removes single files that were delivered into it, and the sites that lie directly in it', async () => {
    const branch = await deliveredBranch();
    await deliverSite(branch, 'p/2/', CONTENTS);
    await deliverFile(branch, 'p/single.html', 'single');
    branch.change({ 'p/theirs/index.html': 'theirs' });
    const outcomes = await withdrawFolder(branch, 'p/');
    expect(outcomes.map((one) => placementOf(one).written)).toEqual([true, true, true]);
    expect(Object.keys(branch.now)).toEqual(['README.md', 'p/theirs/index.html']);
  });

  test('compares again after another writer was first', async () => {
    const branch = await deliveredBranch();
    branch.beforeMove = () => {
      branch.beforeMove = () => undefined;
      branch.change({ 'p/1/index.html': 'theirs' });
    };
    await withdrawFolder(branch, FOLDER);
    expect(branch.now).toEqual({ 'README.md': shaOf('theirs'), 'p/1/index.html': shaOf('theirs') });
  });

  test('names the commit that removed it where somebody was first', async () => {
    const branch = await deliveredBranch();
    branch.beforeMove = () => {
      branch.beforeMove = () => undefined;
      branch.change({ 'p/1/index.html': null, 'p/1/css/a.css': null });
    };
    const [outcome] = await withdrawFolder(branch, FOLDER);
    expect(placementOf(outcome)).toMatchObject({
      evidence: `commit ${branch.head.sha} removes it`,
      parts: [{ path: 'p/1/css/a.css' }],
    });
  });

  test('is told by a preview, which writes nothing', async () => {
    const branch = await deliveredBranch();
    const { head } = branch;
    const { github, ports } = connect(branch);
    const remover = createPagesRemover(pagesOptionsWith({ path: FOLDER }), accessWith(github), ports);
    const prepared = await remover.prepare([{ file: null, name: '' }]);
    const tasks = prepared.flatMap(({ result }) => (hasFailed(result) ? [] : [result]));
    const [preview] = await remover.preview(tasks as never);
    expect(preview?.result).toBe('REMOVE 1: from run 7 of Deliver (2 files)');
    expect(tasks).toMatchObject([{ plan: { name: FOLDER, destination: 'branch main, folder p/1/' } }]);
    expect(branch.head).toBe(head);
  });

  test('works at the root of the branch', async () => {
    const branch = new MemoryBranch(heldFiles({ 'README.md': 'theirs' }));
    await deliverSite(branch, '', CONTENTS);
    const [outcome] = await withdrawFolder(branch, '');
    expect(placementOf(outcome)).toMatchObject({
      url: new URL('https://octo.github.io/site/'),
      parts: [{ url: new URL('https://octo.github.io/site/css/a.css') }],
    });
    expect(branch.now).toEqual({ 'README.md': shaOf('theirs') });
    expect(branch.head.message).toMatch(/^REMOVE \.: [\s\S]*Removed-folder: \.\/$/);
  });
});
