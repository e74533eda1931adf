import '../support/one-realm.ts';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Dispatcher, errors } from 'undici';
import { DeliveryError, stoppedError } from '../../src/errors.ts';
import { checkedLookup, connectionError, createHttpClient, type ResolveHost } from '../../src/http/client.ts';
import { exchange } from '../../src/http/exchange.ts';
import type { HttpRequest, SendHttp } from '../../src/ports.ts';
import { type GitHubWorld, startWorld } from '../world/world.ts';

const defaultAuthorities = tls.getCACertificates('default');
const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY'];

/** A client in an environment with this proxy, or without a proxy. */
function clientWithProxy(proxy?: string): SendHttp {
  for (const name of PROXY_VARIABLES) delete process.env[name];
  if (proxy !== undefined) process.env.https_proxy = proxy;
  return createHttpClient();
}

const requestTo = (url: string, options: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'GET',
  url: new URL(url),
  ...options,
});

const errorOf = (response: Promise<unknown>): Promise<unknown> => response.catch((thrown) => thrown);

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** A local address without a server: no other test can get this port. */
const NOBODY = '127.0.0.1:9';

describe('a request through the proxy of the environment', () => {
  let world: GitHubWorld;
  let http: SendHttp;

  beforeAll(async () => {
    world = await startWorld();
    tls.setDefaultCACertificates([...defaultAuthorities, world.ca]);
    http = clientWithProxy(world.proxyUrl);
    world.host('files.example.com', () => ({ status: 207 }));
  });

  afterEach(() => world.traffic.clear());

  afterAll(async () => {
    tls.setDefaultCACertificates(defaultAuthorities);
    await world.stop();
  });

  test('sends the given headers, the name of the tool as user agent, and no cookie', async () => {
    const headers = { accept: 'text/plain', authorization: 'Bearer t' };
    await text((await http(requestTo('https://files.example.com/file?a=b', { headers }))).body);
    const [exchange] = world.traffic.exchanges();
    expect(exchange?.url).toBe('https://files.example.com/file?a=b');
    expect(exchange?.headers).toMatchObject({ ...headers, 'user-agent': 'screen-delivery/0.1.0' });
    expect(exchange?.headers).not.toHaveProperty('cookie');
  });

  test('never shares a connection with one of another number', async () => {
    const used = new Map<string, Set<string>>();
    world.host('files.example.com', ({ connection, path }) => {
      used.set(String(connection), (used.get(String(connection)) ?? new Set()).add(path));
      return { status: 207 };
    });
    for (const connections of [0, 1, 2, 0, 1, 2, undefined]) {
      const url = `https://files.example.com/${connections ?? 0}`;
      await text((await http(requestTo(url, { connections }))).body);
    }
    expect(Math.max(...[...used.values()].map(({ size }) => size))).toBe(1);
  });

  test('is refused for plain http', async () => {
    const message = 'the request to files.example.com uses http:// instead of https';
    const refused = await errorOf(http(requestTo('http://files.example.com/file')));
    expect(refused).toMatchObject({ code: 'NOT_EXTERNAL', message });
    expect(world.traffic.exchanges()).toEqual([]);
  });

  test.each<[string, 'reset-before' | 'hang', number | undefined, string]>([
    ['that the host interrupts', 'reset-before', undefined, ''],
    ['that is not answered as long as it allows', 'hang', 1_000, 'no response within 1 s'],
  ])('%s is a retryable CONNECTION error', async (_, fault, headersTimeout, why) => {
    world.intercept({ url: /broken/ }, { fault });
    const failure = await errorOf(http(requestTo('https://files.example.com/broken', { headersTimeout })));
    const message = expect.stringContaining(`the request to files.example.com failed: ${why}`);
    expect(failure).toMatchObject({ code: 'CONNECTION', message, retryable: true });
    expect(world.traffic.exchanges()).toHaveLength(1);
  });

  test('throws the reason of the signal as soon as it aborts', async () => {
    world.intercept({ url: /hang/ }, { fault: 'hang' });
    const stop = new AbortController();
    const reason = new Error('stopped');
    const response = http(requestTo('https://files.example.com/hang', { signal: stop.signal }));
    while (world.traffic.exchanges(/hang/).length === 0)
      await new Promise((resolve) => setImmediate(resolve));
    stop.abort(reason);
    expect(await errorOf(response)).toBe(reason);
    // Without the signal, the limit for the headers would end it much later.
  }, 20_000);

  test('through a proxy with an unknown certificate is not retryable, and the hint names the variable to set', async () => {
    tls.setDefaultCACertificates(defaultAuthorities);
    const client = clientWithProxy(world.proxyUrl);
    const failure = await errorOf(client(requestTo('https://files.example.com/file')));
    tls.setDefaultCACertificates([...defaultAuthorities, world.ca]);
    const hint = "set `NODE_EXTRA_CA_CERTS` to a file with the proxy's certificate";
    expect(failure).toMatchObject({ code: 'CONNECTION', retryable: false, hint });
    expect(world.traffic.exchanges()).toEqual([]);
  });
});

/** A connection that the test opens, and on which it answers. */
class FakeDispatcher extends Dispatcher {
  readonly abort = jest.fn<Dispatcher.DispatchController['abort']>();
  readonly controller = { abort: this.abort } as Partial<Dispatcher.DispatchController>;
  handler: Dispatcher.DispatchHandler = {};
  dispatched = 0;

  override dispatch(_options: unknown, handler: Dispatcher.DispatchHandler): boolean {
    this.handler = handler;
    this.dispatched += 1;
    return true;
  }

  begin(): void {
    this.handler.onRequestStart?.(this.controller as Dispatcher.DispatchController, {});
  }

  answer(status: number): void {
    this.handler.onResponseStart?.(this.controller as Dispatcher.DispatchController, status, {});
  }
}

test.each([
  ['only announces its answer', [103, 103, 103, 103, 103], 'UND_ERR_HEADERS_TIMEOUT'],
  ['announces its answer, and answers', [103, 103, 103, 200], 'status 200'],
])('a request ends if the host %s', async (_, statuses, outcome) => {
  jest.useFakeTimers();
  const dispatcher = new FakeDispatcher();
  const request = requestTo('https://files.example.com/', { headersTimeout: 5_000 });
  const response = exchange(dispatcher, request).then(
    ({ status }) => `status ${status}`,
    ({ code }) => code,
  );
  dispatcher.begin();
  // The body of the request may take as long as it needs.
  jest.advanceTimersByTime(60_000);
  for (const status of statuses) {
    dispatcher.answer(status);
    jest.advanceTimersByTime(1_500);
  }
  jest.useRealTimers();
  expect(await response).toBe(outcome);
  expect(dispatcher.abort).toHaveBeenCalledTimes(outcome === 'status 200' ? 0 : 1);
});

test.each([
  ['before it has a connection', false],
  ['that was begun', true],
])('a stop of a request %s ends it at once', async (_, isBegun) => {
  const dispatcher = new FakeDispatcher();
  const stop = new AbortController();
  const request = requestTo('https://files.example.com/', { signal: stop.signal });
  const response = exchange(dispatcher, request);
  if (isBegun) dispatcher.begin();
  stop.abort(stoppedError());
  expect(await errorOf(response)).toBe(stop.signal.reason);
  // A connection that comes later sends nothing any more.
  if (!isBegun) dispatcher.begin();
  expect(dispatcher.abort).toHaveBeenCalledTimes(1);
  expect(await errorOf(exchange(dispatcher, request))).toBe(stop.signal.reason);
  expect(dispatcher.dispatched).toBe(1);
});

test.each([
  ...['https://127.0.0.1:9/', 'https://[::1]:9/', 'https://0.0.0.0:9/', 'https://169.254.169.254/'],
  ...['https://[fd00:ec2::254]/', 'https://host.docker.internal/'],
])(
  'an address of a machine itself receives no request without a token, with or without a proxy: %s',
  async (url) => {
    for (const proxy of [undefined, `http://${NOBODY}`]) {
      for (const publicOnly of [true, false]) {
        const refusal = await errorOf(clientWithProxy(proxy)(requestTo(url, { publicOnly })));
        expect(refusal).toMatchObject({ code: 'NOT_EXTERNAL' });
      }
    }
  },
);

test('a name that this machine resolves to an address of its own receives no request without a token', async () => {
  clientWithProxy();
  const http = createHttpClient((_host, _options, callback) =>
    callback(null, [{ address: '127.0.0.1', family: 4 }]),
  );
  for (const publicOnly of [true, false]) {
    expect(await errorOf(http(requestTo('https://files.octo.dev/', { publicOnly })))).toMatchObject({
      code: 'NOT_EXTERNAL',
      message: 'files.octo.dev resolves to a loopback address',
    });
  }
});

test('a request is a NO_NETWORK error when the host refuses the connection', async () => {
  // An instance of GitHub, which receives the token, may be on this machine.
  const request = requestTo(`https://${NOBODY}/`, { headers: { authorization: 'Bearer x' } });
  expect(await errorOf(clientWithProxy()(request))).toMatchObject({
    code: 'NO_NETWORK',
    message: `${NOBODY} can't be reached: connect ECONNREFUSED ${NOBODY}`,
    hint: expect.stringContaining('https_proxy'),
    retryable: true,
  });
});

test('a request is a NO_NETWORK error that names the proxy when the proxy refuses the connection', async () => {
  const http = clientWithProxy(`http://user:pass@${NOBODY}`);
  expect(await errorOf(http(requestTo('https://files.example.com/')))).toMatchObject({
    code: 'NO_NETWORK',
    message: `the proxy ${NOBODY} can't be reached: connect ECONNREFUSED ${NOBODY}`,
    hint: expect.stringMatching(/^correct `https_proxy`/),
    retryable: true,
  });
});

test('a request is a NO_NETWORK error when the proxy requires a login', async () => {
  const proxy = createServer((socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')),
  );
  const http = clientWithProxy(`http://127.0.0.1:${await listen(proxy)}`);
  const failure = await errorOf(http(requestTo('https://files.example.com/')));
  proxy.close();
  const message = 'the proxy refused the connection to files.example.com with HTTP 407';
  const hint = expect.stringContaining('user and password');
  expect(failure).toMatchObject({ code: 'NO_NETWORK', message, hint, retryable: false });
});

test.each(['not a url', 'http://[::1', 'http://127.0.0.1:99999', 'ftp://127.0.0.1'])(
  'A proxy at %s is refused in one sentence that does not repeat it.',
  async (proxy) => {
    const refusal = await errorOf(clientWithProxy(proxy)(requestTo('https://files.octo.dev/')));
    const message = '`https_proxy` or `http_proxy` is not a URL';
    expect(refusal).toMatchObject({ code: 'BAD_INPUT', message });
  },
);

describe('connectionError', () => {
  const request = { url: new URL('https://api.example.com/x?key=s3cret') };
  const withCode = (code: string, cause?: Error): Error =>
    Object.assign(new Error('low-level message', { cause }), { code });
  const convert = (thrown: unknown): unknown => connectionError(thrown, request);
  const reached = 'the request to api.example.com failed: ';
  const unreached = "api.example.com can't be reached: ";

  test.each([
    ...['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN'].map((code) => [
      code,
      `${unreached}low-level message`,
    ]),
    ['UND_ERR_CONNECT_TIMEOUT', `${unreached}low-level message`],
    ['ECONNRESET', `${reached}low-level message`],
    ['UND_ERR_HEADERS_TIMEOUT', `${reached}no response within 60 s`],
    ['UND_ERR_BODY_TIMEOUT', `${reached}no data received for 30 s`],
  ] as [string, string][])('turns %s into a retryable error without the query: %s', (code, message) => {
    const cause = withCode(code);
    const isReached = message.startsWith(reached);
    expect(convert(cause)).toMatchObject({
      ...{ code: isReached ? 'CONNECTION' : 'NO_NETWORK', message, retryable: true, cause },
      hint: isReached
        ? 'try again, and check that api.example.com is the right host'
        : expect.stringContaining('`https_proxy` and `no_proxy`'),
    });
  });

  test.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS'],
    ['CERT_HAS_EXPIRED', 'NODE_EXTRA_CA_CERTS'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'NODE_EXTRA_CA_CERTS'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'until Settings → Pages offers "Enforce HTTPS"'],
  ])('does not retry the certificate error %s, and names the way out: %s', (code, way) => {
    const hint = expect.stringContaining(way);
    expect(convert(withCode(code))).toMatchObject({ code: 'CONNECTION', retryable: false, hint });
  });

  test.each<[string, unknown, string]>([
    ['the message, if the code is not a text', Object.assign(new Error('odd'), { code: 7 }), `${reached}odd`],
    ['a text that was thrown', 'odd', `${reached}odd`],
    ['the message of an empty AggregateError', new AggregateError([], 'odd'), `${reached}odd`],
    [
      'the first error of an AggregateError, because IPv4 and IPv6 were tried',
      new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')]),
      `${unreached}low-level message`,
    ],
    [
      'a cause in undici’s error',
      Object.assign(new errors.SocketError('x'), { cause: withCode('EAI_AGAIN') }),
      `${unreached}low-level message`,
    ],
  ])('explains %s', (_case, thrown, message) => {
    expect(convert(thrown)).toMatchObject({ message });
  });

  test('returns a DeliveryError and the reason of an abort unchanged, if the signal has aborted', () => {
    const failure = new DeliveryError('HOST_ERROR', 'it failed');
    expect(convert(failure)).toBe(failure);
    const reason = new Error('stopped');
    expect(connectionError(reason, { ...request, signal: AbortSignal.abort(reason) })).toBe(reason);
    const { signal } = new AbortController();
    expect(connectionError(withCode('EPIPE'), { ...request, signal })).toMatchObject({ code: 'CONNECTION' });
  });
});

/** A resolver with these addresses for every name; without addresses it fails. */
const resolveTo =
  (...addresses: readonly string[]): ResolveHost =>
  (_host, _options, callback) =>
    callback(
      addresses.length === 0 ? new Error('ENOTFOUND') : null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

const lookUp = (resolve: ResolveHost, publicOnly: boolean, all = false): Promise<unknown[]> =>
  new Promise((done) => {
    checkedLookup(publicOnly, resolve)('files.octo.dev', { all }, (...args) => done(args));
  });

const PUBLIC = ['140.82.112.3', '2606:50c0:8000::153'];

describe('the lookup of a host', () => {
  test('returns all public addresses of a name, or the first one', async () => {
    const [first = '', second = ''] = PUBLIC;
    const both = [
      { address: first, family: 4 },
      { address: second, family: 6 },
    ];
    expect(await lookUp(resolveTo(...PUBLIC), true, true)).toEqual([null, both]);
    expect(await lookUp(resolveTo(...PUBLIC), true)).toEqual([null, first, 4]);
  });

  test('passes on an error of the resolver', async () => {
    expect(await lookUp(resolveTo(), true)).toEqual([new Error('ENOTFOUND'), '']);
  });

  // Private addresses belong to a network, the others to the machine itself.
  test.each<[string, string, 'always' | 'in public']>([
    ['127.0.0.1', 'loopback', 'always'],
    ['169.254.169.254', 'linkLocal', 'always'],
    ['fd00:ec2::254', 'metadata', 'always'],
    ['10.1.2.3', 'private', 'in public'],
    ['fd00::1', 'uniqueLocal', 'in public'],
    ['::ffff:192.168.0.1', 'private', 'in public'],
  ])('refuses %s (%s) %s', async (address, range, when) => {
    const refused = { code: 'NOT_EXTERNAL', message: `files.octo.dev resolves to a ${range} address` };
    for (const publicOnly of [true, false]) {
      const [error, found] = await lookUp(resolveTo('140.82.112.3', address), publicOnly);
      if (publicOnly || when === 'always') {
        expect(error).toMatchObject(refused);
      } else {
        expect([error, found]).toEqual([null, '140.82.112.3']);
      }
    }
  });
});
