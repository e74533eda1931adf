import { describe, expect, test } from '@jest/globals';
import { createFilebin, type FilebinOptions } from '../../../src/channels/filebin/publish.ts';
import { DeliveryError, hasFailed, hasSucceeded } from '../../../src/errors.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted, type Seen } from '../../support/ports.ts';
import { circumstancesWith } from '../circumstances.ts';
import { prepareOne } from '../one.ts';

const HOST = 'https://filebin.net';
const OPTIONS: FilebinOptions = { host: new URL(HOST), bin: 'sv1767323045-abc', binIsNew: true };
const EXPIRY = '2026-01-09T03:04:05Z';

type Answer = (request: Seen, nth: number) => Scripted | Error | undefined;

interface Stage extends Partial<FilebinOptions> {
  readonly name?: string;
  /** What the bin holds at each look, the last one for ever; it isn't there unless told. */
  readonly listings?: readonly (object | null)[];
}

/** A bin host whose answers to the upload, by how many came before, are scripted; it lets its bins be locked. */
async function binWith(
  answer: Scripted | Error | Answer,
  { name = 'page.html', listings = [null], ...more }: Stage = {},
) {
  const file = await localFile('<p>hello</p>', 'page.html');
  const decide: Answer = typeof answer === 'function' ? answer : () => answer;
  const host: FakeHttp = new FakeHttp((request) => {
    const nth = host.seen.filter(({ method }) => method === request.method).length;
    if (request.method === 'PUT') return { status: 200 };
    if (request.method === 'POST') return decide(request, nth);
    const listing = listings[Math.min(nth, listings.length) - 1];
    return listing == null ? { status: 404 } : { body: listing };
  });
  const ports = fakePorts(host.http);
  const intent = await prepareOne(createFilebin({ ...OPTIONS, ...more }, ports), file, name);
  return { file, host, ports, intent, methods: () => host.seen.map(({ method }) => method) };
}

const receipt = { bin: { id: OPTIONS.bin, expired_at: EXPIRY }, file: { filename: 'page.html' } };

describe('K3', () => {
  test('posts the raw bytes with their SHA-256 and no credential, then locks the bin', async () => {
    const { file, host, intent } = await binWith({ status: 201, body: receipt });
    await intent.place();
    expect(host.seen).toEqual([
      {
        method: 'POST',
        url: `${HOST}/${OPTIONS.bin}/page.html`,
        headers: {
          accept: 'application/json',
          'content-type': 'application/octet-stream',
          'content-sha256': file.sha256,
          'content-length': String(file.size),
        },
        body: '<p>hello</p>',
      },
      {
        method: 'PUT',
        url: `${HOST}/${OPTIONS.bin}`,
        headers: { accept: 'application/json' },
        body: '',
      },
    ]);
  });

  test('builds the address from the names that the host has stored', async () => {
    const stored = { bin: { id: 'svstored' }, file: { filename: 'ä_b.html' } };
    const { intent } = await binWith({ status: 201, body: stored });
    await expect(intent.place()).resolves.toMatchObject({
      evidence: 'HTTP 201, bin svstored, file ä_b.html',
      url: new URL(`${HOST}/svstored/%C3%A4_b.html`),
      bypassCache: false,
      hostMayChangeBytes: false,
      unknown: [],
    });
  });

  test('takes its own names where the host names none', async () => {
    const { intent } = await binWith({ status: 201, body: {} });
    await expect(intent.place()).resolves.toMatchObject({ url: new URL(`${HOST}/${OPTIONS.bin}/page.html`) });
  });

  test('reports the real end of life, the warning page and that HTML is downloaded', async () => {
    const { intent } = await binWith({ status: 201, body: receipt });
    const { notes } = await intent.place();
    expect(notes.join('\n')).toMatch(/expires at 2026-01-09T03:04:05Z.*warning page.*downloaded/s);
  });

  test('promises neither a date that it was not told nor a download that does not happen', async () => {
    const { intent } = await binWith(
      { status: 201, body: { file: { filename: 'a.txt' } } },
      { name: 'a.txt' },
    );
    const { notes } = await intent.place();
    expect(notes).toEqual(['the bin expires after about 7 days', expect.stringContaining('warning page')]);
    expect(intent.plan.claim).toBe('opens');
  });

  test('plans the name that the host will keep', async () => {
    const { intent } = await binWith({ status: 201, body: receipt }, { name: "a'b.pdf" });
    expect(intent.plan).toEqual({
      channel: 'K3',
      method: 'one POST',
      destination: `bin ${OPTIONS.bin}, name a_b.pdf`,
      name: 'a_b.pdf',
      claim: 'downloads',
    });
  });

  test('keeps the folder of a self-hosted bin’s address', async () => {
    const { host, intent } = await binWith(
      { status: 201, body: {} },
      { host: new URL('https://bins.dev/b/') },
    );
    await intent.place();
    expect(host.seen[0]?.url).toBe(`https://bins.dev/b/${OPTIONS.bin}/page.html`);
  });

  test('is refused without a file', async () => {
    await expect(prepareOne(createFilebin(OPTIONS, fakePorts()), null)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      hint: 'set `file:`',
    });
  });
});

describe('a POST that is not answered 201', () => {
  test.each([
    [400, 'BAD_INPUT', 'bin:', 1],
    [404, 'BAD_INPUT', 'bin:', 1],
    [403, 'NO_PERMISSION', 'path:', 1],
    [405, 'CONFLICT', 'locked or expired', 1],
    [413, 'TOO_LARGE', 'K2', 1],
    [429, 'RATE_LIMITED', 'later', 3],
    [507, 'HOST_ERROR', 'full', 1],
    [500, 'HOST_ERROR', 'later', 5],
    [502, 'HOST_ERROR', 'later', 5],
    [503, 'HOST_ERROR', 'later', 5],
    [504, 'HOST_ERROR', 'later', 5],
    [200, 'HOST_ERROR', 'bin-host-url:', 5],
    [302, 'HOST_ERROR', 'bin-host-url:', 1],
    [418, 'HOST_ERROR', 'bin-host-url:', 1],
  ] as const)('but %i fails as %s, says %j, and is sent %i times', async (status, code, hint, attempts) => {
    const { methods, intent } = await binWith({ status, body: 'no' });
    await expect(intent.place()).rejects.toMatchObject({
      code,
      httpCode: status,
      message: `posting to the bin answered HTTP ${status} and not 201: no`,
      hint: expect.stringContaining(hint),
    });
    // Before it is sent again it is looked for.
    expect(methods()).toEqual(Array(attempts).fill(['GET', 'POST']).flat().slice(1));
  });

  test('waits as long as the host asks', async () => {
    const { ports, intent } = await binWith((_, nth) =>
      nth === 1 ? { status: 429, headers: { 'retry-after': '9' } } : { status: 201, body: receipt },
    );
    await intent.place();
    expect(ports.clock.slept).toEqual([9_500]);
  });

  test('leaves a page of HTML out of the message', async () => {
    const { intent } = await binWith({ status: 404, body: '<html>Not found</html>' });
    await expect(intent.place()).rejects.toMatchObject({
      message: 'posting to the bin answered HTTP 404 and not 201',
    });
  });
});

describe('a receipt', () => {
  test.each(['<html>', 'null', '"text"'])('that reads %s is not believed', async (body) => {
    const { intent } = await binWith({ status: 201, body });
    await expect(intent.place()).rejects.toMatchObject({ code: 'HOST_ERROR', httpCode: 201 });
  });

  test('of other bytes leads to another upload', async () => {
    const wrong = { file: { filename: 'page.html', sha256: 'ff' } };
    const { methods, intent } = await binWith((_, nth) => ({
      status: 201,
      body: nth === 1 ? wrong : receipt,
    }));
    await intent.place();
    expect(methods()).toEqual(['POST', 'GET', 'POST', 'PUT']);
  });

  test('of other bytes again and again is a failure', async () => {
    const { intent } = await binWith({ status: 201, body: { file: { sha256: 'ff' } } });
    await expect(intent.place()).rejects.toMatchObject({ code: 'HOST_ERROR' });
  });
});

describe('a bin that can’t be locked', () => {
  const locking = async (answer: Scripted | Error) => {
    const file = await localFile('x', 'a.txt');
    const host = new FakeHttp(({ method }) => (method === 'PUT' ? answer : { status: 201, body: receipt }));
    return (await prepareOne(createFilebin(OPTIONS, fakePorts(host.http)), file, 'a.txt')).place();
  };

  test.each([
    ['answers 405', { status: 405 }],
    ['can’t be reached', new DeliveryError('CONNECTION', 'reset')],
  ])('because the host %s is no failure, but UNKNOWN says so', async (_, answer) => {
    await expect(locking(answer)).resolves.toMatchObject({
      unknown: [expect.stringContaining('could not be locked')],
    });
  });

  test('because of our own mistake is a failure', async () => {
    await expect(locking(new TypeError('ours'))).rejects.toThrow('ours');
  });
});

describe('a bin of a known name', () => {
  const known = { binIsNew: false };
  const listing = async (bytes = '<p>hello</p>', filename = 'page.html') => ({
    bin: { id: OPTIONS.bin, expired_at: EXPIRY },
    files: [
      { filename: 'other.html', sha256: 'ff' },
      { filename, sha256: (await localFile(bytes)).sha256 },
    ],
  });

  test('is looked into first: what it holds already is not posted again', async () => {
    const { methods, intent } = await binWith({ status: 500 }, { ...known, listings: [await listing()] });
    await expect(intent.place()).resolves.toMatchObject({
      evidence: `bin ${OPTIONS.bin}, file page.html already holds these bytes`,
      url: new URL(`${HOST}/${OPTIONS.bin}/page.html`),
      written: false,
      notes: expect.arrayContaining([`the bin expires at ${EXPIRY}`]),
      unknown: [],
    });
    // Nor is somebody's bin locked for nothing.
    expect(methods()).toEqual(['GET']);
  });

  test.each<[string, () => Promise<object | null>]>([
    ['other bytes under the name', () => listing('other')],
    ['the bytes under another name', () => listing('<p>hello</p>', 'b.html')],
    ['nothing', async () => ({ bin: {}, files: [] })],
    ['no list', async () => ({})],
    ['a file without a name', async () => ({ files: [{ sha256: 'ff' }] })],
  ])('is posted to where it holds %s', async (_, held) => {
    const { methods, intent } = await binWith(
      { status: 201, body: receipt },
      { ...known, listings: [await held()] },
    );
    await expect(intent.place()).resolves.toMatchObject({ evidence: expect.stringMatching(/^HTTP 201, /) });
    expect(methods()).toEqual(['GET', 'POST', 'PUT']);
  });

  test('is asked for its list and nothing but JSON', async () => {
    const { host, intent } = await binWith({ status: 201, body: receipt }, known);
    await intent.place();
    expect(host.seen[0]).toEqual({
      method: 'GET',
      url: `${HOST}/${OPTIONS.bin}`,
      headers: { accept: 'application/json' },
      body: '',
    });
  });

  test.each<[string, Partial<FilebinOptions>, boolean, string]>([
    ['holds these bytes', known, true, 'the bin already holds these bytes'],
    ['does not', known, false, 'page.html would be posted'],
    ['was made up just now', {}, true, 'page.html would be posted'],
  ])('that %s is foreseen, and nothing is sent', async (_, more, holding, words) => {
    const listings = [holding ? await listing() : null];
    const { methods, intent } = await binWith({ status: 500 }, { ...more, listings });
    await expect(intent.preview()).resolves.toBe(words);
    expect(methods().filter((method) => method !== 'GET')).toEqual([]);
  });
});

describe('a broken upload', () => {
  const lost = new DeliveryError('CONNECTION', 'reset', { retryable: true });
  const held = async () => ({
    files: [{ filename: 'page.html', sha256: (await localFile('<p>hello</p>')).sha256 }],
  });

  test('that has arrived is found, locked, and not called a 201', async () => {
    const { methods, intent } = await binWith(() => lost, { listings: [await held()] });
    await expect(intent.place()).resolves.toMatchObject({
      evidence: `bin ${OPTIONS.bin}, file page.html holds these bytes`,
      written: true,
      unknown: [],
    });
    expect(methods()).toEqual(['POST', 'GET', 'PUT']);
  });

  test('that has not is sent again', async () => {
    const { methods, intent } = await binWith((_, nth) =>
      nth === 1 ? lost : { status: 201, body: receipt },
    );
    await expect(intent.place()).resolves.toMatchObject({ evidence: expect.stringMatching(/^HTTP 201, /) });
    expect(methods()).toEqual(['POST', 'GET', 'POST', 'PUT']);
  });

  test.each([
    ['arrived all the same says so', true],
    ['never arrived is the stop itself', false],
  ])('by a stop that %s', async (_, arrives) => {
    const listings = [arrives ? await held() : null];
    const reason = Object.assign(new Error('stopped'), { name: 'AbortError' });
    const { ports, intent } = await binWith(
      () => {
        ports.stop.abort(reason);
        return lost;
      },
      { listings },
    );
    const placing = intent.place();
    if (arrives) {
      await expect(placing).resolves.toMatchObject({
        evidence: expect.stringMatching(/ holds these bytes$/),
        unknown: [expect.stringContaining('could not be locked')],
      });
    } else await expect(placing).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

describe('several files', () => {
  /** A host that stores every file but those it refuses, each bin under the name that it gives. */
  async function posting(
    names: readonly string[],
    refused: readonly string[] = [],
    binOf = () => OPTIONS.bin,
  ) {
    const host = new FakeHttp(({ method, url }) => {
      const [, , filename = ''] = new URL(url).pathname.split('/');
      if (method === 'PUT') return { status: 200 };
      if (refused.includes(filename)) return { status: 403, body: 'Illegal file extension' };
      return { status: 201, body: { bin: { id: binOf() }, file: { filename } } };
    });
    const channel = createFilebin(OPTIONS, fakePorts(host.http));
    const parcels = await Promise.all(names.map(async (name) => ({ file: await localFile(name), name })));
    const intents = (await channel.prepare(parcels, circumstancesWith())).filter(hasSucceeded);
    expect(intents).toHaveLength(names.length);
    return {
      placed: await channel.publish(intents),
      calls: host.seen.map(({ method, url }) => `${method} ${url}`),
    };
  }
  const at = (name: string): string => `POST ${HOST}/${OPTIONS.bin}/${name}`;

  test('share one bin, which is locked once and after the last of them', async () => {
    const { placed, calls } = await posting(['a.txt', 'deep/b.txt', 'c.txt']);
    expect(placed).toHaveLength(3);
    expect(placed.some(hasFailed)).toBe(false);
    expect(calls).toEqual([at('a.txt'), at('deep-b.txt'), at('c.txt'), `PUT ${HOST}/${OPTIONS.bin}`]);
  });

  test('of which one is refused: the others are posted, and the bin is locked', async () => {
    const { placed, calls } = await posting(['a.exe', 'b.txt'], ['a.exe']);
    expect(placed.map((one) => hasFailed(one) && one.code)).toEqual(['NO_PERMISSION', false]);
    expect(calls).toEqual([at('a.exe'), at('b.txt'), `PUT ${HOST}/${OPTIONS.bin}`]);
  });

  test('of which none is taken leave no bin to lock', async () => {
    const { calls } = await posting(['a.exe', 'b.exe'], ['a.exe', 'b.exe']);
    expect(calls).toEqual([at('a.exe'), at('b.exe')]);
  });

  test('that the host puts into bins of its own are locked, each of them', async () => {
    const bins = ['svown-1', 'svown-2'];
    const { calls } = await posting(['a.txt', 'b.txt'], [], () => bins.shift() ?? OPTIONS.bin);
    expect(calls.slice(2)).toEqual([`PUT ${HOST}/svown-1`, `PUT ${HOST}/svown-2`]);
  });
});
