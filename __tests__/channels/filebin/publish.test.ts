import { describe, expect, test } from '@jest/globals';
import { createFilebinPublisher, type FilebinOptions } from '../../../src/channels/filebin/publish.ts';
import { DeliveryError, hasFailed } from '../../../src/errors.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted, type Seen } from '../../support/ports.ts';
import { prepareAll, prepareOne, resultsFor } from '../prepare-one.ts';

const HOST = 'https://filebin.net';
const OPTIONS: FilebinOptions = { binHostUrl: new URL(HOST), bin: 'sv1767323045-abc', binIsNew: true };
const EXPIRY = '2026-01-09T03:04:05Z';

type Answer = (request: Seen, nth: number) => Scripted | Error | undefined;

interface Setup extends Partial<FilebinOptions> {
  readonly name?: string;
  /** The answer to each request for the list, the last one from then on; `null` where the bin does not exist. */
  readonly listings?: readonly (object | null)[];
}

/** Prepares one upload to a bin host that answers it as scripted, and locks every bin. */
async function prepareUpload(
  answer: Scripted | Error | Answer,
  { name = 'page.html', listings = [null], ...more }: Setup = {},
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
  const task = await prepareOne(createFilebinPublisher({ ...OPTIONS, ...more }, ports), file, name);
  return { file, host, ports, task, methods: () => host.seen.map(({ method }) => method) };
}

const RECORD = { bin: { id: OPTIONS.bin, expired_at: EXPIRY }, file: { filename: 'page.html' } };

describe('publishing through channel K3', () => {
  test('posts the file with its SHA-256 and without a credential, then locks the bin', async () => {
    const { file, host, task } = await prepareUpload({ status: 201, body: RECORD });
    await task.perform();
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

  test('builds the address from the bin and file names that the host answers', async () => {
    const stored = { bin: { id: 'svstored' }, file: { filename: 'ä_b.html' } };
    const { task } = await prepareUpload({ status: 201, body: stored });
    await expect(task.perform()).resolves.toMatchObject({
      evidence: 'HTTP 201, bin svstored, file ä_b.html',
      url: new URL(`${HOST}/svstored/%C3%A4_b.html`),
      bypassCache: false,
      hostMayChangeBytes: false,
      unknown: [],
    });
  });

  test('builds the address from the requested names where the host answers none', async () => {
    const { task } = await prepareUpload({ status: 201, body: {} });
    await expect(task.perform()).resolves.toMatchObject({ url: new URL(`${HOST}/${OPTIONS.bin}/page.html`) });
  });

  test('notes the expiry date, the warning page, and that HTML is downloaded', async () => {
    const { task } = await prepareUpload({ status: 201, body: RECORD });
    const { notes } = await task.perform();
    expect(notes.join('\n')).toMatch(/expires at 2026-01-09T03:04:05Z.*warning page.*downloaded/s);
  });

  test('notes no exact expiry date and no download where neither is known to be true', async () => {
    const { task } = await prepareUpload(
      { status: 201, body: { file: { filename: 'a.txt' } } },
      { name: 'a.txt' },
    );
    const { notes } = await task.perform();
    expect(notes).toEqual(['the bin expires after about 7 days', expect.stringContaining('warning page')]);
    expect(task.plan.claim).toBe('opens');
  });

  test('plans the file name that the host will store', async () => {
    const { task } = await prepareUpload({ status: 201, body: RECORD }, { name: "a'b.pdf" });
    expect(task.plan).toEqual({
      channel: 'K3',
      method: 'one POST',
      destination: `bin ${OPTIONS.bin}, name a_b.pdf`,
      name: 'a_b.pdf',
      claim: 'downloads',
    });
  });

  test('keeps the path of a self-hosted bin host in the address', async () => {
    const { host, task } = await prepareUpload(
      { status: 201, body: {} },
      { binHostUrl: new URL('https://bins.dev/b/') },
    );
    await task.perform();
    expect(host.seen[0]?.url).toBe(`https://bins.dev/b/${OPTIONS.bin}/page.html`);
  });

  test('refuses to prepare an upload without a file', async () => {
    await expect(prepareOne(createFilebinPublisher(OPTIONS, fakePorts()), null)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      hint: 'set `file:`',
    });
  });
});

describe('an upload to the bin that is not answered with HTTP 201', () => {
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
  ] as const)(
    'fails for HTTP %i as %s with a hint about %j after %i attempts',
    async (status, code, hint, attempts) => {
      const { methods, task } = await prepareUpload({ status, body: 'no' });
      await expect(task.perform()).rejects.toMatchObject({
        code,
        httpCode: status,
        message: `posting to the bin answered HTTP ${status} and not 201: no`,
        hint: expect.stringContaining(hint),
      });
      // The bin is listed before each further attempt.
      expect(methods()).toEqual(Array(attempts).fill(['GET', 'POST']).flat().slice(1));
    },
  );

  test('is sent again after the time that the host asks to wait', async () => {
    const { ports, task } = await prepareUpload((_, nth) =>
      nth === 1 ? { status: 429, headers: { 'retry-after': '9' } } : { status: 201, body: RECORD },
    );
    await task.perform();
    expect(ports.clock.slept).toEqual([9_500]);
  });

  test('fails with a message that contains no HTML page', async () => {
    const { task } = await prepareUpload({ status: 404, body: '<html>Not found</html>' });
    await expect(task.perform()).rejects.toMatchObject({
      message: 'posting to the bin answered HTTP 404 and not 201',
    });
  });
});

describe('the answer to an upload', () => {
  test.each(['<html>', 'null', '"text"'])(
    'is refused where it is %s instead of the record of a file',
    async (body) => {
      const { task } = await prepareUpload({ status: 201, body });
      await expect(task.perform()).rejects.toMatchObject({ code: 'HOST_ERROR', httpCode: 201 });
    },
  );

  test('leads to another upload where it names the SHA-256 of other bytes', async () => {
    const wrong = { file: { filename: 'page.html', sha256: 'ff' } };
    const { methods, task } = await prepareUpload((_, nth) => ({
      status: 201,
      body: nth === 1 ? wrong : RECORD,
    }));
    await task.perform();
    expect(methods()).toEqual(['POST', 'GET', 'POST', 'PUT']);
  });

  test('is a failure where every attempt is answered with the SHA-256 of other bytes', async () => {
    const { task } = await prepareUpload({ status: 201, body: { file: { sha256: 'ff' } } });
    await expect(task.perform()).rejects.toMatchObject({ code: 'HOST_ERROR' });
  });
});

describe('a bin that cannot be locked', () => {
  const lockBin = async (answer: Scripted | Error) => {
    const file = await localFile('x', 'a.txt');
    const host = new FakeHttp(({ method }) => (method === 'PUT' ? answer : { status: 201, body: RECORD }));
    return (await prepareOne(createFilebinPublisher(OPTIONS, fakePorts(host.http)), file, 'a.txt')).perform();
  };

  test.each([
    ['answers 405', { status: 405 }],
    ['cannot be reached', new DeliveryError('CONNECTION', 'reset')],
  ])('is no failure but is listed as unknown where the host %s', async (_, answer) => {
    await expect(lockBin(answer)).resolves.toMatchObject({
      unknown: [expect.stringContaining('could not be locked')],
    });
  });

  test('is a failure where the cause is a defect of this tool', async () => {
    await expect(lockBin(new TypeError('defect'))).rejects.toThrow('defect');
  });
});

describe('a bin whose name is given', () => {
  const GIVEN_NAME = { binIsNew: false };
  const listWith = async (bytes = '<p>hello</p>', filename = 'page.html') => ({
    bin: { id: OPTIONS.bin, expired_at: EXPIRY },
    files: [
      { filename: 'other.html', sha256: 'ff' },
      { filename, sha256: (await localFile(bytes)).sha256 },
    ],
  });

  test('is listed first, and a file that it already holds is not posted again', async () => {
    const { methods, task } = await prepareUpload(
      { status: 500 },
      { ...GIVEN_NAME, listings: [await listWith()] },
    );
    await expect(task.perform()).resolves.toMatchObject({
      evidence: `bin ${OPTIONS.bin}, file page.html already holds these bytes`,
      url: new URL(`${HOST}/${OPTIONS.bin}/page.html`),
      written: false,
      notes: expect.arrayContaining([`the bin expires at ${EXPIRY}`]),
      unknown: [],
    });
    // Nothing was posted, so the bin is not locked either.
    expect(methods()).toEqual(['GET']);
  });

  test.each<[string, () => Promise<object | null>]>([
    ['other bytes under the name', () => listWith('other')],
    ['the bytes under another name', () => listWith('<p>hello</p>', 'b.html')],
    ['nothing', async () => ({ bin: {}, files: [] })],
    ['no list', async () => ({})],
    ['a file without a name', async () => ({ files: [{ sha256: 'ff' }] })],
  ])('receives the file where it holds %s', async (_, createList) => {
    const { methods, task } = await prepareUpload(
      { status: 201, body: RECORD },
      { ...GIVEN_NAME, listings: [await createList()] },
    );
    await expect(task.perform()).resolves.toMatchObject({ evidence: expect.stringMatching(/^HTTP 201, /) });
    expect(methods()).toEqual(['GET', 'POST', 'PUT']);
  });

  test('is listed by one GET that accepts only JSON', async () => {
    const { host, task } = await prepareUpload({ status: 201, body: RECORD }, GIVEN_NAME);
    await task.perform();
    expect(host.seen[0]).toEqual({
      method: 'GET',
      url: `${HOST}/${OPTIONS.bin}`,
      headers: { accept: 'application/json' },
      body: '',
    });
  });

  test.each<[string, Partial<FilebinOptions>, boolean, string]>([
    ['already holds the bytes', GIVEN_NAME, true, 'the bin already holds these bytes'],
    ['does not hold the bytes', GIVEN_NAME, false, 'page.html would be posted'],
    ['was just generated', {}, true, 'page.html would be posted'],
  ])('that %s gives a preview, and only GET requests are sent', async (_, more, hasFile, words) => {
    const listings = [hasFile ? await listWith() : null];
    const { methods, task } = await prepareUpload({ status: 500 }, { ...more, listings });
    await expect(task.preview()).resolves.toBe(words);
    expect(methods().filter((method) => method !== 'GET')).toEqual([]);
  });
});

describe('an upload whose connection broke off', () => {
  const connectionLost = new DeliveryError('CONNECTION', 'reset', { retryable: true });
  const createList = async () => ({
    files: [{ filename: 'page.html', sha256: (await localFile('<p>hello</p>')).sha256 }],
  });

  test('is found where the file has arrived, the bin is locked, and the evidence does not claim HTTP 201', async () => {
    const { methods, task } = await prepareUpload(() => connectionLost, { listings: [await createList()] });
    await expect(task.perform()).resolves.toMatchObject({
      evidence: `bin ${OPTIONS.bin}, file page.html holds these bytes`,
      written: true,
      unknown: [],
    });
    expect(methods()).toEqual(['POST', 'GET', 'PUT']);
  });

  test('is sent again where the file has not arrived', async () => {
    const { methods, task } = await prepareUpload((_, nth) =>
      nth === 1 ? connectionLost : { status: 201, body: RECORD },
    );
    await expect(task.perform()).resolves.toMatchObject({ evidence: expect.stringMatching(/^HTTP 201, /) });
    expect(methods()).toEqual(['POST', 'GET', 'POST', 'PUT']);
  });

  test.each([
    ['succeeds where the file has arrived', true],
    ['is canceled where the file has not arrived', false],
  ])('by a stop of the delivery %s', async (_, arrives) => {
    const listings = [arrives ? await createList() : null];
    const reason = Object.assign(new Error('stopped'), { name: 'AbortError' });
    const { ports, task } = await prepareUpload(
      () => {
        ports.stop.abort(reason);
        return connectionLost;
      },
      { listings },
    );
    const performed = task.perform();
    if (arrives) {
      await expect(performed).resolves.toMatchObject({
        evidence: expect.stringMatching(/ holds these bytes$/),
        unknown: [expect.stringContaining('could not be locked')],
      });
    } else await expect(performed).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

describe('posting several files', () => {
  /** Posts files to a host that refuses some names and stores the rest, each in the bin of `nextBin`. */
  async function postFiles(
    names: readonly string[],
    refused: readonly string[] = [],
    nextBin = () => OPTIONS.bin,
  ) {
    const host = new FakeHttp(({ method, url }) => {
      const [, , filename = ''] = new URL(url).pathname.split('/');
      if (method === 'PUT') return { status: 200 };
      if (refused.includes(filename)) return { status: 403, body: 'Illegal file extension' };
      return { status: 201, body: { bin: { id: nextBin() }, file: { filename } } };
    });
    const action = createFilebinPublisher(OPTIONS, fakePorts(host.http));
    const items = await Promise.all(names.map(async (name) => ({ file: await localFile(name), name })));
    const tasks = await prepareAll(action, items);
    return {
      placements: resultsFor(await action.perform(tasks), tasks),
      calls: host.seen.map(({ method, url }) => `${method} ${url}`),
    };
  }
  const postTo = (name: string): string => `POST ${HOST}/${OPTIONS.bin}/${name}`;

  test('puts all of them into one bin, which is locked once after the last file', async () => {
    const { placements, calls } = await postFiles(['a.txt', 'deep/b.txt', 'c.txt']);
    expect(placements).toHaveLength(3);
    expect(placements.some(hasFailed)).toBe(false);
    expect(calls).toEqual([
      postTo('a.txt'),
      postTo('deep-b.txt'),
      postTo('c.txt'),
      `PUT ${HOST}/${OPTIONS.bin}`,
    ]);
  });

  test('posts the other files and locks the bin where one file is refused', async () => {
    const { placements, calls } = await postFiles(['a.exe', 'b.txt'], ['a.exe']);
    expect(placements.map((one) => hasFailed(one) && one.code)).toEqual(['NO_PERMISSION', false]);
    expect(calls).toEqual([postTo('a.exe'), postTo('b.txt'), `PUT ${HOST}/${OPTIONS.bin}`]);
  });

  test('locks no bin where every file is refused', async () => {
    const { calls } = await postFiles(['a.exe', 'b.exe'], ['a.exe', 'b.exe']);
    expect(calls).toEqual([postTo('a.exe'), postTo('b.exe')]);
  });

  test('locks every bin where the host puts the files into different bins', async () => {
    const bins = ['svown-1', 'svown-2'];
    const { calls } = await postFiles(['a.txt', 'b.txt'], [], () => bins.shift() ?? OPTIONS.bin);
    expect(calls.slice(2)).toEqual([`PUT ${HOST}/svown-1`, `PUT ${HOST}/svown-2`]);
  });
});

describe('what an upload to channel K3 leaves behind when it fails', () => {
  const connectionLost = new DeliveryError('CONNECTION', 'reset');

  test('is nothing where the bin could not be listed before the upload', async () => {
    const host = new FakeHttp(() => connectionLost);
    const action = createFilebinPublisher({ ...OPTIONS, binIsNew: false }, fakePorts(host.http));
    const task = await prepareOne(action, await localFile('x'));
    await expect(task.perform()).rejects.toMatchObject({ code: 'CONNECTION', leftBehind: [] });
    expect(host.seen.map(({ method }) => method)).toEqual(['GET']);
  });

  test('is unknown where the connection broke off during the upload', async () => {
    const { task } = await prepareUpload(connectionLost);
    await expect(task.perform()).rejects.toMatchObject({ code: 'CONNECTION', leftBehind: undefined });
  });
});
