import { describe, expect, test } from '@jest/globals';
import { type ChannelItem, listRequired, type Placement } from '../../../../src/channels/channel.ts';
import { formatCommitMessage, parseMessage } from '../../../../src/channels/pages/commit-message.ts';
import { hashTree } from '../../../../src/github/api/tree-id.ts';
import { isRemovedCheck } from '../../../../src/proof/check.ts';
import { MEGABYTE, SITE } from '../../../../src/protocol/limits.ts';
import { siteOfFile } from '../../../../src/rules/local-site.ts';
import { getOnly } from '../../prepare-one.ts';
import { held, heldFiles, MemoryBranch } from './memory-branch.ts';
import { type Contents, memoryFile, memorySite, shaOf } from './memory-files.ts';
import { actionsOn, deliverFile, deliverSite, placementOf, requestsOf } from './site-runs.ts';

const CONTENTS = { 'index.html': 'page', 'css/ä b.css': 'style' };

const publish = async (branch: MemoryBranch, contents: Contents): Promise<Placement> =>
  placementOf(await deliverSite(branch, 'p/1/', contents));

describe('publishing a site', () => {
  /** By path: git's ids of what each file was before; nothing for a file that did not change. */
  const earlierIn = (placement: Placement) =>
    Object.fromEntries(
      listRequired(placement)
        .filter((one) => !isRemovedCheck(one) && one.expect.before !== undefined)
        .map(({ isPage, label, expect }) => [
          isPage ? 'index.html' : label,
          expect.before?.map(({ sha }) => sha),
        ]),
    );

  test('knows what it replaces and what is new, and so does a rerun', async () => {
    const branch = new MemoryBranch();
    const first = { 'index.html': 'page', 'a.css': 'first', 'b.js': 'same' };
    await publish(branch, first);
    const second = { 'index.html': 'second', 'a.css': 'second', 'b.js': 'same', 'new.txt': 'new' };
    const known = { 'index.html': [shaOf('page')], 'a.css': [shaOf('first')], 'new.txt': [] };
    expect(earlierIn(await publish(branch, second))).toEqual(known);
    branch.change({ 'README.md': 'theirs' });
    const asked = requestsOf(branch).length;
    const again = await publish(branch, second);
    expect(again.written).toBe(false);
    expect(earlierIn(again)).toEqual(known);
    // The head, its history, that of the page, and two commits with their trees.
    expect(requestsOf(branch)).toHaveLength(asked + 7);
  });

  test('knows what the previous delivery replaced: a cache may be older than both', async () => {
    const branch = new MemoryBranch();
    await publish(branch, { 'index.html': 'one' });
    await publish(branch, { 'index.html': 'two' });
    expect(earlierIn(await publish(branch, { 'index.html': 'three' }))).toEqual({
      'index.html': [shaOf('two'), shaOf('one')],
    });
  });

  test.each<[Contents, readonly (readonly [string, boolean])[]]>([
    [
      {},
      [
        ['p/doc.html', false],
        ['p/doc.md', true],
      ],
    ],
    [{ '.nojekyll': '' }, [['p/doc.md', true]]],
    [{ 'p/doc.markdown': 'theirs' }, [['p/doc.md', true]]],
  ])(
    'asks for the page that Jekyll made of removed Markdown, which nobody else shows, beside %j',
    async (theirs, asked) => {
      const branch = new MemoryBranch();
      await deliverSite(branch, 'p/', { 'index.html': 'old', 'doc.md': '# x', 'new.md': '# y' });
      branch.change(theirs);
      const placed = placementOf(await deliverSite(branch, 'p/', { 'index.html': 'new', 'new.html': 'y' }));
      const gone = listRequired(placed).filter(isRemovedCheck);
      expect(
        gone.map(({ url, expect }) => [url.pathname.slice('/site/'.length), expect.is === 'replaced']),
      ).toEqual([...asked, ['p/new.md', true]]);
    },
  );

  test('knows the files that somebody removed: a cache may still have them', async () => {
    const branch = new MemoryBranch();
    await publish(branch, { 'index.html': 'one', 'a.css': 'first' });
    branch.change({ 'p/1/index.html': null, 'p/1/a.css': null });
    const placed = await publish(branch, { 'index.html': 'two', 'a.css': 'second' });
    expect(earlierIn(placed)).toEqual({ 'index.html': [shaOf('one')], 'a.css': [shaOf('first')] });
    expect(listRequired(placed).map(isRemovedCheck)).toEqual([false, false]);
  });

  test('checks a bounded number of changed files without ?v=, and counts the others', async () => {
    const paths = ['index.html', ...Array.from({ length: SITE.plainProbes + 2 }, (_, nth) => `${nth}.txt`)];
    const branch = new MemoryBranch();
    const files = paths.map((path) => ({ path, sha: shaOf('new') }));
    const delivered = { itemPath: 'p/1/', object: hashTree(files), beside: [], kept: [] };
    const message = formatCommitMessage('p/1/', { verb: 'ADD', essence: 'x', delivered });
    const all = (folder: string) => Object.fromEntries(paths.map((path) => [folder + path, 'new']));
    branch.commit(heldFiles(all('p/1/')), message);
    const placement = await publish(branch, all(''));
    expect(Object.keys(earlierIn(placement))).toHaveLength(1 + SITE.plainProbes);
    expect(placement.unknown).toEqual([
      'whether a cache still gives an old answer for 2 more new or changed files, for up to ten minutes',
    ]);
  });

  test("reports what it keeps, and the Pages site's size from 800 MB on", async () => {
    const branch = new MemoryBranch(heldFiles({ 'large.bin': 'large', 'p/1/notes.txt': 'theirs' }));
    const kept = 'kept, because no known delivery to this folder contains it: notes.txt';
    const size = 'the whole Pages site has 800 MB; GitHub serves at most 1024';
    for (const [bytes, notes] of [
      [SITE.largeSize - MEGABYTE, [kept]],
      [SITE.largeSize, [kept, size]],
    ] as const) {
      branch.sizes.set(shaOf('large'), bytes);
      expect(placementOf(await deliverSite(branch, 'p/1/', CONTENTS)).notes).toEqual(notes);
    }
  });
});

test('a single file is compared in one commit, and never by a name that a tag could have as well', async () => {
  const branch = new MemoryBranch(heldFiles({ 'a.txt': 'same' }));
  const { head } = branch;
  expect(await deliverFile(branch, 'a.txt', 'same')).toMatchObject({ written: false, commitSha: head.sha });
  const asked = requestsOf(branch).map(({ url, body }) => url + body);
  expect(asked).toHaveLength(3);
  for (const one of asked.slice(1)) expect(one).toContain(head.sha);
});

/** What a run has placed, as a restoration needs it. */
async function itemPath(action: ReturnType<typeof actionsOn>['publish'], item: ChannelItem) {
  const task = getOnly(await action.prepare([item]));
  return { task, placement: getOnly(await action.perform([task])) };
}

test.each<[string, boolean, RegExp]>([
  ["wasn't a plain file", true, /^p\/1\/a\.css wasn't a plain file before$/],
  ['the step did not replace', false, /^this step wrote nothing there$/],
])('nothing is put back of what %s', async (_, written, reason) => {
  const branch = new MemoryBranch();
  await deliverSite(branch, 'p/1/', { 'index.html': 'one', 'a.css': 'first' });
  branch.change({ 'p/1/a.css': held('first', '100755') });
  const { publish: action } = actionsOn(branch, { overwrite: true });
  const site = memorySite({ 'index.html': 'two', 'a.css': 'second' });
  const { task, placement } = await itemPath(action, { site, name: 'p/1/' });
  const placed = { task, placement: { ...placement, written } };
  const { head } = branch;
  const [restored] = (await action.restore?.([placed], [placed])) ?? [];
  expect(restored).toMatchObject({ code: 'NOT_OURS', message: expect.stringMatching(reason) });
  expect(branch.head).toBe(head);
});

test('nothing is restored over a file whose mode somebody changed between two pushes', async () => {
  const branch = new MemoryBranch();
  await deliverSite(branch, 'p/1/', { 'index.html': 'one' });
  const { publish: action } = actionsOn(branch);
  const first = await itemPath(action, { site: memorySite({ 'index.html': 'two' }), name: 'p/1/' });
  branch.change({ 'p/1/index.html': held('two', '100755') });
  const second = await itemPath(action, { site: memorySite({ 'index.html': 'two' }), name: 'p/2/' });
  const [restored] = (await action.restore?.([first], [first, second])) ?? [];
  expect(restored).toMatchObject({ message: expect.stringMatching(/changed since: p\/1\/index\.html$/) });
});

test("a confined job's page stays its own after a restoration", async () => {
  const branch = new MemoryBranch();
  const from = { name: 'deliver.yml agent/', run: '7/1' };
  const { publish: action } = actionsOn(branch, {
    confine: 'agent/',
    deliverer: { ...from, isRestricted: true },
  });
  const deliver = (content: string) =>
    itemPath(action, { site: siteOfFile(memoryFile(content)), name: 'a.html' });
  await deliver('one');
  const placed = await deliver('two');
  await action.restore?.([placed], [placed]);
  expect(branch.now).toEqual({ 'agent/a.html': shaOf('one') });
  expect(parseMessage(branch.head.message)?.deliverer).toEqual(from);
});
