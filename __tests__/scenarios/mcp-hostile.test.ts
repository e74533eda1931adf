import { describe, expect, test } from '@jest/globals';
import { INITIALIZE, startProcess, toLine } from './mcp-process.ts';
import { createPage, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

/** Lets a write arrive at the repository and holds its answer back. */
function holdWrite() {
  const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  scenario.meanwhile({ method: 'PUT', url: /contents/, times: 1 }, async () => {
    arrived.resolve();
    await released.promise;
  });
  return { arrived: arrived.promise, release: released.resolve };
}

const toDeliver = (text: string) => ({ content: createPage(text), name: 'page.html', path: 'page.html' });

describe('a client that goes away while a page is being committed', () => {
  test.each(['closes stdin', 'closes stdout'])('%s: the log names what stays published', async (how) => {
    const repository = await scenario.repository();
    repository.pages.beforeAnswer = () => repository.pages.whenBuilt();
    const { arrived, release } = holdWrite();
    const env = { GITHUB_TOKEN: scenario.world.token() };
    const flags = ['--repository', repository.fullName];
    const server = await startProcess(scenario.world, { env, flags });
    server.write(toLine(INITIALIZE));
    const params = { name: 'deliver', arguments: toDeliver('first') };
    server.write(toLine({ id: 3, method: 'tools/call', params: { ...params, _meta: { progressToken: 1 } } }));
    await arrived;
    if (how === 'closes stdin') server.end();
    else {
      server.closeStdout();
      server.write(toLine({ id: 4, method: 'ping' }));
    }
    release();
    await server.logged(/^deliver 1.*: not-ready: .*: the delivery was stopped/m);
    // The stop may come before the answer to the write.
    expect(server.stderr()).toContain('it may be public already');
    server.end();
    expect(await server.exitCode).toBe(0);
    expect((await repository.read('agent/page.html'))?.toString()).toBe(createPage('first'));
  });
});

describe('a process that gets invalid messages', () => {
  test('refuses other versions and broken messages, and continues', async () => {
    const server = await startProcess(scenario.world);
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    server.write(toLine({ id: 9, method: 'tools/list', params: { _meta: meta } }));
    server.write(toLine({ ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: '1999-01-01' } }));
    const { result } = (await server.answerTo(2)) as { result: { protocolVersion: string } };
    expect(result.protocolVersion).toMatch(/^2025-/);
    const call = (id: number, args: string) =>
      server.write(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"deliver","arguments":${args}}}\n`,
      );
    call(3, `{"content":${deep},"name":"a.html"}`);
    call(4, '{"constructor":{"overwrite":true},"content":"x","name":"a.html"}');
    call(5, `{"content":${JSON.stringify('я'.repeat(3_000_000))},"name":"a.html"}`);
    call(6, '{"content":"<p>x</p>","name":"a.html","path":null}');
    for (const id of [3, 4]) expect(await server.answerTo(id)).toMatchObject({ result: { isError: true } });
    expect(await server.answerTo(6)).toMatchObject({ result: { structuredContent: { result: 'planned' } } });
    call(7, JSON.stringify({ content: 'x'.repeat(40 * 1_048_576), name: 'a.html' }));
    expect(await server.answerTo(7)).toMatchObject({ result: { isError: true } });
    call(8, '{"content":"<p>x</p>","name":"a.html"}');
    // The first answer said what an upload means.
    expect(await server.answerTo(8)).toMatchObject({ result: { structuredContent: { result: 'ready' } } });
    server.end();
    expect(await server.exitCode).toBe(0);
  });
});
