import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { ServerContext } from '@modelcontextprotocol/server';
import '../support/one-realm.ts';
import { createRedactor } from '../../src/credentials.ts';
import { DeliveryError } from '../../src/errors.ts';
import { createCallLogger } from '../../src/mcp/call-log.ts';
import { McpSession, type ToolCall } from '../../src/mcp/session.ts';
import { MCP } from '../../src/protocol/limits.ts';
import { captureOutput } from '../cli/terminals.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeClock, fakePorts } from '../support/ports.ts';

// The log of the server goes to stderr.
const output = captureOutput();

const SECRET = 'ghp_AbCd0123';
const CALL: ToolCall = {
  tool: 'deliver',
  args: { content: '<p>x</p>', name: 'a.html' },
  isDeclined: false,
};

/** A session whose host never answers, and the context of a client's call. */
async function setUp(progressToken?: string) {
  const requested = Promise.withResolvers<void>();
  const stop = new AbortController();
  let requests = 0;
  const ports = fakePorts((request) => {
    requests += 1;
    requested.resolve();
    // What is sent to clean up after the call was stopped gets no answer either.
    if (stop.signal.aborted) throw new DeliveryError('CONNECTION', 'the connection was closed');
    const stopped = Promise.withResolvers<never>();
    request.signal?.addEventListener('abort', () => stopped.reject(request.signal?.reason));
    return stopped.promise;
  });
  const root = await temporaryFolder();
  const redactor = createRedactor();
  redactor.addSecret(SECRET);
  const settings = {
    root,
    fixed: { 'allow-public-bin': 'true' },
    token: '',
    secrets: [{ name: 'DB_SECRET', value: SECRET }],
    env: {},
    redactor,
  };
  const session = new McpSession(settings, ports);
  const sent: { readonly progress: number; readonly message: string }[] = [];
  const context = {
    mcpReq: {
      _meta: progressToken === undefined ? {} : { progressToken },
      signal: stop.signal,
      notify: async ({ params }: { params: { progress: number; message: string } }) => void sent.push(params),
    },
  } as unknown as ServerContext;
  return { context, session, stop, sent, countRequests: () => requests, requested: requested.promise };
}

test('a root that is no folder is named', async () => {
  const root = join(await temporaryFolder(), 'pages');
  const settings = { root, fixed: {}, token: '', secrets: [], env: {}, redactor: createRedactor() };
  const ports = fakePorts(() => Promise.reject());
  expect(() => new McpSession(settings, ports)).toThrow(`the root ${root} can't be read as a folder`);
});

describe('a call that the client cancels', () => {
  test('with any reason is stopped, not broken', async () => {
    const { context, session, stop, requested } = await setUp();
    const call = session.run(CALL, context);
    await requested;
    stop.abort('any text');
    await expect(call).resolves.toMatchObject({ code: 'ABORTED' });
    expect(session.ended).toMatchObject([
      { tool: 'deliver', canceled: true, answer: { result: 'not-ready' } },
    ]);
    expect(output.stderr).toMatch(
      /^deliver 1, canceled: not-ready: There is no link to give you, but it may be public already: /m,
    );
  });

  test('before it began sends nothing', async () => {
    const { context, session, stop, countRequests } = await setUp();
    stop.abort('early');
    await expect(session.run(CALL, context)).resolves.toMatchObject({ result: 'not-ready' });
    expect(countRequests()).toBe(0);
  });
});

test('more calls at once than allowed are refused, and what is under way can be waited for', async () => {
  const { context, stop, session } = await setUp();
  const calls = Array.from({ length: MCP.calls + 1 }, () => session.run(CALL, context));
  await expect(calls.at(-1)).resolves.toMatchObject({ code: 'RATE_LIMITED' });
  stop.abort();
  await session.settle();
  expect(session.ended).toHaveLength(MCP.calls + 1);
});

test('only the last answers are kept', async () => {
  const { context, session } = await setUp();
  for (let count = 0; count < MCP.answers + 2; count += 1) {
    await session.run({ ...CALL, args: { name: `${count}` } }, context);
  }
  const paths = session.ended.map(({ document }) => document.reports[0]?.file?.path);
  expect([paths.length, paths.at(-1)]).toEqual([MCP.answers, `${MCP.answers + 1}`]);
});

describe('progress', () => {
  test('is sent with a growing number and without secrets, where the client asked for it', async () => {
    const { context, session, sent } = await setUp('p1');
    await session.run({ ...CALL, args: { file: 'absent.html' } }, context);
    await session.run({ ...CALL, args: { file: `${SECRET}.html` } }, context);
    expect(sent.length).toBeGreaterThan(0);
    const restart = sent.findLastIndex(({ progress }) => progress === 1);
    for (const call of [sent.slice(0, restart), sent.slice(restart)]) {
      expect(call.map(({ progress }) => progress)).toEqual(call.map((_, at) => at + 1));
    }
    expect(`${JSON.stringify(sent)}${output.stderr}`).not.toContain(SECRET);
    expect(output.stdout).toBe('');
  });

  test.each([
    ['where it did not ask for it', undefined, false],
    ['to a client that does not read', 'p1', true],
  ])('is not sent %s', async (_, token, isFull) => {
    Object.defineProperty(process.stdout, 'writableNeedDrain', { configurable: true, value: isFull });
    const { context, session, sent } = await setUp(token);
    await session.run({ ...CALL, args: { file: 'absent.html' } }, context);
    Reflect.deleteProperty(process.stdout, 'writableNeedDrain');
    expect(sent).toEqual([]);
  });
});

test('every line of the log goes to stderr, on one line and without secrets', () => {
  const sent: string[] = [];
  const logger = createCallLogger(
    'deliver 1',
    createRedactor(),
    new FakeClock(),
    (line) => void sent.push(line),
  );
  logger.mask(SECRET);
  logger.startSection('Check a.html');
  logger.info(`the token ${SECRET}`);
  logger.warning('two\nlines\u001b[2J\u202e');
  logger.debug('for the person who runs the server');
  const lines = ['Check a.html', 'the token ***', 'warning: two lines [2J\\u202e'];
  // A client gets the steps.
  expect(sent).toEqual(['Check a.html']);
  lines.push('for the person who runs the server');
  expect(output.stderr).toBe(lines.map((line) => `deliver 1: ${line}\n`).join(''));
  expect(output.stdout).toBe('');
});
