import { describe, expect, test } from '@jest/globals';
import { commitOwned } from '../support/commit-owned.ts';
import type { TestRepository } from '../world/repository.ts';
import type { InterceptedReply } from '../world/server/interceptions.ts';
import { expectNotReady, expectReady, listUnproven } from './expect-report.ts';
import { createPage, listRequests, MARKER, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const files = { 'page.html': createPage('new') };
const inputs = { channel: 'K1', marker: MARKER };
const ever = 10_000;

/** A repository whose page was delivered before, and is live. */
async function withOldPage(): Promise<TestRepository> {
  const repository = await scenario.repository();
  await commitOwned(repository, 'page.html', createPage('old'));
  await repository.pages.whenBuilt();
  return repository;
}

/** Answers for the page while it is being proven, whatever the site does. */
function pageAnswers(answer: InterceptedReply, times = ever) {
  return scenario.intercept({ method: 'GET', url: /github\.io\/.*page\.html\?v=\d+$/, times }, answer);
}

describe('what the build says, and what is live', () => {
  test('a build that stays `building` while the page is live: ready', async () => {
    const repository = await scenario.repository({ pages: { builds: 'stuck' } });
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage('new') });
    expect(repository.pages.history[0]?.status).toBe('building');
  });

  test('a `built` of an older commit while the page is old: not ready', async () => {
    const repository = await withOldPage();
    repository.pages.builds = 'older';
    repository.pages.live = false;
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(delivered, {
      step: 'wait',
      httpCode: 200,
      reason: /the content from before; the latest build belongs to an older commit/,
    });
    expect(repository.pages.history[0]?.status).toBe('built');
  });

  test('a `built` of an older commit while the page is live: ready', async () => {
    const repository = await withOldPage();
    repository.pages.builds = 'older';
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage('new') });
    expect(repository.pages.history[0]?.commit).not.toBe(delivered.outputs['commit-sha']);
  });

  test("an `errored` build: not ready at once, with the build's text", async () => {
    const repository = await scenario.repository({
      pages: { builds: 'errored', errorMessage: 'The tag `nope` on line 3 is not a recognized Liquid tag.' },
    });
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(delivered, {
      step: 'wait',
      httpCode: 404,
      reason: /build failed: The tag `nope` on line 3/,
    });
    // The wait ends with the first answer about the build.
    expect(listRequests(scenario, /^GET .*page\.html\?v=/)).toHaveLength(1);
    expect(delivered.outputs['commit-sha']).toBe(await repository.head());
  });

  test('a build that never starts is requested once, and then brings the page live', async () => {
    const repository = await scenario.repository({ pages: { startsBuilds: false } });
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage('new') });
    expect(listRequests(scenario, /^POST .*\/pages\/builds$/)).toHaveLength(1);
  });

  test('a build that never comes is requested no second time', async () => {
    const repository = await scenario.repository({ pages: { builds: 'never' } });
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(delivered, { step: 'wait', httpCode: 404, reason: /HTTP 404; .*a build was requested/ });
    expect(listRequests(scenario, /^POST .*\/pages\/builds$/)).toHaveLength(1);
  });

  test('a token that may not request it: the missing permission is named', async () => {
    const repository = await scenario.repository({ pages: { startsBuilds: false } });
    const token = scenario.world.token({ pages: 'read' });
    const delivered = await scenario.deliver({
      repository,
      files,
      token,
      inputs,
      simulatedTime: true,
    });
    expectNotReady(delivered, {
      step: 'wait',
      reason: /requesting a build needs the permission `pages: write`/,
    });
  });
});

describe('a page that lags', () => {
  test('404 for a while: ready', async () => {
    const repository = await scenario.repository({ pages: { liveAfterRequests: 4 } });
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage('new') });
    expect(listRequests(scenario, /^GET .*page\.html\?v=/).length).toBeGreaterThan(4);
  });

  test('404 for ever: not ready, with the code and the step', async () => {
    const repository = await scenario.repository({ pages: { live: false } });
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(delivered, {
      step: 'verify',
      httpCode: 404,
      reason: /the address was not proven in time: the address answers HTTP 404/,
    });
    expect(delivered.report.lines.TEST).toMatch(/^HTTP 404; marker found: no/);
    expect(delivered.report.gates.map(({ passed }) => passed)).toEqual([true, true, false, false]);
  });

  test('the old version for a while: ready once the new one is there', async () => {
    const repository = await withOldPage();
    pageAnswers({ status: 200, body: createPage('old') }, 4);
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage('new') });
    expect(delivered.stdout).toContain('the content from before');
  });

  test('the old version, with the same marker, for ever: not ready', async () => {
    const repository = await withOldPage();
    repository.pages.live = false;
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(delivered, {
      step: 'verify',
      httpCode: 200,
      reason: /with the content from before/,
      hint: /a cache still answers with the old page/,
    });
  });

  test('the old version for ever is not believed when the step runs again, either', async () => {
    const repository = await withOldPage();
    repository.pages.live = false;
    await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    const again = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(again, { step: 'verify', httpCode: 200, reason: /not proven in time/ });
  });

  test('a version that was committed before ours and went live later is not believed', async () => {
    const repository = await withOldPage();
    repository.pages.startsBuilds = false;
    await commitOwned(repository, 'page.html', createPage('between'));
    repository.pages.startsBuilds = true;
    pageAnswers({ status: 200, body: createPage('between') });
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(delivered, { step: 'verify', httpCode: 200, reason: /not proven in time/ });
  });

  test('a cache keeps the old page under the bare address: ready, and UNKNOWN says so', async () => {
    const repository = await withOldPage();
    repository.pages.purges = false;
    const url = `${repository.pages.url}page.html`;
    await scenario.fetchPublic(url);
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expect(delivered.outputs).toMatchObject({ url, result: 'ready' });
    expect(delivered.stderr).toBe('');
    expect(listUnproven(delivered.report)).toBe(
      'the address without ?v= still answered an older copy; a cache may show it for up to 10 minutes',
    );
    expect((await scenario.fetchPublic(url)).toString()).toBe(createPage('old'));
    expect((await scenario.fetchPublic(`${url}?v=mine`)).toString()).toBe(createPage('new'));
  });

  test('the raw address lags: ready, raw-url is empty, and UNKNOWN says so', async () => {
    const repository = await scenario.repository();
    scenario.intercept(
      { url: /raw\.githubusercontent/, times: ever },
      { status: 404, body: '404: Not Found' },
    );
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, {
      channel: 'K1',
      shows: createPage('new'),
      unknown: /^the raw address did not show the file yet, so it was not verified$/,
    });
    expect(delivered.outputs['raw-url']).toBe('');
  });
});

describe('a 200 that is not the file', () => {
  const whole = createPage('new');
  const half = whole.slice(0, whole.indexOf('</p><p>new'));
  const cases: { story: string; answer: InterceptedReply; httpCode: number | null; reason: RegExp }[] = [
    {
      story: 'without the marker',
      answer: { status: 200, body: '<h1>Soon</h1>' },
      httpCode: 200,
      reason: /other content/,
    },
    {
      story: 'with its first half, marker and length included',
      answer: { status: 200, body: half },
      httpCode: 200,
      reason: /only the beginning of the file/,
    },
    {
      story: 'with nothing',
      answer: { status: 200, body: '' },
      httpCode: 200,
      reason: /only the beginning of the file/,
    },
    {
      story: 'cut off mid-way, again and again',
      answer: { fault: 'reset-midway' },
      httpCode: null,
      reason: /github\.io failed/,
    },
  ];
  test.each(cases)('$story: not ready', async ({ answer, httpCode, reason }) => {
    const repository = await scenario.repository();
    pageAnswers(answer);
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expect(half).toContain(MARKER);
    expectNotReady(delivered, { step: 'verify', httpCode, reason });
  });

  test('that never comes: not ready, soon after the deadline', async () => {
    const repository = await scenario.repository();
    let pid = 0;
    const passTime = async () => void process.kill(pid, 'SIGUSR2');
    pageAnswers({ fault: 'hang', meanwhile: passTime });
    const delivered = await scenario.deliver({
      repository,
      files,
      inputs,
      simulatedTime: true,
      onStart: (started) => {
        pid = started;
      },
    });
    expectNotReady(delivered, { step: 'verify', reason: /no complete answer in time/ });
    // One of the wait, and one at the deadline.
    expect(listRequests(scenario, /^GET .*page\.html\?v=/)).toHaveLength(2);
  });

  test('cut off mid-way once: ready', async () => {
    const repository = await scenario.repository({ pages: { buildMs: 0 } });
    pageAnswers({ fault: 'reset-midway' }, 1);
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage('new') });
  });
});

describe("a site that changes the page's bytes", () => {
  const source = `---\ntitle: Report\n---\n${createPage('new')}`;

  test('and keeps the marker: ready, and UNKNOWN says that these are other bytes', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': source },
      inputs,
      simulatedTime: true,
    });
    await expectReady(scenario, delivered, {
      channel: 'K1',
      shows: createPage('new'),
      unknown: /^the body has the marker, but other bytes than the file$/,
    });
    expect(delivered.report.lines.TEST).toContain('bytes identical: no');
  });

  test('without a marker: refused before anything is written', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': source },
      inputs: { channel: 'K1' },
    });
    expectNotReady(delivered, { step: 'check', reason: /Jekyll renders page\.html/, hint: /marker/ });
    expect(await repository.read('page.html')).toBeNull();
  });

  test('Markdown opens as the page that it becomes', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      files: { 'notes.md': `# ${MARKER}\n` },
      inputs,
      simulatedTime: true,
    });
    expect(delivered.outputs.url).toMatch(/\/notes\.html$/);
    expect(delivered.report.lines.CLAIM).toContain('Jekyll renders notes.md into this page');
  });

  test('with a .nojekyll it does not: ready without a doubt', async () => {
    const repository = await scenario.repository({ files: { '.nojekyll': '\n' } });
    const delivered = await scenario.deliver({ repository, files: { 'page.html': source }, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: source });
  });
});

describe('redirects', () => {
  test('to http: not ready, and http is never asked', async () => {
    const repository = await scenario.repository();
    pageAnswers({ status: 301, headers: { location: 'http://octo.github.io/elsewhere' } });
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(delivered, { step: 'verify', reason: /redirects to an address that is not https/ });
    expect(listRequests(scenario, /^GET http:/)).toEqual([]);
  });

  test('in a circle: not ready', async () => {
    const repository = await scenario.repository();
    const around = `${repository.pages.url}page.html?v=1`;
    pageAnswers({ status: 302, headers: { location: around } });
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(delivered, { step: 'verify', reason: /redirects more than 10 times/ });
  });
});

describe('the file-bin', () => {
  const inputs = { channel: 'K3', token: '' };
  const warning: InterceptedReply = {
    status: 200,
    headers: { 'content-type': 'text/html', 'set-cookie': 'verified=no; Path=/' },
    body: '<title>Please read</title>',
  };

  test('its warning page stands before the file: ready', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K3', shows: createPage('new') });
    const [first, second] = listRequests(scenario, /^GET https:\/\/filebin\.net/);
    expect([first?.headers.cookie, second?.headers.cookie]).toEqual([
      undefined,
      expect.stringMatching(/^verified=/),
    ]);
  });

  test('its warning page never goes away: not ready', async () => {
    const repository = await scenario.repository();
    scenario.intercept({ method: 'GET', url: /filebin\.net/, times: ever }, warning);
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expectNotReady(delivered, { step: 'verify', httpCode: 200, reason: /other content/ });
  });

  test('a POST that does not answer 201 leaves G1 open', async () => {
    const repository = await scenario.repository();
    scenario.intercept({ method: 'POST', url: /filebin\.net/, times: ever }, { status: 202, body: '{}' });
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, { step: 'place', httpCode: 202, reason: /answered HTTP 202 and not 201/ });
    expect(delivered.report.gates.map(({ passed }) => passed)).toEqual([false, false, false, false]);
    expect(listRequests(scenario, /^GET /)).toEqual([]);
  });

  test('other bytes than were sent: not ready', async () => {
    const repository = await scenario.repository();
    scenario.intercept({ url: /situla/, times: ever }, { status: 200, body: createPage('their own') });
    const delivered = await scenario.deliver({
      repository,
      files,
      inputs: { ...inputs, marker: MARKER },
      simulatedTime: true,
    });
    expectNotReady(delivered, { step: 'verify', httpCode: 200, reason: /not proven/ });
  });
});
