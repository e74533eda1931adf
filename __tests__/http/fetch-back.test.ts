import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../src/errors.ts';
import { fetchBack } from '../../src/http/fetch-back.ts';
import type { FollowOptions } from '../../src/http/follow.ts';
import type { SendHttp } from '../../src/ports.ts';
import { MAX_FETCHED_BODY } from '../../src/protocol/limits.ts';
import { FakeHttp, type Scripted } from '../support/ports.ts';

const ADDRESS = new URL('https://bin.example.com/sv1/a.html');

function followOptions(overrides: Partial<FollowOptions> = {}): FollowOptions {
  return { signal: new AbortController().signal, guard: () => undefined, cookies: new Map(), ...overrides };
}

/** A client that receives HTTP 200 with this body. */
const respondWith =
  (body: Readable): SendHttp =>
  async () => ({ status: 200, headers: {}, body });

/** An empty chunk that claims a length, so that the test does not move two gigabytes. */
const chunkWithLength = (length: number): Buffer =>
  Object.defineProperty(Buffer.alloc(0), 'length', { value: length });

describe('fetchBack', () => {
  test('returns the fingerprint of the body', async () => {
    const { http } = new FakeHttp(() => ({ body: 'MARK and MARK' }));
    expect(await fetchBack(http, ADDRESS, followOptions(), [Buffer.from('MARK')])).toEqual({
      httpCode: 200,
      fingerprint: {
        size: 13,
        sha256: createHash('sha256').update('MARK and MARK').digest('hex'),
        counts: [2],
      },
      hosts: ['bin.example.com'],
      addresses: [ADDRESS],
      login: false,
      isReplaced: false,
      blobSha: null,
      isShown: true,
      hasPolicy: false,
      isSaved: false,
      head: 'MARK and MARK',
      length: null,
      lastModified: null,
      age: null,
      keptFor: null,
      type: '',
      version: '',
    });
  });

  test('returns every host of the redirects', async () => {
    const { http } = new FakeHttp((_, nth) =>
      nth === 1 ? { status: 302, headers: { location: 'https://storage.example.com/x' } } : { body: 'x' },
    );
    expect((await fetchBack(http, ADDRESS, followOptions(), [])).hosts).toEqual([
      'bin.example.com',
      'storage.example.com',
    ]);
  });

  test('accepts an empty body', async () => {
    const { http } = new FakeHttp(() => ({ body: '' }));
    expect((await fetchBack(http, ADDRESS, followOptions(), [])).fingerprint?.size).toBe(0);
  });
});

test.each([201, 204, 206, 403, 404, 410, 500, 503])(
  'fetchBack returns no fingerprint for HTTP %d and closes the body',
  async (status) => {
    const body = Readable.from([Buffer.from('MARK')]);
    const http: SendHttp = async () => ({ status, headers: {}, body });
    expect(await fetchBack(http, ADDRESS, followOptions(), [Buffer.from('MARK')])).toEqual({
      httpCode: status,
      fingerprint: null,
      hosts: ['bin.example.com'],
      addresses: [ADDRESS],
      login: false,
      isReplaced: false,
      blobSha: null,
      isShown: true,
      hasPolicy: false,
      isSaved: false,
      head: '',
      length: null,
      lastModified: null,
      age: null,
      keptFor: null,
      type: '',
      version: '',
    });
    expect(body.destroyed).toBe(true);
  },
);

describe('the reason of a refusal', () => {
  const refusalOf = async (answer: Scripted) => {
    const { http } = new FakeHttp(() => answer);
    return (await fetchBack(http, ADDRESS, followOptions(), [])).refusal;
  };
  const PLAIN = { 'content-type': 'text/plain; charset=utf-8' };

  test('is the plain text of the answer, on one line', async () => {
    const body = 'This bin requires\napproval.\n';
    expect(await refusalOf({ status: 403, headers: PLAIN, body })).toBe('This bin requires approval.');
  });

  test('is readable where the host encodes its answers, and says why nothing is there', async () => {
    const headers = { ...PLAIN, 'content-encoding': 'gzip' };
    const body = gzipSync('This bin is no longer available.\n');
    expect(await refusalOf({ status: 404, headers, body })).toBe('This bin is no longer available.');
  });

  test.each<[string, Scripted]>([
    ['a page', { status: 403, headers: { 'content-type': 'text/html' }, body: '<h1>no</h1>' }],
    ['an empty text', { status: 403, headers: PLAIN, body: '' }],
    ['a very long text', { status: 403, headers: PLAIN, body: 'x'.repeat(5_000) }],
    ['a text that breaks off', { status: 403, headers: PLAIN, body: new Error('reset') }],
    ['the content itself', { headers: PLAIN, body: 'hello' }],
  ])('is not taken from %s', async (_, answer) => {
    expect(await refusalOf(answer)).toBeUndefined();
  });
});

describe('the redirect of an address', () => {
  const leadsToLogin = async (location: string, start = ADDRESS): Promise<boolean> => {
    const { http } = new FakeHttp((_, nth) => (nth === 1 ? { status: 302, headers: { location } } : {}));
    return (await fetchBack(http, start, followOptions(), [])).login;
  };

  test.each([
    ['https://git.example.com/login?return_to=%2Focto', true],
    ['/login', true],
    ['/login/oauth/authorize', true],
    ['/users/sign_in', true],
    ['/accounts/login/?next=/sv1/a.html', true],
    ['https://storage.example.org/x?X-Amz-Expires=60', false],
    ['/logins/a.html', false],
    ['/octo/login', true],
    ['/octo/page/login', false],
    ['/a.html?to=/login', false],
  ])('to %s is recognized as a login page: %s', async (location, expected) => {
    expect(await leadsToLogin(location)).toBe(expected);
  });

  test('from one login page to another is not counted as a redirect to a login page', async () => {
    expect(await leadsToLogin('/login/', new URL('https://bin.example.com/login'))).toBe(false);
  });
});

describe('the body of an address', () => {
  test('that is interrupted is an error that names the last host', async () => {
    const { http } = new FakeHttp((_, nth) =>
      nth === 1
        ? { status: 302, headers: { location: 'https://storage.example.com/x' } }
        : { body: Object.assign(new Error('terminated'), { code: 'ECONNRESET' }) },
    );
    await expect(fetchBack(http, ADDRESS, followOptions(), [])).rejects.toMatchObject({
      code: 'CONNECTION',
      message: 'the request to storage.example.com failed: the connection was reset',
      retryable: true,
    });
  });

  test('that is interrupted by an abort throws the reason of the signal', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const body = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        stop.abort(reason);
        throw reason;
      })(),
    );
    await expect(
      fetchBack(respondWith(body), ADDRESS, followOptions({ signal: stop.signal }), []),
    ).rejects.toBe(reason);
  });

  test('that is longer than any file is refused and not read further', async () => {
    const body = Readable.from([
      chunkWithLength(MAX_FETCHED_BODY),
      chunkWithLength(1),
      Buffer.from('never read'),
    ]);
    await expect(fetchBack(respondWith(body), ADDRESS, followOptions(), [])).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      httpCode: 200,
      retryable: false,
    });
    expect(body.destroyed).toBe(true);
  });

  test('that is as long as the limit is accepted', async () => {
    const { fingerprint } = await fetchBack(
      respondWith(Readable.from([chunkWithLength(MAX_FETCHED_BODY)])),
      ADDRESS,
      followOptions(),
      [],
    );
    expect(fingerprint?.size).toBe(MAX_FETCHED_BODY);
  });
});

describe('the encoding of a body', () => {
  const fetchEncoded = async (encoding: string | string[]) => {
    const { http } = new FakeHttp(() => ({ body: 'x', headers: { 'content-encoding': encoding } }));
    return (await fetchBack(http, ADDRESS, followOptions(), [])).fingerprint?.size;
  };

  test.each(['gzip', 'br', 'GZIP', 'identity, gzip', 'nonsense', ['identity', 'deflate']])(
    'that was not asked for is an error: %s',
    async (encoding) => {
      await expect(fetchEncoded(encoding)).rejects.toMatchObject({ code: 'HOST_ERROR', httpCode: 200 });
    },
  );

  test.each(['identity', 'Identity', ''])('that changes nothing is accepted: %j', async (encoding) => {
    await expect(fetchEncoded(encoding)).resolves.toBe(1);
  });
});

describe('what the headers tell', () => {
  const read = async (headers: Record<string, string>) => {
    const { http } = new FakeHttp(() => ({ body: 'x', headers }));
    return fetchBack(http, ADDRESS, followOptions(), []);
  };

  test.each<[Record<string, string>, number | null]>([
    [{ 'cache-control': 'max-age=600' }, 600_000],
    [{ 'cache-control': 'public, max-age=600', age: '100' }, 500_000],
    [{ 'cache-control': 'max-age=600, s-maxage=3600', age: '100' }, 3_500_000],
    [{ 'cache-control': 'Max-Age="60"', age: '100' }, 0],
    [{ 'cache-control': 'max-age=600', age: '-5' }, 600_000],
    [{ 'cache-control': 'no-store' }, null],
    [{ 'cache-control': 'x-max-age=600' }, null],
    [{}, null],
  ])('%j keeps the answer for %s ms', async (headers, keptFor) => {
    expect((await read(headers)).keptFor).toBe(keptFor);
  });

  test.each<[string, number | null]>([
    ['Fri, 02 Jan 2026 03:04:05 GMT', Date.UTC(2026, 0, 2, 3, 4, 5)],
    ['2026-01-02', null],
    ['soon GMT', null],
  ])('Last-Modified %s is %s', async (date, lastModified) => {
    expect((await read({ 'last-modified': date })).lastModified).toBe(lastModified);
  });
});

test('fetchBack reads no further than it is told', async () => {
  const body = Readable.from([Buffer.from('abc'), Buffer.from('def'), Buffer.from('ghi')]);
  const options = { ...followOptions(), readAtMost: 4 };
  const { fingerprint } = await fetchBack(respondWith(body), ADDRESS, options, []);
  expect(fingerprint).toMatchObject({
    size: 4,
    sha256: createHash('sha256').update('abcd').digest('hex'),
  });
  expect(body.destroyed).toBe(true);
});

test('fetchBack does not request an address that the guard refuses', async () => {
  const fake = new FakeHttp(() => ({ body: 'x' }));
  const guard = (): void => {
    throw new DeliveryError('NOT_EXTERNAL', 'inner');
  };
  await expect(fetchBack(fake.http, ADDRESS, followOptions({ guard }), [])).rejects.toMatchObject({
    code: 'NOT_EXTERNAL',
  });
  expect(fake.seen).toEqual([]);
});
