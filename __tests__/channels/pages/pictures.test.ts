import { describe, expect, test } from '@jest/globals';
import { formatCommitMessage } from '../../../src/channels/pages/commit-message.ts';
import { compareFiles } from '../../../src/channels/pages/compare-files.ts';
import { hasFailed } from '../../../src/errors.ts';
import { commitTargetWith, pagesTaskWith } from '../fake-branch.ts';
import { MemoryBranch } from './site/memory-branch.ts';
import { type Contents, shaOf } from './site/memory-files.ts';
import { connect, requestsOf } from './site/site-runs.ts';

const PATH = 'docs/page.html';
const PICTURE = `${PATH}.png`;
const BEFORE = `${PATH}.before.png`;
const WITHDRAWN: Contents = {};

/** The message of a delivery of a page with pictures. */
function formatDelivery(itemPath: string, content: string, pictures: Contents = {}): string {
  const shas = Object.entries(pictures).map(([path, text]) => ({ path, sha: shaOf(text) }));
  const delivered = { itemPath, object: shaOf(content), beside: shas, kept: [] };
  return formatCommitMessage(itemPath, { verb: 'ADD', essence: 'x', delivered });
}

type Commits = readonly (readonly [changes: Readonly<Record<string, string | null>>, message?: string])[];

const PICTURES = { [PICTURE]: 'p1', [BEFORE]: 'p0' };
const PAGE = [{ [PATH]: 'old' }, formatDelivery(PATH, 'old')] as const;
/** The pictures of a page that came later than its own bytes. */
const LATER = [PICTURES, formatDelivery(PATH, 'old', PICTURES)] as const;

/** The new blob of each changed path of a page; `null` for a removed path. */
async function compare(wanted: Contents, commits: Commits, itemPath = PATH, down = /^$/, options = {}) {
  const branch = new MemoryBranch();
  const answer = branch.answer.bind(branch);
  branch.answer = async (seen) => (down.test(seen.url) ? { status: 500 } : answer(seen));
  for (const [changes, message] of commits) branch.change(changes, message);
  const task = pagesTaskWith(commitTargetWith(connect(branch).github, options), itemPath, wanted);
  const [state] = await compareFiles([task]);
  const { change } = state && !hasFailed(state) ? state : {};
  const { [PATH]: page, ...beside } = Object.fromEntries([
    ...(change?.writes ?? []).map(({ path, file }) => [path, file.blobSha]),
    ...(change?.removals ?? []).map((path) => [path, null]),
  ]);
  return { state, change, page, beside, sent: requestsOf(branch).map(({ url }) => url) };
}

describe('a page with a picture', () => {
  test('gets a new picture without being changed', async () => {
    const wanted = { [PATH]: 'old', [PICTURE]: 'p2' };
    const { page, beside } = await compare(wanted, [PAGE, LATER]);
    expect([page, beside]).toEqual([undefined, { [PICTURE]: shaOf('p2'), [BEFORE]: null }]);
  });

  test.each<[string, Contents]>([
    ['delivered again without one', { [PATH]: 'new' }],
    ['delivered again as it was', { [PATH]: 'old' }],
    ['withdrawn', WITHDRAWN],
  ])('takes its pictures with it, which came later than its own bytes, when it is %s', async (_, wanted) => {
    const { change, beside } = await compare(wanted, [PAGE, LATER]);
    expect(change?.replaces).toBe(shaOf('old'));
    expect(beside).toEqual({ [PICTURE]: null, [BEFORE]: null });
  });

  test.each(['old', 'new'])(
    'is taken over with it after a squash, so that both are ours again: %s',
    async (text) => {
      const wanted = { [PATH]: text, [PICTURE]: 'p1' };
      const squash = [{ [PATH]: 'old', [PICTURE]: 'p1' }, 'Squash'] as const;
      const { change } = await compare(wanted, [squash], PATH, /^$/, { overwrite: true });
      expect(change?.before?.removals).toEqual([...(text === 'old' ? [PATH] : []), PICTURE]);
      expect(change?.writes.map(({ path }) => path)).toEqual([PATH, PICTURE]);
    },
  );

  test('that is gone already is withdrawn with its remaining pictures', async () => {
    const { page, beside } = await compare(WITHDRAWN, [PAGE, LATER, [{ [PATH]: null }]]);
    expect([page, beside]).toEqual([undefined, { [PICTURE]: null, [BEFORE]: null }]);
  });

  test.each([
    ['a file of its own', formatDelivery(PICTURE, 'mine')],
    ['a file of somebody else', 'Add my picture'],
    ['the picture of another page', formatDelivery('docs/other.html', 'x', { [PICTURE]: 'mine' })],
  ])('neither replaces nor removes what was delivered as %s', async (_, message) => {
    const commits: Commits = [PAGE, [{ [PICTURE]: 'mine' }, message]];
    const { state } = await compare({ [PATH]: 'new', [PICTURE]: 'p1' }, commits);
    const hint = 'set `picture: false`, or set `overwrite: true` to replace it';
    expect(state).toMatchObject({ code: 'NOT_OURS', message: expect.stringContaining(PICTURE), hint });
    for (const wanted of [{ [PATH]: 'new' }, WITHDRAWN]) {
      expect((await compare(wanted, commits)).beside).toEqual({});
    }
  });

  test("is not withdrawn if its pictures can't be read", async () => {
    const { state } = await compare(WITHDRAWN, [PAGE, LATER], PATH, /\.png/);
    expect(state).toMatchObject({ httpCode: 500 });
  });

  test("costs no request for pictures if it is new, or isn't a page", async () => {
    const notes = 'docs/notes.txt';
    const asked = [
      await compare({ [PATH]: 'new' }, []),
      await compare({ [notes]: 'new' }, [[{ [notes]: 'old' }, formatDelivery(notes, 'old')]], notes),
    ];
    for (const { sent } of asked) expect(sent.join()).not.toMatch(/png/);
  });
});
