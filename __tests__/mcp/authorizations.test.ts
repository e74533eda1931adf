import { describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { PersonAuthorizations, type PersonRequest, type ToolCall } from '../../src/mcp/authorizations.ts';
import { MCP } from '../../src/protocol/limits.ts';
import { SimulatedClock } from '../faults/simulated-clock.ts';
import { FakeHttp, type FakePorts, fakePorts, type Scripted } from '../support/ports.ts';

const TOKEN = 'gho_Abcdefghijklmnop0123';
const OPTIONS = { authUrl: new URL('https://github.com'), clientId: 'Iv1.0123456789abcdef' };
const PENDING: Scripted = { body: { error: 'authorization_pending' } };
const GRANTED: Scripted = { body: { access_token: TOKEN, scope: 'repo' } };

/** A host that answers the polls in this order; the last answer is repeated. */
function createFlow(...answers: readonly Scripted[]) {
  const counts = { codes: 0, polls: 0 };
  const host = new FakeHttp(({ url }) => {
    if (url.endsWith('/login/device/code')) {
      counts.codes += 1;
      const codes = { device_code: `secret-${counts.codes}`, user_code: `ABCD-000${counts.codes}` };
      return { body: { ...codes, interval: 5, expires_in: 899 } };
    }
    counts.polls += 1;
    return answers[Math.min(counts.polls, answers.length) - 1];
  });
  const ports = fakePorts(host.http);
  const clock = new SimulatedClock();
  const authorizations = new PersonAuthorizations();
  const asked: PersonRequest[] = [];
  const callWith = (more: Partial<ToolCall>): ToolCall => ({
    ...{ tool: 'deliver', args: { file: 'a.html' }, handle: undefined, isDeclined: false },
    ...more,
  });
  /** The token, or `null` where a person was asked. */
  const authorize = async (call: Partial<ToolCall> = {}, own: FakePorts = ports): Promise<string | null> => {
    const result = await authorizations.authorize(callWith(call), OPTIONS, { ...own, clock });
    if (typeof result === 'string') return result;
    asked.push(result);
    return null;
  };
  const find = (handle = '', more: Partial<ToolCall> = {}) =>
    authorizations.findArguments(callWith({ args: {}, handle, ...more }), clock);
  return { ports, clock, authorizations, find, asked, authorize, host, counts };
}

describe('a person', () => {
  test('is shown a code at once, and a call with the handle gets the token', async () => {
    const { asked, authorize, find, ports, counts } = createFlow(PENDING, GRANTED);
    await expect(authorize()).resolves.toBeNull();
    const [{ handle } = { handle: '' }] = asked;
    const page = 'https://github.com/login/device';
    expect(asked).toEqual([{ userCode: 'ABCD-0001', page, handle }]);
    expect(find(handle)).toEqual({ file: 'a.html' });
    await expect(authorize({ handle })).resolves.toBe(TOKEN);
    // Later calls need no person.
    await expect(authorize()).resolves.toBe(TOKEN);
    expect(counts).toEqual({ codes: 1, polls: 2 });
    expect(ports.logger.masked).toEqual(['secret-1', TOKEN]);
  });

  test('who needs long is waited for in several calls, and the host is asked in its own pace, by these alone', async () => {
    const slow: Scripted = { body: { error: 'slow_down' } };
    const { asked, authorize, clock, counts } = createFlow(PENDING, slow, ...Array(4).fill(PENDING), GRANTED);
    await authorize();
    const handle = asked[0]?.handle;
    const began = clock.now();
    await expect(authorize({ handle })).resolves.toBeNull();
    const waited = clock.now() - began;
    expect([waited <= MCP.authorization, waited > MCP.authorization / 2]).toEqual([true, true]);
    await clock.advance(100_000);
    // Two after 5 s, and two after 10 s each.
    expect(counts).toEqual({ codes: 1, polls: 4 });
    await expect(authorize({ handle })).resolves.toBe(TOKEN);
    expect(clock.now() - began).toBe(waited + 100_000 + 30_000);
  });

  test('enters the code of one of several calls, and the others get the token as well', async () => {
    const { asked, authorize, counts } = createFlow(GRANTED);
    await Promise.all([authorize(), authorize()]);
    expect(new Set(asked.map(({ userCode }) => userCode)).size).toBe(2);
    for (const { handle } of asked) await expect(authorize({ handle })).resolves.toBe(TOKEN);
    expect(counts).toEqual({ codes: 2, polls: 1 });
    // Who declines one of them gets nothing published by it.
    await expect(authorize({ isDeclined: true })).rejects.toMatchObject({ code: 'NOT_AUTHORIZED' });
  });

  test.each([
    ['refuses on the page of the host', { body: { error: 'access_denied' } }, false, 1],
    ['declines to open it', PENDING, true, 0],
  ])('who %s is not waited for any more', async (_, answer, isDeclined, polls) => {
    const { asked, authorize, find, counts } = createFlow(answer);
    await authorize();
    const handle = asked[0]?.handle;
    await expect(authorize({ handle, isDeclined })).rejects.toMatchObject({ code: 'NOT_AUTHORIZED' });
    expect(() => find(handle)).toThrow(/no call of this tool waits/);
    expect(counts.polls).toBe(polls);
  });
});

test('a canceled call leaves its code to the next one', async () => {
  const { asked, authorize, counts, host } = createFlow(PENDING, GRANTED);
  await authorize();
  const handle = asked[0]?.handle;
  const canceled = fakePorts(host.http);
  canceled.stop.abort();
  await expect(authorize({ handle }, canceled)).rejects.toBeDefined();
  await expect(authorize({ handle })).resolves.toBe(TOKEN);
  expect(counts.codes).toBe(1);
});

test('a token that the host does not accept any more is asked for again', async () => {
  const { asked, authorize, authorizations, counts } = createFlow(GRANTED);
  await authorize();
  await authorize({ handle: asked[0]?.handle });
  authorizations.forget(TOKEN);
  await expect(authorize()).resolves.toBeNull();
  expect(counts.codes).toBe(2);
});

describe('a handle', () => {
  test('is refused if it is unknown, expired, of another tool, or given with other arguments', async () => {
    const { asked, authorize, find, clock } = createFlow(GRANTED);
    await authorize();
    const handle = asked[0]?.handle;
    expect(find(handle, { args: { file: 'a.html' } })).toEqual({ file: 'a.html' });
    expect(() => find('other')).toThrow(/^no call of this tool waits for this `authorization`/);
    expect(() => find(handle, { tool: 'withdraw' })).toThrow(/no call of this tool waits/);
    expect(() => find(handle, { args: { file: 'b.html' } })).toThrow(/a call with other arguments/);
    // A client that gave up during the delivery may go on with it.
    await authorize({ handle });
    expect(find(handle)).toEqual({ file: 'a.html' });
    await clock.advance(899_000);
    expect(() => find(handle)).toThrow(/no call of this tool waits/);
  });

  test('is forgotten when many others wait', async () => {
    const { asked, authorize, find } = createFlow(PENDING);
    for (let count = 0; count <= MCP.waiting; count += 1) await authorize();
    const [first, second] = asked.map(({ handle }) => handle);
    expect(() => find(first)).toThrow(/no call of this tool waits/);
    expect(find(second)).toBeDefined();
  });
});
