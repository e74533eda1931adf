import { describe, expect, test } from '@jest/globals';
import { type Played, proven, refused, requestsOf, setUpPlay, writesOf } from './play.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();
const files = { 'page.html': createPage() };
const toBin = (bin: string, more: object = {}) => ({ channel: 'K3', token: '', bin, ...more });
const deliver = async (inputs: object, given: Readonly<Record<string, string>> = files): Promise<Played> =>
  play.deliver({ repository: await play.repository({ pages: false }), files: given, inputs });
const binOf = (name: string) => play.world.filebin.bins.get(name);

test("another person's bin keeps its file, takes ours, and is never locked", async () => {
  const { filebin } = play.world;
  const name = 'bin-of-others';
  await filebin.addFile(name, 'page.html', 'theirs');
  const theirs = binOf(name)?.files.get('page.html')?.sha256;
  const refusals = [
    [{}, files, 'already holds another file named page\\.html'],
    [{ 'dry-run': 'true' }, files, 'already holds another file named page\\.html'],
    [{ operation: 'withdraw' }, files, 'its bytes differ from the given file'],
    [{ operation: 'withdraw', path: 'page.html' }, {}, 'no file was given'],
  ] as const;
  for (const [inputs, given, reason] of refusals) {
    const says = new RegExp(`^place.*: .*${reason}.* → .*overwrite: true`);
    expect(writesOf(await refused(deliver(toBin(name, inputs), given), says))).toEqual([]);
  }
  expect(binOf(name)?.files.get('page.html')?.sha256).toBe(theirs);
  for (const [inputs, given] of [
    [{}, { 'other.txt': 'ours' }],
    [{ overwrite: 'true' }, files],
  ] as const) {
    const { report } = await proven(deliver(toBin(name, inputs), given));
    expect(report.lines.UNKNOWN).toMatch(
      /^[^;]*was not locked, because this delivery did not create it[^;]*$/,
    );
  }
  expect(binOf(name)?.locked).toBe(false);
  filebin.lock(name);
  const locked = deliver(toBin(name), { 'new.txt': 'ours' });
  await refused(locked, /^place.*: .*is locked.* → .*leave `bin:` out/);
});

test('a file that somebody posts between our check and the upload is named if we replaced it', async () => {
  const name = 'bin-of-two';
  const { filebin } = play.world;
  const isList = /filebin\.net\/bin-of-two$/;
  play.meanwhile({ method: 'GET', url: isList }, () => filebin.addFile(name, 'page.html', 'theirs'));
  const { report } = await proven(deliver(toBin(name)));
  expect(report.lines.UNKNOWN).toMatch(
    /; whose file this upload replaced: .* had a file named page\.html, .*after the bin was read$/,
  );
});

test('if the host requires approval, the report names the bin, and a later run verifies the same file', async () => {
  const { filebin } = play.world;
  filebin.manualApproval = true;
  const bin = toBin('bin-waiting');
  await refused(deliver(bin), /^verify 403: .*requires approval.* → .*`bin: bin-waiting`/);
  filebin.approve('bin-waiting');
  const planned = await deliver(toBin('bin-waiting', { 'dry-run': 'true' }));
  expect(planned.report.lines.CODE).toContain(
    '; one POST, unless the bin has this file: the bin already has this file; ',
  );
  const again = await proven(deliver(bin));
  expect(requestsOf(again, /^POST /)).toEqual([]);
  expect(again.report.lines.CODE).toContain('; nothing written, because it was there already; ');
});

test('a withdrawal reports at once that the pending approval hides whether the file is deleted', async () => {
  const { filebin } = play.world;
  filebin.manualApproval = true;
  await filebin.addFile('bin-unapproved', 'page.html', createPage());
  const withdrawal = toBin('bin-unapproved', { operation: 'withdraw' });
  const says = /^verify 403: .*requires approval.* → .*the file is deleted.*`bin: bin-unapproved`/;
  const first = await refused(deliver(withdrawal), says);
  expect(binOf('bin-unapproved')?.files.size).toBe(0);
  expect(requestsOf(first, /^GET .*page\.html/).length).toBeLessThanOrEqual(3);
  filebin.approve('bin-unapproved');
  expect((await proven(deliver(withdrawal))).report.url).toBeNull();
});

describe('a download limit', () => {
  test.each([
    ['leaves the person the second download', 2, true],
    ['is in UNKNOWN if no warning page shows it', 2, false],
  ])('%s', async (_, downloadLimit, cookieCheck) => {
    Object.assign(play.world.filebin, { downloadLimit, cookieCheck });
    const { report } = await proven(deliver(toBin(`bin-limited-${cookieCheck}`)));
    expect(binOf(`bin-limited-${cookieCheck}`)?.files.get('page.html')?.downloads).toBe(1);
    expect(report.lines.TEST).toContain('downloads that the proof took: 1');
    const told = cookieCheck ? /^$/ : /^whether the file can be downloaded again: .* verification took 1$/;
    expect(report.lines.UNKNOWN).toMatch(told);
  });

  test('stays unknown if the warning page does not return, and costs no second download', async () => {
    play.intercept({ method: 'GET', url: /bin-unclear\/page\.html$/, skip: 2 }, { status: 502 });
    const { report } = await proven(deliver(toBin('bin-unclear')));
    expect(binOf('bin-unclear')?.files.get('page.html')?.downloads).toBe(1);
    expect(report.lines.UNKNOWN).toMatch(/^whether the file can be downloaded again: /);
  });

  test.each([
    ['ends the wait at once', 0, 3],
    ['is not ready if verification used it up, without another wait', 1, 4],
  ])('%s', async (_, downloadLimit, requests) => {
    play.world.filebin.downloadLimit = downloadLimit;
    const says = /^verify 403: .*requested too many times.* → .*limits/;
    const played = await refused(deliver({ channel: 'K3', token: '' }), says);
    expect(requestsOf(played, /^GET /).length).toBeLessThanOrEqual(requests);
  });
});

test.each([
  ['has expired', 'bin-expired', 'This bin is no longer available'],
  ['never existed', 'bin-unknown', 'The bin does not exist'],
])('a link to a bin that %s fails at once', async (_, bin, why) => {
  if (bin === 'bin-expired') await play.world.filebin.addFile(bin, 'page.html', createPage());
  Object.assign(binOf(bin) ?? {}, { expiresAt: new Date(0) });
  const says = new RegExp(`^verify 404: .*HTTP 404: ${why}.* → .*channel: K1, K2 or K3`);
  const link = deliver({ channel: 'K4', url: `https://filebin.net/${bin}/page.html` });
  expect((await refused(link, says)).requests).toHaveLength(1);
});

test.each(['filebin.net', 'bins.example.com'])('a link to a bin on %s names its limit', async (host) => {
  const headers = { 'content-type': 'text/plain' };
  const refusal = { status: 403, headers, body: 'The file has been requested too many times.\n' };
  play.intercept({ url: RegExp(`^https://${host}/`), times: 99 }, refusal);
  const says = /^verify 403: .*too many times.* → the bin host limits downloads.*`url:` to its new URL$/;
  await refused(deliver({ channel: 'K4', url: `https://${host}/bin-limited/page.html` }), says);
});

test('a bin that answers HTTP 403 without a reason is waited for, because it may still be approved', async () => {
  play.intercept({ url: /^https:\/\/filebin\.net\//, times: 99 }, { status: 403 });
  const link = deliver({ channel: 'K4', url: 'https://filebin.net/bin-closed/page.html', timeout: '9' });
  expect((await refused(link, /^verify 403: .*not verified in time: .*HTTP 403/)).took).toBe(9_000);
});
