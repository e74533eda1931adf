import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { createNativeChannel } from '../../src/channels/link/link.ts';
import { siteCheck } from '../../src/channels/pages/site-checks.ts';
import { DeliveryError, stoppedError } from '../../src/errors.ts';
import type { Check, ExpectedAnswer } from '../../src/proof/check.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
import { shaOf } from '../channels/pages/site/memory-files.ts';
import { getOnly } from '../channels/prepare-one.ts';
import { localFile } from '../support/files.ts';
import { NOON, type Scripted } from '../support/ports.ts';
import { INTERVAL } from './builders.ts';
import { type Answer, type Asked, BYTES, FILE, NOT_FOUND, prove } from './proving.ts';

const SITE_URL = 'https://octo.github.io/site/';
const OLD_BYTES = 'an old copy';
const OLD_BLOB = { sha: shaOf(OLD_BYTES), size: OLD_BYTES.length };
const OLD: Scripted = { body: OLD_BYTES, headers: { 'cache-control': 'max-age=600' } };
const TIMEOUT = 60_000;

/** A file whose content is its name. */
const fileOf = (path: string) => ({
  size: path.length,
  sha256: createHash('sha256').update(path).digest('hex'),
});
const part = (path: string, before?: ExpectedAnswer['before']): Check =>
  siteCheck(path, new URL(SITE_URL + path), { is: 'bytes', file: fileOf(path), before });

const PARTS = ['a.js', 'b.css', 'c.txt'].map((path) => part(path));
/** What was replaced, and what is new. */
const REPLACED = [part('a.js', [OLD_BLOB]), part('b.css', []), part('c.txt')];

/** Proves a site whose entry is right; the other files answer as a test says, by default with their bytes. */
async function proveSite(respond: Answer, { parts = PARTS, gone = false, timeout = TIMEOUT, lag = 0 } = {}) {
  const answer: Answer = (one, ports) => {
    if (one.path === '') return gone ? NOT_FOUND : FILE;
    ports.clock.time += lag;
    return respond(one, ports) ?? (gone ? NOT_FOUND : { body: one.path });
  };
  const placement = {
    url: new URL(SITE_URL),
    others: gone ? parts.map(({ label, url }) => siteCheck(label, url, { is: 'gone' })) : parts,
  };
  const proven = await prove(answer, placement, { gone, timeout });
  return { ...proven, asked: proven.asked.filter(({ path }) => path !== '') };
}

describe('the files of a site', () => {
  test('are proven where each has its bytes, after one anonymous request that no cache answers', async () => {
    const { proof, identicalFiles, asked, ports } = await proveSite(() => undefined);
    expect([proof?.match, identicalFiles, asked.length]).toEqual(['identical', 4, 3]);
    expect(ports.clock.slept).toEqual([]);
    for (const { url, headers } of asked) {
      expect(new URL(url).searchParams.get('v')).toMatch(new RegExp(`^${NOON / 1_000}50000000\\d$`));
      expect(headers).not.toHaveProperty('authorization');
    }
    expect(ports.logger.shownProgress).toContainEqual(expect.objectContaining({ done: 3, ended: true }));
  });

  test('are asked again where they are not there yet, and only those', async () => {
    const { identicalFiles, asked, ports } = await proveSite(({ path, nth }) =>
      path === 'b.css' && nth < 3 ? NOT_FOUND : undefined,
    );
    expect([identicalFiles, asked.length, ports.clock.slept]).toEqual([4, 8, [5_000, 5_000]]);
    expect(ports.logger.lines).toContain(
      'after 0 s: 1 of 4 files of the site do not show the delivered bytes: b.css (HTTP 404)',
    );
  });

  test('are not proven by one answer where it was wrong before: another node may be late', async () => {
    const { failure } = await proveSite(({ path, nth }) =>
      path === 'b.css' && nth % 2 === 1 ? NOT_FOUND : undefined,
    );
    expect(failure).toMatchObject({
      code: 'NOT_PROVEN',
      message: expect.stringMatching(/^1 of 4 .* b\.css/),
    });
  });

  const toOther = { status: 302, headers: { location: 'https://example.com/site/b.css' } };
  test.each<[string, Scripted | Error, string, number | undefined]>([
    ['other bytes', { body: 'other' }, 'HTTP 200 with other content', 200],
    ['more bytes than the file has', { body: 'b.css and more' }, 'HTTP 200 with other content', 200],
    ['fewer bytes', { body: 'b.cs' }, 'HTTP 200 with other content', 200],
    ['nothing', NOT_FOUND, 'HTTP 404', 404],
    ['no answer', new DeliveryError('NO_NETWORK', 'the host is unknown'), 'the host is unknown', undefined],
    ['this machine', { status: 302, headers: { location: 'https://127.0.0.1/a' } }, '127.0.0.1', undefined],
    ['another host', toOther, 'redirects to example.com instead of octo.github.io', 200],
    ['a way on', { body: 'b.css', headers: { refresh: '0; url=/x' } }, 'HTTP 200 with a sign-in page', 200],
  ])('are not proven at the deadline where one shows %s', async (_, answer, problem, httpCode) => {
    const { failure, elapsed, identicalFiles } = await proveSite(({ url, path }) => {
      if (path !== 'b.css') return undefined;
      return url.startsWith(SITE_URL) ? answer : { body: path };
    });
    expect(failure).toMatchObject({ code: 'NOT_PROVEN', hint: expect.stringContaining('again') });
    expect(String(failure)).toContain('1 of 4 files of the site do not show the delivered bytes: b.css (');
    expect(String(failure)).toContain(problem);
    expect([failure?.httpCode, elapsed, identicalFiles]).toEqual([httpCode, TIMEOUT, 3]);
  });

  test('are not asked after a stop, also where the time is over', async () => {
    const answer: Answer = (_, { stop }) => {
      stop.abort(stoppedError());
      return FILE;
    };
    const placement = { url: new URL(SITE_URL), others: PARTS };
    const { failure, asked } = await prove(answer, placement, { timeout: 0 });
    expect([failure?.code, asked.length]).toEqual(['ABORTED', 1]);
  });

  test('are not asked any more long after the deadline', async () => {
    const parts = Array.from({ length: 1_000 }, (_, nth) => part(`p${nth}.js`));
    const limits = { parts, timeout: 20_000, lag: 1_000 };
    const { asked, failure } = await proveSite(() => ({ status: 503 }), limits);
    expect(failure?.message).toMatch(/1000 of 1001 files .*p9\.js \(.*and 990 more/);
    expect(asked.length).toBeLessThan(100);
  });
});

describe('the files of a site that was withdrawn', () => {
  test.each([404, 410])('are gone where the host answers HTTP %d', async (status) => {
    expect((await proveSite(() => ({ status }), { gone: true })).proof?.match).toBe('gone');
  });

  test.each<[string, Scripted, string]>([
    ['something', { body: 'a.js' }, 'a.js (HTTP 200 with content, although it was removed)'],
    ['that it fails', { status: 500 }, 'a.js (HTTP 500)'],
  ])('are not gone where the host shows %s', async (_, answer, problem) => {
    const { failure } = await proveSite(({ path }) => (path === 'a.js' ? answer : undefined), { gone: true });
    expect(failure?.message).toBe(`1 of 4 removed files are still served: ${problem}`);
  });
});

describe('the new and replaced files of a site', () => {
  const parts = REPLACED;

  test('are asked once without `?v=`, as a browser asks, and no others', async () => {
    const { proof, unknown, asked } = await proveSite(() => undefined, { parts });
    expect([proof?.isCached, unknown]).toEqual([false, []]);
    const plain = asked.filter(({ isFresh }) => !isFresh);
    expect(plain.map(({ path, isBrowser }) => [path, isBrowser])).toEqual([
      ['a.js', true],
      ['b.css', true],
    ]);
  });

  test('are asked until no cache keeps that nothing was there, and how long it may is told', async () => {
    const late = await proveSite(
      ({ isFresh, path, nth }) => (!isFresh && path === 'b.css' && nth < 3 ? NOT_FOUND : undefined),
      { parts },
    );
    expect([late.failure, late.unknown]).toEqual([null, []]);
    const headers = { 'cache-control': 'max-age=600', age: '120' };
    const kept = await proveSite(({ isFresh }) => (isFresh ? undefined : { status: 404, headers }), {
      parts,
    });
    expect(kept.failure).toMatchObject({ code: 'NOT_PROVEN', httpCode: 404 });
    expect(kept.failure?.message).toContain(
      'without ?v=: a.js (HTTP 404 from a cache, 120 s old, which may keep it for up to 8 minutes)',
    );
  });

  test('are not proven with the old copy once the new one is gone behind it', async () => {
    const answer: Answer = ({ isFresh, path, nth }) => {
      if (path !== 'a.js') return undefined;
      return isFresh ? (nth > 1 ? NOT_FOUND : undefined) : OLD;
    };
    const { failure } = await proveSite(answer, { parts });
    expect(failure).toMatchObject({ code: 'NOT_PROVEN', httpCode: 404 });
  });
});

describe('the files of a link', () => {
  /** Proves a page and so many files of a link. */
  async function proveLink(count: number, respond: (asked: Asked) => Scripted | undefined) {
    const url = new URL(SITE_URL);
    const entry = await localFile(BYTES, 'index.html');
    const texts = Array.from({ length: count }, (_, nth) => ({
      name: `${nth}.txt`,
      ...fileOf(`${nth}.txt`),
    }));
    const site = { isFolder: true, entry, files: [entry, ...(texts as LocalFile[])], size: 0, leftOut: [] };
    const link = createNativeChannel(url);
    const tasks = await link.prepare([{ site, name: '' }]);
    const placement = getOnly(await link.perform(tasks as never));
    const answer: Answer = (one) => respond(one) ?? (one.path === '' ? FILE : { body: one.path });
    const { identicalFiles, asked, ports } = await prove(answer, placement, { marker: '', timeout: TIMEOUT });
    // Nobody knows what the host of a link makes of `?v=`.
    expect(asked.filter(({ url }) => url.includes('?'))).toEqual([]);
    return { identicalFiles, paths: asked.map(({ path }) => path), slept: ports.clock.slept };
  }

  test('are refused without a link', async () => {
    const [refused] = await createNativeChannel(undefined).prepare([{ site: null, name: '' }]);
    expect(refused).toMatchObject({ code: 'BAD_INPUT', message: 'no link was given to verify' });
  });

  const MANY = 101;

  test.each<[string, Scripted | undefined, readonly number[]]>([
    ['without a pause', undefined, []],
    ['without a pause, also if one came from a cache', { body: '7.txt', headers: { age: '3' } }, []],
    ['after a poll if one was late', NOT_FOUND, [INTERVAL]],
  ])('are all asked before its page is asked again, %s', async (_, first, pauses) => {
    const { identicalFiles, paths, slept } = await proveLink(MANY, ({ path, nth }) =>
      path === '7.txt' && nth === 1 ? first : undefined,
    );
    expect([identicalFiles, paths.filter((path) => path === '').length, slept]).toEqual([
      MANY + 1,
      4,
      pauses,
    ]);
    expect([paths[0], paths.indexOf('', 1) > MANY]).toEqual(['', true]);
  });

  test('are asked again where the page was wrong after them', async () => {
    const { identicalFiles, paths } = await proveLink(MANY, ({ path, nth }) =>
      path === '' && nth === 2 ? NOT_FOUND : undefined,
    );
    expect([identicalFiles, paths.filter((path) => path === '7.txt').length]).toEqual([MANY + 1, 2]);
  });
});
