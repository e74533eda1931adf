import '../support/one-realm.ts';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../src/errors.ts';
import { authorizeDevice } from '../../src/github/device-flow.ts';
import { FakeHttp, fakePorts, type Scripted, type Seen } from '../support/ports.ts';

const DEVICE_CODE = 'd3v1cec0de';
const TOKEN = 'gho_AbCd0123';
const CODE = {
  device_code: DEVICE_CODE,
  user_code: 'ABCD-WXYZ',
  verification_uri: 'https://evil.example.org/',
  interval: 5,
  expires_in: 899,
};
const GRANTED: Scripted = { body: { access_token: TOKEN } };
const PENDING: Scripted = { body: { error: 'authorization_pending' } };
const SLOW_DOWN: Scripted = { body: { error: 'slow_down' } };
const HTML: Scripted = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>Sign in</p>' };
const BROKEN = new DeliveryError('CONNECTION', 'the exchange broke off', { retryable: true });

interface Host {
  /** Answers to the request for a code, and to the polls; the last one is repeated. */
  readonly codes?: readonly (Scripted | Error)[];
  readonly polls?: readonly (Scripted | Error)[];
}

function createFlow({ codes = [{ body: CODE }], polls = [GRANTED] }: Host = {}) {
  const left = { codes: [...codes], polls: [...polls] };
  const host = new FakeHttp(({ url }: Seen) => {
    const answers = url.endsWith('/login/device/code') ? left.codes : left.polls;
    return answers.length > 1 ? answers.shift() : answers[0];
  });
  const ports = fakePorts(host.http);
  const run = () => authorizeDevice({ authUrl: new URL('https://github.com'), clientId: 'Iv1.0123' }, ports);
  const polled = () => host.seen.filter(({ url }) => url.endsWith('/access_token')).length;
  return { host, ports, polled, run };
}

const withCode = (more: object): Pick<Host, 'codes'> => ({ codes: [{ body: { ...CODE, ...more } }] });

test('authorizeDevice masks the device code before it shows anything, and the token as soon as it arrives', async () => {
  const { host, ports, run } = createFlow({ polls: [PENDING, GRANTED] });
  const order: string[] = [];
  ports.logger.mask = (secret) => void order.push(`mask ${secret}`);
  ports.logger.info = (line) => void order.push(line.slice(0, 4));
  await run();
  expect(host.seen[0]?.body).toBe('client_id=Iv1.0123&scope=repo');
  expect(order).toEqual([`mask ${DEVICE_CODE}`, 'Open', `mask ${TOKEN}`]);
});

describe('what ends the device flow', () => {
  test.each<[string, string, RegExp, RegExp]>([
    ['access_denied', 'NOT_AUTHORIZED', /refused/, /K3/],
    ['expired_token', 'NOT_AUTHORIZED', /expired/, /K3/],
    ['device_flow_disabled', 'BAD_INPUT', /not allow the device flow/, /Enable Device Flow.*`token:`/],
    ['incorrect_client_credentials', 'BAD_INPUT', /client ID/, /`client-id:`/],
    ['unsupported_grant_type', 'HOST_ERROR', /: unsupported_grant_type/, /K3/],
    ['brand_new\nerror', 'HOST_ERROR', /: brand_new error/, /K3/],
  ])('is %j in any answer, with HTTP 200 and 400: %s', async (error, code, message, hint) => {
    for (const status of [200, 400]) {
      for (const asked of ['codes', 'polls']) {
        const { host, run } = createFlow({ [asked]: [{ status, body: { error } }] });
        const failure = await run().catch((thrown: unknown) => thrown);
        expect(failure).toMatchObject({
          code,
          step: 'authorize',
          message: expect.stringMatching(message),
          hint: expect.stringMatching(hint),
        });
        expect(JSON.stringify(failure)).not.toContain(DEVICE_CODE);
        expect(host.seen).toHaveLength(asked === 'codes' ? 1 : 2);
      }
    }
  });

  const NO_CODE = /^the host returned no device code$/;
  const NO_TOKEN = /^the host returned no token$/;
  const token = (access_token: unknown): Host => ({ polls: [{ body: { access_token } }] });
  test.each<[string, Host, RegExp]>([
    ['HTML instead of a code', { codes: [HTML] }, /code.* a web page came/],
    ['a missing page', { polls: [{ ...HTML, status: 404 }] }, /token.* HTTP 404/],
    ['an answer of nothing to a poll', { polls: [{ body: {} }] }, NO_TOKEN],
    ['an answer without a device code', withCode({ device_code: undefined }), NO_CODE],
    ['an answer without a user code', withCode({ user_code: undefined }), NO_CODE],
    ['a user code that damages the log', withCode({ user_code: 'AB\u202eCD' }), NO_CODE],
    ['a user code of two lines', withCode({ user_code: 'AB\nCD' }), NO_CODE],
    ['a device code that is too long', withCode({ device_code: 'x'.repeat(100_000) }), NO_CODE],
    ['a token that is a word', token('null'), NO_TOKEN],
    ['a token that is no text', token({ a: 1 }), NO_TOKEN],
  ])('is %s', async (_, host, message) => {
    const { ports, run } = createFlow(host);
    const refusal = { code: 'HOST_ERROR', step: 'authorize', message: expect.stringMatching(message) };
    await expect(run()).rejects.toMatchObject(refusal);
    const shown = ports.logger.lines.filter((line) => line.startsWith('Open'));
    expect(shown).toHaveLength(host.codes === undefined ? 1 : 0);
  });
});

const slow = (interval?: number): Scripted => ({ body: { error: 'slow_down', interval } });
const limited = (more: Scripted): Scripted => ({ status: 429, body: 'slowly', ...more });
test.each<[string, object, (Scripted | Error)[], number[]]>([
  ['is the interval, also before the first poll', { interval: 7 }, [PENDING, GRANTED], [7, 7]],
  ['is 5 s where the interval is no number', { interval: '9' }, [PENDING, GRANTED], [5, 5]],
  ['is at most a minute, whatever the host asks for', { interval: 1e9 }, [PENDING, GRANTED], [60, 60]],
  ['is at least a second', { interval: -5 }, [PENDING, GRANTED], [1, 1]],
  ['is at most a minute after slow_down, too', {}, [slow(1e9), GRANTED], [5, 60]],
  ['becomes longer after each slow_down', {}, [slow(), slow(), PENDING, GRANTED], [5, 10, 15, 15]],
  ['is the interval of slow_down where that is longer', {}, [slow(30), PENDING, GRANTED], [5, 30, 30]],
  ['becomes at least 5 s longer', {}, [slow(30), slow(6), GRANTED], [5, 30, 35]],
  ['becomes longer after HTTP 429', {}, [limited({}), GRANTED], [5, 10]],
  ['is that of Retry-After', {}, [limited({ headers: { 'retry-after': '60' } }), GRANTED], [5, 60]],
  ['stays after HTTP 503', {}, [{ status: 503, body: { error: 'access_denied' } }, GRANTED], [5, 5]],
  ['stays after a page', {}, [HTML, GRANTED], [5, 5]],
  ['stays after a broken connection', {}, [BROKEN, GRANTED], [5, 5]],
])('the pause before a poll %s', async (_title, answer, polls, seconds) => {
  const { ports, run } = createFlow({ ...withCode(answer), polls });
  await expect(run()).resolves.toBe(TOKEN);
  expect(ports.clock.slept).toEqual(seconds.map((second) => second * 1_000));
});

test.each<[string, object, Scripted, number]>([
  ['899 s, where the answer has none', { expires_in: undefined }, PENDING, 899],
  ['half an hour at most', { expires_in: 1e12 }, PENDING, 1_800],
  ['20 s', { expires_in: 20 }, PENDING, 20],
  ['60 s of slow_down', { expires_in: 60 }, SLOW_DOWN, 60],
  ['less than one pause', { expires_in: 3 }, PENDING, 3],
])('the lifetime of a device code ends the flow after %s', async (_title, code, answer, lifetime) => {
  const { ports, polled, run } = createFlow({ ...withCode(code), polls: [answer] });
  const message = 'the code expired before it was entered';
  await expect(run()).rejects.toMatchObject({ code: 'NOT_AUTHORIZED', step: 'authorize', message });
  const slept = ports.clock.slept.reduce((sum, ms) => sum + ms, 0);
  const next = answer === PENDING ? 5_000 : (ports.clock.slept.at(-1) ?? 0) + 5_000;
  // The flow neither waits longer than the code lives, nor ends while there is time for another poll.
  expect(slept).toBeLessThanOrEqual(lifetime * 1_000);
  expect(slept + next).toBeGreaterThanOrEqual(lifetime * 1_000);
  expect(polled()).toBe(ports.clock.slept.length);
});

test('the lifetime of a device code ends the flow with the last failure of a host that fails until then', async () => {
  const { run } = createFlow({ polls: [{ status: 502, body: 'bad gateway' }] });
  const message = 'the code expired before it was entered: requesting the token failed with HTTP 502';
  await expect(run()).rejects.toMatchObject({ code: 'NOT_AUTHORIZED', message });
});

test.each<[string, Scripted | Error]>([
  ['a 503', { status: 503, body: 'busy' }],
  ['a rate limit', { status: 429, body: { message: 'too many requests' } }],
  ['a broken connection', BROKEN],
])('the request for a device code is repeated after %s', async (_title, answer) => {
  const { host, run } = createFlow({ codes: [answer, { body: CODE }] });
  await expect(run()).resolves.toBe(TOKEN);
  expect(host.seen).toHaveLength(3);
});
