import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PNG } from 'pngjs';
import type { BrowserOptions } from '../../src/browser/browser.ts';
import type { BrowserDriver, PageToView, ScreenView } from '../../src/browser/screen-view.ts';
import { systemClock } from '../../src/system.ts';
import { temporaryFolder } from '../support/files.ts';
import { createTestHost, createTestScreen, type TestAnswer } from './test-host.ts';

const HOST = 'https://octo.github.io';
const SCRIPT = { 'content-type': 'text/javascript' };
const SIGNAL = new AbortController().signal;

let tempFolder: string;
let viewer: BrowserDriver;

/** A page that is not published yet, with its other files by name. */
const localPage = (
  html: string,
  more: Partial<PageToView> = {},
  scripts: Record<string, string> = {},
): PageToView => ({
  url: `${HOST}/site/page.html`,
  local: (path) => {
    const isPage = path === '/site/page.html';
    const text = isPage ? html : scripts[path.slice('/site/'.length)];
    const contentType = isPage ? 'text/html; charset=utf-8' : 'text/javascript';
    if (text === undefined) return undefined;
    return { size: Buffer.byteLength(text), contentType, read: () => Readable.from([Buffer.from(text)]) };
  },
  ...more,
});

const createViewer = (more: Partial<BrowserOptions> = {}): Promise<BrowserDriver> =>
  createTestScreen({
    env: { PATH: process.env.PATH, GITHUB_TOKEN: 'ghs_secret' },
    http: createTestHost(() => ({ status: 404 })),
    tempFolder,
    ...more,
  });

/** Whether a process runs; an ended process stays listed until its parent reaps it. */
async function isRunning(pid: string): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => 'State:\tZ');
  return !/^State:\s+[ZX]/m.test(status);
}

/** A program in place of the browser. */
async function fakeBrowser(script: string): Promise<string> {
  const path = join(await temporaryFolder(), 'chrome');
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

beforeAll(async () => {
  tempFolder = await temporaryFolder();
  viewer = await createViewer();
});
afterAll(() => viewer.close());

describe('a page from local files', () => {
  test('has the URL, the path and the secure context of the published page', async () => {
    const html = `<title>Report</title><p id="p"></p><script type="module">
      import { name } from './name.js';
      await navigator.serviceWorker.register('worker.js');
      p.textContent = [name, location.href, isSecureContext, (await navigator.serviceWorker.ready).scope].join(' ');
    </script>`;
    const scripts = { 'name.js': "export const name = 'octo'", 'worker.js': '' };
    const marker = `octo ${HOST}/site/page.html true ${HOST}/site/`;
    const view = await viewer.view(localPage(html, { marker }, scripts), SIGNAL);
    expect(view).toMatchObject({
      ...{ verdict: 'shown', reason: '', hint: '', httpCode: 200, title: 'Report' },
      ...{ isMarkerVisible: true, overflow: 0, isStable: true, exceptions: [], failedRequests: [] },
      browser: expect.stringMatching(/^HeadlessChrome\/\d+/),
    });
    expect(PNG.sync.read(Buffer.from(view.picture ?? []))).toMatchObject({ width: 1280, height: 800 });
  });

  test('has the same picture after a search for the marker', async () => {
    const html = `<style>* { user-select: none }</style><p>Text</p><div style="height:60px;overflow:auto">
      <h1 style="height:900px">Report</h1><p>Run 4711</p></div><div style="height:900px"></div>`;
    const searched = await viewer.view(localPage(html, { marker: 'Run 4711' }), SIGNAL);
    const plain = await viewer.view(localPage(html), SIGNAL);
    expect(searched).toMatchObject({ verdict: 'shown', isMarkerVisible: true, isStable: true });
    expect(searched.picture).toEqual(plain.picture);
  });

  test('is reported with its exceptions, failed and refused requests, console errors and width', async () => {
    const view = await viewer.view(
      localPage(`<h1>Report</h1><div style="width:500px">wide</div><img src="gone.png"><script>
        console.error('not good', 42);
        fetch('https://localhost:8443/metadata').catch(() => 0);
        Promise.reject(new TypeError('later'));
        throw new RangeError('at once \\u001b[31m');
      </script>`),
      SIGNAL,
    );
    expect(view.verdict).toBe('shown');
    expect([...view.exceptions].sort().join()).toMatch(/RangeError: at once \[31m.*TypeError: later/s);
    expect(view.exceptions).toHaveLength(2);
    expect(view.consoleErrors).toEqual(['not good 42']);
    expect(view.failedRequests).toEqual([{ error: '404', url: `${HOST}/site/gone.png` }]);
    expect(view.blockedRequests).toEqual(['https://localhost:8443/metadata']);
    expect(view.otherHosts).toEqual([{ host: 'localhost:8443', requests: 1 }]);
    expect(view.overflow).toBeGreaterThan(100);
    expect(view.overflow).toBeLessThan(130);
  });

  test('names other hosts that it requests, but not what its policy blocks or a browser prefetches', async () => {
    const html = `<meta http-equiv="Content-Security-Policy" content="img-src 'self'">
      <link rel="prefetch" href="https://ahead.dev/next.html"><h1>Report</h1><script>
        new WebSocket('wss://live.dev/feed');
        new Image().src = 'https://blocked.dev/a.png';
        fetch('https://data.dev/a.json').catch(() => 0);
      </script>`;
    const { otherHosts } = await viewer.view(localPage(html), SIGNAL);
    expect(otherHosts.map(({ host }) => host).sort()).toEqual(['data.dev', 'live.dev']);
  });

  test('keeps nothing of the previous page', async () => {
    const write = `<p>first</p><script>document.cookie = 'a=1'; localStorage.b = 2</script>`;
    const read = `<p id="p"></p><script>p.textContent = 'kept:' + document.cookie + (localStorage.b ?? '') + '.'</script>`;
    await viewer.view(localPage(write), SIGNAL);
    expect((await viewer.view(localPage(read, { marker: 'kept:.' }), SIGNAL)).isMarkerVisible).toBe(true);
  });

  test('can add only a limited text to the report', async () => {
    const html = `<p>much</p><title>${'t'.repeat(5_000)}</title><script>for (let i = 0; i < 200; i++) console.error('e'.repeat(5000))</script>`;
    const view = await viewer.view(localPage(html), SIGNAL);
    expect(view.title).toHaveLength(301);
    expect(view.consoleErrors).toHaveLength(200);
    expect(Math.max(...view.consoleErrors.map(({ length }) => length))).toBe(301);
  });
});

describe('a published page', () => {
  const ask =
    "fetch('/data').then((answer) => answer.text()).then((text) => send(text)).catch((error) => send(error.name));";
  const answers: Readonly<Record<string, TestAnswer>> = {
    '/page': {
      headers: { 'content-type': 'text/html', 'content-security-policy': "img-src 'none'" },
      body: `<p id="p"></p><img src="/never"><script type="module">
        const message = (port) => new Promise((done) => { port.onmessage = ({ data }) => done(data) });
        const get = (url, more) => fetch(url, more).then((answer) => answer.text(), (error) => error.name);
        await navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready);
        const seen = [
          await message(new Worker('/worker.js')), await message(new Worker('/worker.js', { type: 'module' })),
          await message(new SharedWorker('/shared.js').port), await get('/moved'), await get('/by-service'),
          await get('/data', { method: 'POST', body: 'sent' }), await get('https://other.dev/open'),
          await get('https://other.dev/closed'), await get('https://other.dev/open', { method: 'PUT' }),
        ];
        p.textContent = seen.join(' ');
      </script>`,
    },
    '/worker.js': { headers: SCRIPT, body: `const send = postMessage; ${ask}` },
    '/shared.js': {
      headers: SCRIPT,
      body: `onconnect = ({ ports: [port] }) => { const send = (text) => port.postMessage(text); ${ask} }`,
    },
    '/service.js': {
      headers: SCRIPT,
      body: `addEventListener('activate', (event) => event.waitUntil(clients.claim()));
        addEventListener('fetch', (event) => event.request.url.endsWith('/by-service') && event.respondWith(fetch('/data')))`,
    },
    '/moved': { status: 302, headers: { location: '/data' } },
    '/data': { body: 'data' },
    '/open': { headers: { 'access-control-allow-origin': '*' }, body: 'open' },
    '/closed': { body: 'closed' },
  };

  test('gets answers in workers of all kinds, by its host’s headers and other hosts’ consent', async () => {
    const asked: string[] = [];
    const published = await createViewer({
      http: createTestHost(({ pathname }, { method, body }) => {
        asked.push(`${method} ${pathname}${body === undefined ? '' : ' with a body'}`);
        return answers[pathname] ?? { status: 404 };
      }),
    });
    const marker = 'data data data data data data open TypeError TypeError';
    const view = await published.view({ url: `${HOST}/page`, marker }, SIGNAL);
    await published.close();
    expect(view).toMatchObject({ verdict: 'shown', reason: '', isMarkerVisible: true });
    expect(asked).toEqual(expect.arrayContaining(['POST /data with a body', 'OPTIONS /open']));
    expect(asked).not.toContain('GET /never');
    expect(asked).not.toContain('PUT /open');
  });
});

describe('a page with a WebSocket', () => {
  const socket = "<script>const socket = new WebSocket('wss://other.dev/live');";

  test('is not refused for what it would show with a WebSocket', async () => {
    const html = `${socket} socket.onmessage = () => document.body.append('live')</script>`;
    expect(await viewer.view(localPage(html), SIGNAL)).toMatchObject({
      verdict: 'not-checked',
      reason: expect.stringContaining("the page requests a WebSocket, which this check can't provide"),
    });
  });

  test('is shown without a WebSocket, and without an error', async () => {
    const view = await viewer.view(localPage(`<p>Numbers</p>${socket}</script>`), SIGNAL);
    expect(view).toMatchObject({ verdict: 'shown', consoleErrors: [], failedRequests: [] });
  });
});

describe('a browser that does not work', () => {
  const notChecked = async (script: string, more: Partial<BrowserOptions> = {}): Promise<ScreenView> => {
    const broken = await createViewer({ executablePath: await fakeBrowser(script), ...more });
    const view = await broken.view(localPage('<p>text</p>'), SIGNAL);
    await broken.close();
    expect(view.verdict).toBe('not-checked');
    return view;
  };

  test('names the input that turns its sandbox off', async () => {
    const output = 'Running as root without --no-sandbox is not supported.';
    const view = await notChecked(`echo '[1:1:FATAL] ${output}' >&2; exit 1`, { sandbox: true });
    expect(view.reason).toContain("the browser's sandbox can't run here");
    expect(view.hint).toContain('allow its sandbox on this machine, or set `browser-sandbox: false`');
  });

  test('is reported with what it printed', async () => {
    const view = await notChecked("echo 'error while loading shared libraries: libnss3.so' >&2; exit 127");
    expect(view.reason).toMatch(/^the browser did not start: error while .* libraries: libnss3.so$/);
  });

  test('is ended with all its processes if it does not answer', async () => {
    const late = new AbortController();
    const clock = { ...systemClock, timeout: () => late.signal };
    const script = 'sleep 600 & echo $$ $! > "$HOME/../../pids"; sleep 600';
    const viewing = notChecked(script, { clock });
    const readPids = () => readFile(join(tempFolder, 'pids'), 'utf8').catch(() => '');
    while ((await readPids()) === '') await systemClock.sleep(20);
    late.abort(new DOMException('The time is over', 'TimeoutError'));
    expect((await viewing).reason).toContain('did not start');
    const pids = (await readPids()).trim().split(' ');
    expect(pids).toHaveLength(2);
    // They were killed; a busy system may need a moment to clear them away.
    while ((await Promise.all(pids.map(isRunning))).includes(true)) await systemClock.sleep(20);
  });

  test('sees nothing of the environment of the job', async () => {
    await notChecked('env > "$HOME/../../env"; exit 1');
    const text = await readFile(join(tempFolder, 'env'), 'utf8');
    const names = text.split('\n').map((line) => line.split('=')[0]);
    expect(text).not.toContain('ghs_secret');
    expect(names).toEqual(expect.arrayContaining(['PATH', 'HOME', 'LANG']));
    expect(names.filter((name) => /TOKEN|GITHUB|proxy|NODE/i.test(name ?? ''))).toEqual([]);
  });
});

describe('a view', () => {
  test('ends when its time is over, and the next one has a new browser', async () => {
    const view = viewer.view(localPage('<script>for (;;);</script>'), AbortSignal.timeout(500));
    expect((await view).reason).toBe('the browser did not answer in time');
    expect(await viewer.view(localPage('<p>text</p>'), SIGNAL)).toMatchObject({ verdict: 'shown' });
  });

  test('leaves no profile behind', async () => {
    await viewer.close();
    expect((await readdir(tempFolder)).join()).not.toContain('screen-delivery-browser-');
  });
});
