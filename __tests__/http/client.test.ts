import '../support/one-realm.ts';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { errors } from 'undici';
import { DeliveryError } from '../../src/errors.ts';
import { connectionError, createHttpClient } from '../../src/http/client.ts';
import type { HttpRequest, SendHttp } from '../../src/ports.ts';
import { type GitHubWorld, startWorld } from '../world/world.ts';

const usualAuthorities = tls.getCACertificates('default');
const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY'];

/** A client that stands in an environment with this proxy, or with none. */
function httpBehind(proxy?: string): SendHttp {
  for (const name of PROXY_VARIABLES) delete process.env[name];
  if (proxy !== undefined) process.env.https_proxy = proxy;
  return createHttpClient();
}

const ask = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'GET',
  url: new URL(url),
  ...more,
});

const failureOf = (exchange: Promise<unknown>): Promise<unknown> => exchange.catch((thrown) => thrown);

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** A port of this machine at which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('one exchange, through the proxy of the environment', () => {
  let world: GitHubWorld;
  let http: SendHttp;

  beforeAll(async () => {
    world = await startWorld();
    tls.setDefaultCACertificates([...usualAuthorities, world.ca]);
    http = httpBehind(world.proxyUrl);
    world.host('files.example.com', async ({ method, path, body }) => {
      if (path === '/moved') return { status: 302, headers: { location: '/file', 'set-cookie': 'a=1' } };
      return { status: 207, headers: { 'x-method': method }, body: `got ${await text(body)}` };
    });
  });

  afterEach(() => world.traffic.clear());

  afterAll(async () => {
    tls.setDefaultCACertificates(usualAuthorities);
    await world.stop();
  });

  test('hands over the status, the headers and the body', async () => {
    const answer = await http(ask('https://files.example.com/file'));
    expect(answer.status).toBe(207);
    expect(answer.headers['x-method']).toBe('GET');
    expect(await text(answer.body)).toBe('got ');
  });

  test('names the tool, and sends the headers it was given and no other of its own', async () => {
    const headers = { accept: 'text/plain', authorization: 'Bearer t' };
    await text((await http(ask('https://files.example.com/file?a=b', { headers }))).body);
    const [exchange] = world.traffic.exchanges();
    expect(exchange?.url).toBe('https://files.example.com/file?a=b');
    expect(exchange?.headers).toMatchObject({ ...headers, 'user-agent': 'screen-delivery/0.1.0' });
    expect(exchange?.headers).not.toHaveProperty('cookie');
  });

  test('sends another name where the caller has one', async () => {
    await text((await http(ask('https://files.example.com/', { headers: { 'user-agent': 'other' } }))).body);
    expect(world.traffic.exchanges()[0]?.headers['user-agent']).toBe('other');
  });

  test.each<[string, () => Readable | string]>([
    ['a text', () => 'bytes'],
    ['a stream', () => Readable.from([Buffer.from('by'), Buffer.from('tes')])],
  ])('sends %s as its body, made afresh for each request', async (_what, make) => {
    let made = 0;
    const body = (): Readable | string => {
      made += 1;
      return make();
    };
    for (const nth of [1, 2]) {
      const asked = ask('https://files.example.com/', {
        method: 'POST',
        body,
        headers: { 'content-length': '5' },
      });
      expect(await text((await http(asked)).body)).toBe('got bytes');
      expect(made).toBe(nth);
    }
    expect(world.traffic.exchanges()[0]?.headers['content-length']).toBe('5');
  });

  test('takes a redirect for an answer like any other', async () => {
    const answer = await http(ask('https://files.example.com/moved'));
    expect(answer.status).toBe(302);
    expect(answer.headers.location).toBe('/file');
    await text(answer.body);
    expect(world.traffic.exchanges()).toHaveLength(1);
  });

  test('is never done in plain http', async () => {
    expect(await failureOf(http(ask('http://files.example.com/file')))).toMatchObject({
      code: 'NOT_EXTERNAL',
      message: 'files.example.com was to be asked over http://, not https',
    });
    expect(world.traffic.exchanges()).toEqual([]);
  });

  test('that the host cuts off is a broken connection, and may go better next time', async () => {
    world.intercept({ url: /cut/ }, { fault: 'reset-before' });
    expect(await failureOf(http(ask('https://files.example.com/cut')))).toMatchObject({
      code: 'CONNECTION',
      message: expect.stringMatching(/^the exchange with files\.example\.com broke off: the connection was /),
      retryable: true,
    });
    expect(world.traffic.exchanges()).toHaveLength(1);
  });

  test('stops at once with the reason of the signal', async () => {
    world.intercept({ url: /hang/ }, { fault: 'hang' });
    const stop = new AbortController();
    const reason = new Error('stopped');
    const exchange = http(ask('https://files.example.com/hang', { signal: stop.signal }));
    while (world.traffic.exchanges(/hang/).length === 0)
      await new Promise((resolve) => setImmediate(resolve));
    stop.abort(reason);
    expect(await failureOf(exchange)).toBe(reason);
  });

  test('with a proxy whose certificate is unknown fails for good, and says what to set', async () => {
    tls.setDefaultCACertificates(usualAuthorities);
    const distrustful = httpBehind(world.proxyUrl);
    const failure = await failureOf(distrustful(ask('https://files.example.com/file')));
    tls.setDefaultCACertificates([...usualAuthorities, world.ca]);
    expect(failure).toMatchObject({
      code: 'CONNECTION',
      retryable: false,
      hint: "add the proxy's certificate to NODE_EXTRA_CA_CERTS",
    });
    expect(world.traffic.exchanges()).toEqual([]);
  });
});

describe('a host that nobody can reach', () => {
  test('because it refuses the connection', async () => {
    const port = await closedPort();
    expect(await failureOf(httpBehind()(ask(`https://127.0.0.1:${port}/`)))).toMatchObject({
      code: 'NO_NETWORK',
      message: `127.0.0.1:${port} can't be reached: it refused the connection`,
      hint: expect.stringContaining('https_proxy'),
      retryable: true,
    });
  });

  test('because the proxy lets nobody through', async () => {
    const proxy = createServer((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')),
    );
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const http = httpBehind(`http://127.0.0.1:${portOf(proxy)}`);
    const failure = await failureOf(http(ask('https://files.example.com/')));
    proxy.close();
    expect(failure).toMatchObject({
      code: 'NO_NETWORK',
      message: expect.stringContaining('407'),
      hint: expect.stringContaining('https_proxy'),
    });
  });

  test('because the proxy refuses the connection', async () => {
    const http = httpBehind(`http://127.0.0.1:${await closedPort()}`);
    expect(await failureOf(http(ask('https://files.example.com/')))).toMatchObject({
      code: 'NO_NETWORK',
      hint: expect.stringContaining('https_proxy'),
    });
  });
});

describe('connectionFailure', () => {
  const asked = { url: new URL('https://api.example.com/x?key=s3cret') };
  const withCode = (code: string): Error => Object.assign(new Error('low-level words'), { code });
  const of = (thrown: unknown): unknown => connectionError(thrown, asked);

  test.each([
    ['ENOTFOUND', 'its name could not be resolved'],
    ['EAI_AGAIN', 'its name could not be resolved'],
    ['ECONNREFUSED', 'it refused the connection'],
    ['ENETUNREACH', 'ENETUNREACH'],
    ['EHOSTUNREACH', 'EHOSTUNREACH'],
    ['ENETDOWN', 'ENETDOWN'],
    ['UND_ERR_CONNECT_TIMEOUT', 'no connection within 15 s'],
  ])('%s: the host was never reached', (code, reason) => {
    const thrown = withCode(code);
    expect(of(thrown)).toMatchObject({
      code: 'NO_NETWORK',
      message: `api.example.com can't be reached: ${reason}`,
      hint: expect.stringContaining('https_proxy and no_proxy'),
      retryable: true,
      cause: thrown,
    });
  });

  test.each([
    ['ECONNRESET', 'the connection was reset'],
    ['EPIPE', 'the connection broke while sending'],
    ['ETIMEDOUT', 'the connection timed out'],
    ['UND_ERR_HEADERS_TIMEOUT', 'no answer within 60 s'],
    ['UND_ERR_BODY_TIMEOUT', 'the answer stalled for 30 s'],
    ['UND_ERR_SOCKET', 'the connection was closed early'],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'the answer was shorter than announced'],
    ['EWHATEVER', 'EWHATEVER'],
  ])('%s: the exchange broke off', (code, reason) => {
    const thrown = withCode(code);
    expect(of(thrown)).toMatchObject({
      code: 'CONNECTION',
      message: `the exchange with api.example.com broke off: ${reason}`,
      hint: 'run the step again, or use another channel',
      retryable: true,
      cause: thrown,
    });
  });

  test.each([
    'SELF_SIGNED_CERT_IN_CHAIN',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'CERT_HAS_EXPIRED',
    'CERT_UNTRUSTED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_SSL_WRONG_VERSION_NUMBER',
  ])('%s: the certificate does not get better by trying again', (code) => {
    expect(of(withCode(code))).toMatchObject({
      code: 'CONNECTION',
      retryable: false,
      hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
  });

  test.each([
    ['an error without a code', new Error('odd'), 'odd'],
    ['an error whose code is no text', Object.assign(new Error('odd'), { code: 7 }), 'odd'],
    ['a text', 'odd', 'odd'],
    ['an empty bundle', new AggregateError([], 'odd'), 'odd'],
  ])('of %s repeats its words', (_what, thrown, words) => {
    expect(of(thrown)).toMatchObject({
      code: 'CONNECTION',
      message: expect.stringMatching(new RegExp(`: ${words}$`)),
    });
  });

  test.each([
    [
      'the first of a bundle (both families of addresses were tried)',
      new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')]),
      'it refused the connection',
    ],
    [
      'the cause, where the error has no code',
      new TypeError('fetch failed', { cause: withCode('ENOTFOUND') }),
      'its name could not be resolved',
    ],
    [
      'the cause, where undici wraps it',
      Object.assign(new errors.SocketError('closed'), { cause: withCode('ECONNREFUSED') }),
      'it refused the connection',
    ],
    [
      'the error, where it has a code of its own',
      Object.assign(withCode('ECONNREFUSED'), { cause: withCode('EPIPE') }),
      'it refused the connection',
    ],
  ])('is judged by %s', (_whose, thrown, reason) => {
    expect(of(thrown)).toMatchObject({
      code: 'NO_NETWORK',
      message: `api.example.com can't be reached: ${reason}`,
    });
  });

  test('lets our own failures pass as they are', () => {
    const failure = new DeliveryError('HOST_ERROR', 'it failed');
    expect(of(failure)).toBe(failure);
  });

  test('lets an abort pass as it is', () => {
    const reason = new Error('stopped');
    expect(connectionError(reason, { ...asked, signal: AbortSignal.abort(reason) })).toBe(reason);
  });

  test('a signal that has not fired excuses nothing', () => {
    const { signal } = new AbortController();
    expect(connectionError(withCode('EPIPE'), { ...asked, signal })).toMatchObject({ code: 'CONNECTION' });
  });

  test('never repeats the query of an address', () => {
    for (const code of ['ENOTFOUND', 'EPIPE']) {
      expect(String(of(withCode(code)))).not.toContain('s3cret');
    }
  });
});
