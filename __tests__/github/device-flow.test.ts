import '../support/one-realm.ts';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError, stoppedError } from '../../src/errors.ts';
import { authorizeDevice } from '../../src/github/device-flow.ts';
import { FLOW_ERRORS } from '../../src/github/device-requests.ts';
import { FakeHttp, fakePorts, type Scripted, type Seen } from '../support/ports.ts';

const DEVICE_CODE = 'd3v1cec0de';
const TOKEN = 'gho_AbCd0123';
const CODE = {
  device_code: DEVICE_CODE,
  user_code: 'ABCD-WXYZ',
  verification_uri: 'https://evil.example.org/enter',
  interval: 5,
  expires_in: 899,
};
const GRANTED: Scripted = { body: { access_token: TOKEN, token_type: 'bearer', scope: 'repo' } };
const PENDING: Scripted = { body: { error: 'authorization_pending' } };
const SLOW_DOWN: Scripted = { body: { error: 'slow_down' } };
const HTML: Scripted = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>Sign in</p>' };
const BROKEN = new DeliveryError('CONNECTION', 'the exchange broke off', { retryable: true });

interface Host {
  /** Answers to the request for a code; the last one is repeated. */
  readonly codes?: readonly (Scripted | Error)[];
  /** Answers to the polls; the last one is repeated. */
  readonly polls?: readonly (Scripted | Error)[];
  readonly authUrl?: string;
}

/** A device flow on a host that gives these answers. */
function createFlow({
  codes = [{ body: CODE }],
  polls = [GRANTED],
  authUrl = 'https://github.com',
}: Host = {}) {
  const left = { codes: [...codes], polls: [...polls] };
  const host = new FakeHttp(({ url }: Seen) => {
    const answers = url.endsWith('/login/device/code') ? left.codes : left.polls;
    return answers.length > 1 ? answers.shift() : answers[0];
  });
  const ports = fakePorts(host.http);
  const run = () => authorizeDevice({ authUrl: new URL(authUrl), clientId: 'Iv1.0123' }, ports);
  const polled = () => host.seen.filter(({ url }) => url.endsWith('/access_token')).length;
  return { host, ports, polled, run };
}

const getFailure = async (run: () => Promise<string>): Promise<DeliveryError> => {
  const thrown = await run().then(String, (error: unknown) => error);
  if (!(thrown instanceof DeliveryError)) throw new Error(`no failure, but ${thrown}`);
  return thrown;
};

describe('authorizeDevice: requests', () => {
  test('sends the two calls of the protocol as forms and accepts JSON', async () => {
    const { host, run } = createFlow();
    await expect(run()).resolves.toBe(TOKEN);
    expect(host.seen.map(({ method, url, body }) => ({ method, url, body }))).toEqual([
      {
        method: 'POST',
        url: 'https://github.com/login/device/code',
        body: 'client_id=Iv1.0123&scope=repo',
      },
      {
        method: 'POST',
        url: 'https://github.com/login/oauth/access_token',
        body: `client_id=Iv1.0123&device_code=${DEVICE_CODE}&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code`,
      },
    ]);
    for (const { headers } of host.seen) {
      expect(headers).toEqual({
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
      });
    }
  });
});

describe('authorizeDevice: log', () => {
  test('shows only the user code and the page on the host itself', async () => {
    const { ports, run } = createFlow({ polls: [PENDING, SLOW_DOWN, GRANTED] });
    await run();
    // Not the address in the answer: it could be on any host.
    expect(ports.logger.lines).toEqual(['Open https://github.com/login/device and enter the code ABCD-WXYZ']);
  });

  test('shows the page of another host that was configured', async () => {
    const { ports, run } = createFlow({ authUrl: 'https://git.example.com/' });
    await run();
    expect(ports.logger.lines).toEqual([
      'Open https://git.example.com/login/device and enter the code ABCD-WXYZ',
    ]);
  });

  test('masks the device code before it shows anything, and the token as soon as it arrives', async () => {
    const { ports, run } = createFlow({ polls: [PENDING, GRANTED] });
    const order: string[] = [];
    ports.logger.mask = (secret) => void order.push(`mask ${secret}`);
    ports.logger.info = (line) => void order.push(line.slice(0, 4));
    await run();
    expect(order).toEqual([`mask ${DEVICE_CODE}`, 'Open', `mask ${TOKEN}`]);
  });
});

describe('authorizeDevice: an app that cannot be used', () => {
  test.each([
    [
      'an unknown client id',
      { status: 404, body: { error: 'Not Found' } },
      /knows no OAuth app/,
      /`client-id:`.*`auth-url:`.*K3/,
    ],
    [
      'an unknown client id, as a page',
      { status: 404, body: '<html>' },
      /knows no OAuth app/,
      /`client-id:`/,
    ],
    [
      'a disabled device flow',
      { status: 400, body: { error: 'device_flow_disabled' } },
      /does not allow the device flow/,
      /Enable Device Flow.*`client-id:`.*K3/,
    ],
  ])('says what to change for %s', async (_, answer, message, hint) => {
    const { host, run } = createFlow({ codes: [answer] });
    await expect(run()).rejects.toMatchObject({
      code: 'BAD_INPUT',
      step: 'authorize',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
    expect(host.seen).toHaveLength(1);
  });
});

describe('authorizeDevice: numbers and texts of a host', () => {
  test.each([
    { interval: 1e9, expires_in: 1e12 },
    { interval: Number.MAX_VALUE, expires_in: 899 },
    { interval: '5', expires_in: 'never' },
    { interval: -5, expires_in: null },
  ])('never wait longer than half an hour (%j)', async (numbers) => {
    const { ports, run } = createFlow({ codes: [{ body: { ...CODE, ...numbers } }], polls: [PENDING] });
    const begun = ports.clock.now();
    await expect(getFailure(run)).resolves.toMatchObject({ code: 'NOT_AUTHORIZED' });
    expect(ports.clock.now() - begun).toBeLessThanOrEqual(1_800_000);
  });

  test('never pause longer than a minute after slow_down', async () => {
    const slow = { body: { error: 'slow_down', interval: 1e9 } };
    const { run } = createFlow({ polls: [slow, GRANTED] });
    await expect(run()).resolves.toBe(TOKEN);
  });

  test.each([
    { user_code: 'x'.repeat(1_000) },
    { user_code: 'AB\u202eCD' },
    { user_code: 'AB\nCD' },
    { device_code: 'x'.repeat(100_000) },
  ])('are refused as a code: %#', async (codes) => {
    const { ports, run } = createFlow({ codes: [{ body: { ...CODE, ...codes } }] });
    await expect(getFailure(run)).resolves.toMatchObject({ code: 'HOST_ERROR' });
    expect(ports.logger.lines).toEqual([]);
  });

  test.each(['null', '17', `${TOKEN}\nx`, 17, { a: 1 }])(
    'are refused as a token: %j',
    async (access_token) => {
      const { run } = createFlow({ polls: [{ body: { access_token, scope: 'repo' } }] });
      await expect(getFailure(run)).resolves.toMatchObject({ code: 'HOST_ERROR' });
    },
  );
});

/** Results of the flow's error codes, from protocol 3.3; after `null` the poll is repeated. */
const OUTCOMES: Readonly<Record<string, { code: string; message: RegExp } | null>> = {
  authorization_pending: null,
  slow_down: null,
  access_denied: { code: 'NOT_AUTHORIZED', message: /refused/ },
  expired_token: { code: 'NOT_AUTHORIZED', message: /expired/ },
  device_flow_disabled: { code: 'BAD_INPUT', message: /does not allow the device flow/ },
  incorrect_client_credentials: { code: 'BAD_INPUT', message: /client id/ },
  incorrect_device_code: { code: 'HOST_ERROR', message: /device code/ },
  unsupported_grant_type: { code: 'HOST_ERROR', message: /device flow/ },
};

describe('FLOW_ERRORS', () => {
  test('has a row for each error code of the flow', () => {
    expect(Object.keys(FLOW_ERRORS).sort()).toEqual(Object.keys(OUTCOMES).sort());
  });

  test.each(Object.entries(OUTCOMES).filter(([, outcome]) => outcome === null))(
    'polls again after %s',
    async (error) => {
      const { polled, run } = createFlow({ polls: [{ body: { error } }, GRANTED] });
      await expect(run()).resolves.toBe(TOKEN);
      expect(polled()).toBe(2);
    },
  );

  const FAILING = Object.entries(OUTCOMES).flatMap(([error, outcome]) =>
    outcome === null ? [] : [{ error, ...outcome }],
  );
  test.each(FAILING)('ends the flow after $error with $code', async ({ error, code, message }) => {
    const { polled, run } = createFlow({ polls: [{ body: { error } }] });
    const failure = await getFailure(run);
    expect(failure).toMatchObject({ code, step: 'authorize' });
    expect(failure.message).toMatch(message);
    expect(failure.hint).toBeTruthy();
    expect(polled()).toBe(1);
  });

  test.each(FAILING)('ends the flow after $error with HTTP 400', async ({ error, code }) => {
    const { run } = createFlow({ polls: [{ status: 400, body: { error } }] });
    await expect(run()).rejects.toMatchObject({ code });
  });

  test.each(FAILING)(
    'ends the flow with $code when $error is the answer to the request for a code',
    async (row) => {
      const { host, ports, run } = createFlow({ codes: [{ body: { error: row.error } }] });
      await expect(run()).rejects.toMatchObject({ code: row.code, step: 'authorize' });
      expect(ports.logger.lines).toEqual([]);
      expect(host.seen).toHaveLength(1);
    },
  );

  test.each([
    [{ error: 'brand_new\nerror' }, /brand_new error/],
    [{}, /an unknown answer/],
    [[], /an unknown answer/],
  ])('ends the flow with HOST_ERROR after the unknown answer %j', async (body, message) => {
    const failure = await getFailure(createFlow({ polls: [{ body }] }).run);
    expect(failure).toMatchObject({ code: 'HOST_ERROR', step: 'authorize' });
    expect(failure.message).toMatch(message);
  });

  test.each(FAILING)('has no secret in the failure after $error', async ({ error }) => {
    const failure = await getFailure(createFlow({ polls: [{ body: { error } }] }).run);
    expect(`${failure.message} ${failure.hint}`).not.toContain(DEVICE_CODE);
  });
});

describe('authorizeDevice: token', () => {
  test.each(['repo', 'repo,user', 'gist repo', 'gist, repo'])(
    'accepts a token with the scope %j',
    async (scope) => {
      const { run } = createFlow({ polls: [{ body: { access_token: TOKEN, scope } }] });
      await expect(run()).resolves.toBe(TOKEN);
    },
  );

  test.each([undefined, '', 'gist', 'public_repo', 'repo:status'])(
    'refuses and masks a token with the scope %j',
    async (scope) => {
      const { ports, run } = createFlow({ polls: [{ body: { access_token: TOKEN, scope } }] });
      const failure = await getFailure(run);
      expect(failure).toMatchObject({ code: 'NO_PERMISSION', step: 'authorize' });
      expect(failure.message).toContain('without the scope repo');
      expect(`${failure.message} ${failure.hint}`).not.toContain(TOKEN);
      expect(ports.logger.masked).toEqual([DEVICE_CODE, TOKEN]);
    },
  );
});

describe('authorizeDevice: pause before a poll', () => {
  const slow = (interval?: number): Scripted => ({ body: { error: 'slow_down', interval } });
  test.each<[string, object, Scripted[], number[]]>([
    [
      'is the interval of the answer, also before the first poll',
      { interval: 7 },
      [PENDING, PENDING, GRANTED],
      [7, 7, 7],
    ],
    ['is 5 s where the answer has no interval', { interval: undefined }, [PENDING, GRANTED], [5, 5]],
    ['is at most a minute, whatever the host asks for', { interval: 1e9 }, [PENDING, GRANTED], [60, 60]],
    ['is at least a second', { interval: -5 }, [PENDING, GRANTED], [1, 1]],
    ['is at most a minute after slow_down, too', {}, [slow(1e9), GRANTED], [5, 60]],
    ['becomes 5 s longer after slow_down', {}, [slow(), PENDING, PENDING, GRANTED], [5, 10, 10, 10]],
    ['becomes longer after each slow_down', {}, [slow(), slow(), PENDING, GRANTED], [5, 10, 15, 15]],
    ['is the interval of slow_down where that is longer', {}, [slow(30), PENDING, GRANTED], [5, 30, 30]],
    [
      'becomes at least 5 s longer, even when slow_down has a shorter interval',
      {},
      [slow(6), PENDING, GRANTED],
      [5, 10, 10],
    ],
    [
      'becomes 5 s longer than the interval of an earlier slow_down',
      {},
      [slow(30), slow(31), GRANTED],
      [5, 30, 35],
    ],
  ])('%s', async (_title, answer, polls, seconds) => {
    const { ports, run } = createFlow({ codes: [{ body: { ...CODE, ...answer } }], polls });
    await expect(run()).resolves.toBe(TOKEN);
    expect(ports.clock.slept).toEqual(seconds.map((second) => second * 1_000));
  });
});

describe('authorizeDevice: lifetime of the code', () => {
  test.each<[string, object, Scripted, number]>([
    ['899 s, where the answer has none', { expires_in: undefined }, PENDING, 899],
    ['20 s', { expires_in: 20 }, PENDING, 20],
    ['60 s of slow_down', { expires_in: 60 }, SLOW_DOWN, 60],
    ['less than one pause', { expires_in: 3 }, PENDING, 3],
  ])('ends the flow after %s', async (_title, code, answer, lifetime) => {
    const { ports, polled, run } = createFlow({ codes: [{ body: { ...CODE, ...code } }], polls: [answer] });
    await expect(run()).rejects.toMatchObject({
      code: 'NOT_AUTHORIZED',
      step: 'authorize',
      message: expect.stringContaining('expired'),
    });
    const slept = ports.clock.slept.reduce((sum, ms) => sum + ms, 0);
    const next = answer === PENDING ? 5_000 : (ports.clock.slept.at(-1) ?? 0) + 5_000;
    // The flow neither waits longer than the code lives, nor ends while there is time for another poll.
    expect(slept).toBeLessThanOrEqual(lifetime * 1_000);
    expect(slept + next).toBeGreaterThanOrEqual(lifetime * 1_000);
    expect(polled()).toBe(ports.clock.slept.length);
  });
});

describe('authorizeDevice: failures of the host', () => {
  test.each<[string, Scripted | Error]>([
    ['a 500', { status: 500, body: 'oops' }],
    ['a 503 in JSON', { status: 503, body: { error: 'access_denied' } }],
    ['HTML', HTML],
    ['a broken connection', BROKEN],
    ['no network for a moment', new DeliveryError('NO_NETWORK', 'unreachable', { retryable: true })],
    ['an answer that broke off', { body: new Error('reset') }],
  ])('polls again after the same pause when a poll gets %s', async (_title, answer) => {
    const { ports, run } = createFlow({ polls: [PENDING, answer, answer, GRANTED] });
    await expect(run()).resolves.toBe(TOKEN);
    expect(ports.clock.slept).toEqual([5_000, 5_000, 5_000, 5_000]);
    expect(ports.logger.lines).toHaveLength(1);
  });

  test.each<[string, Scripted, readonly number[]]>([
    ['a 429', { status: 429, body: 'slowly' }, [5_000, 10_000, 15_000]],
    [
      'a rate limit in JSON',
      { status: 403, body: { message: 'a secondary rate limit' } },
      [5_000, 10_000, 15_000],
    ],
    ['a Retry-After', { status: 429, headers: { 'retry-after': '60' } }, [5_000, 60_000, 65_000]],
  ])('polls again after a longer pause when a poll gets %s', async (_title, limit, pauses) => {
    const { ports, run } = createFlow({ polls: [limit, limit, GRANTED] });
    await expect(run()).resolves.toBe(TOKEN);
    expect(ports.clock.slept).toEqual(pauses);
  });

  test('ends with the last failure when the host fails until the code expires', async () => {
    const { run } = createFlow({ polls: [{ status: 502, body: 'bad gateway' }] });
    await expect(run()).rejects.toMatchObject({
      code: 'NOT_AUTHORIZED',
      message: 'the code expired before it was entered: requesting the token was answered with HTTP 502',
    });
  });

  test.each<[string, Scripted | Error]>([
    ['a 503', { status: 503, body: 'busy' }],
    ['a rate limit', { status: 429, body: { message: 'too many requests' } }],
    ['HTML', HTML],
    ['a broken connection', BROKEN],
  ])('requests a code again after %s', async (_title, answer) => {
    const { host, run } = createFlow({ codes: [answer, { body: CODE }] });
    await expect(run()).resolves.toBe(TOKEN);
    expect(host.seen).toHaveLength(3);
  });

  test('throws NO_NETWORK where there is no network', async () => {
    const { run } = createFlow({
      codes: [new DeliveryError('NO_NETWORK', 'unreachable', { retryable: true })],
    });
    await expect(run()).rejects.toMatchObject({ code: 'NO_NETWORK' });
  });

  test.each<[string, Host, RegExp]>([
    ['no code and no error', { codes: [{ body: {} }] }, /no device code/],
    ['HTML instead of a code', { codes: [HTML] }, /device code.* not JSON/],
    ['JSON that is not of the flow', { polls: [{ status: 404, body: {} }] }, /token.* HTTP 404/],
    ['a missing page', { polls: [{ ...HTML, status: 404 }] }, /token.* HTTP 404/],
    ['an answer without a device code', { codes: [{ body: { user_code: 'A' } }] }, /no device code/],
    ['an answer without a user code', { codes: [{ body: { device_code: 'd' } }] }, /no device code/],
  ])('ends with HOST_ERROR after %s', async (_title, host, message) => {
    const failure = await getFailure(createFlow(host).run);
    expect(failure.code).toBe('HOST_ERROR');
    expect(failure.message).toMatch(message);
    expect(failure.hint).toBeTruthy();
  });
});

describe('authorizeDevice: abort', () => {
  test('sends nothing when it is aborted before', async () => {
    const { host, ports, run } = createFlow();
    ports.stop.abort(stoppedError());
    await expect(run()).rejects.toMatchObject({ code: 'ABORTED' });
    expect(host.seen).toEqual([]);
  });

  test('ends the pause and the flow when it is aborted in a pause', async () => {
    const { ports, polled, run } = createFlow({ polls: [PENDING] });
    const { sleep } = ports.clock;
    ports.clock.sleep = async (ms, signal) => {
      if (ports.clock.slept.length < 2) return sleep.call(ports.clock, ms, signal);
      if (signal === undefined) throw new Error('a pause without a signal');
      ports.stop.abort();
      throw signal.reason;
    };
    await expect(run()).rejects.toMatchObject({ name: 'AbortError' });
    expect(polled()).toBe(2);
  });

  test('ends the flow when it is aborted in a poll', async () => {
    const { host, ports } = createFlow({ polls: [PENDING] });
    const http: typeof ports.http = (asked) => {
      if (asked.url.pathname.endsWith('/access_token')) ports.stop.abort();
      return host.http(asked);
    };
    const run = authorizeDevice(
      { authUrl: new URL('https://github.com'), clientId: 'x' },
      { ...ports, http },
    );
    await expect(run).rejects.toMatchObject({ name: 'AbortError' });
    expect(ports.clock.slept).toHaveLength(1);
  });
});
