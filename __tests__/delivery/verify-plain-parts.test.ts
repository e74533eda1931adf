import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { PlacedPart } from '../../src/channels/channel.ts';
import { verifyPlainParts } from '../../src/delivery/verify-plain-parts.ts';
import { shaOf } from '../channels/pages/site/memory-branch.ts';
import { FakeHttp, fakePorts, NOON, type Scripted } from '../support/ports.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A file that was `old` before, and is `new` now; one without an old copy was not replaced. */
const part = (path: string, previous: readonly string[] | null = ['an old copy']): PlacedPart => ({
  path,
  url: new URL(`https://octo.github.io/site/${path}`),
  size: 3,
  sha256: sha256('new'),
  ...(previous === null ? {} : { previousSha256: previous.map(sha256) }),
});

function verify(
  respond: (path: string, nth: number) => Scripted,
  { parts = [part('a.js'), part('b.css')], timeout = 60_000 } = {},
) {
  const counts = new Map<string, number>();
  const host = new FakeHttp(({ url }) => {
    const path = new URL(url).pathname.slice('/site/'.length);
    counts.set(path, (counts.get(path) ?? 0) + 1);
    return respond(path, counts.get(path) ?? 0);
  });
  const ports = fakePorts(host.http);
  const limits = { interval: 5_000, deadline: NOON + timeout };
  const check = { publicOnly: false, host: 'octo.github.io' };
  return { host, ports, unknown: verifyPlainParts(parts, check, limits, ports) };
}

const OLD: Scripted = { body: 'an old copy', headers: { 'cache-control': 'max-age=600' } };
const NEW: Scripted = { body: 'new' };

describe('the replaced files of a site', () => {
  test('are asked once without `?v=`, and no others', async () => {
    const { host, unknown } = verify(() => NEW, { parts: [part('a.js'), part('b.css', null)] });
    await expect(unknown).resolves.toEqual([]);
    expect(host.seen.map(({ url }) => url)).toEqual(['https://octo.github.io/site/a.js']);
    expect(host.seen[0]?.headers['user-agent']).toMatch(/^Mozilla\//);
  });

  test('are asked again where a cache is late, and only those', async () => {
    const { host, ports, unknown } = verify((path, nth) => (path === 'a.js' && nth < 3 ? OLD : NEW));
    await expect(unknown).resolves.toEqual([]);
    expect(host.seen).toHaveLength(4);
    expect(ports.clock.slept).toEqual([5_000, 5_000]);
  });

  test('are named where a cache still has the copy from before', async () => {
    const { host, unknown } = verify((path) => (path === 'a.js' ? OLD : NEW));
    await expect(unknown).resolves.toEqual([
      'without ?v= a cache still answered older copies of a.js; it may show them for up to 10 minutes',
    ]);
    expect(host.seen).toHaveLength(4);
  });

  test('are recognized by what git has of them, where an earlier run replaced them', async () => {
    const previousBlob = { sha: shaOf('an old copy'), size: 11 };
    const parts = [{ ...part('a.js', null), previousBlob }, part('b.css', null)];
    await expect(verify(() => OLD, { parts }).unknown).resolves.toEqual([
      expect.stringContaining('older copies of a.js'),
    ]);
    await expect(verify(() => ({ body: 'other bytes' }), { parts }).unknown).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      message: expect.stringContaining('a.js (HTTP 200 with other bytes)'),
    });
  });

  test('are named as far as the host tells how long', async () => {
    const { unknown } = verify((path) => (path === 'a.js' ? OLD : { body: 'an old copy' }));
    await expect(unknown).resolves.toEqual([
      'without ?v= a cache still answered older copies of a.js, b.css; it may show them for a time that the host does not tell',
    ]);
  });

  test.each<[string, Scripted, string]>([
    ['nothing', { status: 404 }, 'HTTP 404'],
    ['bytes that nobody knows', { body: 'somebody else' }, 'HTTP 200 with other bytes'],
    [
      'the old copy, and leads away from it',
      { ...OLD, headers: { refresh: '0; url=/x' } },
      'HTTP 200 with other bytes',
    ],
    ['a redirect elsewhere', { status: 302, headers: { location: 'https://other.dev/' } }, 'other.dev'],
  ])('are not proven where one answers %s until the deadline', async (_, answer, problem) => {
    const { ports, unknown } = verify((path, nth) => {
      if (path === '') return NEW;
      return path === 'a.js' ? answer : nth === 1 ? OLD : NEW;
    });
    await expect(unknown).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      message: expect.stringMatching(
        new RegExp(`^1 of 2 replaced files do not show .* without \\?v=: a\\.js \\(.*${problem}`),
      ),
    });
    expect(ports.clock.now()).toBe(NOON + 60_000);
  });

  test('are asked once after the deadline', async () => {
    const { host, unknown } = verify(() => OLD, { timeout: 0 });
    await expect(unknown).resolves.toEqual([expect.stringContaining('a.js, b.css')]);
    expect(host.seen).toHaveLength(2);
  });
});
