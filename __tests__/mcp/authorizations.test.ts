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
  let codes = 0;
  let polls = 0;
  const host = new FakeHttp(({ url }) => {
    if (url.endsWith('/login/device/code')) {
      codes += 1;
      return {
        body: { device_code: `secret-${codes}`, user_code: `ABCD-000${codes}`, interval: 5, expires_in: 899 },
      };
    }
    polls += 1;
    return answers[Math.min(polls, answers.length) - 1];
  });
  const ports = fakePorts(host.http);
  const clock = new SimulatedClock();
  const authorizations = new PersonAuthorizations({ ...ports, clock });
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
  return { ports, clock, authorizations, find, asked, authorize, host, counts: () => ({ codes, polls }) };
}

describe('a person', () => {
  test('is shown a code at once, and a call with the handle gets the token', async () => {
    const { asked, authorize, find, ports, counts } = createFlow(PENDING, GRANTED);
    await expect(authorize()).resolves.toBeNull();
    expect(counts()).toEqual({ codes: 1, polls: 0 });
    const [{ handle } = { handle: '' }] = asked;
    expect(asked).toEqual([
      {
        userCode: 'ABCD-0001',
        page: 'https://github.com/login/device',
        handle,
        expiresIn: expect.any(Number),
      },
    ]);
    expect(JSON.stringify(asked)).not.toContain('secret');
    expect(find(handle)).toEqual({ file: 'a.html' });
    await expect(authorize({ handle })).resolves.toBe(TOKEN);
    // Later calls need no person.
    await expect(authorize()).resolves.toBe(TOKEN);
    expect(counts()).toEqual({ codes: 1, polls: 2 });
    expect(ports.logger.masked).toEqual(['secret-1', TOKEN]);
  });

  test('who needs long is waited for in several calls, while the host is polled in the pace that it asks for', async () => {
    const slow: Scripted = { body: { error: 'slow_down' } };
    const pending = Array.from({ length: 9 }, () => PENDING);
    const { asked, authorize, clock, counts } = createFlow(PENDING, slow, ...pending, GRANTED);
    await authorize();
    const handle = asked[0]?.handle;
    const began = clock.now();
    await expect(authorize({ handle })).resolves.toBeNull();
    expect(clock.now() - began).toBeGreaterThanOrEqual(MCP.authorization);
    expect(clock.now() - began).toBeLessThan(MCP.authorization + 10_000);
    await expect(authorize({ handle })).resolves.toBeNull();
    await expect(authorize({ handle })).resolves.toBe(TOKEN);
    // A poll after 5 s, and ten after 10 s each.
    expect([clock.now() - began, counts()]).toEqual([105_000, { codes: 1, polls: 12 }]);
    expect(new Set(asked.map(({ userCode }) => userCode))).toEqual(new Set(['ABCD-0001']));
  });

  test('enters one code for several calls, also at the same moment, and the host is polled once', async () => {
    const { asked, authorize, counts } = createFlow(PENDING, GRANTED);
    await Promise.all([authorize(), authorize()]);
    const [one, other] = asked;
    expect(one?.userCode).toBe(other?.userCode);
    expect(one?.handle).not.toBe(other?.handle);
    const tokens = await Promise.all(asked.map(({ handle }) => authorize({ handle })));
    expect(tokens).toEqual([TOKEN, TOKEN]);
    expect(counts()).toEqual({ codes: 1, polls: 2 });
  });

  test('who refused is shown a new code by the other call, and not waited for', async () => {
    const { asked, authorize, counts } = createFlow({ body: { error: 'access_denied' } });
    await authorize();
    await authorize();
    const [one, other] = asked.map(({ handle }) => handle);
    await expect(authorize({ handle: one })).rejects.toMatchObject({ code: 'NOT_AUTHORIZED' });
    await expect(authorize({ handle: other })).resolves.toBeNull();
    expect(asked.at(-1)).toMatchObject({ userCode: 'ABCD-0002', handle: other });
    expect(counts()).toEqual({ codes: 2, polls: 1 });
  });
});

test('a canceled call leaves the code to the next one, whether it waited for the code or the person', async () => {
  const { asked, authorize, counts, host } = createFlow(PENDING, GRANTED);
  const other = fakePorts(host.http);
  other.stop.abort();
  const [canceled, first] = await Promise.allSettled([authorize({}, other), authorize()]);
  expect([canceled.status, first, asked.length]).toEqual([
    'rejected',
    { status: 'fulfilled', value: null },
    1,
  ]);
  const handle = asked[0]?.handle;
  await expect(authorize({ handle }, other)).rejects.toBeDefined();
  await expect(authorize({ handle })).resolves.toBe(TOKEN);
  expect(counts().codes).toBe(1);
});

test('a token that the host does not accept any more is asked for again', async () => {
  const { asked, authorize, authorizations, counts } = createFlow(GRANTED);
  await authorize();
  await authorize({ handle: asked[0]?.handle });
  authorizations.forget(TOKEN);
  await expect(authorize()).resolves.toBeNull();
  expect(counts().codes).toBe(2);
});

test('only so many apps are polled for at once', async () => {
  const { authorizations, ports, clock, counts } = createFlow(PENDING);
  const call = { tool: 'deliver', args: {}, handle: undefined, isDeclined: false } as const;
  const ask = (app: number) =>
    authorizations.authorize(call, { ...OPTIONS, clientId: `app-${app}` }, { ...ports, clock });
  for (let app = 0; app <= MCP.waiting; app += 1) await ask(app);
  await ask(MCP.waiting);
  expect(counts().codes).toBe(MCP.waiting + 1);
  // The first one was given up.
  await ask(0);
  expect(counts().codes).toBe(MCP.waiting + 2);
});

describe('a handle', () => {
  test('is refused if it is unknown, expired, of another tool, or given with other arguments', async () => {
    const { asked, authorize, find, clock } = createFlow(GRANTED);
    await authorize();
    const handle = asked[0]?.handle;
    expect(find(handle)).toEqual({ file: 'a.html' });
    expect(find(handle, { args: { file: 'a.html' } })).toEqual({ file: 'a.html' });
    expect(() => find('other')).toThrow(/no handle of a call/);
    expect(() => find(handle, { tool: 'withdraw' })).toThrow(/no handle of a call/);
    expect(() => find(handle, { args: { file: 'b.html' } })).toThrow(/a call with other arguments/);
    // A client that gave up during the delivery may go on with it.
    await authorize({ handle });
    expect(find(handle)).toEqual({ file: 'a.html' });
    await clock.advance(899_000);
    expect(() => find(handle)).toThrow(/no handle of a call/);
  });

  test('is forgotten when many others wait', async () => {
    const { asked, authorize, find } = createFlow(PENDING);
    for (let count = 0; count <= MCP.waiting; count += 1) await authorize();
    const [first, second] = asked.map(({ handle }) => handle);
    expect(() => find(first)).toThrow(/no handle/);
    expect(find(second)).toBeDefined();
  });
});
