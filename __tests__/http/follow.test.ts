import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../src/errors.ts';
import { type CookieJar, type FollowOptions, followRedirects } from '../../src/http/follow.ts';
import type { HttpResponse, SendHttp } from '../../src/ports.ts';
import { MAX_REDIRECTS } from '../../src/protocol/limits.ts';
import { FakeHttp, type Scripted, type Seen } from '../support/ports.ts';

const START = new URL('https://start.example.com/file');

function following(over: Partial<FollowOptions> = {}): FollowOptions {
  return { signal: new AbortController().signal, guard: () => undefined, cookies: new Map(), ...over };
}

const redirect = (location: string, status = 302): Scripted => ({ status, headers: { location } });

/** Hosts that answer by address, each with the same answer always. */
const hosts = (answers: Readonly<Record<string, Scripted>>): FakeHttp =>
  new FakeHttp(({ url }) => answers[url]);

describe('a chain of redirects', () => {
  test('of no link at all is the first answer', async () => {
    const fake = hosts({ [START.href]: { status: 404 } });
    const { answer, hops } = await followRedirects(fake.http, START, following());
    expect(answer.status).toBe(404);
    expect(hops).toEqual([START]);
  });

  test.each([301, 302, 303, 307, 308])('is followed at HTTP %d, by GET and host by host', async (status) => {
    const fake = hosts({
      [START.href]: redirect('https://next.example.com/a?sig=1', status),
      'https://next.example.com/a?sig=1': redirect('../b', status),
      'https://next.example.com/b': { status: 200 },
    });
    const { answer, hops } = await followRedirects(fake.http, START, following());
    expect(answer.status).toBe(200);
    expect(hops.map(({ href }) => href)).toEqual([
      START.href,
      'https://next.example.com/a?sig=1',
      'https://next.example.com/b',
    ]);
    expect(fake.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
  });

  test.each([200, 300, 304, 404, 500])('ends at HTTP %d, whatever Location it names', async (status) => {
    const fake = hosts({ [START.href]: redirect('https://next.example.com/', status) });
    expect((await followRedirects(fake.http, START, following())).answer.status).toBe(status);
  });

  test(`may have ${MAX_REDIRECTS} redirects`, async () => {
    const fake = new FakeHttp((_, nth) => (nth <= MAX_REDIRECTS ? redirect(`/${nth}`) : { status: 200 }));
    expect((await followRedirects(fake.http, START, following())).hops).toHaveLength(MAX_REDIRECTS + 1);
  });

  test('that never ends is given up', async () => {
    const fake = new FakeHttp(() => redirect(START.href));
    await expect(followRedirects(fake.http, START, following())).rejects.toMatchObject({
      code: 'HOST_ERROR',
      message: `the address redirects more than ${MAX_REDIRECTS} times`,
    });
    expect(fake.seen).toHaveLength(MAX_REDIRECTS + 1);
  });

  test.each([
    ['plain http', { location: 'http://next.example.com/' }],
    ['another scheme', { location: 'ftp://next.example.com/' }],
    ['a broken address', { location: 'https://[' }],
    ['nothing', {}],
  ])('that leads to %s is refused, and nobody is asked', async (_where, headers) => {
    const fake = new FakeHttp(() => ({ status: 302, headers }));
    await expect(followRedirects(fake.http, START, following())).rejects.toMatchObject({
      code: 'HOST_ERROR',
      httpCode: 302,
      message: expect.stringContaining('start.example.com redirects to something that is no https address'),
    });
    expect(fake.seen).toHaveLength(1);
  });

  test('leaves no redirect’s body open', async () => {
    const answers: HttpResponse[] = [];
    const http: SendHttp = async ({ url }) => {
      const body = Readable.from([Buffer.from('moved')]);
      const answer =
        url.pathname === '/file'
          ? { status: 302, headers: { location: '/next' }, body }
          : { status: 301, headers: { location: 'http://plain.example.com/' }, body };
      answers.push(answer);
      return answer;
    };
    await expect(followRedirects(http, START, following())).rejects.toThrow();
    expect(answers.map(({ body }) => body.destroyed)).toEqual([true, true]);
  });
});

describe('every request of the chain', () => {
  test('asks for the bytes themselves, fresh, and carries no credential', async () => {
    const fake = hosts({ [START.href]: redirect('/next'), 'https://start.example.com/next': {} });
    await followRedirects(fake.http, START, following());
    for (const { headers } of fake.seen) {
      expect(headers).toEqual({ accept: '*/*', 'accept-encoding': 'identity', 'cache-control': 'no-cache' });
    }
  });

  test('can be refused by the guard before it is sent', async () => {
    const fake = hosts({ [START.href]: redirect('https://inner.example.com/') });
    const guard = ({ host }: URL): void => {
      if (host === 'inner.example.com') throw new DeliveryError('NOT_EXTERNAL', 'inner');
    };
    await expect(followRedirects(fake.http, START, following({ guard }))).rejects.toMatchObject({
      code: 'NOT_EXTERNAL',
    });
    expect(fake.seen.map(({ url }) => url)).toEqual([START.href]);
  });

  test('is guarded from the first one on', async () => {
    const fake = hosts({});
    const guard = (): void => {
      throw new DeliveryError('NOT_EXTERNAL', 'inner');
    };
    await expect(followRedirects(fake.http, START, following({ guard }))).rejects.toMatchObject({
      code: 'NOT_EXTERNAL',
    });
    expect(fake.seen).toEqual([]);
  });

  test('stops with the signal', async () => {
    const stop = new AbortController();
    const fake = new FakeHttp(() => {
      stop.abort(new Error('stopped'));
      return redirect('/next');
    });
    await expect(followRedirects(fake.http, START, following({ signal: stop.signal }))).rejects.toThrow(
      'stopped',
    );
    expect(fake.seen).toHaveLength(1);
  });
});

describe('cookies', () => {
  const cookieOf = ({ headers }: Seen): string | undefined => headers.cookie;

  test('come back to the host that gave them, on the next hop and on the next time', async () => {
    const fake = new FakeHttp((_, nth) =>
      nth === 1
        ? { ...redirect('/next'), headers: { location: '/next', 'set-cookie': 'verified=1; Path=/' } }
        : {},
    );
    const cookies: CookieJar = new Map();
    await followRedirects(fake.http, START, following({ cookies }));
    await followRedirects(fake.http, START, following({ cookies }));
    expect(fake.seen.map(cookieOf)).toEqual([undefined, 'verified=1', 'verified=1']);
  });

  test('go to no other host, not even to one below it', async () => {
    const fake = new FakeHttp(({ url }) =>
      url === START.href
        ? { status: 302, headers: { location: 'https://sub.start.example.com/', 'set-cookie': 'verified=1' } }
        : {},
    );
    await followRedirects(fake.http, START, following());
    expect(fake.seen.map(cookieOf)).toEqual([undefined, undefined]);
  });

  test('are kept by name: several at once, a later value beats an earlier one', async () => {
    const fake = new FakeHttp((_, nth) => ({
      headers: { 'set-cookie': nth === 1 ? ['a=1', 'b=x=y; Secure'] : ['a=2'] },
    }));
    const cookies: CookieJar = new Map();
    for (let times = 0; times < 3; times += 1) {
      await followRedirects(fake.http, START, following({ cookies }));
    }
    expect(fake.seen.map(cookieOf)).toEqual([undefined, 'a=1; b=x=y', 'a=2; b=x=y']);
  });

  test('that make no sense are passed over', async () => {
    const cookies: CookieJar = new Map();
    const fake = new FakeHttp(() => ({ headers: { 'set-cookie': ['', 'no-value', '=no-name', 'good=1'] } }));
    await followRedirects(fake.http, START, following({ cookies }));
    expect(cookies).toEqual(new Map([[START.hostname, new Map([['good', '1']])]]));
  });
});
