import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createPagesActions } from '../../../src/channels/pages/publish.ts';
import type { PagesOptions } from '../../../src/channels/pages/target.ts';
import { TRAILER } from '../../../src/protocol/words.ts';
import { type FakeGitHub, failure } from '../../github/fake-github.ts';
import { temporaryFolder } from '../../support/files.ts';
import { fakePorts } from '../../support/ports.ts';
import { type BranchFiles, branchWith, existingFile, FOREIGN_MESSAGE, ownMessage } from '../fake-branch.ts';
import { pagesOptionsWith } from '../pages-options.ts';
import { prepareAll, prepareOne, resultsFor } from '../prepare-one.ts';
import { accessWith } from '../repository-context.ts';

const { PATH } = process.env;
// Without git, several files are removed through the API, whose calls the fake records.
beforeEach(async () => {
  process.env.PATH = await temporaryFolder();
});
afterEach(() => {
  process.env.PATH = PATH;
});

const foreign = (blob: string) => existingFile(blob, FOREIGN_MESSAGE);

function createRemover(github: FakeGitHub, options: Partial<PagesOptions> = {}) {
  const ports = fakePorts();
  return { ports, remover: createPagesActions(pagesOptionsWith(options), accessWith(github), ports).remove };
}

/** Prepares the removal of one path. */
async function prepareRemoval(files: BranchFiles, options: Partial<PagesOptions> = {}) {
  const github = branchWith(files);
  const { remover } = createRemover(github, options);
  return { github, task: await prepareOne(remover, null, 'page.html') };
}

/** The paths that the new trees leave out. */
const removedPaths = (github: FakeGitHub): string[] =>
  github.sent('tree').flatMap(({ tree }) => {
    const entries = tree as { path: string; sha: string | null }[];
    return entries.filter(({ sha }) => sha === null).map(({ path }) => path);
  });

describe('removing a file through channel K1', () => {
  test('plans a commit without writing anything', async () => {
    const { github, task } = await prepareRemoval({ 'page.html': existingFile('0ld') });
    expect(task.plan).toEqual({
      channel: 'K1',
      method: 'a commit that removes it, method B, object API',
      destination: 'branch main, path page.html',
      name: 'page.html',
      claim: 'is removed',
    });
    expect(github.calls).toEqual([]);
  });

  test('removes an owned file by a commit with the protocol’s message and trailer', async () => {
    const { github, task } = await prepareRemoval({ 'page.html': existingFile('0ld') });
    await expect(task.perform()).resolves.toEqual({
      evidence: 'commit commit1 removes it',
      url: new URL('https://octo.github.io/site/page.html'),
      written: true,
      method: 'a commit that removes it, method B, object API',
      commitSha: 'commit1',
      rawUrl: new URL('https://raw.githubusercontent.com/octo/site/main/page.html'),
      bypassCache: true,
      held: new Map([['page.html', null]]),
      notes: [],
      unknown: [],
    });
    expect(removedPaths(github)).toEqual(['page.html']);
    expect(github.sent('commit')).toMatchObject([
      { message: `REMOVE page.html: from run 7 of Deliver\n\n${TRAILER}`, parents: ['base'] },
    ]);
    expect(github.sent('update_ref')).toMatchObject([{ sha: 'commit1', force: false }]);
  });

  test('watches the build of the commit that removes the file', async () => {
    const github = branchWith(
      { 'page.html': existingFile('0ld') },
      { pages_latest: { status: 'built', commit: 'commit1' } },
    );
    const task = await prepareOne(createRemover(github).remover, null, 'page.html');
    await expect(task.progress(await task.perform())).resolves.toMatchObject({ finished: true });
  });

  test('refuses to remove a foreign file, and writes nothing', async () => {
    const { github, task } = await prepareRemoval({ 'page.html': foreign('0ld') });
    await expect(task.perform()).rejects.toMatchObject({
      code: 'NOT_OURS',
      message: 'page.html already exists in the repository, and this tool did not deliver what it holds now',
      hint: 'set `path:` to another place, or `overwrite: true` if you may remove that file',
      leftBehind: [],
    });
    expect([github.sent('tree'), github.sent('update_ref')]).toEqual([[], []]);
  });

  test('removes a foreign file with overwrite', async () => {
    const { github, task } = await prepareRemoval({ 'page.html': foreign('0ld') }, { overwrite: true });
    await expect(task.perform()).resolves.toMatchObject({ written: true, commitSha: 'commit1' });
    expect(removedPaths(github)).toEqual(['page.html']);
  });

  test('writes nothing where nothing exists', async () => {
    const { github, task } = await prepareRemoval({});
    const placement = await task.perform();
    expect(placement).toMatchObject({
      evidence: 'nothing that this tool delivered exists there',
      written: false,
    });
    expect(placement).not.toHaveProperty('commitSha');
    expect([github.sent('tree'), github.sent('update_ref')]).toEqual([[], []]);
  });

  test('fails without anything left behind where the branch cannot be read', async () => {
    const github = branchWith({}, { get_file: failure('NO_PERMISSION', 403) });
    const task = await prepareOne(createRemover(github).remover, null, 'page.html');
    await expect(task.perform()).rejects.toMatchObject({ code: 'NO_PERMISSION', leftBehind: [] });
  });

  test('does not know what is left behind where the update of the branch fails', async () => {
    const github = branchWith(
      { 'page.html': existingFile('0ld') },
      { update_ref: failure('FORBIDDEN_BY_RULE', 422) },
    );
    const task = await prepareOne(createRemover(github).remover, null, 'page.html');
    await expect(task.perform()).rejects.toMatchObject({ code: 'FORBIDDEN_BY_RULE', leftBehind: undefined });
  });

  test('finds the removal that has arrived after a lost connection, and does not commit twice', async () => {
    const files: BranchFiles = { 'page.html': existingFile('0ld') };
    const github = branchWith(files, {
      // The path stays in the history after its removal.
      commits_of_path: () =>
        'page.html' in files
          ? [{ sha: 'before', commit: { message: ownMessage('0ld') } }]
          : [{ sha: 'arrived', commit: { message: `REMOVE page.html: x\n\n${TRAILER}` } }],
      update_ref: () => {
        delete files['page.html'];
        return failure('CONNECTION', undefined, { retryable: true });
      },
    });
    const task = await prepareOne(createRemover(github).remover, null, 'page.html');
    await expect(task.perform()).resolves.toMatchObject({
      evidence: 'commit arrived removes it',
      written: true,
      commitSha: 'arrived',
    });
    expect(github.sent('update_ref')).toHaveLength(1);
  });

  test('names the address of the rendered page for a Markdown file', async () => {
    const files = { 'notes.md': existingFile('0ld') };
    const { task } = await prepareRemoval(files, { path: 'notes.md' });
    await expect(task.perform()).resolves.toMatchObject({
      url: new URL('https://octo.github.io/site/notes.html'),
      rawUrl: new URL('https://raw.githubusercontent.com/octo/site/main/notes.md'),
    });
  });

  test('names the address of a Markdown file itself where .nojekyll exists', async () => {
    const files = { 'notes.md': existingFile('0ld'), '.nojekyll': foreign('empty') };
    const { task } = await prepareRemoval(files, { path: 'notes.md' });
    await expect(task.perform()).resolves.toMatchObject({
      url: new URL('https://octo.github.io/site/notes.md'),
    });
  });

  test.each<[string, BranchFiles, string]>([
    ['nothing exists', {}, 'nothing that this tool delivered exists there'],
    ['an owned file exists', { 'page.html': existingFile('0ld') }, 'REMOVE page.html: from run 7 of Deliver'],
  ])('has a preview that writes nothing where %s', async (_, files, expected) => {
    const { github, task } = await prepareRemoval(files);
    await expect(task.preview()).resolves.toBe(expected);
    expect(github.writes).toEqual([]);
  });

  test('has a preview that fails where a foreign file exists', async () => {
    const { task } = await prepareRemoval({ 'page.html': foreign('0ld') });
    await expect(task.preview()).rejects.toMatchObject({ code: 'NOT_OURS' });
  });

  test('refuses to prepare a removal without a token', async () => {
    const remover = createPagesActions(pagesOptionsWith(), accessWith(null), fakePorts()).remove;
    await expect(prepareOne(remover, null)).rejects.toMatchObject({ code: 'NO_TOKEN' });
  });
});

describe('removing several files through channel K1', () => {
  test('removes each owned file by its own commit in one update of the branch, and refuses the foreign one', async () => {
    const github = branchWith({
      'a.html': existingFile('a'),
      'b.html': foreign('b'),
      'c.html': existingFile('c'),
    });
    const { remover } = createRemover(github);
    const names = ['a.html', 'b.html', 'c.html', 'd.html'];
    const tasks = await prepareAll(
      remover,
      names.map((name) => ({ file: null, name })),
    );
    const placements = resultsFor(await remover.perform(tasks), tasks);
    expect(placements).toMatchObject([
      { written: true, commitSha: 'commit1', url: new URL('https://octo.github.io/site/a.html') },
      { code: 'NOT_OURS', leftBehind: [] },
      { written: true, commitSha: 'commit2', url: new URL('https://octo.github.io/site/c.html') },
      { written: false, evidence: 'nothing that this tool delivered exists there' },
    ]);
    expect(removedPaths(github)).toEqual(['a.html', 'c.html']);
    expect(github.sent('update_ref')).toMatchObject([{ sha: 'commit2' }]);
  });
});

describe('removing a folder through channel K1', () => {
  test.each<[string, Partial<PagesOptions>, string]>([
    ['`path`', { path: 'previews/pr-1/' }, 'page.html'],
    ['its name', {}, 'previews/pr-1/'],
    ['a path without a slash, and its name', { path: 'previews/pr-1' }, 'pr-1/'],
  ])('is meant by %s', async (_, options, name) => {
    const { remover } = createRemover(branchWith(), options);
    const [folder] = await prepareAll(remover, [{ file: null, name }]);
    expect(folder?.plan).toMatchObject({
      method: 'one commit that removes it',
      destination: 'branch main, folder previews/pr-1/',
    });
  });

  test('goes before single files that are named with it', async () => {
    const files = {
      'p/a.html': existingFile('a', ownMessage('a', 'p/a.html')),
      'page.html': existingFile('p'),
    };
    const github = branchWith(files);
    const { remover } = createRemover(github);
    const tasks = await prepareAll(
      remover,
      ['page.html', 'p/'].map((name) => ({ file: null, name })),
    );
    const [folder, file] = (await remover.perform(tasks)).map(({ result }) => result);
    expect([folder, file]).toMatchObject([{ notes: ['1 file removed'] }, { commitSha: 'commit2' }]);
    expect(removedPaths(github)).toEqual(['p/a.html', 'page.html']);
  });
});
