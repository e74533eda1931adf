import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { readdir } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createScreenViewer } from '../../src/browser/browser.ts';
import type { ScreenViewer } from '../../src/browser/screen-view.ts';
import { VIEW_TIMES } from '../../src/browser/view-times.ts';
import type { ResolveHost } from '../../src/http/public-lookup.ts';
import { systemClock } from '../../src/system.ts';
import { chromiumPath } from '../support/chromium.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeLogger } from '../support/ports.ts';
import { type GuardedPorts, hostileHeaders, hostilePage, hostileWorker } from './hostile-page.ts';
import { startTestSite, type TestSite } from './test-site.ts';

const HOST = 'https://octo.github.io';

let site: TestSite;
let viewer: ScreenViewer;
let ports: GuardedPorts;
let tempFolder: string;
let tcp: Server;
let udp: UdpSocket;
/** What has reached this machine. */
const reached: string[] = [];
let rebindings = 0;

/** `rebinding.octo.dev` changes its answer: unknown at first, and then this machine. */
const resolve: ResolveHost = (host, _options, callback) => {
  const isFirst = host === 'rebinding.octo.dev' && rebindings++ === 0;
  const isInternal = /^(internal|rebinding)\.octo\.dev$/.test(host) && !isFirst;
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
  site = await startTestSite(await temporaryFolder(), (message, response) => {
    const type = message.url === '/worker.js' ? 'text/javascript' : 'text/html';
    const away = {
      '/away': `http://127.0.0.1:${ports.tcp}/`,
      '/away-secure': `https://localhost:${ports.tcp}/`,
      '/away-far': '/away-further',
      '/away-further': `//127.0.0.1:${ports.tcp}/`,
    };
    const location = (away as Record<string, string>)[message.url ?? ''];
    if (location !== undefined) return void response.writeHead(302, { location }).end();
    const headers = message.url === '/page' ? hostileHeaders(ports) : {};
    response.writeHead(200, { 'content-type': type, ...headers });
    response.end(message.url === '/worker.js' ? hostileWorker(ports) : hostilePage(ports));
  });
  tempFolder = await temporaryFolder();
  viewer = await createScreenViewer({
    executablePath: await chromiumPath(),
    sandbox: false,
    // The name that changes its answer is reached without the proxy of the environment.
    environment: { PATH: process.env.PATH, ...site.environment, no_proxy: 'rebinding.octo.dev' },
    clock: systemClock,
    logger: new FakeLogger(),
    tempFolder,
    // The page starts many workers: a busy machine needs a while.
    times: { ...VIEW_TIMES, total: 60_000, render: 20_000 },
    resolve,
  });
});

afterAll(async () => {
  await viewer.close();
  await site.close();
  udp.close();
  await new Promise((done) => tcp.close(done));
});

describe('a hostile page', () => {
  test('reaches nothing on this machine, is granted nothing, and is still judged', async () => {
    // The page writes what it was granted, and how many addresses of this machine it learned.
    const marker = 'Everything was tried notification=denied location=denied camera=denied addresses=0';
    const page = { url: `${HOST}/page`, marker, picture: false };
    const view = await viewer.view(page, new AbortController().signal);
    expect(view).toMatchObject({ verdict: 'shown', reason: '', isMarkerVisible: true });
    expect(reached).toEqual([]);
    expect(site.connections.filter((one) => one !== 'octo.github.io:443')).toEqual([]);
    expect(view.counts.blockedRequests).toBeGreaterThan(50);
    // Nothing was left untried because the page has used up its connections.
    expect(view.counts.blockedRequests + view.counts.failedRequests).toBeLessThan(480);
    expect(view.blockedRequests.join()).toContain('127.0.0.1');
  });

  test('leaves nothing behind when the browser is closed', async () => {
    await viewer.close();
    expect(await readdir(tempFolder)).toEqual([]);
    expect(reached).toEqual([]);
  });
});
