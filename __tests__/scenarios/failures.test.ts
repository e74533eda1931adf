import { describe, expect, test } from '@jest/globals';
import { LOGINS } from '../world/tokens.ts';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, listRequests, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const files = { 'page.html': createPage() };
const inputs = { channel: 'K1' };
const said = (message: string): string => JSON.stringify({ message });

describe('what the token may not', () => {
  test('a bad token', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({ repository, files, inputs, token: 'ghs_madeUpAndLongGone' });
    expectNotReady(delivered, {
      step: 'authorize',
      httpCode: 401,
      reason: /HTTP 401: Bad credentials/,
      hint: /set `token:` to a valid token/,
    });
  });

  test.each([
    { channel: 'K1', what: /writing the file/ },
    { channel: 'K2', what: /creating the draft of the release/ },
  ])('a read-only token, $channel: the permission line to add', async ({ channel, what }) => {
    const repository = await scenario.repository();
    const token = scenario.world.token({ contents: 'read' });
    const delivered = await scenario.deliver({ repository, files, token, inputs: { channel } });
    expectNotReady(delivered, {
      step: 'place',
      httpCode: 403,
      reason: /Resource not accessible by integration/,
      hint: /give the job `permissions: { contents: write, pages: write }`, or use channel: K3/,
    });
    expect(delivered.report.notReady?.reason).toMatch(what);
    expect(listRequests(scenario, /^(PUT|POST) (?!\S+\/graphql)/)).toHaveLength(1);
  });

  test('a read-only token, method B: the permission line to add', async () => {
    const repository = await scenario.repository();
    const token = scenario.world.token({ contents: 'read' });
    const large = { 'large.bin': Buffer.alloc(1_100_000, 'large') };
    const delivered = await scenario.deliver({ repository, files: large, token, inputs });
    expectNotReady(delivered, {
      step: 'place',
      httpCode: 403,
      reason: /creating the blob answered HTTP 403/,
      hint: /`permissions: { contents: write, pages: write }`/,
    });
  });

  test.each([
    ['classic-pull-request', /Changes must be made through a pull request/],
    ['classic-status-check', /Required status check "ci" is expected/],
    ['classic-status-checks', /2 of 2 required status checks are expected/],
    ['classic-review', /At least 1 approving review is required/],
    ['classic-push-access', /not authorized to push to this branch/],
  ] as const)('%s ends at the first attempt, by each method', async (rule, reason) => {
    const repository = await scenario.repository();
    repository.protect(rule);
    const one = await scenario.deliver({ repository, files, inputs });
    expectNotReady(one, { step: 'place', httpCode: 409, reason, hint: /pull request.*`token:`.*K2/ });
    expect(one.report.notReady?.hint).not.toContain('another job');
    expect(listRequests(scenario, /^PUT /)).toHaveLength(1);
    const several = await scenario.deliver({
      repository,
      files: { 'a.html': createPage('a'), 'b.html': createPage('b') },
      inputs: { ...inputs, file: '*.html' },
    });
    expect(several.reports.map(({ notReady }) => notReady?.code)).toEqual(Array(2).fill('FORBIDDEN_BY_RULE'));
    expect(several.report.notReady?.reason).toMatch(reason);
    expect(scenario.world.traffic.exchanges(/^POST .*\/git-receive-pack/)).toHaveLength(1);
  });

  test.each(['signatures', 'classic-signatures'] as const)(
    '%s: several files go through the object API, whose commits GitHub signs',
    async (rule) => {
      const repository = await scenario.repository();
      repository.protect(rule);
      const delivered = await scenario.deliver({
        repository,
        files: { 'a.html': createPage('a'), 'b.html': createPage('b') },
        inputs: { ...inputs, file: '*.html' },
      });
      expect(delivered.reports.map(({ ready }) => ready)).toEqual([true, true]);
      expect(delivered.stdout).toContain('signed commits only: using the object API instead of git');
      expect(delivered.report.lines.CODE).toContain('; method B, object API; ');
      const pushes = scenario.world.traffic.exchanges(/^POST .*\/git-receive-pack/);
      expect(pushes).toHaveLength(rule === 'signatures' ? 0 : 1);
      expect(listRequests(scenario, /\/rules\/branches\//)).toHaveLength(1);
    },
  );

  test('a protected branch', async () => {
    const repository = await scenario.repository();
    repository.protect(true);
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, {
      step: 'place',
      httpCode: 409,
      reason: /Repository rule violations found Changes must be made through a pull request/,
      hint: /bypass the rule/,
    });
    expect(listRequests(scenario, /^PUT /)).toHaveLength(1);
  });
});

describe('a repository that is not as it should be', () => {
  test('it does not exist', async () => {
    const repository = await scenario.repository();
    const elsewhere = { repository: 'octo/nowhere', channel: 'K2' };
    const delivered = await scenario.deliver({ repository, files, inputs: elsewhere });
    expectNotReady(delivered, {
      step: 'authorize',
      httpCode: 404,
      reason: /octo\/nowhere does not exist for this token/,
      hint: /set `repository:` to one that `token:` may write to/,
    });
  });

  test('a branch that does not exist', async () => {
    const repository = await scenario.repository({ pages: { buildType: 'workflow' } });
    const token = scenario.world.token({}, LOGINS.app);
    const delivered = await scenario.deliver({
      repository,
      files,
      inputs: { ...inputs, branch: 'nowhere' },
      token,
    });
    expectNotReady(delivered, {
      step: 'place',
      httpCode: 404,
      reason: /the branch nowhere of octo\/\S+ does not exist for this token/,
      hint: /`branch:`/,
    });
    expect(await repository.head('nowhere')).toBeNull();
  });

  test('no commit yet, method A: the file is the first', async () => {
    const repository = await scenario.repository({ empty: true });
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    expect(await repository.log()).toMatchObject([{ files: ['page.html'] }]);
  });

  test('no commit yet, method B: said, with what to do', async () => {
    const repository = await scenario.repository({ empty: true });
    const large = { 'large.bin': Buffer.alloc(1_100_000, 'large') };
    const delivered = await scenario.deliver({ repository, files: large, inputs });
    expectNotReady(delivered, { step: 'place', httpCode: 409, reason: /empty/, hint: /push a first one/ });
  });

  test('no commit yet, K2: said, with what to do', async () => {
    const repository = await scenario.repository({ empty: true });
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K2' } });
    expectNotReady(delivered, { step: 'place', httpCode: 409, reason: /Repository is empty/ });
  });

  test("a private repository's assets can't be read by anybody, so K2 is refused", async () => {
    const repository = await scenario.repository({ private: true });
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K2' } });
    expectNotReady(delivered, { step: 'place', reason: /can.t be read anonymously/, hint: /K1|K3/ });
    expect(repository.releases()).toEqual([]);
  });

  test('a blob above what the API takes, where no git is installed: K2 is named', async () => {
    const repository = await scenario.repository();
    scenario.intercept(
      { method: 'POST', url: /git\/blobs/ },
      { status: 422, body: said('Sorry, your input was too large to process.') },
    );
    const large = { 'large.bin': Buffer.alloc(1_100_000, 'large') };
    const env = { PATH: '/nowhere' };
    const delivered = await scenario.deliver({ repository, files: large, inputs, env });
    expectNotReady(delivered, { step: 'place', reason: /git/, hint: /channel: K2/ });
  });
});

describe('what passes is tried again', () => {
  test.each([
    { story: 'a 500 on the settings', method: 'GET', url: /\/pages$/, status: 500 },
    { story: 'a 502 on the file record', method: 'GET', url: /contents\/page\.html/, status: 502 },
    { story: 'a 503 on the write', method: 'PUT', url: /contents\/page\.html/, status: 503 },
    { story: 'a 500 on the build status', method: 'GET', url: /builds\/latest/, status: 500 },
  ])('$story: ready', async ({ method, url, status }) => {
    const repository = await scenario.repository({ pages: { buildMs: 300 } });
    const interception = scenario.intercept({ method, url }, { status, body: said('Server Error') });
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    expect(interception.hits).toBe(1);
    expect(await repository.log()).toHaveLength(2);
  });

  test('HTML instead of JSON, once: ready', async () => {
    const repository = await scenario.repository();
    const unicorn = {
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: '<title>Unicorn!</title>',
    };
    scenario.intercept({ method: 'GET', url: /\/pages$/ }, unicorn);
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
  });

  test('the secondary limit is waited out as long as the host asks', async () => {
    const repository = await scenario.repository();
    const limit = {
      status: 403,
      headers: { 'retry-after': '1', 'content-type': 'application/json' },
      body: said('You have exceeded a secondary rate limit.'),
    };
    scenario.intercept({ method: 'PUT', url: /contents/ }, limit);
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    expect(delivered.report.took.place).toBeGreaterThanOrEqual(1000);
  });

  test('a limit that lasts longer than a delivery ends it at once', async () => {
    const repository = await scenario.repository();
    const limit = {
      status: 429,
      headers: { 'retry-after': '3600', 'content-type': 'application/json' },
      body: said('API rate limit exceeded'),
    };
    scenario.intercept({ method: 'PUT', url: /contents/, times: 9 }, limit);
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, {
      step: 'place',
      httpCode: 429,
      reason: /rate limit exceeded; the limit is lifted at \d\d:\d\d UTC/,
      hint: /later/,
    });
    expect(listRequests(scenario, /^PUT /)).toHaveLength(1);
  });
});

describe('the file-bin refuses', () => {
  test.each([
    {
      story: 'storage is full',
      status: 507,
      body: 'Insufficient storage, please retry later',
      hint: /K1 or K2/,
    },
    { story: 'the ending', status: 403, body: 'Illegal file extension', hint: /another ending/ },
    {
      story: 'a locked bin',
      status: 405,
      body: 'Uploads to locked bins are not allowed',
      hint: /another name/,
    },
    { story: 'the size', status: 413, body: 'too large', hint: /K2/ },
  ])('$story', async ({ status, body, hint }) => {
    const repository = await scenario.repository();
    scenario.intercept({ method: 'POST', url: /filebin\.net/, times: 9 }, { status, body });
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K3', token: '' } });
    expectNotReady(delivered, { step: 'place', httpCode: status, reason: new RegExp(body), hint });
    expect(listRequests(scenario, /^POST /)).toHaveLength(1);
  });

  test('a bin that can not be locked is ready, and UNKNOWN says so', async () => {
    const repository = await scenario.repository();
    scenario.intercept({ method: 'PUT', url: /filebin\.net/ }, { status: 500, body: '' });
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K3', token: '' } });
    await expectReady(scenario, delivered, {
      channel: 'K3',
      shows: createPage(),
      unknown: /could not be locked/,
    });
  });
});

test('no network: the protocol can not be executed, and the report says where the file stays', async () => {
  const nowhere = 'http://127.0.0.1:9';
  const delivered = await scenario.deliver({
    repository: await scenario.repository(),
    files,
    inputs: { channel: 'K3', token: '' },
    env: { HTTPS_PROXY: nowhere, https_proxy: nowhere },
    simulatedTime: true,
  });
  expectNotReady(delivered, {
    step: 'place',
    httpCode: null,
    reason: /the protocol can't be executed, there is no network: filebin\.net can't be reached/,
    hint: /https_proxy/,
  });
  expect(delivered.report.lines.UNKNOWN).toContain(
    `the file itself is still at page.html, sha256 ${delivered.outputs.sha256}`,
  );
});

test('SIGTERM in the middle of the wait: an honest report with what was placed', async () => {
  const repository = await scenario.repository({ pages: { live: false } });
  let pid = 0;
  const stop = async () => void process.kill(pid, 'SIGTERM');
  scenario.intercept({ url: /page\.html\?v=/, skip: 2 }, { fault: 'hang', meanwhile: stop });
  const delivered = await scenario.deliver({
    repository,
    files,
    inputs: { channel: 'K1' },
    simulatedTime: true,
    onStart: (started) => {
      pid = started;
    },
  });
  expectNotReady(delivered, {
    step: delivered.report.notReady?.step === 'wait' ? 'wait' : 'verify',
    reason: /the delivery was stopped before it was finished/,
  });
  expect(delivered.outputs['commit-sha']).toBe(await repository.head());
  expect(delivered.report.gates[0]).toMatchObject({ name: 'G1_выложено', passed: true });
  expect(delivered.report.lines.UNKNOWN).toContain('whether the address will show the file later');
  // The signal alone ends it: no time passes while the third request hangs, and no other one follows.
  expect(listRequests(scenario, /^GET .*page\.html\?v=/)).toHaveLength(3);
});
