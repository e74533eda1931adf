import { describe, expect, test } from '@jest/globals';
import type { Placement } from '../../../../src/channels/channel.ts';
import { resolveDestination } from '../../../../src/channels/pages/destination.ts';
import type { SitePlan } from '../../../../src/channels/pages/site/plan-site.ts';
import { describeChanges, entryUrl, publishSite } from '../../../../src/channels/pages/site/publish-site.ts';
import { formatSiteMessage } from '../../../../src/channels/pages/site/site-message.ts';
import { hashTree } from '../../../../src/channels/pages/site/tree.ts';
import { hasFailed } from '../../../../src/errors.ts';
import { nameFew } from '../../../../src/plain-text.ts';
import { MEGABYTE, SITE } from '../../../../src/protocol/limits.ts';
import { FakeGitHub, failure } from '../../../github/fake-github.ts';
import { pagesOptionsWith } from '../../pages-options.ts';
import { siteWith } from '../../repository-context.ts';
import { heldFiles, MemoryBranch, shaOf } from './memory-branch.ts';
import { connect, deliverSite, folderTarget, memorySite } from './site-runs.ts';

const CONTENTS = { 'index.html': 'page', 'css/ä b.css': 'style' };

function publish(
  branch: MemoryBranch,
  contents: Readonly<Record<string, string>>,
  fetchOld: (url: URL) => Promise<readonly string[]> = async () => [],
) {
  const { github, ports, host } = connect(branch);
  const site = memorySite(contents);
  const location = { ...pagesOptionsWith(), path: 'p/1/', name: site.entry };
  const destination = resolveDestination(github.repository, location, siteWith());
  const placed = publishSite({ target: folderTarget(github, 'p/1/'), site, destination }, ports, fetchOld);
  return { placed, ports, host };
}

describe('publishing a site', () => {
  test('places every file at its own address, and the entry at that of the folder', async () => {
    const branch = new MemoryBranch();
    const { placed, ports } = publish(branch, CONTENTS);
    const placement: Placement = await placed;
    expect(placement).toMatchObject({
      evidence: `commit ${branch.head.sha}`,
      commitSha: branch.head.sha,
      written: true,
      url: new URL('https://octo.github.io/site/p/1/'),
      rawUrl: new URL('https://raw.githubusercontent.com/octo/site/main/p/1/index.html'),
      hostMayChangeBytes: false,
      changes: { added: ['index.html', 'css/ä b.css'] },
      parts: [
        { path: 'css/ä b.css', url: new URL('https://octo.github.io/site/p/1/css/%C3%A4%20b.css'), size: 5 },
      ],
    });
    expect(placement.previousSha256).toBeUndefined();
    expect(ports.logger.lines).toContain('files: 2 added');
  });

  test('writes nothing where everything is there, and names the commit that has it', async () => {
    const branch = new MemoryBranch();
    await publish(branch, CONTENTS).placed;
    const { head } = branch;
    await expect(publish(branch, CONTENTS).placed).resolves.toMatchObject({
      evidence: `commit ${head.sha} already holds this site`,
      commitSha: head.sha,
      written: false,
      notes: [],
    });
    expect(branch.head).toBe(head);
  });

  test('looks at the old page once before files are changed, and not where some are only added', async () => {
    const branch = new MemoryBranch();
    let looks = 0;
    const look = async () => {
      looks += 1;
      return ['old'];
    };
    await publish(branch, CONTENTS, look).placed;
    await publish(branch, { ...CONTENTS, 'more.html': 'more' }, look).placed;
    expect(looks).toBe(0);
    branch.beforeMove = () => {
      branch.beforeMove = () => undefined;
      branch.change({ 'README.md': 'theirs' });
    };
    await expect(publish(branch, { 'index.html': 'second' }, look).placed).resolves.toMatchObject({
      previousSha256: ['old'],
    });
    expect(looks).toBe(1);
    expect(branch.now).toEqual({ 'README.md': shaOf('theirs'), 'p/1/index.html': shaOf('second') });
  });

  test('looks at what each changed file answers before, and at no others', async () => {
    const branch = new MemoryBranch();
    const contents = { 'index.html': 'page', 'a b.css': 'one', 'b.js': 'two', 'same.txt': 'same' };
    await publish(branch, contents).placed;
    const changed = { ...contents, 'a b.css': 'second', 'b.js': 'second', 'new.txt': 'new' };
    const { parts, unknown } = await publish(branch, changed, async ({ pathname }) => [pathname]).placed;
    expect(parts).toMatchObject([
      { path: 'a b.css', previousSha256: ['/site/p/1/a%20b.css'] },
      { path: 'b.js', previousSha256: ['/site/p/1/b.js'] },
      expect.not.objectContaining({ previousSha256: expect.anything() }),
      expect.not.objectContaining({ previousSha256: expect.anything() }),
    ]);
    expect(unknown).toEqual([]);
  });

  test('that finds everything there knows what the newest delivery replaced, and what it was', async () => {
    const branch = new MemoryBranch();
    const contents = { 'index.html': 'page', 'a.css': 'first', 'b.js': 'same' };
    await publish(branch, contents).placed;
    const changed = { 'index.html': 'second', 'a.css': 'second', 'b.js': 'same', 'new.txt': 'new' };
    await publish(branch, changed).placed;
    branch.change({ 'README.md': 'theirs' });
    const { placed, host } = publish(branch, changed);
    const { written, previousBlob, parts } = await placed;
    expect([written, previousBlob]).toEqual([false, { sha: shaOf('page'), size: 4 }]);
    expect(parts?.map(({ path, previousBlob: blob }) => [path, blob?.sha])).toEqual([
      ['a.css', shaOf('first')],
      ['b.js', undefined],
      ['new.txt', undefined],
    ]);
    // The head, its history, and two commits with their trees.
    expect(host.seen).toHaveLength(6);
  });

  const newOf = ({ parts = [] }: Placement) => parts.filter(({ isNew }) => isNew).map(({ path }) => path);

  test('knows which files are new, whether this run wrote them or an earlier one', async () => {
    const branch = new MemoryBranch();
    const contents = { 'index.html': 'page', 'a.css': 'first' };
    await publish(branch, contents).placed;
    for (const written of [true, false]) {
      const placement = await publish(branch, { ...contents, 'a.css': 'second', 'new.txt': 'new' }).placed;
      expect([placement.written, newOf(placement)]).toEqual([written, ['new.txt']]);
    }
  });

  test('marks a bounded number of new files, and counts the others', async () => {
    const paths = ['index.html', ...Array.from({ length: SITE.plainProbes + 2 }, (_, nth) => `${nth}.txt`)];
    const branch = new MemoryBranch();
    const files = paths.map((path) => ({ path, sha: shaOf('new') }));
    const message = formatSiteMessage({ folder: 'p/1/', treeSha: hashTree(files), kept: [] }, 'ADD', 'x');
    branch.commit(heldFiles(Object.fromEntries(paths.map((path) => [`p/1/${path}`, 'new']))), message);
    const contents = Object.fromEntries(paths.map((path) => [path, 'new']));
    const placement = await publish(branch, contents).placed;
    expect(newOf(placement)).toHaveLength(SITE.plainProbes);
    expect(placement.unknown).toEqual([
      'whether a cache still answers that 2 of 102 new files are missing, for up to ten minutes',
    ]);
  });

  test('names the replaced files of the newest delivery that are too many to be asked', async () => {
    const paths = ['index.html', ...Array.from({ length: SITE.plainProbes + 2 }, (_, nth) => `${nth}.txt`)];
    const contentsOf = (text: string, folder = '') =>
      Object.fromEntries(paths.map((path) => [folder + path, text]));
    const branch = new MemoryBranch(heldFiles(contentsOf('first', 'p/1/')));
    const files = paths.map((path) => ({ path, sha: shaOf('second') }));
    const message = formatSiteMessage({ folder: 'p/1/', treeSha: hashTree(files), kept: [] }, 'ADD', 'x');
    branch.commit(heldFiles(contentsOf('second', 'p/1/')), message);
    const { parts = [], unknown } = await publish(branch, contentsOf('second')).placed;
    expect(parts.filter(({ previousBlob }) => previousBlob !== undefined)).toHaveLength(SITE.plainProbes);
    expect(unknown).toEqual([
      'whether a cache still shows older copies of 100.txt, 101.txt, for up to ten minutes',
    ]);
  });

  test('looks at a bounded number of changed files', async () => {
    const paths = ['index.html', ...Array.from({ length: SITE.plainProbes + 2 }, (_, nth) => `${nth}.txt`)];
    const files = paths.map((path) => ({ path, sha: shaOf('first') }));
    const message = formatSiteMessage({ folder: 'p/1/', treeSha: hashTree(files), kept: [] }, 'ADD', 'x');
    const branch = new MemoryBranch();
    branch.commit(heldFiles(Object.fromEntries(paths.map((path) => [`p/1/${path}`, 'first']))), message);
    const asked: string[] = [];
    const second = Object.fromEntries(paths.map((path) => [path, 'second']));
    const { placed } = publish(branch, second, async ({ pathname }) => {
      asked.push(pathname);
      return [];
    });
    // More files than the object API takes one by one.
    await expect(placed).rejects.toMatchObject({ code: 'NEEDS_SIGNATURE' });
    expect(asked).toHaveLength(1 + SITE.plainProbes);
  });

  test.each([
    ['a warning from 800 MB on', SITE.largeSize, 'warning: the whole Pages site has 800 MB'],
    ['a line of the log below', SITE.largeSize - MEGABYTE, 'the whole Pages site has 799 MB'],
  ])('tells the size of the whole Pages site: %s', async (_, size, line) => {
    const branch = new MemoryBranch(heldFiles({ 'large.bin': 'large' }));
    branch.sizes.set(shaOf('large'), size);
    const { placed, ports } = publish(branch, CONTENTS);
    const { notes } = await placed;
    expect(ports.logger.lines).toContain(`${line}; GitHub serves at most 1024`);
    expect(notes.some((note) => note.includes('the whole Pages site'))).toBe(size === SITE.largeSize);
  });

  test('of more than 1 GB in all is refused before anything is sent', async () => {
    const branch = new MemoryBranch(heldFiles({ 'large.bin': 'large' }));
    branch.sizes.set(shaOf('large'), SITE.size);
    const { placed, host } = publish(branch, CONTENTS);
    await expect(placed).rejects.toMatchObject({ code: 'TOO_LARGE', leftBehind: [] });
    expect(host.seen.every(({ method }) => method === 'GET')).toBe(true);
  });

  test('compares again after another writer was first, and then refuses to replace their file', async () => {
    const branch = new MemoryBranch();
    branch.beforeMove = () => {
      branch.beforeMove = () => undefined;
      branch.change({ 'p/1/index.html': 'theirs' });
    };
    await expect(publish(branch, CONTENTS).placed).rejects.toMatchObject({ code: 'NOT_OURS' });
    expect(branch.now).toEqual({ 'p/1/index.html': shaOf('theirs') });
  });

  test('says that nothing was written where the branch cannot even be read', async () => {
    const { github, ports } = connect(new MemoryBranch());
    const refused = failure('HOST_ERROR', 502);
    const target = folderTarget(
      Object.assign(github, { rest: new FakeGitHub({ get_ref: refused }).rest }),
      'p/1/',
    );
    const location = { ...pagesOptionsWith(), path: 'p/1/', name: 'index.html' };
    const destination = resolveDestination(github.repository, location, siteWith());
    const placed = publishSite({ target, site: memorySite(CONTENTS), destination }, ports, async () => []);
    await expect(placed).rejects.toMatchObject({ code: 'HOST_ERROR', leftBehind: [] });
  });

  test('is found by the preview, which writes nothing', async () => {
    const branch = new MemoryBranch(heldFiles({ 'README.md': 'theirs' }));
    const placed = await deliverSite(branch, 'p/1/', CONTENTS);
    expect(hasFailed(placed)).toBe(false);
  });
});

test('the address of an entry that is no index page is that of its file', () => {
  expect(entryUrl(new URL('https://octo.github.io/site/p/start.html')).pathname).toBe('/site/p/start.html');
  expect(entryUrl(new URL('https://octo.github.io/site/p/index.html')).pathname).toBe('/site/p/');
});

describe('what a person reads of the changes', () => {
  const changes = { added: [], changed: [], removed: [], kept: [], removedFolders: [] };
  const planWith = (more: Partial<SitePlan>): SitePlan => ({
    message: '',
    writes: [],
    removals: [],
    basis: new Map(),
    head: null,
    changes,
    totalSize: 0,
    ...more,
  });

  test('counts the files, and names what was left alone, what was removed, and a large site', () => {
    const all = {
      added: ['a'],
      changed: ['b', 'c'],
      removed: ['d'],
      kept: ['e', 'f/'],
      removedFolders: ['p/0/'],
    };
    expect(describeChanges(planWith({ changes: all, totalSize: SITE.largeSize + MEGABYTE }))).toEqual([
      'files: 1 added, 2 changed, 1 removed',
      'left alone, because this action did not deliver it: e, f/',
      'older sites removed: p/0/',
      'the whole Pages site has 801 MB; GitHub serves at most 1024',
    ]);
    expect(describeChanges(planWith({ totalSize: SITE.largeSize }))).toEqual(['no file changed']);
  });

  test('names the first ten of many', () => {
    const names = Array.from({ length: 12 }, (_, nth) => String(nth));
    expect(nameFew(names)).toBe('0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more');
    expect(nameFew(names.slice(0, 10))).not.toContain('more');
  });
});
