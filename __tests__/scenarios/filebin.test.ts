import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, listRequests, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const files = { 'page.html': createPage() };
const inputsFor = (bin: string) => ({ channel: 'K3', token: '', bin });
const bytesIn = (bin: string, name = 'page.html') =>
  scenario.world.filebin.bins.get(bin)?.files.get(name)?.sha256;
const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');

describe('a bin of somebody else', () => {
  test('keeps its file of the same name without overwrite, and is never locked', async () => {
    const repository = await scenario.repository();
    const bin = 'bin-of-others-1';
    const { filebin } = scenario.world;
    await filebin.addFile(bin, 'page.html', 'theirs');
    const refused = await scenario.deliver({ repository, files, inputs: inputsFor(bin) });
    expectNotReady(refused, {
      step: 'place',
      reason: /already holds another file named page\.html/,
      hint: /overwrite: true/,
    });
    expect(listRequests(scenario, /^(POST|PUT|DELETE) /)).toEqual([]);
    const planned = await scenario.deliver({
      repository,
      files,
      inputs: { ...inputsFor(bin), 'dry-run': 'true' },
    });
    expectNotReady(planned, { step: 'place', reason: /already holds another file named page\.html/ });
    expect(bytesIn(bin)).toBe(sha256('theirs'));
    const inputs = { ...inputsFor(bin), overwrite: 'true' };
    const replaced = await scenario.deliver({ repository, files, inputs });
    const unknown = /was not locked, because this delivery did not create it/;
    await expectReady(scenario, replaced, { channel: 'K3', shows: createPage(), unknown });
    expect(filebin.bins.get(bin)?.locked).toBe(false);
  });

  test('takes a file of another name, and its owner can still upload to it', async () => {
    const repository = await scenario.repository();
    const bin = 'bin-of-others-2';
    await scenario.world.filebin.addFile(bin, 'theirs.txt', 'theirs');
    const delivered = await scenario.deliver({ repository, files, inputs: inputsFor(bin) });
    await expectReady(scenario, delivered, { channel: 'K3', shows: createPage(), unknown: /was not locked/ });
    await scenario.world.filebin.addFile(bin, 'more.txt', 'theirs');
  });

  test('that somebody else was first to fill is not locked, and UNKNOWN says what may be lost', async () => {
    const repository = await scenario.repository();
    const { filebin } = scenario.world;
    const alter = async <Answer>(real: Answer): Promise<Answer> => {
      await filebin.addFile('bin-of-the-faster', 'page.html', 'theirs');
      return real;
    };
    scenario.intercept({ method: 'GET', url: /filebin\.net\/bin-of-the-faster$/ }, { alter });
    const delivered = await scenario.deliver({ repository, files, inputs: inputsFor('bin-of-the-faster') });
    const unknown = /somebody put a file into the bin before one of this delivery/;
    await expectReady(scenario, delivered, { channel: 'K3', shows: createPage(), unknown });
    expect(filebin.bins.get('bin-of-the-faster')?.locked).toBe(false);
  });

  test('keeps what somebody put there while an earlier file was posted', async () => {
    const repository = await scenario.repository();
    const { filebin } = scenario.world;
    const bin = 'bin-of-two-at-once';
    const alter = async <Answer>(real: Answer): Promise<Answer> => {
      await filebin.addFile(bin, 'b.txt', 'theirs');
      return real;
    };
    scenario.intercept({ method: 'POST', url: /\/bin-of-two-at-once\/a\.txt$/ }, { alter });
    const delivered = await scenario.deliver({
      repository,
      files: { 'a.txt': 'ours', 'b.txt': 'ours as well' },
      inputs: { ...inputsFor(bin), file: 'a.txt\nb.txt' },
    });
    expect(delivered.reports.map(({ ready }) => ready)).toEqual([true, false]);
    expect(delivered.reports[1]?.notReady).toMatchObject({ code: 'NOT_OURS' });
    expect(await scenario.fetchPublic(`https://filebin.net/${bin}/b.txt`)).toEqual(Buffer.from('theirs'));
    expect(filebin.bins.get(bin)?.locked).toBe(false);
  });

  test('whose list cannot be read is refused, and nothing is posted', async () => {
    const repository = await scenario.repository();
    const list = { method: 'GET', url: /filebin\.net\/bin-unreadable$/, times: 99 };
    scenario.intercept(list, { status: 403, headers: { 'content-type': 'text/plain' }, body: 'no' });
    const delivered = await scenario.deliver({ repository, files, inputs: inputsFor('bin-unreadable') });
    expectNotReady(delivered, {
      step: 'place',
      httpCode: 403,
      reason: /listing the bin answered HTTP 403: no/,
    });
    expect(listRequests(scenario, /^(POST|PUT) /)).toEqual([]);
  });

  test.each(['a dry run', 'a delivery'])(
    'that is locked is refused before the upload by %s',
    async (kind) => {
      const repository = await scenario.repository();
      const bin = `bin-locked-${kind.length}`;
      await scenario.world.filebin.addFile(bin, 'theirs.txt', 'theirs');
      scenario.world.filebin.lock(bin);
      const inputs = { ...inputsFor(bin), 'dry-run': String(kind === 'a dry run') };
      const delivered = await scenario.deliver({ repository, files, inputs });
      expectNotReady(delivered, { step: 'place', reason: /is locked/, hint: /leave `bin:` out/ });
      expect(listRequests(scenario, /^(POST|PUT) /)).toEqual([]);
    },
  );

  test('keeps its file when one of the same name is withdrawn', async () => {
    const repository = await scenario.repository();
    const bin = 'bin-of-others-3';
    await scenario.world.filebin.addFile(bin, 'page.html', 'theirs');
    const inputs = { ...inputsFor(bin), operation: 'withdraw' };
    const refused = await scenario.deliver({ repository, files, inputs });
    expectNotReady(refused, {
      step: 'place',
      reason: /not those of the file at hand/,
      hint: /`overwrite: true`/,
    });
    const unnamed = await scenario.deliver({ repository, inputs: { ...inputs, path: 'page.html' } });
    expectNotReady(unnamed, { step: 'place', reason: /no file at hand/, hint: /set `file:`/ });
    expect(bytesIn(bin)).toBe(sha256('theirs'));
  });
});

describe('what the host says', () => {
  test.each([
    ['This client IP address has been banned.', /banned/, /another runner/],
    ['This content has been blocked and cannot be uploaded', /blocked/, /under no name/],
  ])('about a refused upload is passed on: %s', async (text, reason, hint) => {
    const repository = await scenario.repository();
    scenario.world.filebin.refusal = text;
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K3', token: '' } });
    expectNotReady(delivered, { step: 'place', httpCode: 403, reason, hint });
  });

  test('about approval is passed on with the bin to use again, and a later run proves the same file', async () => {
    const repository = await scenario.repository();
    scenario.world.filebin.manualApproval = true;
    const inputs = { channel: 'K3', token: '' };
    const waiting = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(waiting, {
      step: 'verify',
      httpCode: 403,
      reason: /requires approval/,
      hint: /`bin: sv\d+-\w+`/,
    });
    const [, bin = ''] = /`bin: (sv[\w-]+)`/.exec(waiting.report.notReady?.hint ?? '') ?? [];
    scenario.world.filebin.approve(bin);
    scenario.world.traffic.clear();
    const again = await scenario.deliver({ repository, files, inputs: { ...inputs, bin } });
    await expectReady(scenario, again, { channel: 'K3', shows: createPage() });
    expect(listRequests(scenario, /^POST /)).toEqual([]);
  });

  test('about approval hides that a file is deleted, which the withdrawal says at once', async () => {
    const repository = await scenario.repository();
    const { filebin } = scenario.world;
    filebin.manualApproval = true;
    await filebin.addFile('bin-unapproved', 'page.html', createPage());
    const withdrawal = { ...inputsFor('bin-unapproved'), operation: 'withdraw' };
    const first = await scenario.deliver({ repository, files, inputs: withdrawal, simulatedTime: true });
    expectNotReady(first, {
      step: 'verify',
      httpCode: 403,
      reason: /requires approval/,
      hint: /the host has deleted the file.*`bin: bin-unapproved`/,
    });
    expect(filebin.bins.get('bin-unapproved')?.files.size).toBe(0);
    expect(listRequests(scenario, /^GET .*page\.html/).length).toBeLessThanOrEqual(3);
    filebin.approve('bin-unapproved');
    const second = await scenario.deliver({ repository, files, inputs: withdrawal });
    expect(second.outputs.result).toBe('withdrawn');
  });

  test('about the type of a table is that browsers download it', async () => {
    const repository = await scenario.repository();
    const table = 'name,count\nvisits,3\n';
    const delivered = await scenario.deliver({
      repository,
      files: { 'figures.csv': table },
      inputs: { channel: 'K3', token: '' },
    });
    await expectReady(scenario, delivered, { channel: 'K3', shows: table });
    expect(delivered.report.lines.CLAIM).toMatch(/^figures\.csv downloads at /);
  });

  test('about approval is waited for within the timeout', async () => {
    const repository = await scenario.repository();
    const { filebin } = scenario.world;
    filebin.manualApproval = true;
    let asked = 0;
    const alter = async <Answer>(real: Answer): Promise<Answer> => {
      asked += 1;
      if (asked === 4) filebin.approve('bin-approved');
      return real;
    };
    scenario.intercept({ method: 'GET', url: /bin-approved\/page/, times: 9 }, { alter });
    const delivered = await scenario.deliver({ repository, files, inputs: inputsFor('bin-approved') });
    await expectReady(scenario, delivered, { channel: 'K3', shows: createPage() });
  });

  test('about a download limit is found out with one download: the person has the second', async () => {
    const repository = await scenario.repository();
    scenario.world.filebin.downloadLimit = 2;
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K3', token: '' } });
    await expectReady(scenario, delivered, { channel: 'K3', shows: createPage() });
  });

  test('about a download limit comes too late without a warning page, and UNKNOWN says so', async () => {
    const repository = await scenario.repository();
    const { filebin } = scenario.world;
    Object.assign(filebin, { downloadLimit: 2, cookieCheck: false });
    const delivered = await scenario.deliver({ repository, files, inputs: inputsFor('bin-used-up') });
    expect(delivered.outputs.result).toBe('ready');
    expect(delivered.report.lines.UNKNOWN).toMatch(/^whether the file can be downloaded again: .* may limit/);
    expect(filebin.bins.get('bin-used-up')?.files.get('page.html')?.downloads).toBe(2);
  });

  test.each([
    ['ends the wait at once', 0, 3],
    ['that the proof has used up makes it not ready, without another wait', 1, 4],
  ])('about a download limit %s', async (_, downloadLimit, requests) => {
    const repository = await scenario.repository();
    scenario.world.filebin.downloadLimit = downloadLimit;
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K3', token: '' } });
    expectNotReady(delivered, {
      step: 'verify',
      httpCode: 403,
      reason: /requested too many times/,
      hint: /limits/,
    });
    expect(listRequests(scenario, /^GET /).length).toBeLessThanOrEqual(requests);
  });

  test.each([
    ['has expired', true, /HTTP 404: This bin is no longer available/],
    ['never existed', false, /HTTP 404: The bin does not exist/],
  ])('about a bin that %s ends the proof of a link at once', async (_, existed, reason) => {
    const repository = await scenario.repository();
    const { filebin } = scenario.world;
    const bin = existed ? 'bin-expired' : 'bin-unknown';
    if (existed) {
      await filebin.addFile(bin, 'page.html', createPage());
      Object.assign(filebin.bins.get(bin) ?? {}, { expiresAt: new Date(0) });
    }
    const url = `https://filebin.net/${bin}/page.html`;
    const delivered = await scenario.deliver({
      repository,
      files,
      inputs: { channel: 'K4', token: '', url },
    });
    expectNotReady(delivered, { step: 'verify', httpCode: 404, reason, hint: /channel: K1, K2 or K3/ });
    expect(listRequests(scenario, /^GET /)).toHaveLength(1);
  });

  test('about the content, and not the name, decides whether the file is shown or downloaded', async () => {
    const repository = await scenario.repository();
    const shows = '# Notes\n';
    const text = await scenario.deliver({
      repository,
      files: { 'notes.html': shows },
      inputs: { channel: 'K3', token: '', 'self-contained': 'off' },
    });
    expect(text.report.lines.CLAIM).toMatch(/^notes\.html opens at /);
    const page = await scenario.deliver({
      repository,
      files: { 'page.txt': createPage() },
      inputs: { channel: 'K3', token: '' },
    });
    expect(page.report.lines.CLAIM).toMatch(/^page\.txt downloads at .*not shown on the screen/);
  });
});

test('a host that takes ten minutes to store the file is waited for, and gets it once', async () => {
  const repository = await scenario.repository();
  const clockFile = join(scenario.world.folder, 'clock-moved');
  let pid = 0;
  scenario.world.filebin.beforeAnswer = async () => {
    process.kill(pid, 'SIGUSR2');
    // The answer is given only after ten minutes by the step's own clock.
    while (!existsSync(clockFile)) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const delivered = await scenario.deliver({
    repository,
    files,
    inputs: { channel: 'K3', token: '' },
    env: { CLOCK_FILE: clockFile },
    simulatedTime: true,
    onStart: (started) => {
      pid = started;
    },
  });
  await expectReady(scenario, delivered, { channel: 'K3', shows: createPage() });
  // A step that gave up would find the file in the bin, without an answer.
  expect(delivered.stdout).toContain('HTTP 201');
  expect(delivered.stdout).not.toContain('trying again');
  expect(listRequests(scenario, /^POST /)).toHaveLength(1);
});

test('a lock that a late upload has undone is set again after the proof', async () => {
  const repository = await scenario.repository();
  const { filebin } = scenario.world;
  const unlock = async <Answer>(real: Answer): Promise<Answer> => {
    const bin = filebin.bins.get('bin-relocked');
    if (bin !== undefined) bin.locked = false;
    return real;
  };
  scenario.intercept({ method: 'GET', url: /bin-relocked\/page/, times: 1 }, { alter: unlock });
  const delivered = await scenario.deliver({ repository, files, inputs: inputsFor('bin-relocked') });
  await expectReady(scenario, delivered, { channel: 'K3', shows: createPage() });
  expect(filebin.bins.get('bin-relocked')?.locked).toBe(true);
});
