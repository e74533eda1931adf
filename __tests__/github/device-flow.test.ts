import { describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { DeliveryError } from '../../src/errors.ts';
import { authorizeDevice, POLL_ANSWERS } from '../../src/github/device-flow.ts';
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

/** A flow in front of a scripted host. */
function flow({ codes = [{ body: CODE }], polls = [GRANTED], authUrl = 'https://github.com' }: Host = {}) {
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

const failureOf = async (run: () => Promise<string>): Promise<DeliveryError> => {
  const thrown = await run().then(String, (error: unknown) => error);
  if (!(thrown instanceof DeliveryError)) throw new Error(`no failure, but ${thrown}`);
  return thrown;
};

describe('what goes over the wire', () => {
  test('is the two calls of the protocol, as forms that want JSON back', async () => {
    const { host, run } = flow();
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
    for (const { headers, body } of host.seen) {
      expect(headers).toEqual({
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': String(body.length),
      });
    }
  });
});

describe('what is shown', () => {
  test('is only the code, and the host’s own page on which to enter it', async () => {
    const { ports, run } = flow({ polls: [PENDING, SLOW_DOWN, GRANTED] });
    await run();
    // Not the address that the answer names: it could lead anywhere.
    expect(ports.logger.lines).toEqual(['Open https://github.com/login/device and enter the code ABCD-WXYZ']);
  });

  test('is the page of the host that was asked', async () => {
    const { ports, run } = flow({ authUrl: 'https://git.example.com/' });
    await run();
    expect(ports.logger.lines).toEqual([
      'Open https://git.example.com/login/device and enter the code ABCD-WXYZ',
    ]);
  });

  test('comes after the device code is masked, and the token is masked as soon as it is there', async () => {
    const { ports, run } = flow({ polls: [PENDING, GRANTED] });
    const order: string[] = [];
    ports.logger.mask = (secret) => void order.push(`mask ${secret}`);
    ports.logger.info = (line) => void order.push(line.slice(0, 4));
    await run();
    expect(order).toEqual([`mask ${DEVICE_CODE}`, 'Open', `mask ${TOKEN}`]);
  });
});

/** Outcomes of the flow's answers, from protocol 3.3 and the issue; `null` is waited out. */
const OUTCOMES: Readonly<Record<string, { code: string; says: RegExp } | null>> = {
  authorization_pending: null,
  slow_down: null,
  access_denied: { code: 'NOT_AUTHORIZED', says: /refused/ },
  expired_token: { code: 'NOT_AUTHORIZED', says: /expired/ },
  device_flow_disabled: { code: 'BAD_INPUT', says: /does not allow the device flow/ },
  incorrect_client_credentials: { code: 'BAD_INPUT', says: /client id/ },
  incorrect_device_code: { code: 'HOST_ERROR', says: /device code/ },
  unsupported_grant_type: { code: 'HOST_ERROR', says: /device flow/ },
};

describe('each answer to a poll', () => {
  test('has a row', () => {
    expect(Object.keys(POLL_ANSWERS).sort()).toEqual(Object.keys(OUTCOMES).sort());
  });

  test.each(Object.entries(OUTCOMES).filter(([, outcome]) => outcome === null))(
    '%s is waited out',
    async (error) => {
      const { polled, run } = flow({ polls: [{ body: { error } }, GRANTED] });
      await expect(run()).resolves.toBe(TOKEN);
      expect(polled()).toBe(2);
    },
  );

  const FAILING = Object.entries(OUTCOMES).flatMap(([error, outcome]) =>
    outcome === null ? [] : [{ error, ...outcome }],
  );
  test.each(FAILING)('$error ends the flow: $code', async ({ error, code, says }) => {
    const { polled, run } = flow({ polls: [{ body: { error } }] });
    const failure = await failureOf(run);
    expect(failure).toMatchObject({ code, step: 'authorize' });
    expect(failure.message).toMatch(says);
    expect(failure.hint).toBeTruthy();
    expect(polled()).toBe(1);
  });

  test.each(FAILING)('$error counts also with HTTP 400', async ({ error, code }) => {
    const { run } = flow({ polls: [{ status: 400, body: { error } }] });
    await expect(run()).rejects.toMatchObject({ code });
  });

  test.each(FAILING)('$error instead of a code: $code, and nobody is asked to enter one', async (row) => {
    const { host, ports, run } = flow({ codes: [{ body: { error: row.error } }] });
    await expect(run()).rejects.toMatchObject({ code: row.code, step: 'authorize' });
    expect(ports.logger.lines).toEqual([]);
    expect(host.seen).toHaveLength(1);
  });

  test.each([
    [{ error: 'brand_new\nerror' }, /brand_new error/],
    [{}, /nothing usable/],
    [[], /nothing usable/],
  ])('%j is an error of the host', async (body, says) => {
    const failure = await failureOf(flow({ polls: [{ body }] }).run);
    expect(failure).toMatchObject({ code: 'HOST_ERROR', step: 'authorize' });
    expect(failure.message).toMatch(says);
  });

  test.each(FAILING)('$error: the failure tells no secret', async ({ error }) => {
    const failure = await failureOf(flow({ polls: [{ body: { error } }] }).run);
    expect(`${failure.message} ${failure.hint}`).not.toContain(DEVICE_CODE);
  });
});

describe('the token', () => {
  test.each(['repo', 'repo,user', 'gist repo', 'gist, repo'])('is taken with the scope %j', async (scope) => {
    const { run } = flow({ polls: [{ body: { access_token: TOKEN, scope } }] });
    await expect(run()).resolves.toBe(TOKEN);
  });

  test.each([undefined, '', 'gist', 'public_repo', 'repo:status'])(
    'is not used with the scope %j, and masked all the same',
    async (scope) => {
      const { ports, run } = flow({ polls: [{ body: { access_token: TOKEN, scope } }] });
      const failure = await failureOf(run);
      expect(failure).toMatchObject({ code: 'NO_PERMISSION', step: 'authorize' });
      expect(failure.message).toContain('without the scope repo');
      expect(`${failure.message} ${failure.hint}`).not.toContain(TOKEN);
      expect(ports.logger.masked).toEqual([DEVICE_CODE, TOKEN]);
    },
  );
});

describe('the pause before a poll', () => {
  const slow = (interval?: number): Scripted => ({ body: { error: 'slow_down', interval } });
  test.each<[string, object, Scripted[], number[]]>([
    ['is the interval, also before the first', { interval: 7 }, [PENDING, PENDING, GRANTED], [7, 7, 7]],
    ['is 5 s where the host names none', { interval: undefined }, [PENDING, GRANTED], [5, 5]],
    ['grows by 5 s with slow_down, from then on', {}, [slow(), PENDING, PENDING, GRANTED], [5, 10, 10, 10]],
    ['grows with each slow_down', {}, [slow(), slow(), PENDING, GRANTED], [5, 10, 15, 15]],
    ['honours a larger interval of slow_down', {}, [slow(30), PENDING, GRANTED], [5, 30, 30]],
    ['grows by at least 5 s, whatever slow_down says', {}, [slow(6), PENDING, GRANTED], [5, 10, 10]],
    ['grows on from the larger interval', {}, [slow(30), slow(31), GRANTED], [5, 30, 35]],
  ])('%s', async (_what, said, polls, seconds) => {
    const { ports, run } = flow({ codes: [{ body: { ...CODE, ...said } }], polls });
    await expect(run()).resolves.toBe(TOKEN);
    expect(ports.clock.slept).toEqual(seconds.map((each) => each * 1_000));
  });
});

describe('the end of the code’s lifetime', () => {
  test.each<[string, object, Scripted, number]>([
    ['899 s, where the host names none', { expires_in: undefined }, PENDING, 899],
    ['20 s', { expires_in: 20 }, PENDING, 20],
    ['60 s of slow_down', { expires_in: 60 }, SLOW_DOWN, 60],
    ['less than one pause', { expires_in: 3 }, PENDING, 3],
  ])('ends the flow: %s', async (_what, said, answer, lifetime) => {
    const { ports, polled, run } = flow({ codes: [{ body: { ...CODE, ...said } }], polls: [answer] });
    await expect(run()).rejects.toMatchObject({
      code: 'NOT_AUTHORIZED',
      step: 'authorize',
      message: expect.stringContaining('expired'),
    });
    const slept = ports.clock.slept.reduce((sum, ms) => sum + ms, 0);
    const next = answer === PENDING ? 5_000 : (ports.clock.slept.at(-1) ?? 0) + 5_000;
    // Nobody is kept waiting for a code that is dead, and none is given up while a poll still fits.
    expect(slept).toBeLessThanOrEqual(lifetime * 1_000);
    expect(slept + next).toBeGreaterThanOrEqual(lifetime * 1_000);
    expect(polled()).toBe(ports.clock.slept.length);
  });
});

describe('a host in trouble', () => {
  test.each<[string, Scripted | Error]>([
    ['a 500', { status: 500, body: 'oops' }],
    ['a 503 in JSON', { status: 503, body: { error: 'access_denied' } }],
    ['HTML', HTML],
    ['a connection that broke', BROKEN],
    ['no network for a moment', new DeliveryError('NO_NETWORK', 'unreachable', { retryable: true })],
    ['an answer that broke off', { body: new Error('reset') }],
  ])('%s during polling is waited out with the ordinary pause', async (_what, trouble) => {
    const { ports, run } = flow({ polls: [PENDING, trouble, trouble, GRANTED] });
    await expect(run()).resolves.toBe(TOKEN);
    expect(ports.clock.slept).toEqual([5_000, 5_000, 5_000, 5_000]);
    expect(ports.logger.lines).toHaveLength(1);
  });

  test.each<[string, Scripted, readonly number[]]>([
    ['a 429', { status: 429, body: 'slowly' }, [5_000, 10_000, 15_000]],
    [
      'a limit in JSON',
      { status: 403, body: { message: 'a secondary rate limit' } },
      [5_000, 10_000, 15_000],
    ],
    ['a Retry-After', { status: 429, headers: { 'retry-after': '60' } }, [5_000, 60_000, 65_000]],
  ])('%s during polling lengthens the pause', async (_what, limit, pauses) => {
    const { ports, run } = flow({ polls: [limit, limit, GRANTED] });
    await expect(run()).resolves.toBe(TOKEN);
    expect(ports.clock.slept).toEqual(pauses);
  });

  test('trouble to the very end is the end of the code, and is said', async () => {
    const { run } = flow({ polls: [{ status: 502, body: 'bad gateway' }] });
    await expect(run()).rejects.toMatchObject({
      code: 'NOT_AUTHORIZED',
      message: 'the code expired before it was entered: requesting the token was answered with HTTP 502',
    });
  });

  test.each<[string, Scripted | Error]>([
    ['a 503', { status: 503, body: 'busy' }],
    ['a limit', { status: 429, body: { message: 'too many requests' } }],
    ['HTML', HTML],
    ['a connection that broke', BROKEN],
  ])('%s instead of a code is tried again', async (_what, trouble) => {
    const { host, run } = flow({ codes: [trouble, { body: CODE }] });
    await expect(run()).resolves.toBe(TOKEN);
    expect(host.seen).toHaveLength(3);
  });

  test('no network at all stays what it is', async () => {
    const { run } = flow({ codes: [new DeliveryError('NO_NETWORK', 'unreachable', { retryable: true })] });
    await expect(run()).rejects.toMatchObject({ code: 'NO_NETWORK' });
  });

  test.each<[string, Host, RegExp]>([
    ['HTML instead of a code', { codes: [HTML] }, /device code.* not JSON/],
    ['JSON that is none of the flow', { polls: [{ status: 404, body: {} }] }, /token.* HTTP 404/],
    ['a page that is not there', { polls: [{ ...HTML, status: 404 }] }, /token.* HTTP 404/],
    ['a code without its secret half', { codes: [{ body: { user_code: 'A' } }] }, /no device code/],
    ['a code without its open half', { codes: [{ body: { device_code: 'd' } }] }, /no device code/],
  ])('%s is its clear outcome', async (_what, host, says) => {
    const failure = await failureOf(flow(host).run);
    expect(failure.code).toBe('HOST_ERROR');
    expect(failure.message).toMatch(says);
    expect(failure.hint).toBeTruthy();
  });
});

describe('an abort', () => {
  test('before the flow asks for nothing', async () => {
    const { host, ports, run } = flow();
    ports.stop.abort();
    await expect(run()).rejects.toMatchObject({ code: 'ABORTED' });
    expect(host.seen).toEqual([]);
  });

  test('during a pause ends the pause and the flow', async () => {
    const { ports, polled, run } = flow({ polls: [PENDING] });
    const { sleep } = ports.clock;
    ports.clock.sleep = async (ms, signal) => {
      if (ports.clock.slept.length < 2) return sleep.call(ports.clock, ms, signal);
      if (signal === undefined) throw new Error('a pause that nobody can end');
      ports.stop.abort();
      throw signal.reason;
    };
    await expect(run()).rejects.toMatchObject({ name: 'AbortError' });
    expect(polled()).toBe(2);
  });

  test('during a poll ends the flow: it passes for no answer that is waited out', async () => {
    const { host, ports } = flow({ polls: [PENDING] });
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
