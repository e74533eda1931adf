import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { fetchBack } from '../../src/http/fetch-back.ts';
import { readText } from '../../src/http/response.ts';
import type { HttpResponse, SendHttp } from '../../src/ports.ts';
import { FakeHttp, type Scripted } from '../support/ports.ts';

const ADDRESS = new URL('https://octo.github.io/site/page.html');
const PAGE = '<p>MARK</p>'.repeat(50_000);
const sha256 = createHash('sha256').update(PAGE).digest('hex');
const signal = new AbortController().signal;
const guard = () => undefined;

const ask = (answer: Scripted, more: object = {}) =>
  fetchBack(new FakeHttp(() => answer).http, ADDRESS, { signal, guard, asBrowser: true, ...more }, [
    Buffer.from('MARK'),
  ]);
const encodedAs = (encoding: string, body: Buffer): Scripted => ({
  headers: { 'content-encoding': encoding, 'content-length': String(body.length), etag: 'W/"7f"' },
  body,
});

const answerWith = (body: Readable, encoding?: string): HttpResponse => ({
  status: 403,
  headers: { 'content-encoding': encoding },
  body,
});

describe('readText', () => {
  test('reads a response to its end', async () => {
    expect(await readText(answerWith(Readable.from([Buffer.from('one '), Buffer.from('two')])), 100)).toBe(
      'one two',
    );
  });

  test('decodes a character whose bytes arrive in two chunks', async () => {
    const [first, second] = Buffer.from('я');
    expect(
      await readText(
        answerWith(Readable.from([Buffer.from([Number(first)]), Buffer.from([Number(second)])])),
        100,
      ),
    ).toBe('я');
  });

  test('accepts as many bytes as the limit', async () => {
    expect(await readText(answerWith(Readable.from([Buffer.from('12'), Buffer.from('34')])), 4)).toBe('1234');
  });

  test('refuses one byte more than the limit and closes the body', async () => {
    const body = Readable.from([Buffer.from('12'), Buffer.from('345'), Buffer.from('never read')]);
    await expect(readText(answerWith(body), 4)).rejects.toMatchObject({
      code: 'HOST_ERROR',
      message: 'the response is longer than 4 bytes',
      retryable: false,
    });
    expect(body.destroyed).toBe(true);
  });

  test.each<[string, Buffer]>([
    ['gzip', gzipSync('too many times')],
    ['deflate', deflateSync('too many times')],
    ['br', brotliCompressSync('too many times')],
    ['zstd', zstdCompressSync('too many times')],
  ])('decodes %s, which nobody asked for, and counts what it becomes', async (encoding, bytes) => {
    const read = (limit: number) => readText(answerWith(Readable.from([bytes]), encoding), limit);
    expect(await read(14)).toBe('too many times');
    await expect(read(13)).rejects.toMatchObject({ code: 'HOST_ERROR' });
  });

  test('throws the error of a response that is interrupted', async () => {
    const body = new Readable({ read: () => undefined });
    body.destroy(new Error('cut'));
    await expect(readText(answerWith(body), 100)).rejects.toThrow('cut');
  });
});

describe('what a browser is sent', () => {
  test('is asked for with the headers of one, also in the encodings that it reads', async () => {
    const host = new FakeHttp(() => ({ body: PAGE }));
    await fetchBack(host.http, ADDRESS, { signal, guard, asBrowser: true }, []);
    await fetchBack(host.http, ADDRESS, { signal, guard }, []);
    expect(host.seen.map(({ headers }) => headers['accept-encoding'])).toEqual([
      'gzip, deflate, br, zstd',
      'identity',
    ]);
    expect(host.seen[0]?.headers).toMatchObject({
      accept: expect.stringMatching(/^text\/html,/),
      'user-agent': expect.stringMatching(/^Mozilla\/5\.0 .*screen-delivery/),
    });
  });

  test('may be refused in plain text all the same', async () => {
    const host = new FakeHttp(() => ({ body: PAGE }));
    await fetchBack(host.http, ADDRESS, { signal, guard, asBrowser: true, plainRefusals: true }, []);
    expect(host.seen[0]?.headers).toMatchObject({
      accept: '*/*',
      'user-agent': expect.stringMatching(/^Moz/),
    });
  });

  test.each<[string, Buffer]>([
    ['gzip', gzipSync(PAGE)],
    ['GZIP, identity', gzipSync(PAGE)],
    ['deflate', deflateSync(PAGE)],
    ['br', brotliCompressSync(PAGE)],
    ['zstd', zstdCompressSync(PAGE)],
  ])('is decoded: %s', async (encoding, body) => {
    expect(await ask(encodedAs(encoding, body))).toMatchObject({
      fingerprint: { sha256, counts: [50_000] },
      // The length is that of the encoded bytes.
      length: null,
      version: '"7f"',
    });
  });

  test('is decoded no further than it is read', async () => {
    const read = await ask(encodedAs('gzip', gzipSync(PAGE)), { readAtMost: 11 });
    expect(read.fingerprint).toMatchObject({ size: 11, counts: [1] });
  });

  test.each<[string, Scripted, RegExp]>([
    ['in two encodings', encodedAs('gzip, br', gzipSync(PAGE)), /not asked for/],
    ['in an unknown encoding', encodedAs('compress', Buffer.from(PAGE)), /not asked for/],
    ['in another encoding than it says', encodedAs('gzip', Buffer.from(PAGE)), /does not fit/],
    ['only in part', encodedAs('gzip', gzipSync(PAGE).subarray(0, 500)), /does not fit/],
  ])('is no proof %s', async (_, answer, message) => {
    await expect(ask(answer)).rejects.toMatchObject({
      code: 'HOST_ERROR',
      message: expect.stringMatching(message),
    });
  });

  test('breaks off where the connection does', async () => {
    async function* brokenOff() {
      yield gzipSync(PAGE).subarray(0, 500);
      throw new Error('reset');
    }
    const http: SendHttp = async () => ({
      status: 200,
      headers: { 'content-encoding': 'gzip' },
      body: Readable.from(brokenOff()),
    });
    await expect(fetchBack(http, ADDRESS, { signal, guard, asBrowser: true }, [])).rejects.toMatchObject({
      code: 'CONNECTION',
      message: expect.stringContaining('reset'),
    });
  });
});
