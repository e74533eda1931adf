import { describe, expect, test } from '@jest/globals';
import { expectRefused, type Played, requestsOf, setUpPlay } from './play.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();
const files = { 'page.html': createPage() };
const toBin = (bin: string, more: object = {}) => ({ channel: 'K3', token: '', bin, ...more });
const deliver = async (inputs: object, given: Readonly<Record<string, string>> = files): Promise<Played> =>
  play.deliver({ repository: await play.repository({ pages: false }), files: given, inputs });
const binOf = (name: string) => play.world.filebin.bins.get(name);

test('a bin of somebody else keeps its file, takes another one, and is never locked', async () => {
  const { filebin } = play.world;
  const name = 'bin-of-others';
  await filebin.addFile(name, 'page.html', 'theirs');
  const theirs = binOf(name)?.files.get('page.html')?.sha256;
  const refusals = [
    [{}, files, /already holds another file named page\.html/],
    [{ 'dry-run': 'true' }, files, /already holds another file named page\.html/],
    [{ operation: 'withdraw' }, files, /not those of the file at hand/],
    [{ operation: 'withdraw', path: 'page.html' }, {}, /no file at hand/],
  ] as const;
  for (const [inputs, given, reason] of refusals) {
    const refused = await deliver(toBin(name, inputs), given);
    expectRefused(refused, 'place', reason, { hint: /overwrite: true/ });
    expect(requestsOf(refused, /^(POST|PUT|DELETE) /)).toEqual([]);
  }
  expect(binOf(name)?.files.get('page.html')?.sha256).toBe(theirs);
  for (const [inputs, given] of [
    [{}, { 'other.txt': 'ours' }],
    [{ overwrite: 'true' }, files],
  ] as const) {
    const { report } = await deliver(toBin(name, inputs), given);
    expect(report).toMatchObject({
      ready: true,
      unknown: [expect.stringMatching(/was not locked, because this delivery did not create it/)],
    });
  }
  expect(binOf(name)?.locked).toBe(false);
  filebin.lock(name);
  const locked = await deliver(toBin(name), { 'new.txt': 'ours' });
  expectRefused(locked, 'place', /is locked/, { hint: /leave `bin:` out/ });
});

test('approval that the host asks for: the bin to use again, and a later run proves the same file', async () => {
  const { filebin } = play.world;
  filebin.manualApproval = true;
  const waiting = await deliver(toBin('bin-waiting'));
  expectRefused(waiting, 'verify', /requires approval/, { httpCode: 403 });
  expect(waiting.report.notReady?.hint).toContain('`bin: bin-waiting`');
  filebin.approve('bin-waiting');
  const again = await deliver(toBin('bin-waiting'));
  expect(again.report.notReady).toBeNull();
  expect(requestsOf(again, /^POST /)).toEqual([]);
});

test('approval hides that a file is deleted, which the withdrawal says at once', async () => {
  const { filebin } = play.world;
  filebin.manualApproval = true;
  await filebin.addFile('bin-unapproved', 'page.html', createPage());
  const withdrawal = toBin('bin-unapproved', { operation: 'withdraw' });
  const first = await deliver(withdrawal);
  expectRefused(first, 'verify', /requires approval/, {
    httpCode: 403,
    hint: /the host has deleted the file.*`bin: bin-unapproved`/,
  });
  expect(binOf('bin-unapproved')?.files.size).toBe(0);
  expect(requestsOf(first, /^GET .*page\.html/).length).toBeLessThanOrEqual(3);
  filebin.approve('bin-unapproved');
  expect((await deliver(withdrawal)).report).toMatchObject({ ready: true, url: null });
});

describe('a limit of downloads', () => {
  test.each([
    ['leaves the person the second one', 2, true],
    ['is told in UNKNOWN where no warning page tells of it', 2, false],
  ])('%s', async (_, downloadLimit, cookieCheck) => {
    Object.assign(play.world.filebin, { downloadLimit, cookieCheck });
    const { report } = await deliver(toBin(`bin-limited-${cookieCheck}`));
    expect(report.notReady).toBeNull();
    expect(binOf(`bin-limited-${cookieCheck}`)?.files.get('page.html')?.downloads).toBe(cookieCheck ? 1 : 2);
    const told = /^whether the file can be downloaded again: .* may limit/;
    if (cookieCheck) expect(report.lines.UNKNOWN).toBe('');
    else expect(report.lines.UNKNOWN).toMatch(told);
  });

  test.each([
    ['ends the wait at once', 0, 3],
    ['that the proof has used up makes it not ready, without another wait', 1, 4],
  ])('%s', async (_, downloadLimit, requests) => {
    play.world.filebin.downloadLimit = downloadLimit;
    const refused = await deliver({ channel: 'K3', token: '' });
    expectRefused(refused, 'verify', /requested too many times/, { httpCode: 403, hint: /limits/ });
    expect(requestsOf(refused, /^GET /).length).toBeLessThanOrEqual(requests);
  });
});

test.each([
  ['has expired', /HTTP 404: This bin is no longer available/],
  ['never existed', /HTTP 404: The bin does not exist/],
])('a bin that %s ends the proof of a link at once', async (what, reason) => {
  if (what === 'has expired') {
    await play.world.filebin.addFile('bin-expired', 'page.html', createPage());
    Object.assign(binOf('bin-expired') ?? {}, { expiresAt: new Date(0) });
  }
  const bin = what === 'has expired' ? 'bin-expired' : 'bin-unknown';
  const refused = await deliver({ channel: 'K4', url: `https://filebin.net/${bin}/page.html` });
  expectRefused(refused, 'verify', reason, { httpCode: 404, hint: /channel: K1, K2 or K3/ });
  expect(refused.requests).toHaveLength(1);
});

test('the content, and not the name, decides whether the file is shown or downloaded', async () => {
  for (const [name, content, claim] of [
    ['notes.html', '# Notes\n', /^notes\.html opens at /],
    ['page.txt', createPage(), /^page\.txt downloads at .*not shown on the screen/],
    ['figures.csv', 'name,count\nvisits,3\n', /^figures\.csv downloads at /],
  ] as const) {
    const inputs = { channel: 'K3', token: '', 'self-contained': 'off' };
    expect((await deliver(inputs, { [name]: content })).report.lines.CLAIM).toMatch(claim);
  }
});
