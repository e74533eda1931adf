import { describe, expect, test } from '@jest/globals';
import { DeployedSite } from '../world/hosts/deployed-site.ts';
import type { TestRepository } from '../world/repository.ts';
import { type ClientLine, type ConnectedServer, connectClient } from './mcp-clients.ts';
import { INITIALIZE, startProcess, toLine } from './mcp-process.ts';
import { createPage, MARKER, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const LINES: readonly ClientLine[] = ['2025', '2026'];
const CLIENT_ID = 'Iv1.0123456789abcdef';
const PAGE = { content: createPage(), name: 'page.html', path: 'page.html' };

/** A repository whose site answers after its builds, however fast the server's clock runs. */
async function createRepository(): Promise<TestRepository> {
  const repository = await scenario.repository();
  repository.pages.beforeAnswer = () => repository.pages.whenBuilt();
  return repository;
}

describe.each(LINES)('a client of the %s specification', (line) => {
  test('delivers, gets a refusal with a hint, corrects, verifies and withdraws', async () => {
    const repository = await createRepository();
    const token = scenario.world.token();
    const files = {
      'page.html': '<script src="https://cdn.example.com/x.js"></script>',
      'second.html': createPage('2'),
      'dist/index.html': createPage(),
      'dist/b.css': '',
    };
    const server = await connectClient(line, scenario.world, {
      files,
      env: { GITHUB_TOKEN: token },
      flags: ['--repository', repository.fullName],
    });
    // From here on, the client checks every answer against its tool's schema.
    const tools = await server.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['deliver', 'verify', 'check', 'withdraw', 'audit']);
    for (const tool of tools) {
      expect(tool).toMatchObject({ title: expect.any(String), outputSchema: { type: 'object' } });
    }
    const to = { as: 'page' };
    const page = `${repository.pages.url}page.html`;

    const refused = await server.call('deliver', { ...to, file: 'page.html' });
    expect(refused).toMatchObject({ isError: true, answer: { result: 'not-ready', url: '' } });
    expect(refused.answer.reason).toContain('cdn.example.com');
    expect(refused.answer.hint).not.toBe('');

    const corrected = { ...PAGE, marker: MARKER };
    const progress: string[] = [];
    // Two calls at once.
    const [delivered, second] = await Promise.all([
      server.call('deliver', corrected, { onProgress: (message) => progress.push(message) }),
      server.call('deliver', { file: 'second.html' }),
    ]);
    expect(delivered).toMatchObject({ isError: false, answer: { result: 'ready', url: page } });
    expect(delivered.text).toContain(`ready: ${page}`);
    // Without a path, at a new path.
    const own = new RegExp(`^${repository.pages.url}agents/[0-9a-f]{12}/second\\.html$`);
    expect(second.answer).toMatchObject({ result: 'ready', url: expect.stringMatching(own) });
    expect(second.answer.say.split('\n')[0]).toBe(
      `It is ready, and I verified that it opens on the screen: ${second.answer.url}`,
    );
    expect((await repository.read('page.html'))?.toString()).toBe(createPage());
    expect(progress).toEqual(expect.arrayContaining(['Check page.html', 'Authorize', 'Plan']));

    const verified = await server.call('verify', { url: page, content: createPage(), name: 'page.html' });
    expect(verified.answer).toMatchObject({ result: 'ready', url: page, reports: [{ channel: 'K4' }] });

    const site = new DeployedSite({ 'index.html': createPage(), 'b.css': '' });
    scenario.world.host('site.deployed.dev', site.answer);
    const deployed = { url: 'https://site.deployed.dev/index.html', file: 'dist/', entry: 'index.html' };
    const proven = await server.call('verify', deployed);
    expect(proven.answer).toMatchObject({ result: 'ready', url: deployed.url });

    const withdrawn = await server.call('withdraw', { url: page });
    expect(withdrawn.answer).toMatchObject({ result: 'withdrawn', url: '', reports: [{ withdrawn: page }] });
    expect(withdrawn.text).toMatch(/^withdrawn: page\.html is removed$/m);
    expect(await repository.read('page.html')).toBeNull();
    const nothing = await server.call('withdraw', { url: page });
    expect(nothing.answer.result).toBe('withdrawn');
    expect(nothing.text).toMatch(/^withdrawn: there was nothing to remove at page\.html/);

    await repository.commit('others.html', createPage('of somebody else'));
    const { answer } = await server.call('withdraw', { url: `${repository.pages.url}others.html` });
    expect(`${answer.code}: ${answer.hint}`).toMatch(/^NOT_OURS: .*`--overwrite`.*person/);

    expect(await server.read('screen-delivery://contract')).toMatchObject({ version: '1.1' });
    await server.close();
    expect(server.stderr()).not.toContain(token);
  });

  test('asks its user if it can, and continues after the code was entered', async () => {
    const repository = await createRepository();
    const asked: { url: string; message: string }[] = [];
    scenario.world.deviceUser.script = ['pending', 'grant'];
    const decide = (question: (typeof asked)[number]) => {
      asked.push(question);
      return 'accept' as const;
    };
    const flags = ['--repository', repository.fullName, '--client-id', CLIENT_ID];
    const server = await connectClient(line, scenario.world, { decide, flags });
    const delivered = await server.call('deliver', PAGE);
    expect(delivered.answer).toMatchObject({ result: 'ready', url: `${repository.pages.url}page.html` });
    const message = expect.stringMatching(/code [A-Z]{4}-[A-Z]{4}$/);
    expect(asked).toMatchObject([{ url: 'https://github.com/login/device', message }]);
    await expectNoSecret(server, [delivered, asked]);
    await server.close();
  });
});

test.each(LINES)("gets a code and a handle to continue if it can't ask its user (%s)", async (line) => {
  const repository = await createRepository();
  const { deviceUser } = scenario.world;
  deviceUser.script = ['pending'];
  const flags = ['--repository', repository.fullName, '--client-id', CLIENT_ID];
  const server = await connectClient(line, scenario.world, { flags });
  // Every conversation of an agent begins with this list, so it has at most 10 KB.
  expect(JSON.stringify({ tools: await server.listTools() }).length).toBeLessThan(10_000);
  const progress: string[] = [];
  const onProgress = (message: string): void => void progress.push(message);
  const first = await server.call('deliver', PAGE, { onProgress });
  expect(first.isError).toBe(false);
  const { result, url, authorization: asked, reports } = first.answer;
  expect([result, url, asked?.page]).toEqual([
    'authorization_required',
    '',
    'https://github.com/login/device',
  ]);
  expect(asked?.userCode).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
  expect(reports).toMatchObject([{ notReady: { code: 'AUTHORIZATION_REQUIRED', step: 'authorize' } }]);
  const { handle: authorization = '', userCode } = asked ?? {};

  // The person takes longer than a call may take: the answer has the same code, and nothing is lost.
  const second = await server.call('deliver', { authorization });
  expect(second.answer).toMatchObject({
    result: 'authorization_required',
    authorization: { userCode, handle: authorization },
  });
  deviceUser.script = ['grant'];
  const third = await server.call('deliver', { authorization }, { onProgress });
  expect(third.answer).toMatchObject({ result: 'ready', url: `${repository.pages.url}page.html` });

  // The token stays in the server's memory, for the same app.
  const other = await server.call('withdraw', { authorization });
  expect(other.answer.reason).toContain('no call of this tool waits for this `authorization`');
  const withdrawn = await server.call('withdraw', { url: `${repository.pages.url}page.html` });
  expect(withdrawn.answer.result).toBe('withdrawn');
  expect(scenario.world.traffic.exchanges(/login\/device\/code$/)).toHaveLength(1);
  expect(progress).not.toEqual([]);
  await expectNoSecret(server, [first, second, third, other, withdrawn, progress]);
  await server.close();
});

test('does not ask again after its user declined, and the file is not published elsewhere', async () => {
  const repository = await createRepository();
  const before = await repository.head();
  scenario.world.deviceUser.script = ['pending'];
  const flags = ['--repository', repository.fullName, '--client-id', CLIENT_ID];
  const server = await connectClient('2026', scenario.world, { decide: () => 'decline', flags });
  const page = { as: 'page', content: createPage(), name: 'page.html' };
  const { answer } = await server.call('deliver', page);
  const reports = [{ notReady: { step: 'authorize' } }];
  expect(answer).toMatchObject({ result: 'not-ready', url: '', reports });
  expect(scenario.world.traffic.exchanges(/filebin/)).toEqual([]);
  expect(await repository.head()).toBe(before);
  await server.close();
});

test.each(LINES)('can cancel a call, and the log reports what the call left (%s)', async (line) => {
  const repository = await scenario.repository();
  const env = { GITHUB_TOKEN: scenario.world.token() };
  const flags = ['--repository', repository.fullName];
  const server = await connectClient(line, scenario.world, { env, flags });
  const stop = new AbortController();
  const { arrived, release } = holdSite(repository);
  const call = server.call('deliver', PAGE, { signal: stop.signal });
  await arrived;
  stop.abort();
  await expect(call).rejects.toThrow();
  const ended = await waitForAnswer(server);
  expect(ended).toMatchObject({
    tool: 'deliver',
    canceled: true,
    answer: { result: 'not-ready', url: '', reports: [{ notReady: { code: 'ABORTED' } }] },
  });
  // The file is committed, and the answer says so.
  expect(await repository.read('page.html')).not.toBeNull();
  expect(JSON.stringify(ended)).toContain('the file is published');
  release();
  await server.close();
});

/** The site does not answer, so the call runs until it is stopped. */
function holdSite({ pages }: TestRepository) {
  const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  pages.beforeAnswer = () => {
    arrived.resolve();
    return released.promise;
  };
  return { arrived: arrived.promise, release: released.resolve };
}

/** The newest log line; the client gets no answer. */
async function waitForAnswer(server: ConnectedServer): Promise<unknown> {
  for (;;) {
    const ended = (await server.read('screen-delivery://answers')) as readonly unknown[];
    if (ended.length > 0) return ended.at(-1);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the process', () => {
  test('logs an invalid message without an answer, continues, and ends with stdin', async () => {
    const server = await startProcess(scenario.world);
    const before = ['hello', '7', '[]', '{"jsonrpc":"2.0","id":7,', '{"id":"a","method":"ping"}', '\r'];
    for (const line of [...before, 'x'.repeat(100_000)]) server.write(`${line}\n`);
    server.write(toLine(INITIALIZE));
    await server.answerTo(2);
    const wrong = [{ id: 7 }, { id: 7.5, method: 'ping' }, { id: 7, result: 'x' }, { id: 7, result: {} }];
    for (const message of wrong) server.write(toLine(message));
    server.write(toLine({ id: 8, method: 'nothing' }));
    server.write(toLine({ id: 3, method: 'tools/call', params: { name: 'check', arguments: { file: 7 } } }));
    server.write(toLine({ id: 4, method: 'tools/call', params: { name: 'none', arguments: {} } }));
    server.write(toLine({ id: 99, method: 'ping' }));
    expect(await server.answerTo(3)).toMatchObject({ result: { isError: true } });
    expect(await server.answerTo(4)).toMatchObject({ error: { code: -32602 } });
    expect(await server.answerTo(99)).toMatchObject({ result: {} });
    const refusals = server.messages().filter(({ id }) => ![2, 3, 4, 99].includes(Number(id)));
    expect(refusals).toMatchObject([{ id: 8, error: { code: -32601 } }]);
    expect(server.stderr()).toContain('screen-delivery: ');
    server.end();
    expect(await server.exitCode).toBe(0);
  });

  test('answers the running call after SIGTERM, and ends cleanly', async () => {
    const repository = await scenario.repository();
    const { arrived, release } = holdSite(repository);
    const env = { GITHUB_TOKEN: scenario.world.token() };
    const flags = ['--repository', repository.fullName];
    const server = await startProcess(scenario.world, { env, flags });
    server.write(toLine(INITIALIZE));
    const params = { name: 'deliver', arguments: { content: createPage(), name: 'page.html' } };
    server.write(toLine({ id: 3, method: 'tools/call', params }));
    await arrived;
    server.kill();
    const { result } = (await server.answerTo(3)) as { result: { structuredContent: unknown } };
    expect(result.structuredContent).toMatchObject({ reports: [{ notReady: { code: 'ABORTED' } }] });
    expect(await server.exitCode).toBe(0);
    release();
    expect(server.stderr()).toMatch(/^deliver 1.*: not-ready: the delivery was stopped/m);
  });
});

/** The client never gets the device codes and tokens of a flow. */
async function expectNoSecret(server: ConnectedServer, results: unknown): Promise<void> {
  const read = [await server.read('screen-delivery://answers'), server.stderr(), results];
  const polls = scenario.world.traffic.exchanges(/access_token$/);
  const codes = polls.map(({ body }) => new URLSearchParams(body.text).get('device_code') ?? '');
  expect(codes).not.toEqual([]);
  for (const secret of [...codes, ...scenario.world.deviceUser.tokens]) {
    expect(JSON.stringify(read)).not.toContain(secret);
  }
}
