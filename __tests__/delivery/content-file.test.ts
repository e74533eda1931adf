import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { openContent } from '../../src/delivery/content-file.ts';
import { CONTENT } from '../../src/protocol/limits.ts';
import type { DeliveryRequest } from '../../src/request/parse-request.ts';
import { FakeClock, fakePorts } from '../support/ports.ts';
import { requestWith } from './builders.ts';

/** A request with a stream as its content. */
const requestFor = (contentStream: AsyncIterable<Uint8Array>): DeliveryRequest =>
  requestWith({ file: '', name: 'page.html' }, { contentStream });

const ports = (signal = new AbortController().signal) => ({ ...fakePorts(), signal });

async function* chunksOf(...chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

/** A stream that gives one chunk and never ends. */
async function* endless(whenWaiting: () => void): AsyncGenerator<Uint8Array> {
  yield Buffer.from('x');
  setImmediate(whenWaiting);
  await new Promise(() => undefined);
}

describe('openContent', () => {
  test.each([
    ['a text', { content: '<p>ü</p>\n', name: 'page.html' }, undefined],
    ['a stream', { name: 'page.html' }, chunksOf('<p>', 'ü</p>\n')],
  ])('lends %s as a private file under the given name, and removes it', async (_, inputs, contentStream) => {
    const request = requestWith({ file: '', ...inputs }, { contentStream });
    const opened = await openContent(request, ports());
    const path = join(opened.request.folder, 'page.html');
    expect(await readFile(path, 'utf8')).toBe('<p>ü</p>\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    // Nothing but this file may be opened.
    expect(opened.request).toMatchObject({ allowsFullPaths: false, allowedRoots: [dirname(path)] });
    await opened.remove();
    await expect(stat(dirname(path))).rejects.toThrow('ENOENT');
  });

  test('leaves a request without content as it is', async () => {
    const request = requestWith();
    expect(await openContent(request, ports())).toEqual({ request, remove: expect.any(Function) });
  });

  test('refuses content without a byte, and content above the limit', async () => {
    await expect(openContent(requestFor(chunksOf('')), ports())).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: 'the content of page.html is empty',
    });
    async function* large() {
      const chunk = Buffer.alloc(8_388_608);
      for (let size = 0; size <= CONTENT.bytes; size += chunk.length) yield chunk;
    }
    await expect(openContent(requestFor(large()), ports())).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: 'the content of page.html has more than 95 MB',
    });
  });

  test('ends the wait for content that never ends: at the signal, and after a long silence', async () => {
    const stop = new AbortController();
    const stopped = openContent(requestFor(endless(() => stop.abort())), ports(stop.signal));
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });

    const silence = new AbortController();
    const timeout = (ms: number) => {
      expect(ms).toBe(CONTENT.silence);
      return silence.signal;
    };
    const clock = Object.assign(new FakeClock(), { timeout });
    const silent = openContent(requestFor(endless(() => silence.abort())), { ...ports(), clock });
    const message = 'the content did not end: nothing arrived for 300 s';
    await expect(silent).rejects.toMatchObject({ code: 'BAD_INPUT', message });
  });
});
