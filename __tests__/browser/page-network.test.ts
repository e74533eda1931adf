import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { CDPSession, Protocol } from '#puppeteer';
import { PageEvents } from '../../src/browser/page-events.ts';
import { PageNetwork } from '../../src/browser/page-network.ts';
import type { PageToView } from '../../src/browser/screen-view.ts';
import { DeliveryError } from '../../src/errors.ts';
import type { HttpRequest, SendHttp } from '../../src/ports.ts';
import { createTestHost, type TestAnswer } from './test-host.ts';

const HOST = 'https://octo.github.io';
const PAGE: PageToView = { url: `${HOST}/site/page.html` };

const local = (text: string): PageToView['local'] => {
  const read = () => Readable.from([Buffer.from(text)]);
  const file = { size: text.length, contentType: 'text/html', read };
  return (path) => (path === '/site/page.html' ? file : undefined);
};

/** What the browser gets for one request. */
type Told = Partial<Protocol.Fetch.FulfillRequestRequest & Protocol.Fetch.FailRequestRequest>;

/** The answers to a page, and what was sent for it. */
function setUp(answer: (request: HttpRequest) => TestAnswer = () => ({}), page: Partial<PageToView> = {}) {
  const sent: HttpRequest[] = [];
  const told: Told[] = [];
  const send = async (_method: string, values: Told): Promise<void> => void told.push(values);
  const session = { send, detach: async () => undefined } as unknown as CDPSession;
  const host = createTestHost((_url, request) => answer(request));
  const http: SendHttp = (request) => {
    sent.push(request);
    return host(request);
  };
  const events = new PageEvents(PAGE.url);
  const network = new PageNetwork(session, { page: { ...PAGE, ...page }, events, http });
  const ask = async (url: string, more: Partial<Protocol.Network.Request> = {}): Promise<Told> => {
    const request = { url, method: 'GET', headers: {}, ...more } as Protocol.Network.Request;
    await network.answer({ requestId: '1', frameId: '1', request, resourceType: 'XHR' });
    return told.at(-1) ?? {};
  };
  return { network, events, ask, sent };
}

const bodyOf = ({ body = '' }: Told): string => Buffer.from(body, 'base64').toString();

describe('a request of the page', () => {
  test('is sent unchanged, and gets the answer of its host without the encoding', async () => {
    const { ask, sent } = setUp(() => ({
      status: 418,
      headers: { 'content-encoding': 'gzip', 'content-length': '23', 'content-security-policy': 'sandbox' },
      body: gzipSync('text'),
    }));
    const told = await ask('https://other.dev/a?b', {
      method: 'POST',
      headers: { 'User-Agent': 'Chrome', 'X-Own': 'yes' },
      hasPostData: true,
      postDataEntries: [{ bytes: btoa('one ') }, { bytes: btoa('two') }],
    });
    expect(sent[0]).toMatchObject({
      method: 'POST',
      publicOnly: true,
      headers: { 'user-agent': 'Chrome', 'x-own': 'yes', 'content-length': '7' },
    });
    expect(sent[0]?.url.href).toBe('https://other.dev/a?b');
    const body = sent[0]?.body?.();
    expect(body instanceof Readable && Buffer.concat(await body.toArray()).toString()).toBe('one two');
    const policy = { name: 'content-security-policy', value: 'sandbox' };
    expect(told).toMatchObject({ responseCode: 418, responseHeaders: [policy] });
    expect(bodyOf(told)).toBe('text');
  });

  const NOT_ANSWERED = {
    internal: 'http://127.0.0.1/ https://localhost:8443/ https://10.0.0.1/ https://intranet/ https://[::1]/',
    'not https': 'http://other.dev/',
  };
  test.each(Object.entries(NOT_ANSWERED).flatMap(([why, urls]) => urls.split(' ').map((url) => [why, url])))(
    'is never sent if it is %s: %s',
    async (why, url) => {
      const { events, ask, sent } = setUp();
      const isInternal = why === 'internal';
      const errorReason = isInternal ? 'BlockedByClient' : 'ConnectionFailed';
      expect(await ask(url as string)).toEqual({ requestId: '1', errorReason });
      expect([...events.refused.keys()]).toEqual(isInternal ? [url] : []);
      expect(sent).toEqual([]);
    },
  );

  test.each([
    ['NOT_EXTERNAL', 'BlockedByClient', ['it resolves to a private address']],
    ['NO_NETWORK', 'ConnectionFailed', []],
  ] as const)('that the client refuses with %s fails with %s', async (code, errorReason, refused) => {
    const { events, ask } = setUp(() => {
      throw new DeliveryError(code, 'it resolves to a private address');
    });
    expect(await ask('https://rebinding.dev/')).toMatchObject({ errorReason });
    expect([[...events.refused.values()], events.missing]).toEqual([refused, '']);
  });

  test('may go to the private host of the verified page, and to nothing else in that network', async () => {
    const { ask, sent } = setUp(undefined, { url: 'https://pages.corp/site/', isPrivateHost: true });
    await ask('https://pages.corp/site/data.json');
    expect(sent[0]?.publicOnly).toBe(false);
    for (const url of ['https://pages.corp:8443/', 'https://other.corp/', 'https://10.0.0.1/']) {
      expect(await ask(url)).toMatchObject({ errorReason: 'BlockedByClient' });
    }
    expect(sent).toHaveLength(1);
  });
});

describe('a page that is not published yet', () => {
  test('is answered from its files, and its host is never asked', async () => {
    const { ask, sent } = setUp(undefined, { local: local('0123456789') });
    expect(bodyOf(await ask(`${HOST}/site/page.html?a#b`))).toBe('0123456789');
    expect(await ask(`${HOST}/site/gone.js`)).toMatchObject({ responseCode: 404 });
    expect(bodyOf(await ask(`${HOST}/site/page.html`, { method: 'HEAD' }))).toBe('');
    expect(sent).toEqual([]);
  });
});

describe('a page that requests too much', () => {
  test('has only two of its own files in memory at once', async () => {
    const opened: Readable[] = [];
    const read = (): Readable => {
      const stream = new Readable({ read: () => undefined });
      opened.push(stream);
      return stream;
    };
    const { ask } = setUp(undefined, { local: () => ({ size: 1, contentType: 'text/css', read }) });
    const asked = Array.from({ length: 6 }, (_, nth) => ask(`${HOST}/site/${nth}.css`));
    for (const expected of [2, 4, 6]) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(opened).toHaveLength(expected);
      for (const stream of opened) if (!stream.readableEnded) stream.push(null);
    }
    await Promise.all(asked);
  });

  test('gets no file that is too large, which it may need', async () => {
    const { events, ask } = setUp(() => ({ body: Buffer.alloc(64 * 1_048_576 + 1) }));
    expect(await ask('https://other.dev/large')).toMatchObject({ errorReason: 'ConnectionFailed' });
    expect(events.missing).toBe('more than 64 MB in one file');
  });

  test('gets no more than 2,000 files', async () => {
    const { events, ask, sent } = setUp();
    for (let count = 0; count < 2_001; count += 1) await ask('https://other.dev/small');
    expect([sent.length, events.missing]).toEqual([2_000, 'more than 2000 files']);
  });
});

describe('a WebSocket', () => {
  test('to this machine is refused; another one may be needed', () => {
    const { network, events } = setUp();
    network.noteStream(new URL('ws://localhost:5173/'), 'a WebSocket');
    expect([[...events.refused.keys()], events.missing]).toEqual([['ws://localhost:5173/'], '']);
    network.noteStream(new URL('wss://other.dev/'), 'a WebSocket');
    expect(events.missing).toBe('a WebSocket');
  });

  test('and a stream of events get no answer', async () => {
    const { network, events, sent } = setUp();
    const request = { url: 'https://other.dev/', method: 'GET', headers: {} } as Protocol.Network.Request;
    await network.answer({ requestId: '1', frameId: '1', request, resourceType: 'EventSource' });
    expect([sent, events.missing]).toEqual([[], 'a stream of events']);
  });
});
