import { expect, test } from '@jest/globals';
import type { PagesOptions } from '../../../src/channels/pages/destination.ts';
import { methodOf } from '../../../src/channels/pages/write-changes.ts';
import { DeliveryError } from '../../../src/errors.ts';
import type { Deliverer } from '../../../src/github/workflow-run.ts';
import { siteOfFile } from '../../../src/rules/local-site.ts';
import { changeWith } from '../../github/changes.ts';
import { pagesOptionsWith } from '../pages-options.ts';
import { getOnly, prepareOne } from '../prepare-one.ts';
import { MemoryBranch } from './site/memory-branch.ts';
import { memoryFile, shaOf } from './site/memory-files.ts';
import { actionsOn, deliverFile, placementOf, requestsOf, runOne } from './site/site-runs.ts';

const PATH = 'page.html';

const prepare = async (options: Partial<PagesOptions>, name: string) =>
  getOnly(
    await actionsOn(new MemoryBranch(), options).publish.prepare([
      { site: siteOfFile(memoryFile('x')), name },
    ]),
  );

test('preparing a page with a picture plans a method that writes both', async () => {
  const task = await prepare({ picture: true }, PATH);
  expect(task).toMatchObject({ plan: { method: 'method B, object API' }, target: { method: 'B' } });
  const change = changeWith();
  const withRemoval = { ...change, removals: ['a/b.html.png'] };
  expect(methodOf([change], { method: 'A' })).toBe('A');
  expect(methodOf([withRemoval], { method: 'A' })).toBe('B');
  expect(methodOf([withRemoval], { method: 'C' })).toBe('C');
  const several = { ...change, writes: [...change.writes, ...change.writes] };
  expect(methodOf([several], { method: 'A' })).toBe('B');
});

test('preparing a file names the page that Jekyll renders from it', async () => {
  const { writes } = await prepare({ marker: 'notes', path: 'notes.md' }, 'notes.md');
  expect(writes).toEqual(['notes.md', 'notes.html']);
});

test('preparing a delivery without a file is refused', async () => {
  const prepared = prepareOne(actionsOn(new MemoryBranch()).publish, null);
  await expect(prepared).rejects.toMatchObject({ code: 'BAD_INPUT', hint: 'name a file' });
});

test('the file that a commit through channel K1 replaces is known by what git has of it, and of the one before: its address is not asked', async () => {
  const branch = new MemoryBranch();
  for (const content of ['older', 'old']) await deliverFile(branch, PATH, content);
  const { first } = placementOf(await deliverFile(branch, PATH, 'new'));
  expect(first.expect.before).toEqual(
    ['old', 'older'].map((content) => ({ sha: shaOf(content), size: content.length })),
  );
  for (const { url } of requestsOf(branch)) expect(url).toMatch(/^https:\/\/api\./);
});

test.each([
  [
    'another run',
    { run: '6/1' },
    /^replaced the delivery of run 6 of octo\/site\/\.github\/workflows\/deliver\.yml$/,
  ],
  ['another workflow', { name: 'octo/a.yml' }, /^replaced the delivery of run 7 of octo\/a\.yml$/],
  ['another attempt of the same run', { run: '7/2' }, /^$/],
  ['a machine', null, /^replaced the delivery of commit [0-9a-f]{7}$/],
])(
  'the file that a commit through channel K1 replaces is named where it is the delivery of %s',
  async (...row) => {
    const [, other, note] = row;
    const from = other === null ? undefined : ({ ...pagesOptionsWith().deliverer, ...other } as Deliverer);
    const branch = new MemoryBranch();
    const site = siteOfFile(memoryFile('old'));
    await runOne(actionsOn(branch, { path: PATH, deliverer: from }).publish, { site, name: PATH });
    const { notes = [] } = placementOf(await deliverFile(branch, PATH, 'new'));
    expect(notes.join()).toMatch(note);
  },
);

/** A branch whose host is lost at each request that matches the log so far. */
function branchLostAt(lost: RegExp): MemoryBranch {
  const branch = new MemoryBranch();
  const answer = branch.answer.bind(branch);
  let log = '';
  branch.answer = async (seen) => {
    log += `\n${seen.method} ${seen.url}`;
    if (lost.test(log)) throw new DeliveryError('CONNECTION', 'it broke off', { retryable: true });
    return answer(seen);
  };
  return branch;
}

test.each([
  ['nothing if a foreign file is not replaced', /^$/, 'NOT_OURS', []],
  ['nothing if the branch cannot be read', /GET .*git\/ref.*$/, 'CONNECTION', []],
  ['nothing if its file cannot be read', /GET .*contents.*$/, 'CONNECTION', []],
  ['unknown if the connection broke off', /PUT .*$/, 'CONNECTION', undefined],
  ['unknown if its file cannot be read afterwards', /PUT [\s\S]*contents.*$/, 'CONNECTION', undefined],
])('what a failed commit leaves behind is %s', async (_, lost, code, leftBehind) => {
  const branch = branchLostAt(lost);
  if (code === 'NOT_OURS') branch.change({ [PATH]: 'theirs' });
  await expect(deliverFile(branch, PATH, 'new')).resolves.toMatchObject({ code, leftBehind });
});

const MOVED = { message: 'main is at 1a2b but expected 3c4d' };

test.each([
  ['compared again if it replaces another', 'old', true],
  ['sent again at once if it is new', null, false],
])('a file whose commit another writer was ahead of is %s', async (_, before, isCompared) => {
  const branch = new MemoryBranch();
  if (before !== null) await deliverFile(branch, PATH, before);
  const answer = branch.answer.bind(branch);
  let puts = 0;
  branch.answer = async (seen) => {
    if (seen.method === 'PUT') puts += 1;
    return seen.method === 'PUT' && puts === 1 ? { status: 409, body: MOVED } : answer(seen);
  };
  placementOf(await deliverFile(branch, PATH, 'new'));
  const methods = requestsOf(branch).map(({ method }) => method);
  expect(methods.at(methods.lastIndexOf('PUT') - 1) !== 'PUT').toBe(isCompared);
});
