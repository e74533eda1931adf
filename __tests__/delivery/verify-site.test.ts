import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { PlacedPart } from '../../src/channels/channel.ts';
import { AddressProof } from '../../src/delivery/address-proof.ts';
import { pageAddress } from '../../src/delivery/addresses.ts';
import { newPlacementCheck } from '../../src/delivery/ask-address.ts';
import { newAttempt, type PlacedAttempt } from '../../src/delivery/delivery.ts';
import { verifyPlacement } from '../../src/delivery/verify.ts';
import { DeliveryError, stoppedError } from '../../src/errors.ts';
import type { Ports } from '../../src/ports.ts';
import { shaOf } from '../channels/pages/site/memory-files.ts';
import { localFile } from '../support/files.ts';
import { FakeHttp, fakePorts, NOON, type Scripted, type Seen } from '../support/ports.ts';
import { placementWith, taskWith } from './builders.ts';

const SITE_URL = 'https://octo.github.io/site/';
const ENTRY = '<p>entry</p>';
const OLD_BYTES = 'an old copy';
const OLD_BLOB = { sha: shaOf(OLD_BYTES), size: OLD_BYTES.length };
const OLD: Scripted = { body: OLD_BYTES, headers: { 'cache-control': 'max-age=600' } };
const TIMEOUT = 60_000;

/** A file whose content is its name. */
const part = (path: string, more: Partial<PlacedPart> = {}): PlacedPart => ({
  path,
  url: new URL(SITE_URL + path),
  file: { size: path.length, sha256: createHash('sha256').update(path).digest('hex') },
  ...more,
});

const PARTS = ['a.js', 'b.css', 'c.txt'].map((path) => part(path));
/** What was replaced, and what is new. */
const REPLACED = [part('a.js', { earlier: [OLD_BLOB] }), part('b.css', { earlier: [] }), part('c.txt')];

const verifyAttempt = (attempt: PlacedAttempt, timeout: number, ports: Ports) =>
  verifyPlacement(
    new AddressProof(pageAddress(attempt), newPlacementCheck(attempt, { interval: 5_000, timeout }, ports)),
  );

interface Asked extends Seen {
  readonly path: string;
  readonly isFresh: boolean;
  /** How often this address was asked in this way, this time included. */
  readonly nth: number;
}

type Respond = (request: Asked) => Scripted | Error | undefined;

/** Verifies a site whose entry is right; the other files answer as a test says, by default with their bytes. */
async function verify(respond: Respond, { parts = PARTS, gone = false, timeout = TIMEOUT, lag = 0 } = {}) {
  const counts = new Map<string, number>();
  const host = new FakeHttp((seen) => {
    const { pathname, searchParams } = new URL(seen.url);
    const path = pathname.slice('/site/'.length);
    const isFresh = searchParams.has('v');
    const key = `${path} ${isFresh}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (path === '') return gone ? { status: 404 } : { body: ENTRY };
    ports.clock.time += lag;
    const usual = gone ? { status: 404 } : { body: path };
    return respond({ ...seen, path, isFresh, nth: counts.get(key) ?? 0 }) ?? usual;
  });
  const ports = fakePorts(host.http);
  const { rawUrl: _, ...rest } = placementWith({
    hostMayChangeBytes: false,
    url: new URL(SITE_URL),
    file: gone ? null : await localFile(ENTRY),
    parts: gone ? parts.map((one) => ({ ...one, file: null })) : parts,
  });
  const attempt = { ...newAttempt(taskWith()), gone, placement: rest };
  const asked = () => host.seen.filter(({ url }) => new URL(url).pathname !== '/site/');
  return { asked, ports, verified: verifyAttempt(attempt, timeout, ports) };
}

const provenParts = async (verified: ReturnType<typeof verifyPlacement>) => (await verified).proof.parts;

describe('the files of a site', () => {
  test('are proven where each has its bytes, after one anonymous request that no cache answers', async () => {
    const { asked, ports, verified } = await verify(() => undefined);
    await expect(provenParts(verified)).resolves.toBe(3);
    expect(asked()).toHaveLength(3);
    for (const { url, headers } of asked()) {
      expect(new URL(url).searchParams.get('v')).toMatch(new RegExp(`^${NOON / 1_000}50000000\\d$`));
      expect(headers).not.toHaveProperty('authorization');
    }
    expect(ports.clock.slept).toEqual([]);
    expect(ports.logger.shownProgress).toContainEqual(expect.objectContaining({ done: 3, ended: true }));
  });

  test('are asked again where they are not there yet, and only those', async () => {
    const { asked, ports, verified } = await verify(({ path, nth }) =>
      path === 'b.css' && nth < 3 ? { status: 404 } : undefined,
    );
    await expect(provenParts(verified)).resolves.toBe(3);
    expect(asked()).toHaveLength(5);
    expect(ports.clock.slept).toEqual([5_000, 5_000]);
    expect(ports.logger.lines).toContain('0 s: 1 of 3 files are not there yet: b.css (HTTP 404)');
  });

  test.each<[string, Scripted | Error, string, number | undefined]>([
    ['other bytes', { body: 'other' }, 'HTTP 200 with other content', 200],
    ['more bytes than the file has', { body: 'b.css and more' }, 'HTTP 200 with other content', 200],
    ['fewer bytes', { body: 'b.cs' }, 'HTTP 200 with other content', 200],
    ['nothing', { status: 404 }, 'HTTP 404', 404],
    ['no answer', new DeliveryError('NO_NETWORK', 'the host is unknown'), 'the host is unknown', undefined],
    ['this machine', { status: 302, headers: { location: 'https://127.0.0.1/a' } }, '127.0.0.1', undefined],
    [
      'another host',
      { status: 302, headers: { location: 'https://example.com/site/b.css' } },
      'leads to example.com, and not to octo.github.io',
      200,
    ],
    ['a way on', { body: 'b.css', headers: { refresh: '0; url=/x' } }, 'HTTP 200 with a page', 200],
  ])('are not proven at the deadline where one shows %s', async (_, answer, problem, httpCode) => {
    const { ports, verified } = await verify(({ url, path }) =>
      path === 'b.css' && new URL(url).host === 'octo.github.io' ? answer : undefined,
    );
    const error = await verified.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'NOT_PROVEN', hint: expect.stringContaining('again') });
    expect(String(error)).toContain('1 of 3 files of the site do not show the delivered bytes: b.css (');
    expect(String(error)).toContain(problem);
    expect((error as DeliveryError).httpCode).toBe(httpCode);
    expect(ports.clock.time).toBe(NOON + TIMEOUT);
  });

  test('are named up to the tenth', async () => {
    const parts = Array.from({ length: 12 }, (_, nth) => part(`f${nth}`));
    const { verified } = await verify(() => ({ status: 404 }), { parts });
    await expect(verified).rejects.toThrow(/f9 \(HTTP 404\) and 2 more/);
  });

  test('are not asked after a stop, also where the time is over', async () => {
    const { ports, verified } = await verify(() => undefined, { timeout: 0 });
    ports.logger.info = () => ports.stop.abort(stoppedError());
    await expect(verified).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('are not asked any more long after the deadline', async () => {
    const parts = Array.from({ length: 1_000 }, (_, nth) => part(`p${nth}.js`));
    const { asked, verified } = await verify(() => ({ status: 503 }), { parts, timeout: 20_000, lag: 1_000 });
    await expect(verified).rejects.toThrow('1000 of 1000 files');
    expect(asked().length).toBeLessThan(100);
  });
});

describe('the files of a site that was withdrawn', () => {
  test.each([404, 410])('are gone where the host answers HTTP %d', async (status) => {
    const { verified } = await verify(() => ({ status }), { gone: true });
    await expect(provenParts(verified)).resolves.toBe(3);
  });

  test.each<[string, Scripted, string]>([
    ['something', { body: 'a.js' }, 'a.js (HTTP 200 with some content: there should be none)'],
    ['that it fails', { status: 500 }, 'a.js (HTTP 500)'],
  ])('are not gone where the host shows %s', async (_, answer, problem) => {
    const { verified } = await verify(({ path }) => (path === 'a.js' ? answer : undefined), { gone: true });
    await expect(verified).rejects.toThrow(`1 of 3 files of the site still open: ${problem}`);
  });
});

describe('the new and replaced files of a site', () => {
  const parts = REPLACED;
  const plainOf = (asked: readonly Seen[]) => asked.filter(({ url }) => !url.includes('?v='));

  test('are asked once without `?v=`, as a browser asks, and no others', async () => {
    const { asked, verified } = await verify(() => undefined, { parts });
    await expect(verified).resolves.toMatchObject({ unknown: [], proof: { isCached: false } });
    expect(plainOf(asked()).map(({ url }) => url)).toEqual([`${SITE_URL}a.js`, `${SITE_URL}b.css`]);
    for (const { headers } of plainOf(asked())) expect(headers['user-agent']).toMatch(/^Mozilla\//);
  });

  test('are asked until no cache keeps that nothing was there, and how long it may is told', async () => {
    const respond: Respond = ({ isFresh, path, nth }) =>
      !isFresh && path === 'b.css' && nth < 3 ? { status: 404 } : undefined;
    const late = await verify(respond, { parts });
    await expect(late.verified).resolves.toMatchObject({ unknown: [] });
    const headers = { 'cache-control': 'max-age=600', age: '120' };
    const kept = await verify(({ isFresh }) => (isFresh ? undefined : { status: 404, headers }), { parts });
    await expect(kept.verified).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      httpCode: 404,
      message: expect.stringContaining(
        'without ?v=: a.js (HTTP 404 from a cache, 120 s old, which may keep it for up to 8 minutes)',
      ),
    });
  });

  test('are not proven with the old copy once the new one is gone behind it', async () => {
    const { verified } = await verify(
      ({ isFresh, path, nth }) => {
        if (path !== 'a.js') return undefined;
        return isFresh ? (nth > 1 ? { status: 404 } : undefined) : OLD;
      },
      { parts },
    );
    await expect(verified).rejects.toMatchObject({ code: 'NOT_PROVEN', httpCode: 404 });
  });
});

describe('the files of a link', () => {
  /** Proves a page and so many files of a link. */
  async function verifyLink(count: number, respond: (path: string, nth: number) => Scripted | undefined) {
    const counts = new Map<string, number>();
    const host = new FakeHttp(({ url }) => {
      const path = new URL(url).pathname.slice('/site/'.length);
      counts.set(path, (counts.get(path) ?? 0) + 1);
      return respond(path, counts.get(path) ?? 0) ?? { body: path === '' ? ENTRY : path };
    });
    const ports = fakePorts(host.http);
    const url = new URL(SITE_URL);
    const parts = Array.from({ length: count }, (_, nth) => part(`${nth}.txt`));
    const placement = {
      ...{ evidence: 'a link', url, written: false, isLink: true, notes: [], unknown: [] },
      ...{ file: await localFile(ENTRY), home: new URL('index.html', url), display: 'page' as const, parts },
    };
    const attempt = { ...newAttempt(taskWith()), placement };
    const verified = await verifyAttempt(attempt, TIMEOUT, ports);
    const asked = host.seen.map((seen) => new URL(seen.url).pathname.slice('/site/'.length));
    return { verified, asked, slept: ports.clock.slept };
  }
  const MANY = 101;
  const asksLast = (asked: readonly string[]): number => asked.findLastIndex((path) => path !== '');

  test('are all asked before its page is asked again, at once where they are many and all fresh and right', async () => {
    const { verified, asked, slept } = await verifyLink(MANY, () => undefined);
    expect(verified.proof.parts).toBe(MANY);
    expect(asked[0]).toBe('');
    expect(asked.slice(asksLast(asked) + 1)).toEqual(['', '', '']);
    expect([asked.length, slept]).toEqual([MANY + 4, []]);
  });

  test.each<[string, number, Scripted]>([
    ['there are few of them', 100, { body: '7.txt' }],
    ['one came from a cache', MANY, { body: '7.txt', headers: { age: '3' } }],
    ['one was late', MANY, { status: 404 }],
  ])('give its page some seconds where %s', async (_, count, first) => {
    const { asked, slept } = await verifyLink(count, (path, nth) =>
      path === '7.txt' && nth === 1 ? first : undefined,
    );
    expect(slept).toEqual([5_000]);
    expect(asked.filter((path) => path === '')).toHaveLength(4);
  });

  test('are asked again where the page was wrong after them', async () => {
    const { asked, verified } = await verifyLink(MANY, (path, nth) =>
      path === '' && nth === 2 ? { status: 404 } : undefined,
    );
    expect(verified.proof.parts).toBe(MANY);
    expect(asked.filter((path) => path === '7.txt')).toHaveLength(2);
  });
});
