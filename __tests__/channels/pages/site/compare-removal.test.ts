import { describe, expect, test } from '@jest/globals';
import { listRequired, type Placement } from '../../../../src/channels/channel.ts';
import { parseMessage } from '../../../../src/channels/pages/commit-message.ts';
import { SITE } from '../../../../src/protocol/limits.ts';
import { prepareAll } from '../../prepare-one.ts';
import { heldFiles, MemoryBranch } from './memory-branch.ts';
import { shaOf } from './memory-files.ts';
import {
  actionsOn,
  deliverFile,
  deliverSite,
  placementOf,
  requestsOf,
  runOne,
  withdrawFolder,
} from './site-runs.ts';

const FOLDER = 'p/1/';
const CONTENTS = { 'index.html': 'page', 'css/a.css': 'style' };

async function deliveredBranch(): Promise<MemoryBranch> {
  const branch = new MemoryBranch(heldFiles({ 'README.md': 'theirs' }));
  await deliverSite(branch, FOLDER, CONTENTS);
  return branch;
}

const pathsOf = (placed: Placement) => listRequired(placed).map(({ url }) => url.pathname);

describe('withdrawing a site', () => {
  test('removes the sites below it in one commit, however deep, and single files that were delivered', async () => {
    const branch = await deliveredBranch();
    await deliverSite(branch, 'p/2026/11/22/', CONTENTS);
    await deliverSite(branch, 'p/2026/', { 'index.html': 'of the year' });
    await deliverFile(branch, 'p/deep/single.html', 'single');
    branch.change({ 'p/theirs/deep/index.html': 'theirs' });
    const before = branch.head;
    const placed = placementOf(await withdrawFolder(branch, 'p/'));
    expect(branch.now).toEqual({ 'README.md': shaOf('theirs'), 'p/theirs/deep/index.html': shaOf('theirs') });
    expect(branch.head.parent).toBe(before);
    const removed = ['p/', 'p/2026/', 'p/2026/11/22/', 'p/1/', 'p/deep/single.html'];
    expect(parseMessage(branch.head.message)).toMatchObject({ verb: 'REMOVE', removed });
    expect(pathsOf(placed)).toEqual([
      '/site/p/2026/',
      '/site/p/1/',
      '/site/p/2026/11/22/',
      '/site/p/deep/single.html',
      '/site/p/2026/11/22/css/a.css',
      '/site/p/1/css/a.css',
    ]);
    expect(placed.notes?.[0]).toBe('6 files removed, of 3 sites: p/2026/, p/2026/11/22/, p/1/');
    branch.change({ 'p/1/index.html': 'page', 'p/2026/11/22/index.html': 'page' });
    await withdrawFolder(branch, 'p/');
    const again = ['p/1/index.html', 'p/2026/11/22/index.html'];
    expect(Object.keys(branch.now)).toEqual(expect.arrayContaining(again));
  });

  test('costs no more requests for many sites than for one', async () => {
    const count = async (sites: number): Promise<number> => {
      const branch = new MemoryBranch(heldFiles({ 'README.md': 'theirs' }));
      for (let nth = 0; nth < sites; nth += 1) await deliverSite(branch, `p/${nth % 3}/${nth}/`, CONTENTS);
      const seen = requestsOf(branch);
      const asked = seen.length;
      placementOf(await withdrawFolder(branch, 'p/'));
      expect(branch.now).toEqual({ 'README.md': shaOf('theirs') });
      return seen.length - asked;
    };
    expect(await count(30)).toBe(await count(1));
  });

  test('removes nothing if there are more changed sites than one run reads', async () => {
    const branch = new MemoryBranch(heldFiles({ 'README.md': 'theirs' }));
    for (let nth = 0; nth <= SITE.olderTrees; nth += 1) await deliverSite(branch, `p/x/${nth}/`, CONTENTS);
    const names = Array.from({ length: SITE.olderTrees + 1 }, (_, nth) => `p/x/${nth}/css/a.css`);
    branch.change(Object.fromEntries(names.map((name) => [name, 'theirs'])));
    const before = branch.now;
    const hint = 'withdraw each delivery in it by its own `path:`';
    await expect(withdrawFolder(branch, 'p/')).resolves.toMatchObject({ code: 'NOT_OURS', hint });
    expect(branch.now).toEqual(before);
    placementOf(await withdrawFolder(branch, 'p/x/0/'));
    placementOf(await withdrawFolder(branch, 'p/'));
    expect(Object.keys(branch.now)).toHaveLength(1 + names.length);
  });

  test('leaves any number of files of others, and reports them', async () => {
    const branch = await deliveredBranch();
    const theirs = Array.from({ length: SITE.singleFiles + 1 }, (_, nth) => [`p/1/${nth}.txt`, 'theirs']);
    branch.change(Object.fromEntries(theirs));
    const asked = requestsOf(branch).length;
    const { leavesFiles, notes } = placementOf(await withdrawFolder(branch, FOLDER));
    expect(leavesFiles).toBe(true);
    expect(notes?.join()).toMatch(
      /still there, because somebody changed it since, or no known delivery contains it: /,
    );
    const sent = requestsOf(branch).slice(asked);
    expect(sent.filter(({ url }) => url.endsWith('/graphql'))).toEqual([]);
  });

  test('counts no picture of a page among the removed files', async () => {
    const branch = new MemoryBranch(heldFiles({ 'README.md': 'theirs' }));
    const pictures = { 'index.html.png': 'picture', 'index.html.before.png': 'before' };
    await deliverSite(branch, FOLDER, { ...CONTENTS, ...pictures, 'logo.png': 'logo' });
    expect(placementOf(await withdrawFolder(branch, FOLDER)).notes).toEqual(['3 files removed']);
    expect(branch.now).toEqual({ 'README.md': shaOf('theirs') });
  });

  test("reads the branch's tree once, and an older delivery's tree once", async () => {
    const branch = await deliveredBranch();
    const delivery = branch.treeSha('');
    branch.change({ 'p/1/notes.txt': 'theirs' });
    const now = branch.treeSha('');
    const seen = requestsOf(branch);
    const asked = seen.length;
    await withdrawFolder(branch, FOLDER);
    const trees = seen
      .slice(asked)
      .flatMap(({ method, url }) => (method === 'GET' ? (/git\/trees\/(\w+)/.exec(url)?.[1] ?? []) : []));
    expect(trees).toEqual([now, delivery]);
  });

  test('that came with another one names that one', async () => {
    const hint =
      'set `path: p/1/` to withdraw all of it, or set `overwrite: true` if you may remove p/1/css/ alone';
    const withdrawn = withdrawFolder(await deliveredBranch(), 'p/1/css/');
    await expect(withdrawn).resolves.toMatchObject({ code: 'NOT_OURS', hint });
  });

  test('of which nothing is left is refused at once if only files of others are there', async () => {
    const branch = new MemoryBranch(heldFiles({ 'index.html': 'theirs' }));
    const refused = {
      code: 'NOT_OURS',
      message: expect.stringMatching(
        /^index\.html already exists .* no record shows that this tool delivered its current content; noth/,
      ),
    };
    await expect(withdrawFolder(branch, '')).resolves.toMatchObject({
      code: 'NOT_OURS',
      message: expect.stringMatching(
        /^index\.html already exists in the repository, and the branch's history begins with it/,
      ),
    });
    branch.change({ 'old.txt': 'theirs' });
    branch.change({ 'old.txt': null });
    await expect(withdrawFolder(branch, '')).resolves.toMatchObject(refused);
    await deliverSite(branch, '', { 'a.html': 'ours' });
    await deliverFile(branch, 'b.html', 'ours');
    await withdrawFolder(branch, '');
    // What an earlier run removed may still be served.
    expect(pathsOf(placementOf(await withdrawFolder(branch, '')))).toEqual(['/site/a.html', '/site/b.html']);
  });

  test('lets another page show only at a URL whose rival stays', async () => {
    const branch = new MemoryBranch();
    for (const name of ['stays.html', 'goes.html', 'goes.md']) await deliverFile(branch, `p/${name}`, name);
    branch.change({ 'p/stays.md': 'theirs' });
    const placed = placementOf(await withdrawFolder(branch, 'p/'));
    const shown = listRequired(placed).map(({ url, expect }) => [url.pathname, expect.is === 'replaced']);
    expect(shown).toEqual([
      ['/site/p/goes.html', false],
      ['/site/p/stays.html', true],
      ['/site/p/goes.html', false],
      ['/site/p/goes.md', false],
    ]);
  });

  test("lets no other page show if this tool never had one: their bytes can't be told apart", async () => {
    const branch = new MemoryBranch(heldFiles({ 'README.md': 'theirs' }));
    const { remove } = actionsOn(branch, { path: 'index.html' });
    const { first } = placementOf(await runOne(remove, { site: null, name: 'index.html' }));
    expect(first.expect.is).toBe('gone');
  });

  test.each(['', 'gone/'])('of which nothing is there (%j) proves the folder’s address', async (folder) => {
    const name = folder === '' ? './' : folder;
    const branch = new MemoryBranch(heldFiles(folder === '' ? {} : { 'theirs/a.txt': 'theirs' }));
    const { remove } = actionsOn(branch, { path: name });
    const prepared = await remove.prepare([{ site: null, name: '' }]);
    expect(prepared).toMatchObject([{ plan: { name, destination: `branch main, folder ${name}` } }]);
    const nothing = 'this tool has no delivery there';
    expect(await remove.preview(prepared as never)).toEqual([nothing]);
    const placed = placementOf(await withdrawFolder(branch, folder));
    const url = new URL(`https://octo.github.io/site/${folder}`);
    expect(placed).toMatchObject({ evidence: nothing, written: false, first: { url }, notes: [] });
    expect(placed).not.toHaveProperty('commitSha');
  });
});

test.each([
  ['notes.html', {}],
  ['notes.md', { '.nojekyll': '' }],
  ['notes.md', { 'notes.html': 'theirs' }],
  ['notes.md', { 'notes.markdown': 'theirs' }],
])(
  'withdrawing a Markdown file proves the address of its page, if it had one: %s of %j',
  async (shown, theirs) => {
    const branch = new MemoryBranch(heldFiles(theirs));
    await deliverFile(branch, 'notes.md', '# x');
    const { remove } = actionsOn(branch, { path: 'notes.md' });
    const { first, others } = placementOf(await runOne(remove, { site: null, name: 'page.html' }));
    expect(first.url.pathname).toBe(`/site/${shown}`);
    expect(others).toHaveLength(shown === 'notes.md' ? 0 : 1);
  },
);

test('withdrawing a folder goes before single files that are named with it', async () => {
  const branch = new MemoryBranch();
  for (const path of ['p/a.html', 'page.html']) await deliverFile(branch, path, path);
  const { remove } = actionsOn(branch);
  const tasks = await prepareAll(
    remove,
    ['page.html', 'p/'].map((name) => ({ file: null, name })),
  );
  const placed = await remove.perform(tasks);
  const [last, before] = branch.history;
  expect(placed).toMatchObject([
    { commitSha: last?.sha },
    { commitSha: before?.sha, notes: ['1 file removed'] },
  ]);
  expect(branch.now).toEqual({});
});
