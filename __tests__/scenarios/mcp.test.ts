import { describe, expect, test } from '@jest/globals';
import { DeployedSite } from '../world/hosts/deployed-site.ts';
import type { TestRepository } from '../world/repository.ts';
import { writeFiles } from '../world/runner.ts';
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
    expect(tools.map(({ name }) => name)).toEqual(['deliver', 'verify', 'withdraw', 'audit', 'list']);
    for (const tool of tools) {
      expect(tool).toMatchObject({ title: expect.any(String), outputSchema: { type: 'object' } });
    }
    const to = { as: 'page' };
    const page = `${repository.pages.url}agent/page.html`;

    const refused = await server.call('deliver', { ...to, file: 'page.html' });
    expect(refused).toMatchObject({ isError: true, answer: { result: 'not-ready' } });
    expect(refused.answer.url).toBeUndefined();
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
    expect(JSON.parse(delivered.text)).toEqual(delivered.answer);
    // Clients read both.
    expect(JSON.stringify(delivered).length).toBeLessThan(1_500);
    const report = await server.read(delivered.answer.report);
    expect(report).toMatchObject({ url: page, reports: [{ lines: { RESULT: `ГОТОВО → ${page}` } }] });
    // Without a path, at a new path.
    const own = new RegExp(`^${repository.pages.url}agent/[0-9a-f]{8}/second\\.html$`);
    expect(second.answer).toMatchObject({ result: 'ready', url: expect.stringMatching(own) });
    expect(second.answer.say).toMatch(
      `It is ready: ${second.answer.url}\nIt is public: anyone with the link can open it as a page.`,
    );
    expect((await repository.read('agent/page.html'))?.toString()).toBe(createPage());
    expect(progress).toEqual(expect.arrayContaining(['Check page.html', 'Authorize', 'Plan']));
    expect(progress.length).toBeLessThanOrEqual(10);

    const verified = await server.call('verify', { url: page, content: createPage(), name: 'page.html' });
    expect(verified.answer).toMatchObject({ result: 'ready', url: page });

    const site = new DeployedSite({ 'index.html': createPage(), 'b.css': '' });
    scenario.world.host('site.deployed.dev', site.answer);
    const deployed = { url: 'https://site.deployed.dev/index.html', file: 'dist/', entry: 'index.html' };
    const proven = await server.call('verify', deployed);
    expect(proven.answer).toMatchObject({ result: 'ready', url: deployed.url });

    const withdrawn = await server.call('withdraw', { url: page });
    expect(withdrawn.answer).toMatchObject({ result: 'withdrawn', reason: 'agent/page.html is removed' });
    expect(await repository.read('agent/page.html')).toBeNull();
    const nothing = await server.call('withdraw', { url: page });
    expect(nothing.answer.result).toBe('withdrawn');
    expect(nothing.answer.reason).toBe('there was nothing to remove at agent/page.html');

    await repository.commit('others.html', createPage('of somebody else'));
    const { answer } = await server.call('withdraw', { url: `${repository.pages.url}others.html` });
    expect(`${answer.code}: ${answer.hint}`).toBe('NOT_OURS: leave it there');

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
    expect(delivered.answer).toMatchObject({
      result: 'ready',
      url: `${repository.pages.url}agent/page.html`,
    });
    const listed = await server.call('list', { path: 'agent/page.html' });
    expect(listed.answer).toMatchObject({ result: 'listed', deliveries: [{ path: 'agent/page.html' }] });
    expect(listed.answer.say).toBe('I found 1 delivery below agent/page.html; nothing was verified.');
    expect(listed.answer.url).toBeUndefined();
    const message = expect.stringMatching(/code [A-Z]{4}-[A-Z]{4}$/);
    expect(asked).toMatchObject([{ url: 'https://github.com/login/device', message }]);
    await expectNoSecret(server, [delivered, asked]);
    await server.close();
  });
});

test.each(LINES)(
  "gets a code, and continues with the same call, if it can't ask its user (%s)",
  async (line) => {
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
    const { result, url, authorization: asked, code } = first.answer;
    const page = 'https://github.com/login/device';
    expect([result, url, asked?.page, code]).toEqual([
      ...['authorization_required', undefined, page, 'AUTHORIZATION_REQUIRED'],
    ]);
    expect(asked?.userCode).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
    const { userCode } = asked ?? {};

    // The person takes longer than a call may take: the answer has the same code, and nothing is lost.
    const second = await server.call('deliver', PAGE);
    expect(second.answer).toMatchObject({
      result: 'authorization_required',
      authorization: { userCode, page },
    });
    deviceUser.script = ['grant'];
    const third = await server.call('deliver', PAGE, { onProgress });
    expect(third.answer).toMatchObject({ result: 'ready', url: `${repository.pages.url}agent/page.html` });

    // The token stays in the server's memory, for the same app.
    const withdrawn = await server.call('withdraw', { url: `${repository.pages.url}agent/page.html` });
    expect(withdrawn.answer.result).toBe('withdrawn');
    expect(scenario.world.traffic.exchanges(/login\/device\/code$/)).toHaveLength(1);
    expect(progress).not.toEqual([]);
    await expectNoSecret(server, [first, second, third, withdrawn, progress]);
    await server.close();
  },
);

test('does not ask again after its user declined, and the file is not published elsewhere', async () => {
  const repository = await createRepository();
  const before = await repository.head();
  scenario.world.deviceUser.script = ['pending'];
  const flags = ['--repository', repository.fullName, '--client-id', CLIENT_ID];
  const server = await connectClient('2026', scenario.world, { decide: () => 'decline', flags });
  const page = { as: 'page', content: createPage(), name: 'page.html' };
  const { answer } = await server.call('deliver', page);
  expect([answer.result, answer.url, answer.code]).toEqual(['not-ready', undefined, 'NOT_AUTHORIZED']);
  expect(scenario.world.traffic.exchanges(/filebin/)).toEqual([]);
  expect(await repository.head()).toBe(before);
  await server.close();
});

describe('what a server delivered', () => {
  test('goes to a place of its own, is corrected there, and is known while a cache is late', async () => {
    const repository = await createRepository();
    const files = { 'a/index.html': createPage('a'), 'b/index.html': createPage('b'), 'a.zip': 'PK 1' };
    const env = { GITHUB_TOKEN: scenario.world.token() };
    const server = await connectClient('2025', scenario.world, {
      ...{ files, env, flags: ['--repository', repository.fullName] },
    });
    const deliver = async (args: object) => (await server.call('deliver', { ...args })).answer;
    const [first, second, zip] = [
      await deliver({ file: 'a' }),
      await deliver({ file: 'b' }),
      await deliver({ file: 'a.zip' }),
    ];
    expect(first.url).toMatch(/\/agent\/[0-9a-f]{8}\/a\/$/);
    expect(zip).toMatchObject({ opens: 'download', url: expect.stringMatching(/\/a-[0-9a-f]{8}\.zip$/) });
    expect(await repository.read('index.html')).toBeNull();
    repository.pages.purges = false;
    await writeFiles(server.folder, { 'a/index.html': createPage('corrected'), 'a.zip': 'PK 22' });
    const corrected = await deliver({ file: './a/' });
    expect(corrected).toMatchObject({ result: 'ready', replaced: true });
    expect(corrected.url?.replace(/\?v=.*/, '')).toBe(first.url);
    expect(await deliver({ file: 'a.zip' })).toMatchObject({ result: 'ready', replaced: true, url: zip.url });
    for (const [tool, args] of [
      ['verify', { url: first.url, marker: 'corrected' }],
      ['verify', { url: corrected.url, file: 'a' }],
      ['audit', { path: `${new URL(first.url ?? '').pathname.split('/').slice(2).join('/')}` }],
    ] as const) {
      const { answer } = await server.call(tool, args);
      expect([tool, answer.result]).toEqual([tool, tool === 'audit' ? 'audited' : 'ready']);
      const until = /until 2\d+-\d\d-\d\d \d\d:\d\d UTC, .* may still show the previous version/;
      const isShown = tool === 'audit' || (/\?v=/.test(answer.url ?? '') && until.test(answer.say));
      expect([tool, answer.say, isShown]).toEqual([tool, answer.say, true]);
    }
    expect((await server.call('verify', { url: first.url, marker: 'a second' })).answer.result).toBe(
      'not-ready',
    );
    const { answer: none } = await server.call('audit', { path: 'nope/' });
    expect([none.say, none.hint]).toEqual([
      'I found no delivery at nope/.',
      'use the tool list to see what was delivered',
    ]);
    // Its own deliveries need no content, and the text of a page is compared with the page.
    const plan = { content: '# Plan\n\nHello\n', name: 'plan.md' };
    const { url } = await deliver(plan);
    for (const args of [{ url }, { url, ...plan }, { url: zip.url }, { url: second.url }]) {
      const { answer } = await server.call('verify', args);
      expect([answer.say, answer.result]).toEqual([expect.stringMatching(/^I checked the link/), 'ready']);
    }
    const edited = await server.call('verify', { url, ...plan, content: '# Another\n' });
    expect(edited.answer.say).toMatch(/^I couldn't confirm the link: .*other content/);
    expect((await server.call('withdraw', { url })).answer.result).toBe('withdrawn');
    const gone = await server.call('verify', { url, timeout: 1 });
    expect(gone.answer.say).toMatch(/^I couldn't confirm the link: /);
    expect((await server.call('verify', { url: 'https://other.example.dev/' })).answer.code).toBe(
      'BAD_INPUT',
    );
    const untouched = await server.call('verify', { url: second.url, file: 'b' });
    expect(untouched.answer).toMatchObject({ result: 'ready', url: second.url });
    await server.close();
  });

  test('on the public bin was announced, and is taken back by its URL, whatever became of its file', async () => {
    const files = { 'a.html': createPage() };
    const server = await connectClient('2026', scenario.world, { files });
    const announced = await server.call('deliver', { file: 'a.html' });
    expect(announced.answer).toMatchObject({
      result: 'planned',
      hint: expect.stringMatching(/^ask your human/),
    });
    expect(announced.answer.say).toMatch(/^Nothing is uploaded yet\. .*public file-bin/);
    expect(scenario.world.traffic.exchanges(/filebin/).filter(({ method }) => method === 'POST')).toEqual([]);
    const { answer } = await server.call('deliver', { file: 'a.html' });
    expect(answer).toMatchObject({
      result: 'ready',
      opens: 'download',
      expires: expect.stringMatching(/^2/),
    });
    await writeFiles(server.folder, { 'a.html': createPage('edited since') });
    const { url } = answer;
    // Another server can't know whose file it is.
    const other = await connectClient('2026', scenario.world, { files });
    const refused = await other.call('withdraw', { url });
    expect(refused.answer.code).toBe('NOT_OURS');
    expect(JSON.stringify(refused)).not.toMatch(/overwrite/);
    expect((await server.call('withdraw', { url })).answer.result).toBe('withdrawn');
    await server.close();
    await other.close();
  });
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
    result: 'not-ready',
    say: expect.stringMatching(/^There is no link .* I can remove it\. It may be at https:\/\/\S+$/),
    hint: expect.stringMatching(/^to remove it, call `withdraw` with the `url` https:\/\/\S+$/),
  });
  release();
  // The file is committed, and what the answer says removes it.
  expect(await repository.read('agent/page.html')).not.toBeNull();
  const [url] = /https:\S+$/.exec((ended as { hint: string }).hint) ?? [];
  expect((await server.call('withdraw', { url })).answer.result).toBe('withdrawn');
  expect(await repository.read('agent/page.html')).toBeNull();
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
    server.write(
      toLine({ id: 3, method: 'tools/call', params: { name: 'deliver', arguments: { file: 7 } } }),
    );
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
    expect(result.structuredContent).toMatchObject({ code: 'ABORTED' });
    expect(await server.exitCode).toBe(0);
    release();
    expect(server.stderr()).toMatch(/^deliver 1.*: not-ready: .*: the delivery was stopped/m);
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
