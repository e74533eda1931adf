import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openConnection } from '../../src/browser/outbound-connection.ts';
import { type OutboundProxy, PROXY_GREETING, startOutboundProxy } from '../../src/browser/outbound-proxy.ts';
import type { ResolveHost } from '../../src/http/public-lookup.ts';

let upstream: Server;
/** The head of each request that the upstream proxy got. */
const asked: string[] = [];
let proxy: OutboundProxy | undefined;

/** Resolves every name to these addresses, one list after the other, and counts. */
function resolving(...answers: string[][]): ResolveHost & { calls: number } {
  const resolve = (
    _host: string,
    _options: object,
    callback: (error: null, found: never[]) => void,
  ): void => {
    const addresses = answers[Math.min(state.calls, answers.length - 1)] ?? [];
    state.calls += 1;
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })) as never[],
    );
  };
  const state = Object.assign(resolve as ResolveHost, { calls: 0 });
  return state;
}

const environment = (): Record<string, string> => ({
  https_proxy: `http://me:pass@127.0.0.1:${(upstream.address() as AddressInfo).port}`,
});

const start = async (limits = { bytes: 1e6, connections: 100 }): Promise<OutboundProxy> => {
  proxy = await startOutboundProxy({
    connector: { environment: environment(), resolve: resolving([]) },
    limits,
  });
  return proxy;
};

/** Sends one request to the proxy and returns what it answers, to the end or up to a blank line. */
function ask({ url, credentials }: OutboundProxy, head: string, isKnown = true): Promise<string> {
  const { username, password } = credentials;
  const login = `Proxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}\r\n`;
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`${head}\r\nHost: x\r\n${isKnown ? login : ''}\r\n`);
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (data) => {
      text += data;
      if (text.includes('\r\n\r\n')) socket.destroy();
    });
    socket.on('error', () => undefined).on('close', () => resolve(text.split('\r\n')[0] ?? ''));
  });
}

beforeAll(async () => {
  upstream = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', (data) => {
        asked.push(data.toString('latin1'));
        socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(2_000)}`);
      });
  });
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done));
});

afterEach(async () => {
  await proxy?.close();
  asked.length = 0;
});
afterAll(() => new Promise((done) => void upstream.close(done)));

describe('the proxy of a page', () => {
  test('connects through the proxy of the environment, with its credentials', async () => {
    expect(await ask(await start(), 'CONNECT octo.github.io:443 HTTP/1.1')).toContain('200');
    expect(asked[0]).toContain('CONNECT octo.github.io:443');
    expect(asked[0]).toContain(`Basic ${Buffer.from('me:pass').toString('base64')}`);
    expect(asked[0]).not.toContain(proxy?.credentials.password);
  });

  test('serves nobody without its credentials', async () => {
    await start();
    for (const head of ['CONNECT octo.github.io:443 HTTP/1.1', `GET ${PROXY_GREETING} HTTP/1.1`]) {
      expect(await ask(proxy as OutboundProxy, head, false)).toContain('407');
      expect(
        await ask(
          {
            ...(proxy as OutboundProxy),
            url: proxy?.url ?? '',
            credentials: { username: 'page', password: 'x' },
          },
          head,
        ),
      ).toContain('407');
    }
    expect(asked).toEqual([]);
  });

  test.each([
    '127.0.0.1:80',
    'localhost:443',
    '[::1]:443',
    '10.0.0.1:443',
    '169.254.169.254:80',
    'printer:80',
    '0x7f.1:80',
  ])('refuses %s, and remembers why', async (authority) => {
    await start();
    expect(await ask(proxy as OutboundProxy, `CONNECT ${authority} HTTP/1.1`)).toContain('403');
    expect(await ask(proxy as OutboundProxy, `GET http://${authority}/ HTTP/1.1`)).toContain('403');
    expect(proxy?.refused.size).toBeGreaterThan(0);
    expect(asked).toEqual([]);
  });

  test('answers no request that is not meant for a proxy', async () => {
    expect(await ask(await start(), 'GET /etc/passwd HTTP/1.1')).toContain('403');
    expect(await ask(proxy as OutboundProxy, 'CONNECT :::: HTTP/1.1')).toContain('403');
  });

  test('ends all traffic of a page that loads too much or connects too often', async () => {
    await start({ bytes: 1_000, connections: 100 });
    await ask(proxy as OutboundProxy, 'CONNECT octo.github.io:443 HTTP/1.1');
    await new Promise((done) => setImmediate(done));
    await start({ bytes: 1e6, connections: 2 });
    const answers = [];
    for (let count = 0; count < 4; count += 1) {
      answers.push(await ask(proxy as OutboundProxy, 'CONNECT octo.github.io:443 HTTP/1.1'));
    }
    expect(answers.filter((one) => one.includes('200'))).toHaveLength(2);
    expect(proxy?.exceeded).toBe('the page opened more than 2 connections');
  });
});

describe('openConnection', () => {
  const open = (url: string, resolve: ResolveHost, more = {}): Promise<unknown> =>
    openConnection(new URL(url), { environment: {}, resolve, ...more }).then(
      (socket) => socket.destroy() && 'connected',
      (error: { code: string }) => error.code,
    );

  test.each([['127.0.0.1'], ['10.1.2.3'], ['169.254.169.254'], ['::1'], ['140.82.112.3', '127.0.0.1']])(
    'refuses a name that leads to %s, directly and through a proxy',
    async (...addresses) => {
      expect(await open('https://octo.dev/', resolving(addresses))).toBe('NOT_EXTERNAL');
      expect(await open('https://octo.dev/', resolving(addresses), { environment: environment() })).toBe(
        'NOT_EXTERNAL',
      );
      expect(asked).toEqual([]);
    },
  );

  test('resolves a name once for each connection, so that a second answer is never used', async () => {
    const resolve = resolving(['::ffff:0:1'], ['127.0.0.1']);
    await open('https://octo.dev/', resolve);
    expect(resolve.calls).toBe(1);
  });

  test('reaches a private network only for the host and port that the settings name, and this machine never', async () => {
    const privateHost = { privateOrigin: 'https://pages.corp.dev', environment: environment() };
    expect(await open('https://pages.corp.dev/', resolving(['10.1.2.3']), privateHost)).toBe('connected');
    expect(await open('https://other.corp.dev/', resolving(['10.1.2.3']), privateHost)).toBe('NOT_EXTERNAL');
    expect(await open('https://pages.corp.dev/', resolving(['127.0.0.1']), privateHost)).toBe('NOT_EXTERNAL');
    // Other services of the same machine are not the page's.
    for (const url of [
      'https://pages.corp.dev:8443/',
      'http://pages.corp.dev/',
      'https://pages.corp.dev:22/',
    ]) {
      expect(await open(url, resolving(['10.1.2.3']), privateHost)).toBe('NOT_EXTERNAL');
    }
  });
});
