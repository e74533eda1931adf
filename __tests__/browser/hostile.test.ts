import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { readdir } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BrowserDriver } from '../../src/browser/screen-view.ts';
import type { ResolveHost } from '../../src/http/client.ts';
import { createHttpClient } from '../../src/http/client.ts';
import { temporaryFolder } from '../support/files.ts';
import { type GuardedPorts, hostileHeaders, hostilePage, hostileWorker } from './hostile-page.ts';
import { createTestHost, createTestScreen } from './test-host.ts';

const HOST = 'https://octo.github.io';

let viewer: BrowserDriver;
let ports: GuardedPorts;
let tempFolder: string;
let tcp: Server;
let udp: UdpSocket;
/** Requests that reached this machine. */
const reached: string[] = [];
/** Hosts that the HTTP client should connect to; it refuses those that lead to this machine. */
const asked: string[] = [];
let rebindings = 0;

/** Names that lead to this machine without showing it. */
const LEADS_HERE = /^(?:(?:internal|rebinding)\.octo\.dev|localtest\.me|127\.0\.0\.1\.nip\.io)$/;

/** `rebinding.octo.dev` changes its answer: unknown at first, and then this machine. */
const resolve: ResolveHost = (host, _options, callback) => {
  const isFirst = host === 'rebinding.octo.dev' && rebindings++ === 0;
  const isInternal = LEADS_HERE.test(host) && !isFirst;
  if (isInternal) return callback(null, [{ address: '127.0.0.1', family: 4 }]);
  callback(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), []);
};

beforeAll(async () => {
  tcp = createServer((socket) => {
    reached.push('tcp');
    socket
      .on('error', () => undefined)
      .once('data', (data) => reached.push(data.toString('latin1').slice(0, 80)));
  });
  await new Promise<void>((done) => tcp.listen(0, '::', done));
  udp = createSocket({ type: 'udp6', ipv6Only: false }, (data) => reached.push(`udp ${data.length}`));
  await new Promise<void>((done) => udp.bind(0, '::', done));
  ports = { tcp: (tcp.address() as AddressInfo).port, udp: udp.address().port };
  const away: Readonly<Record<string, string>> = {
    '/away': `http://127.0.0.1:${ports.tcp}/`,
    '/away-secure': `https://localhost:${ports.tcp}/`,
    '/away-far': '/away-further',
    '/away-further': `//127.0.0.1:${ports.tcp}/`,
  };
  const site = createTestHost(({ pathname }) => {
    const location = away[pathname];
    if (location !== undefined) return { status: 302, headers: { location } };
    if (pathname === '/worker.js') {
      return { headers: { 'content-type': 'text/javascript' }, body: hostileWorker(ports) };
    }
    const headers = pathname === '/page' ? hostileHeaders(ports) : {};
    return { headers: { 'content-type': 'text/html', ...headers }, body: hostilePage(ports) };
  });
  const client = createHttpClient(resolve);
  tempFolder = await temporaryFolder();
  viewer = await createTestScreen({
    http: (request) => {
      if (request.url.origin === HOST) return site(request);
      asked.push(request.url.host);
      return client(request);
    },
    tempFolder,
  });
});

afterAll(async () => {
  await viewer.close();
  udp.close();
  await new Promise((done) => tcp.close(done));
});

describe('a hostile page', () => {
  test('reaches nothing on this machine, is granted nothing, and is still judged', async () => {
    // The page writes its granted permissions, and how many addresses of this machine it learned.
    const marker = 'Everything was tried notification=denied location=denied camera=denied addresses=0';
    // The page starts many workers: a busy machine needs a while. It ends by itself.
    const page = { url: `${HOST}/page`, marker, renderTime: 120_000 };
    const view = await viewer.view(page, new AbortController().signal);
    expect(view).toMatchObject({ verdict: 'shown', reason: '', isMarkerVisible: true });
    expect(reached).toEqual([]);
    const internal = asked.filter((host) => !LEADS_HERE.test(host.replace(/:\d+$/, '')));
    expect([...new Set(internal)]).toEqual([]);
    expect(view.blockedRequests.length).toBeGreaterThan(50);
    // The page tried everything before its connections were used up.
    expect(view.blockedRequests.length + view.failedRequests.length).toBeLessThan(480);
    expect(view.blockedRequests.join()).toContain('127.0.0.1');
  });

  test('leaves nothing behind when the browser is closed', async () => {
    await viewer.close();
    expect(await readdir(tempFolder)).toEqual([]);
    expect(reached).toEqual([]);
  });
});
