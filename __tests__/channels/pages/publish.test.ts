import { expect, test } from '@jest/globals';
import type { PagesOptions } from '../../../src/channels/pages/destination.ts';
import { methodOf } from '../../../src/channels/pages/write-changes.ts';
import { DeliveryError } from '../../../src/errors.ts';
import { siteOfFile } from '../../../src/rules/local-site.ts';
import { changeWith } from '../../github/changes.ts';
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

test('preparing a file for channel K1 plans for a page with a picture what writes both', async () => {
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

test('preparing a file for channel K1 names the page that Jekyll renders of a file among what it writes', async () => {
  const { writes } = await prepare({ marker: 'notes', path: 'notes.md' }, 'notes.md');
  expect(writes).toEqual(['notes.md', 'notes.html']);
});

test('preparing a file for channel K1 refuses to prepare a commit without a file', async () => {
  const prepared = prepareOne(actionsOn(new MemoryBranch()).publish, null);
  await expect(prepared).rejects.toMatchObject({ code: 'BAD_INPUT', hint: 'name a file' });
});

test('the file that a commit through channel K1 replaces is known by what git has of it, and of the one before: its address is not asked', async () => {
  const branch = new MemoryBranch();
  for (const content of ['older', 'old']) await deliverFile(branch, PATH, content);
  const { earlier } = placementOf(await deliverFile(branch, PATH, 'new'));
  expect(earlier).toEqual(['old', 'older'].map((content) => ({ sha: shaOf(content), size: content.length })));
  for (const { url } of requestsOf(branch)) expect(url).toMatch(/^https:\/\/api\./);
});

test.each([
  ['another run', 'from run 6 of Deliver', /^replaced the delivery of run 6 of Deliver$/],
  ['the same run', 'from run 7 of Deliver', /^$/],
  ['a machine', 'from a machine', /^replaced the delivery of commit [0-9a-f]{7}$/],
])(
  'the file that a commit through channel K1 replaces is named where it is the delivery of %s',
  async (...row) => {
    const [, essence, note] = row;
    const branch = new MemoryBranch();
    const site = siteOfFile(memoryFile('old'));
    await runOne(actionsOn(branch, { path: PATH, essence }).publish, { site, name: PATH });
    const { notes = [] } = placementOf(await deliverFile(branch, PATH, 'new'));
    expect(notes.join()).toMatch(note);
  },
);

test.each([
  ['nothing where a foreign file is not replaced', /^$/, []],
  ['nothing where the branch cannot be read', /^GET .*contents/, []],
  ['unknown where the connection broke off', /^PUT /, undefined],
])('what a failed commit leaves behind is %s', async (_, broken, leftBehind) => {
  const branch = new MemoryBranch();
  if (leftBehind !== undefined) branch.change({ [PATH]: 'theirs' });
  const answer = branch.answer.bind(branch);
  branch.answer = async (seen) => {
    if (broken.test(`${seen.method} ${seen.url}`)) throw new DeliveryError('CONNECTION', 'it broke off');
    return answer(seen);
  };
  await expect(deliverFile(branch, PATH, 'new')).resolves.toMatchObject({ leftBehind });
});
