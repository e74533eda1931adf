import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createPagesRemover } from '../../../src/channels/pages/remove.ts';
import type { PagesOptions } from '../../../src/channels/pages/target.ts';
import { hasFailed, type Result } from '../../../src/errors.ts';
import { BATCH } from '../../../src/protocol/limits.ts';
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
  return { ports, remover: createPagesRemover(pagesOptionsWith(options), accessWith(github), ports) };
}

/** Prepares the removal of one path. */
async function prepareRemoval(files: BranchFiles, options: Partial<PagesOptions> = {}) {
  const github = branchWith(files);
  const { remover } = createRemover(github, options);
  return { github, task: await prepareOne(remover, null, 'page.html') };
}

/** Prepares the removal of the folder `previews/pr-1/`. */
async function prepareFolder(github: FakeGitHub, options: Partial<PagesOptions> = {}) {
  const { ports, remover } = createRemover(github, { path: 'previews/pr-1/', ...options });
  const item = { file: null, name: 'page.html' };
  const prepared = await remover.prepare([item]);
  const tasks = prepared.map(({ result }) => {
    if (hasFailed(result)) throw result;
    return result;
  });
  return { item, ports, prepared, remover, tasks: tasks as Exclude<(typeof tasks)[number], Error>[] };
}

/** The paths that the new trees leave out. */
const removedPaths = (github: FakeGitHub): string[] =>
  github.sent('tree').flatMap(({ tree }) => {
    const entries = tree as { path: string; sha: string | null }[];
    return entries.filter(({ sha }) => sha === null).map(({ path }) => path);
  });

const getCodes = (results: readonly Result<unknown>[]) =>
  results.map((result) => (hasFailed(result) ? result.code : result));

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
    expect(placement).toMatchObject({ evidence: 'nothing exists there', written: false });
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
    ['nothing exists', {}, 'nothing exists there'],
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
    const remover = createPagesRemover(pagesOptionsWith(), accessWith(null), fakePorts());
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
      { written: false, evidence: 'nothing exists there' },
    ]);
    expect(removedPaths(github)).toEqual(['a.html', 'c.html']);
    expect(github.sent('update_ref')).toMatchObject([{ sha: 'commit2' }]);
  });
});

describe('removing a folder through channel K1', () => {
  const FOLDER: BranchFiles = {
    'previews/pr-1/a.html': existingFile('a'),
    'previews/pr-1/deep/b.md': existingFile('b'),
    'previews/pr-1/foreign.html': foreign('f'),
    'previews/pr-12/c.html': existingFile('c'),
    'page.html': existingFile('p'),
  };

  test('prepares one task for each owned file below it, all of them for the same item', async () => {
    const { item, prepared, tasks } = await prepareFolder(branchWith(FOLDER));
    expect(prepared.every((one) => one.item === item)).toBe(true);
    expect(tasks.map(({ plan }) => [plan.destination, plan.method])).toEqual([
      ['branch main, path previews/pr-1/a.html', 'a commit that removes it, method B, object API'],
      ['branch main, path previews/pr-1/deep/b.md', 'a commit that removes it, method B, object API'],
    ]);
  });

  test.each<[string, Partial<PagesOptions>, string]>([
    ['its name', {}, 'previews/pr-1/'],
    ['a path without a slash', { path: 'previews/pr-1' }, 'pr-1/'],
  ])('is meant, too, by an item that is a folder: %s', async (_, options, name) => {
    const { remover } = createRemover(branchWith(FOLDER), options);
    const folder = { file: null, name };
    const prepared = await remover.prepare([folder]);
    expect(prepared.map(({ result }) => (hasFailed(result) ? result : result.plan.name))).toEqual([
      'previews/pr-1/a.html',
      'previews/pr-1/deep/b.md',
    ]);
  });

  test('is removed beside single files that are named with it', async () => {
    const { remover } = createRemover(branchWith(FOLDER));
    const items = ['page.html', 'previews/pr-12/'].map((name) => ({ file: null, name }));
    const prepared = await remover.prepare(items);
    expect(prepared.map(({ item, result }) => [item.name, hasFailed(result) || result.plan.name])).toEqual([
      ['previews/pr-12/', 'previews/pr-12/c.html'],
      ['page.html', 'page.html'],
    ]);
  });

  test('removes only the owned files below it', async () => {
    const github = branchWith(FOLDER);
    const { remover, tasks } = await prepareFolder(github);
    expect(resultsFor(await remover.perform(tasks), tasks)).toMatchObject([
      { commitSha: 'commit1', url: new URL('https://octo.github.io/site/previews/pr-1/a.html') },
      { commitSha: 'commit2', url: new URL('https://octo.github.io/site/previews/pr-1/deep/b.html') },
    ]);
    expect(removedPaths(github)).toEqual(['previews/pr-1/a.html', 'previews/pr-1/deep/b.md']);
  });

  test('names each foreign file below it in the log', async () => {
    const { ports } = await prepareFolder(branchWith(FOLDER));
    expect(ports.logger.lines).toEqual([
      'warning: not removed: previews/pr-1/foreign.html already exists in the repository, and this tool did not deliver what it holds now',
    ]);
  });

  test('removes the foreign files below it as well with overwrite', async () => {
    const { ports, tasks } = await prepareFolder(branchWith(FOLDER), { overwrite: true });
    expect(tasks.map(({ plan }) => plan.name)).toEqual([
      'previews/pr-1/a.html',
      'previews/pr-1/deep/b.md',
      'previews/pr-1/foreign.html',
    ]);
    expect(ports.logger.lines).toEqual([]);
  });

  test('prepares one task for the folder itself where nothing owned is below it', async () => {
    const github = branchWith({ 'page.html': existingFile('p') });
    const { item, prepared, remover, tasks } = await prepareFolder(github);
    expect(prepared).toMatchObject([
      { item, result: { plan: { name: 'previews/pr-1/' }, data: { target: { method: 'C' } } } },
    ]);
    expect(resultsFor(await remover.perform(tasks), tasks)).toMatchObject([
      { written: false, evidence: 'nothing exists there' },
    ]);
    expect(github.sent('update_ref')).toEqual([]);
  });

  test('gives a preview of each file below it', async () => {
    const { remover, tasks } = await prepareFolder(branchWith(FOLDER));
    expect(resultsFor(await remover.preview(tasks), tasks)).toEqual([
      'REMOVE a.html: from run 7 of Deliver',
      'REMOVE b.md: from run 7 of Deliver',
    ]);
  });

  test('is refused where more files are below it than one request may remove', async () => {
    const files = Array.from({ length: BATCH.files + 1 }, (_, n) => [
      `previews/pr-1/${n}.html`,
      existingFile(`${n}`),
    ]);
    await expect(prepareFolder(branchWith(Object.fromEntries(files)))).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: `there are ${BATCH.files + 1} files below previews/pr-1/`,
      hint: `set \`path:\` to a folder with at most ${BATCH.files} files`,
    });
  });

  test('fails where it cannot be read whether a file below it is owned', async () => {
    const denied = failure('NO_PERMISSION', 403);
    await expect(prepareFolder(branchWith(FOLDER, { commits_of_path: denied }))).rejects.toMatchObject({
      code: 'NO_PERMISSION',
    });
  });

  test('removes the other files where one is changed by somebody else after it was prepared', async () => {
    const files = { ...FOLDER };
    let head = 'base';
    const { remover, tasks } = await prepareFolder(
      branchWith(files, { get_ref: () => ({ object: { sha: head } }) }),
    );
    files['previews/pr-1/a.html'] = foreign('new');
    head = 'theirs';
    const results = resultsFor(await remover.perform(tasks), tasks);
    expect(getCodes(results)).toMatchObject(['NOT_OURS', { commitSha: 'commit1' }]);
  });
});
