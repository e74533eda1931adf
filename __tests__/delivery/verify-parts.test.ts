import { createHash } from 'node:crypto';
import { describe, expect, jest, test } from '@jest/globals';
import type { PlacedPart } from '../../src/channels/channel.ts';
import { type PartsCheck, verifyParts } from '../../src/delivery/verify-parts.ts';
import { DeliveryError } from '../../src/errors.ts';
import { FakeClock, FakeHttp, fakePorts, NOON, type Scripted, type Seen } from '../support/ports.ts';

const part = (path: string, content = path): PlacedPart => ({
  path,
  url: new URL(`https://octo.github.io/site/${path}`),
  size: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
});

const PARTS = ['a.js', 'b.css', 'c.txt'].map((path) => part(path));
const pathOf = ({ url }: Seen): string => new URL(url).pathname.slice('/site/'.length);

function verify(
  respond: (path: string, nth: number) => Scripted | Error | undefined,
  { check = {}, parts = PARTS }: { check?: Partial<PartsCheck>; parts?: readonly PlacedPart[] } = {},
) {
  const counts = new Map<string, number>();
  const host = new FakeHttp((seen) => {
    const path = pathOf(seen);
    counts.set(path, (counts.get(path) ?? 0) + 1);
    return respond(path, counts.get(path) ?? 0);
  });
  const ports = fakePorts(host.http);
  const limits = { interval: 5_000, deadline: NOON + 60_000 };
  const proven = verifyParts(
    parts,
    { gone: false, publicOnly: false, host: 'octo.github.io', ...check },
    limits,
    ports,
  );
  return { counts, host, ports, proven };
}

describe('the files of a site', () => {
  test('are proven where each has its bytes, after one anonymous request that no cache answers', async () => {
    const { host, ports, proven } = verify((path) => ({ body: path }));
    await expect(proven).resolves.toBe(3);
    expect(host.seen).toHaveLength(3);
    for (const { url, headers } of host.seen) {
      expect(new URL(url).searchParams.get('v')).toBe(String(NOON / 1_000));
      expect(headers).not.toHaveProperty('authorization');
    }
    expect(ports.clock.slept).toEqual([]);
    expect(ports.logger.shownProgress).toMatchObject([{ total: 3, done: 3, ended: true }]);
  });

  test('share their time limits: a timer would be kept long after its request', async () => {
    const timeouts = jest.spyOn(FakeClock.prototype, 'timeout');
    const parts = Array.from({ length: 500 }, (_, nth) => part(`${nth}.js`));
    await expect(verify((path) => ({ body: path }), { parts }).proven).resolves.toBe(500);
    expect(timeouts.mock.calls.length).toBeLessThanOrEqual(2);
    timeouts.mockRestore();
  });

  test('are none where the site has its entry only', async () => {
    await expect(verify(() => undefined, { parts: [] }).proven).resolves.toBe(0);
  });

  test('are asked again where they are not there yet, and only those', async () => {
    const { counts, ports, proven } = verify((path, nth) =>
      path === 'b.css' && nth < 3 ? { status: 404 } : { body: path },
    );
    await expect(proven).resolves.toBe(3);
    expect(Object.fromEntries(counts)).toEqual({ 'a.js': 1, 'b.css': 3, 'c.txt': 1 });
    expect(ports.clock.slept).toEqual([5_000, 5_000]);
    expect(ports.logger.lines[0]).toBe('1 of 3 files are not there yet: b.css (HTTP 404)');
    expect(ports.logger.shownProgress).toMatchObject([{ done: 3 }]);
  });

  test('are waited for as long as the host asks', async () => {
    const { ports, proven } = verify((path, nth) =>
      path === 'a.js' && nth === 1 ? { status: 429, headers: { 'retry-after': '20' } } : { body: path },
    );
    await expect(proven).resolves.toBe(3);
    expect(ports.clock.slept).toEqual([20_000]);
  });

  test.each<[string, Scripted | Error, string, number | undefined]>([
    ['other bytes', { body: 'other' }, 'HTTP 200 with other bytes', 200],
    ['more bytes than the file has', { body: 'b.css and more' }, 'HTTP 200 with other bytes', 200],
    ['fewer bytes', { body: 'b.cs' }, 'HTTP 200 with other bytes', 200],
    ['nothing', { status: 404 }, 'HTTP 404', 404],
    ['no answer', new DeliveryError('NO_NETWORK', 'the host is unknown'), 'the host is unknown', undefined],
  ])('are not proven at the deadline where one shows %s', async (_, answer, problem, httpCode) => {
    const { ports, proven } = verify((path) => (path === 'b.css' ? answer : { body: path }));
    const error = await proven.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'NOT_PROVEN', hint: expect.stringContaining('again') });
    expect(String(error)).toContain('1 of 3 files of the site do not show the delivered bytes: b.css (');
    expect(String(error)).toContain(problem);
    expect((error as DeliveryError).httpCode).toBe(httpCode);
    expect(ports.clock.time).toBe(NOON + 60_000);
    expect(ports.logger.shownProgress).toMatchObject([{ ended: true }]);
  });

  test('are not proven where an answer breaks off', async () => {
    const parts = [part('long.txt', 'a long text')];
    await expect(verify(() => ({ body: new Error('reset') }), { parts }).proven).rejects.toThrow(
      /long\.txt \(.*failed: reset/,
    );
  });

  test('are named up to the tenth', async () => {
    const parts = Array.from({ length: 12 }, (_, nth) => part(`f${nth}`));
    await expect(verify(() => ({ status: 404 }), { parts }).proven).rejects.toThrow(
      /f9 \(HTTP 404\) and 2 more/,
    );
  });

  test('are empty files as well', async () => {
    const parts = [part('empty.txt', '')];
    await expect(verify(() => ({ body: '' }), { parts }).proven).resolves.toBe(1);
    await expect(verify(() => ({ body: 'x' }), { parts }).proven).rejects.toThrow('other bytes');
  });

  test('are not followed to this machine', async () => {
    const { host, proven } = verify(() => ({ status: 302, headers: { location: 'http://127.0.0.1/a' } }));
    await expect(proven).rejects.toMatchObject({ code: 'NOT_PROVEN' });
    expect(host.seen.every(({ url }) => url.startsWith('https://octo.github.io/'))).toBe(true);
  });

  test('are not asked any more after a stop', async () => {
    const { ports, proven } = verify(() => {
      ports.stop.abort(new Error('stopped'));
      return { status: 404 };
    });
    await expect(proven).rejects.toThrow('stopped');
  });

  test('fail with a mistake of the code as it is', async () => {
    await expect(verify(() => new TypeError('a mistake')).proven).rejects.toThrow('a mistake');
  });
});

describe('the files of a site that was withdrawn', () => {
  const check = { gone: true };

  test.each([404, 410])('are gone where the host answers HTTP %d', async (status) => {
    await expect(verify(() => ({ status }), { check }).proven).resolves.toBe(3);
  });

  test.each<[string, Scripted, string]>([
    ['the file', { body: 'a.js' }, 'a.js (HTTP 200, still served)'],
    ['something else', { body: 'else' }, 'a.js (HTTP 200, still served)'],
    ['that it fails', { status: 500 }, 'a.js (HTTP 500)'],
  ])('are not gone where the host shows %s', async (_, answer, problem) => {
    const { proven } = verify((path) => (path === 'a.js' ? answer : { status: 404 }), { check });
    await expect(proven).rejects.toThrow(`1 of 3 files of the site still open: ${problem}`);
  });
});
