import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../src/errors.ts';
import { fetchBack } from '../../src/http/fetch-back.ts';
import type { FollowOptions } from '../../src/http/follow.ts';
import type { SendHttp } from '../../src/ports.ts';
import { MAX_FETCHED_BODY } from '../../src/protocol/limits.ts';
import { FakeHttp } from '../support/ports.ts';

const URL_ = new URL('https://bin.example.com/sv1/a.html');

function following(over: Partial<FollowOptions> = {}): FollowOptions {
  return { signal: new AbortController().signal, guard: () => undefined, cookies: new Map(), ...over };
}

/** A host that answers 200 with this body. */
const answering =
  (body: Readable): SendHttp =>
  async () => ({ status: 200, headers: {}, body });

/** A chunk that claims a length, since nobody wants to move two gigabytes. */
const chunkOf = (length: number): Buffer =>
  Object.defineProperty(Buffer.alloc(0), 'length', { value: length });

describe('an address that shows a body', () => {
  test('is told by the fingerprint of that body', async () => {
    const { http } = new FakeHttp(() => ({ body: 'MARK and MARK' }));
    expect(await fetchBack(http, URL_, following(), [Buffer.from('MARK')])).toEqual({
      httpCode: 200,
      fingerprint: {
        size: 13,
        sha256: createHash('sha256').update('MARK and MARK').digest('hex'),
        counts: [2],
      },
      hosts: ['bin.example.com'],
      login: false,
    });
  });

  test('is told by every host on the way', async () => {
    const { http } = new FakeHttp((_, nth) =>
      nth === 1 ? { status: 302, headers: { location: 'https://storage.example.com/x' } } : { body: 'x' },
    );
    expect((await fetchBack(http, URL_, following(), [])).hosts).toEqual([
      'bin.example.com',
      'storage.example.com',
    ]);
  });

  test('may show an empty one', async () => {
    const { http } = new FakeHttp(() => ({ body: '' }));
    expect((await fetchBack(http, URL_, following(), [])).fingerprint?.size).toBe(0);
  });
});

test.each([201, 204, 206, 403, 404, 410, 500, 503])(
  'HTTP %d has no fingerprint, whatever its body says, and its body is let go',
  async (status) => {
    const body = Readable.from([Buffer.from('MARK')]);
    const http: SendHttp = async () => ({ status, headers: {}, body });
    expect(await fetchBack(http, URL_, following(), [Buffer.from('MARK')])).toEqual({
      httpCode: status,
      fingerprint: null,
      hosts: ['bin.example.com'],
      login: false,
    });
    expect(body.destroyed).toBe(true);
  },
);

describe('a redirect', () => {
  const login = async (location: string, start = URL_): Promise<boolean> => {
    const { http } = new FakeHttp((_, nth) => (nth === 1 ? { status: 302, headers: { location } } : {}));
    return (await fetchBack(http, start, following(), [])).login;
  };

  test.each([
    ['https://git.example.com/login?return_to=%2Focto', true],
    ['/login', true],
    ['/login/oauth/authorize', true],
    ['/logins/a.html', false],
    ['/octo/login', false],
    ['/a.html?to=/login', false],
  ])('to %s leads to a login page: %s', async (location, expected) => {
    expect(await login(location)).toBe(expected);
  });

  test('from a login page to another leads nowhere else', async () => {
    expect(await login('/login/', new URL('https://bin.example.com/login'))).toBe(false);
  });
});

describe('a body that does not come whole', () => {
  test('breaks the exchange off, with the host that was speaking', async () => {
    const { http } = new FakeHttp((_, nth) =>
      nth === 1
        ? { status: 302, headers: { location: 'https://storage.example.com/x' } }
        : { body: Object.assign(new Error('terminated'), { code: 'ECONNRESET' }) },
    );
    await expect(fetchBack(http, URL_, following(), [])).rejects.toMatchObject({
      code: 'CONNECTION',
      message: 'the exchange with storage.example.com broke off: the connection was reset',
      retryable: true,
    });
  });

  test('because the delivery was stopped is no fault of the host', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const body = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        stop.abort(reason);
        throw reason;
      })(),
    );
    await expect(fetchBack(answering(body), URL_, following({ signal: stop.signal }), [])).rejects.toBe(
      reason,
    );
  });

  test('is refused as soon as it is longer than any file, and the rest is not read', async () => {
    const body = Readable.from([chunkOf(MAX_FETCHED_BODY), chunkOf(1), Buffer.from('never read')]);
    await expect(fetchBack(answering(body), URL_, following(), [])).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      httpCode: 200,
      retryable: false,
    });
    expect(body.destroyed).toBe(true);
  });

  test('may be as long as the limit', async () => {
    const { fingerprint } = await fetchBack(
      answering(Readable.from([chunkOf(MAX_FETCHED_BODY)])),
      URL_,
      following(),
      [],
    );
    expect(fingerprint?.size).toBe(MAX_FETCHED_BODY);
  });
});

test('what the guard refuses is not fetched', async () => {
  const fake = new FakeHttp(() => ({ body: 'x' }));
  const guard = (): void => {
    throw new DeliveryError('NOT_EXTERNAL', 'inner');
  };
  await expect(fetchBack(fake.http, URL_, following({ guard }), [])).rejects.toMatchObject({
    code: 'NOT_EXTERNAL',
  });
  expect(fake.seen).toEqual([]);
});
