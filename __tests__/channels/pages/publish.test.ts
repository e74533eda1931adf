import { expect, test } from '@jest/globals';
import type { PagesOptions } from '../../../src/channels/pages/destination.ts';
import { createPagesActions } from '../../../src/channels/pages/publish.ts';
import { methodOf } from '../../../src/channels/pages/write-changes.ts';
import { changeWith } from '../../github/changes.ts';
import { type Answers, absent, FakeGitHub, failure } from '../../github/fake-github.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts } from '../../support/ports.ts';
import { ownMessage } from '../fake-branch.ts';
import { pagesOptionsWith } from '../pages-options.ts';
import { prepareOne } from '../prepare-one.ts';
import { accessWith } from '../repository-context.ts';

/** A repository without the file, whose host accepts every write. */
const EMPTY: Answers = {
  get_file: absent,
  commits_of_path: [],
  put_file_le1mb: { commit: { sha: 'c0ffee' } },
  get_ref: { object: { sha: 'base' } },
  get_commit: { tree: { sha: 'basetree' } },
  tree: { sha: 'newtree' },
  commit: { sha: 'c0ffee' },
  update_ref: {},
};

async function prepareFile(answers: Answers = {}, options: Partial<PagesOptions> = {}) {
  const file = await localFile('<p>hello</p>');
  const github = new FakeGitHub({ ...EMPTY, ...answers });
  const host = new FakeHttp(() => ({ status: 404 }));
  const action = createPagesActions(pagesOptionsWith(options), accessWith(github), fakePorts(host.http));
  return { file, github, host, task: await prepareOne(action.publish, file) };
}

const answersForExisting = (sha: string, message = ownMessage(sha)) => ({
  get_file: { type: 'file', sha },
  commits_of_path: [{ sha: 'last', commit: { message } }],
});

test('preparing a file for channel K1 plans for a page with a picture what writes both, and shows in a preview what removes an old one', async () => {
  const { task } = await prepareFile({}, { picture: true });
  expect(task).toMatchObject({ plan: { method: 'method B, object API' }, target: { method: 'B' } });
  const change = changeWith();
  const withRemoval = { ...change, removals: ['a/b.html.png'] };
  expect(methodOf([change], { method: 'A' })).toBe('A');
  expect(methodOf([withRemoval], { method: 'A' })).toBe('B');
  expect(methodOf([withRemoval], { method: 'C' })).toBe('C');
  const several = { ...change, writes: [...change.writes, ...change.writes] };
  expect(methodOf([several], { method: 'A' })).toBe('B');
});

test('preparing a file for channel K1 names the page that Jekyll renders of a file among what it writes', async () => {
  const options = pagesOptionsWith({ marker: 'notes', path: 'notes.md' });
  const action = createPagesActions(options, accessWith(new FakeGitHub(EMPTY)), fakePorts()).publish;
  const { writes } = await prepareOne(action, await localFile('# notes'), 'notes.md');
  expect(writes).toEqual(['notes.md', 'notes.html']);
});

test('preparing a file for channel K1 refuses to prepare a commit without a file', async () => {
  const action = createPagesActions(pagesOptionsWith(), accessWith(new FakeGitHub()), fakePorts()).publish;
  await expect(prepareOne(action, null)).rejects.toMatchObject({ code: 'BAD_INPUT', hint: 'name a file' });
});

const blobs = [
  { oid: '0ld', size: 3 },
  { oid: '0lder', size: 5 },
];
const prepareReplacement = (message: string) => {
  const commits_of_path = [{ sha: 'last-commit', commit: { message }, blobs }];
  return prepareFile({ ...answersForExisting('0ld'), commits_of_path });
};

test('the file that a commit through channel K1 replaces is known by what git has of it, and of the one before: its address is not asked', async () => {
  const { host, task } = await prepareReplacement(ownMessage('0ld'));
  await expect(task.perform()).resolves.toMatchObject({
    earlier: blobs.map(({ oid, size }) => ({ sha: oid, size })),
  });
  expect(host.seen).toEqual([]);
});

test.each([
  ['another run', ownMessage('0ld').replace('before', 'from run 6 of Deliver'), ['run 6 of Deliver']],
  ['the same run', ownMessage('0ld').replace('before', 'from run 7 of Deliver'), []],
  ['a machine', ownMessage('0ld'), ['commit last-co']],
])(
  'the file that a commit through channel K1 replaces is named where it is the delivery of %s',
  async (_, message, replaced) => {
    const { task } = await prepareReplacement(message);
    const notes = replaced.map((name) => `replaced the delivery of ${name}`);
    await expect(task.perform()).resolves.toMatchObject({ notes });
  },
);

test.each<[string, Answers, [] | undefined]>([
  ['nothing where a foreign file is not replaced', answersForExisting('0ld', 'Add my page'), []],
  ['nothing where the branch cannot be read', { get_file: failure('NO_PERMISSION', 403) }, []],
  ['unknown where the connection broke off', { put_file_le1mb: failure('CONNECTION') }, undefined],
])('what a failed commit leaves behind is %s', async (_, answers, leftBehind) => {
  const { task } = await prepareFile(answers);
  await expect(task.perform()).rejects.toMatchObject({ leftBehind });
});
