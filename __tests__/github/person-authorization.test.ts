import { describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { PersonAuthorization } from '../../src/github/person-authorization.ts';
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
  const authorization = new PersonAuthorization({ ...ports, clock });
  const authorize = (own: FakePorts = ports) => authorization.authorize(OPTIONS, own);
  return { ports, clock, authorization, authorize, host, counts };
}

const page = 'https://github.com/login/device';
const CODE = { userCode: 'ABCD-0001', page };

describe('a person', () => {
  test('is shown a code at once, and the next call gets the token', async () => {
    const { authorize, ports, counts } = createFlow(PENDING, GRANTED);
    expect(await authorize()).toEqual(CODE);
    expect(counts.polls).toBe(0);
    expect(await authorize()).toBe(TOKEN);
    // Later calls need no person.
    expect(await authorize()).toBe(TOKEN);
    expect(counts).toEqual({ codes: 1, polls: 2 });
    expect(ports.logger.masked).toEqual(['secret-1', TOKEN]);
  });

  test('who needs long is waited for in several calls, and the host is asked in its own pace, by these alone', async () => {
    const slow: Scripted = { body: { error: 'slow_down' } };
    const { authorize, clock, counts } = createFlow(PENDING, slow, ...Array(4).fill(PENDING), GRANTED);
    await authorize();
    const began = clock.now();
    expect(await authorize()).toEqual(CODE);
    const waited = clock.now() - began;
    expect([waited <= MCP.authorization, waited > MCP.authorization / 2]).toEqual([true, true]);
    await clock.advance(100_000);
    // Two after 5 s, and two after 10 s each.
    expect(counts).toEqual({ codes: 1, polls: 4 });
    expect(await authorize()).toBe(TOKEN);
    expect(clock.now() - began).toBe(waited + 100_000 + 30_000);
  });

  test('is shown one code by all calls, and all of them get its token', async () => {
    const { authorize, counts } = createFlow(GRANTED);
    const asked = await Promise.all([authorize(), authorize()]);
    expect(asked).toEqual([CODE, TOKEN]);
    expect(await Promise.all([authorize(), authorize()])).toEqual([TOKEN, TOKEN]);
    expect(counts).toEqual({ codes: 1, polls: 1 });
  });

  test('who refuses on the page of the host, declines to open it, or is late is not waited for any more', async () => {
    const { authorize, authorization, clock, counts } = createFlow({ body: { error: 'access_denied' } });
    await authorize();
    await expect(authorize()).rejects.toMatchObject({ code: 'NOT_AUTHORIZED' });
    expect(await authorize()).toEqual({ userCode: 'ABCD-0002', page });
    expect(() => authorization.decline()).toThrow('the person declined the authorization');
    expect(await authorize()).toEqual({ userCode: 'ABCD-0003', page });
    await clock.advance(899_000);
    await expect(authorize()).rejects.toMatchObject({ code: 'NOT_AUTHORIZED' });
    expect(await authorize()).toEqual({ userCode: 'ABCD-0004', page });
    expect(counts.polls).toBe(1);
  });
});

test('a canceled call leaves its code to the next one', async () => {
  const { authorize, counts, host } = createFlow(PENDING, GRANTED);
  await authorize();
  const canceled = fakePorts(host.http);
  canceled.stop.abort();
  await expect(authorize(canceled)).rejects.toBeDefined();
  await expect(authorize()).resolves.toBe(TOKEN);
  expect(counts.codes).toBe(1);
});

test('a token that the host does not accept any more is asked for again', async () => {
  const { authorize, authorization, counts } = createFlow(GRANTED);
  await authorize();
  await authorize();
  authorization.forget(TOKEN);
  expect(await authorize()).toEqual({ userCode: 'ABCD-0002', page });
  expect(counts.codes).toBe(2);
});
