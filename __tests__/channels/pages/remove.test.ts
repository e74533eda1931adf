import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createPagesActions } from '../../../src/channels/pages/publish.ts';
import type { PagesOptions } from '../../../src/channels/pages/target.ts';
import type { FakeGitHub } from '../../github/fake-github.ts';
import { temporaryFolder } from '../../support/files.ts';
import { fakePorts } from '../../support/ports.ts';
import { type BranchFiles, branchWith, existingFile, FOREIGN_MESSAGE, ownMessage } from '../fake-branch.ts';
import { pagesOptionsWith } from '../pages-options.ts';
import { prepareAll, prepareOne } from '../prepare-one.ts';
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

const removedPaths = (github: FakeGitHub): string[] =>
  github.sent('tree').flatMap(({ tree }) => {
    const entries = tree as { path: string; sha: string | null }[];
    return entries.filter(({ sha }) => sha === null).map(({ path }) => path);
  });

test.each<[string, BranchFiles]>([
  ['notes.html', {}],
  ['notes.md', { '.nojekyll': foreign('empty') }],
])(
  'removing a file through channel K1 names the address of the page for a Markdown file: %s',
  async (name, more) => {
    const github = branchWith({ 'notes.md': existingFile('0ld'), ...more });
    const { remover } = createRemover(github, { path: 'notes.md' });
    const task = await prepareOne(remover, null, 'page.html');
    await expect(task.perform()).resolves.toMatchObject({
      url: new URL(`https://octo.github.io/site/${name}`),
      rawUrl: new URL('https://raw.githubusercontent.com/octo/site/main/notes.md'),
    });
  },
);

test.each<[string, Partial<PagesOptions>, string]>([
  ['`path`', { path: 'previews/pr-1/' }, 'page.html'],
  ['its name', {}, 'previews/pr-1/'],
  ['a path without a slash, and its name', { path: 'previews/pr-1' }, 'pr-1/'],
])('removing a folder through channel K1 is meant by %s', async (_, options, name) => {
  const { remover } = createRemover(branchWith(), options);
  const [folder] = await prepareAll(remover, [{ file: null, name }]);
  const destination = 'branch main, folder previews/pr-1/';
  expect(folder?.plan).toMatchObject({ method: 'one commit that removes it', destination });
});

test('removing a folder through channel K1 goes before single files that are named with it', async () => {
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
  expect(await remover.perform(tasks)).toMatchObject([
    { commitSha: 'commit2' },
    { commitSha: 'commit1', notes: ['1 file removed'] },
  ]);
  expect(removedPaths(github)).toEqual(['p/a.html', 'page.html']);
});
