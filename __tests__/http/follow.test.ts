import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../src/errors.ts';
import { type CookieJar, type FollowOptions, followRedirects } from '../../src/http/follow.ts';
import type { HttpResponse, SendHttp } from '../../src/ports.ts';
import { MAX_REDIRECTS } from '../../src/protocol/limits.ts';
import { FakeHttp, type Scripted, type Seen } from '../support/ports.ts';

const START = new URL('https://start.example.com/file');

function followOptions(overrides: Partial<FollowOptions> = {}): FollowOptions {
  return { signal: new AbortController().signal, guard: () => undefined, cookies: new Map(), ...overrides };
}

const redirectTo = (location: string, status = 302): Scripted => ({ status, headers: { location } });

/** A client with one fixed response for each address. */
const fakeHosts = (responses: Readonly<Record<string, Scripted>>): FakeHttp =>
  new FakeHttp(({ url }) => responses[url]);

describe('a chain of redirects', () => {
  test('without a redirect is the first response', async () => {
    const fake = fakeHosts({ [START.href]: { status: 404 } });
    const { response, hops } = await followRedirects(fake.http, START, followOptions());
    expect(response.status).toBe(404);
    expect(hops).toEqual([START]);
  });

  test.each([301, 302, 303, 307, 308])(
    'is followed for HTTP %d, with GET requests to every host',
    async (status) => {
      const fake = fakeHosts({
        [START.href]: redirectTo('https://next.example.com/a?sig=1', status),
        'https://next.example.com/a?sig=1': redirectTo('../b', status),
        'https://next.example.com/b': { status: 200 },
      });
      const { response, hops } = await followRedirects(fake.http, START, followOptions());
      expect(response.status).toBe(200);
      expect(hops.map(({ href }) => href)).toEqual([
        START.href,
        'https://next.example.com/a?sig=1',
        'https://next.example.com/b',
      ]);
      expect(fake.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
    },
  );

  test.each([200, 300, 304, 404, 500])('ends at HTTP %d, even with a Location header', async (status) => {
    const fake = fakeHosts({ [START.href]: redirectTo('https://next.example.com/', status) });
    expect((await followRedirects(fake.http, START, followOptions())).response.status).toBe(status);
  });

  test(`can have ${MAX_REDIRECTS} redirects`, async () => {
    const fake = new FakeHttp((_, nth) => (nth <= MAX_REDIRECTS ? redirectTo(`/${nth}`) : { status: 200 }));
    expect((await followRedirects(fake.http, START, followOptions())).hops).toHaveLength(MAX_REDIRECTS + 1);
  });

  test('that never ends is refused', async () => {
    const fake = new FakeHttp(() => redirectTo(START.href));
    await expect(followRedirects(fake.http, START, followOptions())).rejects.toMatchObject({
      code: 'HOST_ERROR',
      message: `the address redirects more than ${MAX_REDIRECTS} times`,
    });
    expect(fake.seen).toHaveLength(MAX_REDIRECTS + 1);
  });

  test.each([
    ['plain http', { location: 'http://next.example.com/' }],
    ['another scheme', { location: 'ftp://next.example.com/' }],
    ['a broken address', { location: 'https://[' }],
    ['no address', {}],
  ])('that leads to %s is refused before the next request', async (_case, headers) => {
    const fake = new FakeHttp(() => ({ status: 302, headers }));
    await expect(followRedirects(fake.http, START, followOptions())).rejects.toMatchObject({
      code: 'HOST_ERROR',
      httpCode: 302,
      message: expect.stringContaining('start.example.com redirects to an address that is not https'),
    });
    expect(fake.seen).toHaveLength(1);
  });

  test('closes the body of every redirect', async () => {
    const responses: HttpResponse[] = [];
    const http: SendHttp = async ({ url }) => {
      const body = Readable.from([Buffer.from('moved')]);
      const response =
        url.pathname === '/file'
          ? { status: 302, headers: { location: '/next' }, body }
          : { status: 301, headers: { location: 'http://plain.example.com/' }, body };
      responses.push(response);
      return response;
    };
    await expect(followRedirects(http, START, followOptions())).rejects.toThrow();
    expect(responses.map(({ body }) => body.destroyed)).toEqual([true, true]);
  });
});

describe('every request of a redirect chain', () => {
  test('asks for fresh, uncompressed bytes and sends no credentials', async () => {
    const fake = fakeHosts({ [START.href]: redirectTo('/next'), 'https://start.example.com/next': {} });
    await followRedirects(fake.http, START, followOptions());
    for (const { headers } of fake.seen) {
      expect(headers).toEqual({ accept: '*/*', 'accept-encoding': 'identity', 'cache-control': 'no-cache' });
    }
  });

  test('can be refused by the guard before it is sent', async () => {
    const fake = fakeHosts({ [START.href]: redirectTo('https://inner.example.com/') });
    const guard = ({ host }: URL): void => {
      if (host === 'inner.example.com') throw new DeliveryError('NOT_EXTERNAL', 'inner');
    };
    await expect(followRedirects(fake.http, START, followOptions({ guard }))).rejects.toMatchObject({
      code: 'NOT_EXTERNAL',
    });
    expect(fake.seen.map(({ url }) => url)).toEqual([START.href]);
  });

  test('is checked by the guard, including the first one', async () => {
    const fake = fakeHosts({});
    const guard = (): void => {
      throw new DeliveryError('NOT_EXTERNAL', 'inner');
    };
    await expect(followRedirects(fake.http, START, followOptions({ guard }))).rejects.toMatchObject({
      code: 'NOT_EXTERNAL',
    });
    expect(fake.seen).toEqual([]);
  });

  test('is not sent after the signal aborts', async () => {
    const stop = new AbortController();
    const fake = new FakeHttp(() => {
      stop.abort(new Error('stopped'));
      return redirectTo('/next');
    });
    await expect(followRedirects(fake.http, START, followOptions({ signal: stop.signal }))).rejects.toThrow(
      'stopped',
    );
    expect(fake.seen).toHaveLength(1);
  });
});

describe('cookies', () => {
  const cookieOf = ({ headers }: Seen): string | undefined => headers.cookie;

  test('are sent back to the host that set them, also by a later call', async () => {
    const fake = new FakeHttp((_, nth) =>
      nth === 1
        ? { ...redirectTo('/next'), headers: { location: '/next', 'set-cookie': 'verified=1; Path=/' } }
        : {},
    );
    const cookies: CookieJar = new Map();
    await followRedirects(fake.http, START, followOptions({ cookies }));
    await followRedirects(fake.http, START, followOptions({ cookies }));
    expect(fake.seen.map(cookieOf)).toEqual([undefined, 'verified=1', 'verified=1']);
  });

  test('are sent to no other host, not even to a subdomain', async () => {
    const fake = new FakeHttp(({ url }) =>
      url === START.href
        ? { status: 302, headers: { location: 'https://sub.start.example.com/', 'set-cookie': 'verified=1' } }
        : {},
    );
    await followRedirects(fake.http, START, followOptions());
    expect(fake.seen.map(cookieOf)).toEqual([undefined, undefined]);
  });

  test('are stored by name, and a later value replaces an earlier one', async () => {
    const fake = new FakeHttp((_, nth) => ({
      headers: { 'set-cookie': nth === 1 ? ['a=1', 'b=x=y; Secure'] : ['a=2'] },
    }));
    const cookies: CookieJar = new Map();
    for (let times = 0; times < 3; times += 1) {
      await followRedirects(fake.http, START, followOptions({ cookies }));
    }
    expect(fake.seen.map(cookieOf)).toEqual([undefined, 'a=1; b=x=y', 'a=2; b=x=y']);
  });

  test('that are malformed are ignored', async () => {
    const cookies: CookieJar = new Map();
    const fake = new FakeHttp(() => ({ headers: { 'set-cookie': ['', 'no-value', '=no-name', 'good=1'] } }));
    await followRedirects(fake.http, START, followOptions({ cookies }));
    expect(cookies).toEqual(new Map([[START.hostname, new Map([['good', '1']])]]));
  });
});
