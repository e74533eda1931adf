import { describe, expect, test } from '@jest/globals';
import { createFilebinPublisher, describeShown } from '../../../src/channels/filebin/publish.ts';
import type { FilebinOptions } from '../../../src/channels/filebin/store-file.ts';
import { DeliveryError, hasFailed } from '../../../src/errors.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts, NOON, type Scripted, type Seen } from '../../support/ports.ts';
import { prepareAll, prepareOne, resultsFor } from '../prepare-one.ts';

const HOST = 'https://filebin.net';
const OPTIONS: FilebinOptions = {
  binHostUrl: new URL(HOST),
  bin: 'sv1767323045-abc',
  binIsNew: true,
  overwrite: false,
};
const EXPIRY = '2026-01-09T03:04:05Z';

type Answer = (request: Seen, nth: number) => Scripted | Error | undefined;

interface Setup extends Partial<FilebinOptions> {
  readonly name?: string;
  /** The file's own name. */
  readonly own?: string;
  /** The answer to each request for the list, the last one from then on; `null` where the bin does not exist. */
  readonly listings?: readonly (object | null)[];
}

/** Prepares several files, each with its name as its content. */
async function prepareFiles(
  host: FakeHttp,
  names: readonly string[],
  more: Partial<FilebinOptions> = { binIsNew: false },
) {
  const action = createFilebinPublisher({ ...OPTIONS, ...more }, fakePorts(host.http));
  const items = await Promise.all(names.map(async (name) => ({ file: await localFile(name), name })));
  const tasks = await prepareAll(action, items);
  return async () => resultsFor(await action.perform(tasks), tasks);
}

/** Prepares one upload to a bin host that answers it as scripted, and locks every bin. */
async function prepareUpload(
  answer: Scripted | Error | Answer,
  { name = 'page.html', own = name, listings = [null], ...more }: Setup = {},
) {
  const file = await localFile('<p>hello</p>', own);
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

const RECORD = {
  bin: { id: OPTIONS.bin, expired_at: EXPIRY },
  file: { filename: 'page.html', 'content-type': 'text/html; charset=utf-8' },
};

describe('publishing through channel K3', () => {
  test('plans the file name that the host will store', async () => {
    const { task } = await prepareUpload({ status: 500 }, { name: "a'b.pdf" });
    const destination = `bin ${OPTIONS.bin}, name a_b.pdf`;
    expect(task.plan).toMatchObject({ method: 'one POST', destination, claim: 'is available' });
  });

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

  test('builds the address from the bin that was asked for and the file name that the host answers', async () => {
    const stored = { bin: { id: 'svstored' }, file: { filename: 'ä_b.html' } };
    const { task } = await prepareUpload({ status: 201, body: stored });
    await expect(task.perform()).resolves.toMatchObject({
      evidence: `HTTP 201, bin ${OPTIONS.bin}, file ä_b.html`,
      url: new URL(`${HOST}/${OPTIONS.bin}/%C3%A4_b.html`),
      unknown: [],
    });
  });

  test.each<[string, object, RegExp]>([
    [
      'an expiry date and a page',
      RECORD,
      /^the bin expires at 2026-01-09T03:04:05Z\n.*warning page.*downloaded/s,
    ],
    ['neither', { file: {} }, /^the bin expires after about 7 days\n.*warning page[^\n]*$/],
  ])('notes what the host says of a file: %s', async (_, body, notes) => {
    const { task } = await prepareUpload({ status: 201, body });
    expect((await task.perform()).notes.join('\n')).toMatch(notes);
  });

  test.each<[string, Setup, string, boolean]>([
    ['its own name', { name: 'a.txt' }, 'a.txt', false],
    ['decomposed letters', { own: 'e\u0301.txt', name: '\u00e9.txt' }, '\u00e9.txt', false],
    ['spaces', { own: 'a b  c.txt', name: 'a-b-c.txt' }, 'a-b-c.txt', true],
    ['a name that the host changes', { name: 'a.txt' }, 'a_.txt', true],
    ['a folder', { own: 'a.txt', name: 'css/a.txt', path: 'css/' }, 'css-a.txt', true],
    ['the name that was asked for', { own: 'out.tmp', name: 'a.txt', path: 'a.txt' }, 'a.txt', false],
  ])('notes under which name the bin keeps a file with %s', async (_, setup, filename, isNoted) => {
    const { task } = await prepareUpload({ status: 201, body: { ...RECORD, file: { filename } } }, setup);
    const { notes } = await task.perform();
    expect(notes.includes(`the bin keeps it as ${filename}`)).toBe(isNoted);
  });

  // `getTypeDisplay` is held to a real browser in `browser/shown-types.test.ts`.
  test.each([
    ['text/plain; charset=utf-8', 'opens'],
    ['TEXT/PLAIN', 'opens'],
    ['image/svg+xml', 'opens'],
    ['text/html; charset=utf-8', 'downloads'],
    [' application/pdf', 'downloads'],
    ['text/csv', 'downloads'],
    ['application/zip', 'downloads'],
    ['', 'is available'],
    [' ', 'is available'],
    [undefined, 'is available'],
  ])('takes from the content type %j of the answer, not from the name, that the file %s', (type, claim) => {
    const shown = describeShown(type);
    expect([shown.claim, shown.notes.length]).toEqual([claim, claim === 'downloads' ? 1 : 0]);
  });

  test('waits for the answer as long as the host may take to store the file, and says so once it was sent', async () => {
    const limits: unknown[] = [];
    const { http } = new FakeHttp(({ method }) => (method === 'POST' ? { status: 201, body: RECORD } : {}));
    const ports = fakePorts((request) => {
      limits.push([request.method, request.headersTimeout]);
      return http(request);
    });
    await (await prepareOne(createFilebinPublisher(OPTIONS, ports), await localFile('x'))).perform();
    expect(limits).toEqual([
      ['POST', 900_000],
      ['PUT', undefined],
    ]);
    expect(ports.logger.shownProgress).toMatchObject([{ title: 'uploaded', ended: true }]);
    expect(ports.logger.lines).toContain('the bin host stores the file now, for up to 15 minutes');
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
      hint: 'name a file',
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

  test.each([
    ['This bin requires approval before files can be uploaded.', `\`bin: ${OPTIONS.bin}\``],
    ['This client IP address has been banned.', 'banned the address'],
    ['This content has been blocked and cannot be uploaded', 'content'],
    ['Illegal file extension', 'another ending'],
    ['Something new', 'does not allow this upload'],
  ])('passes on the reason %j of HTTP 403 with a hint that fits it', async (body, hint) => {
    const { methods, task } = await prepareUpload({ status: 403, body });
    await expect(task.perform()).rejects.toMatchObject({
      code: 'NO_PERMISSION',
      message: `posting to the bin answered HTTP 403 and not 201: ${body}`,
      hint: expect.stringContaining(hint),
    });
    expect(methods()).toEqual(['POST']);
  });

  test('is looked for, and not posted again, while the host may still store it behind a gateway', async () => {
    const listed = {
      bin: { id: OPTIONS.bin, readonly: false },
      files: [{ filename: 'page.html', sha256: (await localFile('<p>hello</p>')).sha256 }],
    };
    const listings = [...Array<null>(40).fill(null), listed];
    const { methods, ports, task } = await prepareUpload({ status: 504, body: 'timed out' }, { listings });
    await expect(task.perform()).resolves.toMatchObject({
      evidence: `bin ${OPTIONS.bin}, file page.html holds these bytes`,
    });
    expect(methods()).toEqual(['POST', ...Array(41).fill('GET'), 'PUT']);
    expect(ports.clock.slept.slice(1)).toEqual(Array(40).fill(10_000));
  });

  test('is posted again where the host did not store it within its time behind a gateway', async () => {
    const { methods, ports, task } = await prepareUpload((_, nth) =>
      nth === 1 ? { status: 504, body: 'timed out' } : { status: 201, body: RECORD },
    );
    await expect(task.perform()).resolves.toMatchObject({ evidence: expect.stringMatching(/^HTTP 201, /) });
    expect(methods().filter((method) => method === 'POST')).toHaveLength(2);
    expect(ports.clock.now() - NOON).toBeGreaterThanOrEqual(900_000);
  });

  test('is never posted again where the host gave no answer in its time', async () => {
    const cause = Object.assign(new Error('timeout'), { code: 'UND_ERR_HEADERS_TIMEOUT' });
    const noAnswer = new DeliveryError('CONNECTION', 'no response', { retryable: true, cause });
    const { methods, task } = await prepareUpload(noAnswer);
    await expect(task.perform()).rejects.toMatchObject({
      code: 'CONNECTION',
      message: 'the bin host gave no answer to the upload within 15 minutes',
      hint: expect.stringContaining(`\`bin: ${OPTIONS.bin}\``),
    });
    expect(methods()).toEqual(['POST', 'GET']);
  });

  test('is sent again after the time that the host asks to wait', async () => {
    const { ports, task } = await prepareUpload((_, nth) =>
      nth === 1 ? { status: 429, headers: { 'retry-after': '9' } } : { status: 201, body: RECORD },
    );
    await task.perform();
    expect(ports.clock.slept).toEqual([9_500]);
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
});

test.each([
  ['answers 405', { status: 405 }],
  ['cannot be reached', new DeliveryError('CONNECTION', 'reset')],
])('a lock that the host %s is no failure, but is listed as unknown', async (_, answer) => {
  const host = new FakeHttp(({ method }) => (method === 'PUT' ? answer : { status: 201, body: RECORD }));
  const task = await prepareOne(createFilebinPublisher(OPTIONS, fakePorts(host.http)), await localFile('x'));
  await expect(task.perform()).resolves.toMatchObject({
    unknown: [expect.stringContaining('could not be locked')],
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
      unknown: [expect.stringContaining('the bin was not locked, because this delivery did not create it')],
    });
    // Somebody else's bin is never locked.
    expect(methods()).toEqual(['GET']);
  });

  test.each<[string, () => Promise<object>]>([
    ['the bytes under another name', () => listWith('<p>hello</p>', 'b.html')],
    ['nothing', async () => ({ bin: {}, files: [] })],
    ['nothing, with a date that is none', async () => ({ bin: { created_at: 7 }, files: [] })],
    ['nothing, while its first upload goes on', async () => ({ bin: { created_at: EXPIRY }, files: null })],
    ['a file without a name', async () => ({ bin: {}, files: [{ sha256: 'ff' }] })],
  ])('receives the file where it exists and holds %s, and is not locked', async (_, createList) => {
    const { methods, task } = await prepareUpload(
      { status: 201, body: RECORD },
      { ...GIVEN_NAME, listings: [await createList()] },
    );
    await expect(task.perform()).resolves.toMatchObject({
      evidence: expect.stringMatching(/^HTTP 201, /),
      unknown: [expect.stringContaining('was not locked')],
    });
    expect(methods()).toEqual(['GET', 'POST']);
  });

  const UNSURE = /was not locked, because .* others wrote to it at the same time/;
  const firstOf = (files: number | undefined) => ({
    status: 201,
    body: { ...RECORD, bin: { ...RECORD.bin, files } },
  });
  const ABSENT = { bin: { created_at: '0001-01-01T00:00:00Z', readonly: false }, files: null };

  test.each<[string, object | null, Scripted | Error, RegExp | null]>([
    ['is created and locked', null, firstOf(0), null],
    ['is created and locked, where it is described as an empty one', ABSENT, firstOf(0), null],
    ['is not locked where somebody was first to fill it', ABSENT, firstOf(1), UNSURE],
    ['is not locked where the host does not say who was first', ABSENT, firstOf(undefined), UNSURE],
  ])('that did not exist %s', async (_, before, answer, unknown) => {
    const { methods, task } = await prepareUpload(answer, { ...GIVEN_NAME, listings: [before] });
    const said = unknown === null ? [] : [expect.stringMatching(unknown)];
    await expect(task.perform()).resolves.toMatchObject({ unknown: said });
    expect(methods()).toEqual(['GET', 'POST', ...(unknown === null ? ['PUT'] : [])]);
  });

  test.each([
    ['is locked', { body: { bin: { readonly: true }, files: [] } }, /is locked/],
    ['is deleted', { status: 404, body: { bin: { readonly: false }, files: null } }, /expired or deleted/],
    ['is expired', { status: 404, body: 'This bin is no longer available.\n' }, /expired or deleted/],
  ])('that %s is refused in the preview and before the upload', async (_, answer, message) => {
    const host = new FakeHttp(() => answer);
    const action = createFilebinPublisher({ ...OPTIONS, ...GIVEN_NAME }, fakePorts(host.http));
    const task = await prepareOne(action, await localFile('x'));
    const refused = {
      code: 'CONFLICT',
      message: expect.stringMatching(message),
      hint: expect.stringContaining('leave `bin:` out'),
    };
    await expect(task.preview()).rejects.toMatchObject(refused);
    await expect(task.perform()).rejects.toMatchObject({ ...refused, leftBehind: [] });
    expect(host.seen.map(({ method }) => method)).toEqual(['GET', 'GET']);
  });

  test.each<[string, Scripted]>([
    ['HTTP 403', { status: 403, body: 'This client IP address has been banned.' }],
    ['HTTP 500', { status: 500 }],
    ['a page with HTTP 404', { status: 404, headers: { 'content-type': 'text/html' }, body: '<html>' }],
    ['a page with HTTP 200', { body: '<html>' }],
    ['a list of nothing that can be read', { body: { bin: {}, files: [null] } }],
    ['JSON without a bin', { body: {} }],
    ['that of another bin', { body: { bin: { id: 'another-bin' }, files: [] } }],
    ['an end of another bin', { status: 404, body: { bin: { id: 'another-bin' }, files: null } }],
  ])('whose list is %s is refused with and without overwrite, and nothing is posted', async (_, answer) => {
    for (const overwrite of [false, true]) {
      const host = new FakeHttp(() => answer);
      const action = createFilebinPublisher({ ...OPTIONS, ...GIVEN_NAME, overwrite }, fakePorts(host.http));
      const task = await prepareOne(action, await localFile('x'));
      await expect(task.perform()).rejects.toMatchObject({
        message: expect.stringMatching(/^listing the bin answered HTTP /),
        leftBehind: [],
      });
      expect(new Set(host.seen.map(({ method }) => method))).toEqual(new Set(['GET']));
    }
  });

  test('keeps what somebody put there while an earlier file was posted', async () => {
    const theirs = { filename: 'b.txt', sha256: 'f'.repeat(64) };
    const host: FakeHttp = new FakeHttp(({ method }) => {
      if (method === 'POST') return { status: 201, body: {} };
      const hasPosted = host.seen.some((one) => one.method === 'POST');
      return hasPosted ? { body: { bin: { readonly: false }, files: [theirs] } } : { status: 404 };
    });
    const perform = await prepareFiles(host, ['a.txt', 'b.txt']);
    expect(await perform()).toMatchObject([
      { unknown: [expect.stringMatching(UNSURE)] },
      { code: 'NOT_OURS', leftBehind: [] },
    ]);
    expect(host.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('is not locked where a later file found one more there than was posted', async () => {
    const host = new FakeHttp(({ method, url }) =>
      method === 'POST'
        ? { status: 201, body: { bin: { files: url.endsWith('b.txt') ? 2 : 0 } } }
        : { status: 404 },
    );
    const perform = await prepareFiles(host, ['a.txt', 'b.txt']);
    const left = { unknown: [expect.stringMatching(UNSURE)] };
    expect(await perform()).toMatchObject([left, left]);
    expect(host.seen.filter(({ method }) => method === 'PUT')).toEqual([]);
  });

  const REPLACED =
    'page.html would replace the file of that name; the bin exists already and would not be locked';
  test.each<[string, Partial<FilebinOptions>, string | null, string]>([
    ['already holds the bytes', GIVEN_NAME, '<p>hello</p>', 'the bin already holds these bytes'],
    ['does not exist', GIVEN_NAME, null, 'page.html would be posted'],
    ['was just generated', {}, '<p>hello</p>', 'page.html would be posted'],
    ['holds another file', { ...GIVEN_NAME, overwrite: true }, 'other', REPLACED],
  ])('that %s gives a preview, and only GET requests are sent', async (_, more, bytes, words) => {
    const listings = [bytes === null ? null : await listWith(bytes)];
    const { methods, task } = await prepareUpload({ status: 500 }, { ...more, listings });
    await expect(task.preview()).resolves.toBe(words);
    expect(methods().filter((method) => method !== 'GET')).toEqual([]);
  });
});

/** The page that comes only before a file that may still be downloaded. */
const WARNING = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8', 'set-cookie': 'verified=1' },
  body: '<title>Please read</title>',
};

/** Whether a list says that the bin is locked; `null` where there is none. */
type BinLock = boolean | null | 'fails';

/** Performs an upload to a host that says of each of its lists whether the bin is locked. */
async function performWith(readonly: readonly BinLock[], look: Scripted | Error = WARNING) {
  const host: FakeHttp = new FakeHttp(({ method, url }) => {
    if (method === 'POST') return { status: 201, body: RECORD };
    if (method === 'PUT') return { status: 200 };
    if (url.endsWith('/page.html')) return look;
    const lists = host.seen.filter((one) => one.method === 'GET' && one.url.endsWith(OPTIONS.bin));
    const value = readonly[Math.min(lists.length, readonly.length) - 1];
    if (value === 'fails') return { status: 403 };
    return value == null ? { status: 404 } : { body: { bin: { readonly: value }, files: [] } };
  });
  const action = createFilebinPublisher(OPTIONS, fakePorts(host.http));
  const task = await prepareOne(action, await localFile('x'));
  const placement = await task.perform();
  const recheck = () => task.recheck(placement);
  return { recheck, methods: () => host.seen.map(({ method }) => method) };
}

describe('the lock of a bin', () => {
  const NOT_LOCKED = [expect.stringContaining('could not be locked')];
  // One look at the address for each file, and one list for all.
  const READ = ['POST', 'PUT', 'GET', 'GET'];
  test.each<[string, readonly BinLock[], unknown[], string[]]>([
    ['holds: it is read again after the proof', [true], [], READ],
    ['was written over by a late upload: it is set again', [false, true], [], [...READ, 'PUT', 'GET']],
    ['is not there in the end: UNKNOWN says so', [false], NOT_LOCKED, [...READ, 'PUT', 'GET']],
    ['is gone with its bin: UNKNOWN says so', [null], NOT_LOCKED, [...READ, 'PUT', 'GET']],
    ['can not be read: UNKNOWN says so', ['fails'], [expect.stringContaining('could not be read')], READ],
  ])('%s', async (_, readonly, unknown, asked) => {
    const { methods, recheck } = await performWith(readonly);
    await expect(recheck()).resolves.toEqual(unknown);
    expect(methods()).toEqual(asked);
  });

  test.each([
    [403, 'The file has been requested too many times.', 'limits how often'],
    [404, 'The file does not exist.', 'without `bin:`'],
  ])('does not matter where the address answers HTTP %i after its proof', async (status, body, hint) => {
    const { recheck } = await performWith([true], { status, body });
    await expect(recheck()).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      message: `after its proof the address answers HTTP ${status}: ${body}`,
      hint: expect.stringContaining(hint),
    });
  });
});

describe('the last look at an address, after its proof', () => {
  const OPENED = [expect.stringMatching(/^whether the file can be downloaded again: .* may limit downloads/)];
  const UNCLEAR = [expect.stringMatching(/^whether the address still opens after its proof/)];

  test.each<[string, Scripted | Error, unknown[]]>([
    ['nothing, after the warning page, which is no download', WARNING, []],
    ['further downloads, after a redirect, which is one', { status: 302 }, OPENED],
    ['further downloads, after the file itself', { status: 200, body: '<p>hello</p>' }, OPENED],
    ['whether it opens, after a failure of the host', { status: 502 }, UNCLEAR],
    ['whether it opens, after a limit of requests', { status: 429 }, UNCLEAR],
    ['whether it opens, without an answer', new DeliveryError('CONNECTION', 'reset'), UNCLEAR],
  ])('leaves open %s', async (_, look, unknown) => {
    const { recheck } = await performWith([true], look);
    await expect(recheck()).resolves.toEqual(unknown);
  });
});

describe('posting several files', () => {
  /** Posts files to a host that refuses some names and stores the rest. */
  async function postFiles(names: readonly string[], refused: readonly string[]) {
    const host = new FakeHttp(({ method, url }) => {
      const [, , filename = ''] = new URL(url).pathname.split('/');
      if (method === 'PUT') return { status: 200 };
      if (method === 'GET') return { body: { bin: {}, files: [{ filename: 'theirs.txt', sha256: 'ff' }] } };
      if (refused.includes(filename)) return { status: 403, body: 'Illegal file extension' };
      return { status: 201, body: { bin: { id: OPTIONS.bin }, file: { filename } } };
    });
    const perform = await prepareFiles(host, names, {});
    return {
      placements: await perform(),
      calls: host.seen.map(({ method, url }) => `${method} ${url}`),
    };
  }
  const postTo = (name: string): string => `POST ${HOST}/${OPTIONS.bin}/${name}`;

  test.each<[string, string[], string[], string[]]>([
    ['all of them into one bin', ['a.txt', 'deep/b.txt', 'c.txt'], [], ['a.txt', 'deep-b.txt', 'c.txt']],
    ['the other ones where one is refused', ['a.exe', 'b.txt'], ['a.exe'], ['a.exe', 'b.txt']],
    ['none where each is refused', ['a.exe', 'b.exe'], ['a.exe', 'b.exe'], ['a.exe', 'b.exe']],
  ])('puts %s, which is locked once after the last file', async (_, names, refused, posted) => {
    const { placements, calls } = await postFiles(names, refused);
    expect(placements.map((one) => hasFailed(one) && one.code)).toEqual(
      names.map((name) => refused.includes(name) && 'NO_PERMISSION'),
    );
    const lock = refused.length === names.length ? [] : [`PUT ${HOST}/${OPTIONS.bin}`];
    expect(calls).toEqual([...posted.map(postTo), ...lock]);
  });
});
