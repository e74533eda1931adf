import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ResourceReader } from '../../../src/delivery/convert/read-resources.ts';
import { DeliveryError } from '../../../src/errors.ts';
import { NETWORK_HINT } from '../../../src/http/client.ts';
import type { HttpRequest, HttpResponse, SendHttp } from '../../../src/ports.ts';
import { CONVERT } from '../../../src/protocol/limits.ts';
import { SimulatedClock } from '../../faults/simulated-clock.ts';
import { temporaryFolder } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted } from '../../support/ports.ts';
import { requestWith } from '../builders.ts';

const STYLE = 'https://cdn.octo.dev/a.css?v=1';
let page: string;

beforeAll(async () => {
  const folder = await temporaryFolder();
  page = join(folder, 'site', 'page.html');
  for (const name of ['site/css', 'site/.git', 'other']) await mkdir(join(folder, name), { recursive: true });
  for (const name of ['site/css/a b.css', 'site/.env', 'site/.git/config', 'other/a.css'])
    await writeFile(join(folder, name), name);
  await symlink(join(folder, 'other'), join(folder, 'site/linked'));
  await symlink(join(folder, 'site/.env'), join(folder, 'site/env.txt'));
});

/** A reader of the page's files, and its requests. */
function createReader(
  answer: Scripted | ((request: HttpRequest) => Promise<Scripted>),
  clock = new SimulatedClock(),
  send?: SendHttp,
) {
  const requests: HttpRequest[] = [];
  const host = new FakeHttp(() =>
    typeof answer === 'function' ? answer(requests.at(-1) as HttpRequest) : answer,
  );
  const http = (request: HttpRequest) => {
    requests.push(request);
    return (send ?? host.http)(request);
  };
  const run = { ...fakePorts(http), clock, request: requestWith() };
  const limit = clock.timeout(240_000);
  const reader = new ResourceReader(page, { run, limit });
  return {
    reader,
    requests,
    stop: run.stop,
    read: (address: string) => reader.read(new URL(address, reader.toUrl('page.html'))),
  };
}

describe('a file of the page', () => {
  test.each(['css/a%20b.css', './css/a b.css?v=2', '/css/a b.css'])(
    'is read from its folder: %s',
    async (address) => {
      const { read, reader } = createReader({});
      const resource = await read(address);
      expect(resource).toMatchObject({
        bytes: Buffer.from('site/css/a b.css'),
        contentType: 'text/css; charset=utf-8',
      });
      expect(reader.toName({ href: resource.url })).toMatch(/^\/?css\/a b\.css/);
    },
  );

  test.each([
    ['../other/a.css', 'it is above the page'],
    ['x/..%2F..%2Fother/a.css', 'it is above the page'],
    ['linked/a.css', 'a symbolic link that leads out of its folder'],
    ['.env', 'is hidden'],
    ['.git/config', '.git/config is hidden, or is in a hidden folder'],
    ['a%00.png', "can't be opened (no valid name)"],
    ['.', "./ can't be put into the page: ./ is a folder"],
    ['env.txt', 'a symbolic link to a hidden file'],
    ['css', 'is a folder'],
    ['css/gone.css', 'does not exist'],
  ])('is refused: %s', async (address, reason) => {
    await expect(createReader({}).read(address)).rejects.toMatchObject({
      code: 'BAD_FILE',
      message: expect.stringContaining(reason),
      hint: "correct its URL in the page: it must lead to a visible file in the page's folder",
    });
  });
});

describe('a file of another host', () => {
  test('is fetched from public addresses, without credentials', async () => {
    const { read, requests } = createReader({ headers: { 'content-type': 'text/css' }, body: 'p {}' });
    expect(await read(STYLE)).toEqual({ url: STYLE, bytes: Buffer.from('p {}'), contentType: 'text/css' });
    const headers = { accept: '*/*', 'accept-encoding': 'identity', 'cache-control': 'no-cache' };
    expect(requests).toMatchObject([{ method: 'GET', publicOnly: true, headers }]);
    expect(Object.keys(requests[0]?.headers ?? {})).toEqual(Object.keys(headers));
  });

  test('is not fetched for longer than its time', async () => {
    const clock = new SimulatedClock();
    const { read } = createReader(async ({ signal }) => {
      await clock.advance(CONVERT.time, signal);
      throw signal?.reason;
    }, clock);
    await expect(read(STYLE)).rejects.toMatchObject({
      code: 'CONNECTION',
      message: "https://cdn.octo.dev/a.css?… can't be put into the page: no answer came in time",
      hint: 'try again',
    });
    expect(clock.now()).toBe(1_000 + CONVERT.time);
  });

  test.each<[string, string, Scripted | Error, object]>([
    ['503', STYLE, { status: 503 }, { code: 'HOST_ERROR', httpCode: 503, hint: 'try again later' }],
    [
      '429',
      STYLE,
      { status: 429, headers: { 'retry-after': '7200' } },
      { code: 'HOST_ERROR', message: expect.stringContaining('asks to try again after'), httpCode: 429 },
    ],
    [
      'no network',
      STYLE,
      new DeliveryError('NO_NETWORK', 'x', { hint: NETWORK_HINT }),
      { code: 'NO_NETWORK', hint: NETWORK_HINT },
    ],
    ['404', STYLE, { status: 404 }, { code: 'BAD_FILE', hint: expect.stringMatching(/^correct its URL/) }],
    [
      'credentials in its URL',
      'https://user:geheim@cdn.octo.dev/a.css?X-Amz-Signature=geheim',
      {},
      {
        code: 'BAD_FILE',
        message: expect.stringMatching(
          /^https:\/\/\*\*\*@cdn\.octo\.dev\/a\.css\?… .*it contains credentials$/,
        ),
      },
    ],
  ])('says what its host, the network or the page must change: %s', async (_, address, answer, expected) => {
    const { read } = createReader(async () => {
      if (answer instanceof Error) throw answer;
      return answer;
    });
    const failure = await read(address).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject(expected);
    expect(String(failure)).not.toMatch(/geheim|v=1/);
  });

  test('ends with the reason of a stop', async () => {
    const { read, stop } = createReader(async ({ signal }) => {
      stop.abort(new Error('stopped'));
      throw signal?.reason;
    });
    await expect(read(STYLE)).rejects.toThrow(/^stopped$/);
  });

  test('counts only once what was fetched twice because of a fault', async () => {
    const half = Buffer.alloc(CONVERT.bytes / 2 + 1);
    async function* breakOff() {
      yield half;
      throw new Error('other side closed');
    }
    const bodies = [Readable.from(breakOff()), Readable.from([half]), Readable.from([half])];
    const http = async (): Promise<HttpResponse> => ({
      status: 200,
      headers: {},
      body: bodies.shift() ?? Readable.from([]),
    });
    const { read } = createReader({}, new SimulatedClock(), http);
    expect((await read(STYLE)).bytes).toHaveLength(half.length);
    expect(bodies).toHaveLength(1);
    await expect(read('https://cdn.octo.dev/b.css')).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: "https://cdn.octo.dev/b.css can't be put into the page: a page may load at most 20 MB",
    });
  });
});
