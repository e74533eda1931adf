import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../src/errors.ts';
import { type FetchBackOptions, fetchBack } from '../../src/http/fetch-back.ts';
import { type CookieJar, leadsToSignIn } from '../../src/http/follow.ts';
import { readLength, readVersion } from '../../src/http/response.ts';
import type { HttpResponse, SendHttp } from '../../src/ports.ts';
import { MAX_FETCHED_BODY, MAX_REDIRECTS } from '../../src/protocol/limits.ts';
import { FakeHttp, type Scripted, type Seen } from '../support/ports.ts';

const START = new URL('https://start.example.com/file');
const MARKER = 'MARK';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const fetchFrom = (http: SendHttp, more: Partial<FetchBackOptions> = {}, start = START) =>
  fetchBack(http, start, { signal: new AbortController().signal, guard: () => undefined, ...more }, MARKER);
const fetchAnswer = (answer: Scripted, more?: Partial<FetchBackOptions>) =>
  fetchFrom(new FakeHttp(() => answer).http, more);

const redirectTo = (location: string, status = 302): Scripted => ({ status, headers: { location } });
const respondWith =
  (body: Readable, status = 200, headers: HttpResponse['headers'] = {}): SendHttp =>
  async () => ({ status, headers, body });
describe('what is fetched back', () => {
  const FETCHED = { ...{ status: 200, headers: {}, addresses: [START], blobSha: null } };

  test('is the fingerprint of the body, after one request without credentials for fresh, uncompressed bytes', async () => {
    const host = new FakeHttp(() => ({ body: 'MARK and MARK' }));
    const fingerprint = { size: 13, sha256: sha256('MARK and MARK'), markerCount: 2 };
    const { readPrefix, ...fetched } = await fetchFrom(host.http);
    expect([fetched, readPrefix()]).toEqual([{ ...FETCHED, fingerprint }, 'MARK and MARK']);
    const headers = { accept: '*/*', 'accept-encoding': 'identity', 'cache-control': 'no-cache' };
    expect(host.seen).toEqual([expect.objectContaining({ method: 'GET', headers })]);
  });

  test.each([201, 206, 304, 404, 503])(
    'is no fingerprint for HTTP %d, and the body is closed',
    async (status) => {
      const body = Readable.from([Buffer.from(MARKER)]);
      const headers = { location: 'https://next.example.com/' };
      const { readPrefix, ...fetched } = await fetchFrom(respondWith(body, status, headers));
      expect([fetched, readPrefix()]).toEqual([{ ...FETCHED, status, headers, fingerprint: null }, '']);
      expect(body.destroyed).toBe(true);
    },
  );

  test('is read only up to the given limit', async () => {
    const body = Readable.from(['abc', 'def', 'ghi'].map((text) => Buffer.from(text)));
    const { fingerprint } = await fetchFrom(respondWith(body), { readAtMost: 4 });
    expect(fingerprint).toMatchObject({ size: 4, sha256: sha256('abcd') });
    expect(body.destroyed).toBe(true);
  });

  test('is read no further than any file may be long', async () => {
    // It claims a length and a part of it, so that the test does not move two gigabytes.
    const long = Object.defineProperties(Buffer.alloc(0), {
      length: { value: MAX_FETCHED_BODY + 1 },
      subarray: { value: () => long },
    });
    const { fingerprint } = await fetchFrom(respondWith(Readable.from([long, Buffer.from('never read')])));
    expect(fingerprint?.size).toBe(MAX_FETCHED_BODY + 1);
  });

  test('is an error that names the last host if it is interrupted', async () => {
    const cut = Object.assign(new Error('terminated'), { code: 'ECONNRESET' });
    const { http } = new FakeHttp((_, nth) =>
      nth === 1 ? redirectTo('https://storage.example.com/x') : { body: cut },
    );
    const message = 'the request to storage.example.com failed: terminated';
    await expect(fetchFrom(http)).rejects.toMatchObject({ code: 'CONNECTION', message, retryable: true });
  });

  test("is the signal's reason if an abort interrupts it", async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    async function* stopped() {
      yield Buffer.from('half');
      stop.abort(reason);
      throw reason;
    }
    const fetched = fetchFrom(respondWith(Readable.from(stopped())), { signal: stop.signal });
    await expect(fetched).rejects.toBe(reason);
  });
});

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' };

test.each<[string, Scripted, string | undefined]>([
  ['on one line', { status: 403, headers: PLAIN, body: 'This bin\nis closed.\n' }, 'This bin is closed.'],
  [
    'also where it is encoded',
    { status: 404, headers: { ...PLAIN, 'content-encoding': 'gzip' }, body: gzipSync('gone') },
    'gone',
  ],
  ['not of a page', { status: 403, headers: { 'content-type': 'text/html' }, body: '<p>no</p>' }, undefined],
  ['not where it is very long', { status: 403, headers: PLAIN, body: 'x'.repeat(5_000) }, undefined],
  ['not where it breaks off', { status: 403, headers: PLAIN, body: new Error('reset') }, undefined],
  ['not of the content itself', { headers: PLAIN, body: 'hello' }, undefined],
])('the reason of a refusal is its plain text, %s', async (_, answer, reason) => {
  expect((await fetchAnswer(answer)).refusal).toBe(reason);
});

describe('a chain of redirects', () => {
  test.each([301, 302, 303, 307, 308])('is followed for HTTP %d', async (status) => {
    const responses: Readonly<Record<string, Scripted>> = {
      [START.href]: redirectTo('https://next.example.com/a?sig=1', status),
      'https://next.example.com/a?sig=1': redirectTo('../b', status),
      'https://next.example.com/b': { body: 'x' },
    };
    const host = new FakeHttp(({ url }) => responses[url]);
    const { status: last, addresses } = await fetchFrom(host.http);
    expect(last).toBe(200);
    expect(addresses.map(({ href }) => href)).toEqual(Object.keys(responses));
    expect(host.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
  });

  test('has so many of them at most', async () => {
    const long = new FakeHttp((_, nth) => (nth <= MAX_REDIRECTS ? redirectTo(`/${nth}`) : { body: 'x' }));
    expect((await fetchFrom(long.http)).addresses).toHaveLength(MAX_REDIRECTS + 1);
    const endless = new FakeHttp(() => redirectTo(START.href));
    const message = `the URL redirects more than ${MAX_REDIRECTS} times`;
    await expect(fetchFrom(endless.http)).rejects.toMatchObject({ code: 'HOST_ERROR', message });
    expect(endless.seen).toHaveLength(MAX_REDIRECTS + 1);
  });

  test.each([
    ['plain http', { location: 'http://next.example.com/' }],
    ['a broken address', { location: 'https://[' }],
    ['no address', {}],
  ])('that leads to %s is refused before the next request', async (_, headers) => {
    const host = new FakeHttp(() => ({ status: 302, headers }));
    const message = 'start.example.com redirects to a URL that is not https';
    await expect(fetchFrom(host.http)).rejects.toMatchObject({ code: 'HOST_ERROR', httpCode: 302, message });
    expect(host.seen).toHaveLength(1);
  });

  test('leaves no body of a redirect open', async () => {
    const responses = [redirectTo('/next'), redirectTo('http://plain.example.com/')].map((one) => ({
      ...{ status: 302, headers: one.headers ?? {}, body: Readable.from([Buffer.from('moved')]) },
    }));
    const http: SendHttp = async ({ url }) => responses[url.pathname === '/next' ? 1 : 0] as HttpResponse;
    await expect(fetchFrom(http)).rejects.toThrow();
    expect(responses.map(({ body }) => body.destroyed)).toEqual([true, true]);
  });

  test.each([
    ['start.example.com', 0],
    ['inner.example.com', 1],
  ])('is not sent on to %s if the guard refuses it', async (refused, sent) => {
    const host = new FakeHttp(() => redirectTo('https://inner.example.com/'));
    const guard = (url: URL): void => {
      if (url.host === refused) throw new DeliveryError('NOT_EXTERNAL', 'inner');
    };
    await expect(fetchFrom(host.http, { guard })).rejects.toMatchObject({ code: 'NOT_EXTERNAL' });
    expect(host.seen).toHaveLength(sent);
  });

  test.each([
    ['https://git.example.com/login?return_to=%2Focto', true],
    ['/login', true],
    ['/users/sign_in', true],
    ['/accounts/login/?next=/sv1/a.html', true],
    ['https://storage.example.org/x?X-Amz-Expires=60', false],
    ['/octo/page/login', false],
    ['/a.html?to=/login', false],
  ])('to %s leads to a login page: %s', (location, login) => {
    expect(leadsToSignIn([START, new URL(location, START)])).toBe(login);
  });

  test('from one login page to another leads to none', () => {
    expect(leadsToSignIn([new URL('/login', START), new URL('/login/', START)])).toBe(false);
  });
});

/** What is sent back in each of three fetches with one jar, if the host sets these. */
async function cookiesSent(answer: (request: Seen, nth: number) => Scripted, cookies?: CookieJar) {
  const host = new FakeHttp(answer);
  for (let nth = 0; nth < 3; nth += 1) await fetchFrom(host.http, cookies && { cookies });
  return host.seen.map(({ headers }) => headers.cookie);
}
const setting = (cookie: string | string[]): Scripted => ({ headers: { 'set-cookie': cookie } });

test('cookies are sent back by name, a later value in place of an earlier one, and never without a jar', async () => {
  const answer = (_: Seen, nth: number): Scripted =>
    setting(nth === 1 ? ['a=1', 'b=x=y; Secure', '', 'no-value', '=no-name'] : ['a=2']);
  expect(await cookiesSent(answer, new Map())).toEqual([undefined, 'a=1; b=x=y', 'a=2; b=x=y']);
  expect(await cookiesSent(answer)).toEqual([undefined, undefined, undefined]);
});

test('cookies are sent to no other host, not even to a subdomain', async () => {
  const answer = ({ url }: Seen): Scripted =>
    url === START.href
      ? { status: 302, headers: { location: 'https://sub.start.example.com/', 'set-cookie': 'a=1' } }
      : {};
  expect(await cookiesSent(answer, new Map())).toEqual([
    ...[undefined, undefined, 'a=1', undefined, 'a=1', undefined],
  ]);
});

describe('the encoding of a body', () => {
  const PAGE = '<p>MARK</p>'.repeat(50_000);
  const encodedAs = (encoding: string | string[], body: Buffer | string): Scripted => ({
    headers: { 'content-encoding': encoding, 'content-length': String(body.length), etag: 'W/"7f"' },
    body,
  });

  test.each(['gzip', 'br', 'GZIP', 'identity, gzip', 'nonsense', ['identity', 'deflate']])(
    'that was not requested is an error: %s',
    async (encoding) => {
      const error = { code: 'HOST_ERROR', httpCode: 200 };
      await expect(fetchAnswer(encodedAs(encoding, 'x'))).rejects.toMatchObject(error);
    },
  );

  test('that changes nothing is accepted', async () => {
    expect((await fetchAnswer(encodedAs('Identity', 'x'))).fingerprint?.size).toBe(1);
  });

  test.each<[string, Buffer]>([
    ['gzip', gzipSync(PAGE)],
    ['GZIP, identity', gzipSync(PAGE)],
    ['deflate', deflateSync(PAGE)],
    ['br', brotliCompressSync(PAGE)],
    ['zstd', zstdCompressSync(PAGE)],
  ])('is decoded as in a browser: %s', async (encoding, body) => {
    const answer = encodedAs(encoding, body);
    const fetched = await fetchAnswer(answer, { asBrowser: true });
    expect(fetched.fingerprint).toMatchObject({ sha256: sha256(PAGE), markerCount: 50_000 });
    // The length counts the encoded bytes.
    expect([readLength(fetched), readVersion(fetched)]).toEqual([null, '"7f"']);
    const { fingerprint } = await fetchAnswer(answer, { asBrowser: true, readAtMost: 11 });
    expect(fingerprint).toMatchObject({ size: 11, markerCount: 1 });
  });

  test.each<[string, Scripted, RegExp]>([
    ['in two encodings', encodedAs('gzip, br', gzipSync(PAGE)), /not requested/],
    ['in an unknown encoding', encodedAs('compress', PAGE), /not requested/],
    ['in another encoding than it says', encodedAs('gzip', PAGE), /doesn't match/],
    ['only in part', encodedAs('gzip', gzipSync(PAGE).subarray(0, 500)), /doesn't match/],
  ])('is an error for browsers %s', async (_, answer, message) => {
    await expect(fetchAnswer(answer, { asBrowser: true })).rejects.toMatchObject({
      code: 'HOST_ERROR',
      message: expect.stringMatching(message),
    });
  });

  test('is not blamed if the connection breaks', async () => {
    async function* brokenOff() {
      yield gzipSync(PAGE).subarray(0, 500);
      throw new Error('reset');
    }
    const http = respondWith(Readable.from(brokenOff()), 200, { 'content-encoding': 'gzip' });
    const message = expect.stringContaining('reset');
    await expect(fetchFrom(http, { asBrowser: true })).rejects.toMatchObject({ code: 'CONNECTION', message });
  });
});

test.each([
  [false, /^text\/html,/],
  [true, /^\*\/\*$/],
])(
  'A browser’s request has its headers, and with plain refusals (%s) accepts them.',
  async (plainRefusals, accept) => {
    const host = new FakeHttp(() => ({}));
    await fetchFrom(host.http, { asBrowser: true, plainRefusals });
    expect(host.seen[0]?.headers).toMatchObject({
      accept: expect.stringMatching(accept),
      'accept-encoding': 'gzip, deflate, br, zstd',
      'user-agent': expect.stringMatching(/^Mozilla\/5\.0 .*screen-delivery/),
    });
  },
);
