import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { base64, base64Length, sendUpload, type UploadRequest } from '../../src/http/upload.ts';
import type { SendHttp } from '../../src/ports.ts';
import { EXCHANGE } from '../../src/protocol/limits.ts';
import { FakeClock, FakeHttp, type Scripted } from '../support/ports.ts';

function asked(over: Partial<UploadRequest> = {}): UploadRequest {
  return {
    method: 'POST',
    url: new URL('https://uploads.example.com/assets?name=a.html'),
    headers: { 'content-type': 'application/octet-stream' },
    length: 5,
    body: () => Readable.from([Buffer.from('bytes')]),
    signal: new AbortController().signal,
    clock: new FakeClock(),
    ...over,
  };
}

const answered = (answer: Scripted) => sendUpload(new FakeHttp(() => answer).http, asked());

describe('upload', () => {
  test('sends the bytes once, with their exact length', async () => {
    const fake = new FakeHttp(() => ({ status: 201 }));
    await sendUpload(fake.http, asked());
    expect(fake.seen).toEqual([
      {
        method: 'POST',
        url: 'https://uploads.example.com/assets?name=a.html',
        headers: { 'content-type': 'application/octet-stream', 'content-length': '5' },
        body: 'bytes',
      },
    ]);
  });

  test('hands the JSON of the answer over', async () => {
    expect(await answered({ status: 201, body: { id: 7 } })).toMatchObject({
      status: 201,
      json: { id: 7 },
      text: '{"id":7}',
    });
  });

  test.each([
    ['plain text', 'Storage error'],
    ['nothing', ''],
    ['half a JSON', '{"id":'],
  ])('leaves an answer of %s as text', async (_what, body) => {
    expect(await answered({ status: 500, body })).toMatchObject({ status: 500, text: body, json: undefined });
  });

  test.each([100, 302, 405, 422, 507])('leaves the judgement of HTTP %d to the caller', async (status) => {
    expect((await answered({ status, body: 'no' })).status).toBe(status);
  });

  test('hands headers over as single texts', async () => {
    const http: SendHttp = async () => ({
      status: 201,
      headers: { 'retry-after': '5', via: ['a', 'b'], gone: undefined },
      body: Readable.from([]),
    });
    expect((await sendUpload(http, asked())).headers).toEqual({
      'retry-after': '5',
      via: 'a,b',
      gone: undefined,
    });
  });

  test('breaks off when the answer does', async () => {
    const cut = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
    await expect(answered({ status: 201, body: cut })).rejects.toMatchObject({
      code: 'CONNECTION',
      message: 'the exchange with uploads.example.com broke off: the connection was closed early',
    });
  });

  test('refuses an answer that is longer than any JSON of the host', async () => {
    await expect(answered({ status: 201, body: 'x'.repeat(EXCHANGE.apiBody + 1) })).rejects.toMatchObject({
      code: 'HOST_ERROR',
    });
  });

  test('stops with the reason of the signal', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const http: SendHttp = async () => {
      stop.abort(reason);
      return { status: 201, headers: {}, body: new Readable().destroy(reason) };
    };
    await expect(sendUpload(http, asked({ signal: stop.signal }))).rejects.toBe(reason);
  });
});

describe('base64', () => {
  async function* stream(chunks: readonly Uint8Array[]): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }

  test('of any chunks is that of the whole, and exactly as long as announced', async () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 10 }), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(parts, async (chunks) => {
        const whole = Buffer.concat(chunks);
        const encoded = await text(base64(stream(chunks)));
        expect(encoded).toBe(whole.toString('base64'));
        expect(encoded).toHaveLength(base64Length(whole.length));
      }),
    );
  });

  test('goes out as the bytes come in, not all at the end', async () => {
    const pieces = await Readable.from(base64(stream([Buffer.alloc(3_000), Buffer.alloc(3_000)]))).toArray();
    expect(pieces.slice(0, 2).map(({ length }) => length)).toEqual([4_000, 4_000]);
  });

  test('does not read a chunk again that the source has reused', async () => {
    const reused = Buffer.from('abcd');
    async function* source(): AsyncGenerator<Buffer> {
      yield reused;
      reused.fill('x');
      yield Buffer.from('ef');
    }
    const encoded = await text(base64(source()));
    expect(Buffer.from(encoded, 'base64').toString()).toBe('abcdef');
  });
});

test('an answer that only drips is given up when its time is over', async () => {
  const dripping = new Readable({ read: () => undefined });
  const over = new AbortController();
  const http: SendHttp = async () => {
    setImmediate(() => over.abort());
    return { status: 201, headers: {}, body: dripping };
  };
  await expect(sendUpload(http, asked({ clock: { timeout: () => over.signal } }))).rejects.toMatchObject({
    code: 'CONNECTION',
    message: expect.stringContaining('the answer was not complete within 120 s'),
    retryable: true,
  });
  expect(dripping.destroyed).toBe(true);
});
