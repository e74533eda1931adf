import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import {
  discard,
  parseRetryAfter,
  readCacheTime,
  readLastModified,
  readText,
  shortHostMessage,
} from '../../src/http/response.ts';
import { NOON } from '../support/ports.ts';

describe('readText', () => {
  const read = (chunks: readonly Buffer[], limit: number, encoding?: string) => {
    const body = Readable.from(chunks);
    const answer = { status: 403, headers: { 'content-encoding': encoding }, body };
    return { body, text: readText(answer, limit) };
  };

  test('reads as many bytes as the limit, even if a character arrives in two chunks', async () => {
    const bytes = [...Buffer.from('два')].map((byte) => Buffer.from([byte]));
    await expect(read(bytes, 6).text).resolves.toBe('два');
    const { body, text } = read([...bytes, Buffer.from('never read')], 5);
    await expect(text).rejects.toMatchObject({
      ...{ code: 'HOST_ERROR', message: 'the response is longer than 5 bytes', retryable: false },
    });
    expect(body.destroyed).toBe(true);
  });

  test('decodes an encoding that was not requested, and counts the decoded bytes', async () => {
    const bytes = gzipSync('too many times');
    await expect(read([bytes], 14, 'gzip').text).resolves.toBe('too many times');
    await expect(read([bytes], 13, 'gzip').text).rejects.toMatchObject({ code: 'HOST_ERROR' });
  });
});

test('discard ignores an error while the body is closed', async () => {
  const body = new Readable({ read: () => undefined, destroy: (_error, done) => done(new Error('late')) });
  const closed = new Promise((resolve) => body.once('close', resolve));
  discard({ status: 302, headers: {}, body });
  await expect(closed).resolves.toBeUndefined();
});

const parse = (value: string | undefined): number | undefined =>
  parseRetryAfter({ headers: { 'retry-after': value } }, NOON);

test.each([
  ['seconds', '30', 30_000],
  ['zero seconds', '0', 0],
  ['a date in the future', new Date(NOON + 45_000).toUTCString(), 45_000],
  ['a date in the past', new Date(NOON - 45_000).toUTCString(), 0],
])('parseRetryAfter understands %s', (_case, value, ms) => {
  expect(parse(value)).toBe(ms);
});

test('parseRetryAfter compares a date with the clock of the host that names it', () => {
  const headers = {
    'retry-after': new Date(NOON + 45_000).toUTCString(),
    date: new Date(NOON + 40_000).toUTCString(),
  };
  expect(parseRetryAfter({ headers }, NOON)).toBe(5_000);
  expect(parseRetryAfter({ headers: { ...headers, 'retry-after': '7' } }, NOON)).toBe(7_000);
});

test.each([undefined, '', 'soon', '5s', '1.5', '-5', '1e3'])(
  'parseRetryAfter returns undefined for %j',
  (value) => {
    expect(parse(value)).toBeUndefined();
  },
);

describe('shortHostMessage', () => {
  test('keeps a short text, on one line', () => {
    expect(shortHostMessage(' a\n\tb\u0085c\u2028 d ')).toBe('a b c d');
    expect(shortHostMessage(undefined)).toBe('');
  });

  test('cuts no word of a long text, which may be a secret that only a whole one is recognized as', () => {
    const secret = `ghs_${'a1B2'.repeat(9)}`;
    for (let before = 210; before < 300; before += 1) {
      const short = shortHostMessage(`${'x'.repeat(before)} ${secret} and more of it${'.'.repeat(300)}`);
      expect(short.includes(secret) || !short.includes('g')).toBe(true);
      expect(short.length).toBeLessThanOrEqual(301);
    }
  });
});

test.each<
  [Record<string, string>, { readonly freshFor?: number | null; readonly lastModified?: number | null }]
>([
  [{ 'cache-control': 'max-age=600' }, { freshFor: 600_000 }],
  [{ 'cache-control': 'public, max-age=600', age: '100' }, { freshFor: 500_000 }],
  [{ 'cache-control': 'max-age=600, s-maxage=3600', age: '100' }, { freshFor: 3_500_000 }],
  [{ 'cache-control': 'Max-Age="60"', age: '100' }, { freshFor: 0 }],
  [{ 'cache-control': 'max-age=600', age: '-5' }, { freshFor: 600_000 }],
  [{ 'cache-control': 'no-store' }, { freshFor: null }],
  [{ 'cache-control': 'x-max-age=600' }, { freshFor: null }],
  [{ 'last-modified': 'Fri, 02 Jan 2026 03:04:05 GMT' }, { lastModified: Date.UTC(2026, 0, 2, 3, 4, 5) }],
  [{ 'last-modified': '2026-01-02' }, { lastModified: null }],
  [{ 'last-modified': 'soon GMT' }, { lastModified: null }],
])('The headers %j mean %j.', (headers, meaning) => {
  const answer = { headers };
  expect({ ...readCacheTime(answer), lastModified: readLastModified(answer) }).toMatchObject(meaning);
});
