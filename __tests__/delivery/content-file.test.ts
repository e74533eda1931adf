import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { openContent } from '../../src/delivery/content-file.ts';
import type { Ports } from '../../src/ports.ts';
import { CONTENT } from '../../src/protocol/limits.ts';
import type { DeliveryRequest } from '../../src/request/parse-request.ts';
import { SimulatedClock } from '../faults/simulated-clock.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeLogger, fakePorts } from '../support/ports.ts';
import { requestWith } from './builders.ts';

const open = (request: DeliveryRequest, given: Ports = ports()): Promise<DeliveryRequest> =>
  openContent(request, given, temporaryFolder);

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
  ])('lends %s as a private file under the given name', async (_, inputs, contentStream) => {
    const request = requestWith({ file: '', ...inputs }, { contentStream });
    const opened = await open(request);
    const path = join(opened.folder, 'page.html');
    expect(await readFile(path, 'utf8')).toBe('<p>ü</p>\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    // Nothing but this file may be opened.
    expect(opened).toMatchObject({ allowsFullPaths: false, allowedRoots: [dirname(path)] });
  });

  test('leaves a request without content as it is', async () => {
    const request = requestWith();
    expect(await open(request)).toBe(request);
  });

  test('refuses content without a byte, and content above the limit', async () => {
    await expect(open(requestFor(chunksOf('')))).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: 'the content of page.html is empty',
    });
    async function* large() {
      const chunk = Buffer.alloc(8_388_608);
      for (let size = 0; size <= CONTENT.bytes; size += chunk.length) yield chunk;
    }
    await expect(open(requestFor(large()))).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: 'the content of page.html has more than 95 MB',
    });
  });

  test('ends the wait for content that never ends: at the signal, and after ten minutes', async () => {
    const stop = new AbortController();
    const stopped = open(requestFor(endless(() => stop.abort())), ports(stop.signal));
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });

    const clock = new SimulatedClock();
    const late = open(requestFor(endless(() => void clock.advance(600_000))), { ...ports(), clock });
    const message = 'the content did not end within 600 s';
    await expect(late).rejects.toMatchObject({ code: 'BAD_INPUT', message });
  });

  test('says once what it waits for, after three seconds without content, and not after its end', async () => {
    const logger = new FakeLogger();
    const clock = new SimulatedClock();
    async function* slow() {
      await clock.advance(2_000);
      yield Buffer.from('x');
      await clock.advance(2_999);
      expect(logger.lines).toEqual([]);
      await clock.advance(1);
      await clock.advance(9_000);
    }
    await open(requestFor(slow()), { ...ports(), clock, logger });
    const line = /^warning: waiting for the content, for up to 600 s: .* Ctrl-D on a terminal$/;
    expect(logger.lines).toEqual([expect.stringMatching(line)]);

    await open(requestFor(chunksOf('x')), { ...ports(), clock, logger });
    await clock.advance(9_000);
    expect(logger.lines).toHaveLength(1);
  });
});
