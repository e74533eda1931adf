import { describe, expect, test } from '@jest/globals';
import type { TestRepository } from '../world/repository.ts';
import { connectClient } from './mcp-clients.ts';
import { INITIALIZE, startProcess, toLine } from './mcp-process.ts';
import { createPage, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

/** Lets a write arrive at the repository and holds its answer back. */
function holdWrite() {
  const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  scenario.intercept(
    { method: 'PUT', url: /contents/, times: 1 },
    {
      alter: async (real) => {
        arrived.resolve();
        await released.promise;
        return real;
      },
    },
  );
  return { arrived: arrived.promise, release: released.resolve };
}

const toDeliver = (repository: TestRepository, text: string) => ({
  content: createPage(text),
  name: 'page.html',
  repository: repository.fullName,
  channel: 'K1',
});

describe('a client that goes away while a page is being committed', () => {
  test.each(['closes stdin', 'closes stdout', 'cancels the call'])(
    '%s: the log says what is left',
    async (how) => {
      const repository = await scenario.repository();
      repository.pages.beforeAnswer = () => repository.pages.whenBuilt();
      const { arrived, release } = holdWrite();
      const server = await startProcess(scenario.world, { GITHUB_TOKEN: scenario.world.token() });
      server.write(toLine(INITIALIZE));
      const params = { name: 'deliver', arguments: toDeliver(repository, 'first') };
      server.write(
        toLine({ id: 3, method: 'tools/call', params: { ...params, _meta: { progressToken: 1 } } }),
      );
      await arrived;
      if (how === 'closes stdin') server.end();
      else if (how === 'closes stdout') {
        server.closeStdout();
        server.write(toLine({ id: 4, method: 'ping' }));
      } else server.write(toLine({ method: 'notifications/cancelled', params: { requestId: 3 } }));
      release();
      await server.logged(/^deliver 1.*: Not ready: page\.html: the delivery was stopped/m);
      expect(server.stderr()).toMatch(/it is placed \(commit \w+/);
      server.end();
      expect(await server.exitCode).toBe(0);
      expect((await repository.read('page.html'))?.toString()).toBe(createPage('first'));
    },
  );
});

test('of two calls for one path, the one whose page is there is ready, and the other says how it ended', async () => {
  const repository = await scenario.repository();
  repository.pages.beforeAnswer = () => repository.pages.whenBuilt();
  const env = { GITHUB_TOKEN: scenario.world.token() };
  const server = await connectClient('2026', scenario.world, { env });
  const texts = ['one', 'two'];
  const results = await Promise.all(texts.map((text) => server.call('deliver', toDeliver(repository, text))));
  const stored = (await repository.read('page.html'))?.toString();
  const kept = texts.findIndex((text) => stored === createPage(text));
  expect(kept).not.toBe(-1);
  expect(results[kept]?.answer.result).toBe('ready');
  for (const { answer } of results) expect(['ready', 'not-ready']).toContain(answer.result);
  await server.close();
});

describe('a process that gets what no client should send', () => {
  test('refuses other versions and broken messages, and goes on', async () => {
    const server = await startProcess(scenario.world);
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    server.write(toLine({ id: 9, method: 'tools/list', params: { _meta: meta } }));
    server.write(toLine({ ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: '1999-01-01' } }));
    const { result } = (await server.answerTo(2)) as { result: { protocolVersion: string } };
    expect(result.protocolVersion).toMatch(/^2025-/);
    const call = (id: number, args: string) =>
      server.write(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"check","arguments":${args}}}\n`,
      );
    call(3, `{"content":${deep},"name":"a.html"}`);
    call(4, '{"constructor":{"overwrite":true},"content":"x","name":"a.html"}');
    call(5, `{"content":${JSON.stringify('я'.repeat(3_000_000))},"name":"a.html"}`);
    call(6, '{"content":"<p>x</p>","name":"a.html"}');
    for (const id of [3, 4]) expect(await server.answerTo(id)).toMatchObject({ result: { isError: true } });
    expect(await server.answerTo(6)).toMatchObject({ result: { structuredContent: { result: 'planned' } } });
    call(7, JSON.stringify({ content: 'x'.repeat(40 * 1_048_576), name: 'a.html' }));
    expect(await server.answerTo(7)).toMatchObject({
      error: { message: expect.stringMatching(/longer than/) },
    });
    call(8, '{"content":"<p>x</p>","name":"a.html"}');
    expect(await server.answerTo(8)).toMatchObject({ result: { structuredContent: { result: 'planned' } } });
    server.end();
    expect(await server.exitCode).toBe(0);
  });

  /** What is wrong, and what is answered to it. */
  const WRONG: readonly (readonly [string, string, unknown, number])[] = [
    ['a text', 'hello\n', null, -32700],
    ['half a message', '{"jsonrpc":"2.0","id":7,\n', null, -32700],
    ['a number', '7\n', null, -32600],
    ['a batch', `[${toLine({ id: 7, method: 'ping' }).trim()}]\n`, null, -32600],
    ['no method', toLine({ id: 7 }), 7, -32600],
    ['a method that is no text', toLine({ id: 7, method: 1 }), 7, -32600],
    ['another version', toLine({ jsonrpc: '1.0', id: 7, method: 'ping' }), 7, -32600],
    ['no version', '{"id":"a","method":"ping"}\n', 'a', -32600],
    ['no id', toLine({ id: null, method: 'ping' }), null, -32600],
    ['half an id', toLine({ id: 7.5, method: 'ping' }), 7.5, -32600],
    ['an object as the id', toLine({ id: {}, method: 'ping' }), null, -32600],
    ['a further field', toLine({ id: 7, method: 'ping', more: 1 }), 7, -32600],
    ['a list as the params', toLine({ id: 7, method: 'ping', params: [] }), 7, -32600],
    ['a text as the params', toLine({ id: 7, method: 'tools/call', params: 'check' }), 7, -32600],
    ['nothing as the params', toLine({ id: 7, method: 'tools/list', params: null }), 7, -32600],
    ['a text as the meta fields', toLine({ id: 7, method: 'ping', params: { _meta: 'x' } }), 7, -32600],
    ['a method that nobody knows', toLine({ id: 7, method: 'nothing' }), 7, -32601],
  ];
  /** A notification with a list as its params or of another version, a broken answer, and one to nothing. */
  const UNANSWERED = [
    '\n\r\n',
    toLine({ method: 'notifications/initialized', params: [] }),
    toLine({ jsonrpc: '1.0', method: 'notifications/initialized' }),
    toLine({ id: 7, result: 'x' }),
    toLine({ id: 7, result: {} }),
  ];

  test.each([
    ['before it is opened', ''],
    ['after that', toLine(INITIALIZE)],
  ])('answers what is wrong %s, and nothing else, and goes on', async (_, opening) => {
    const server = await startProcess(scenario.world);
    server.write(opening);
    if (opening !== '') await server.answerTo(2);
    for (const [, line] of WRONG) server.write(line);
    if (opening !== '') for (const line of UNANSWERED) server.write(line);
    server.write(toLine({ id: 99, method: 'ping' }));
    expect(await server.answerTo(99)).toMatchObject({ result: {} });
    const answers: readonly { id?: unknown; error?: { code: number } }[] = server.messages();
    const refusals = answers.filter(({ id }) => id !== 99 && id !== 2);
    const expected = WRONG.map(([, , id, code]) => JSON.stringify([id, code]));
    const told = refusals.map(({ id, error }) => JSON.stringify([id, error?.code]));
    expect(told.sort()).toEqual(expected.sort());
    server.end();
    expect(await server.exitCode).toBe(0);
  });

  test('ends as wrong usage where it is started with a folder that does not exist', async () => {
    const server = await startProcess(scenario.world, {}, ['--root', '/no/such/folder']);
    expect(await server.exitCode).toBe(2);
    expect(server.stderr()).toMatch(/^the root is no folder .*`--root`/m);
    expect(server.stderr()).not.toMatch(/bug/);
  });
});
