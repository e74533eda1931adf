import { describe, expect, test } from '@jest/globals';
import { DeliveryError, hasFailed } from '../../../src/errors.ts';
import type { HttpRequest } from '../../../src/ports.ts';
import { localFile } from '../../support/files.ts';
import { NOON, type Scripted } from '../../support/ports.ts';
import { prepareAll, prepareOne } from '../prepare-one.ts';
import {
  ADDRESS,
  BIN,
  type BinSetup,
  CONTENT,
  CREATED,
  EXPIRY,
  listOf,
  NO_BIN,
  openBin,
  PAGE,
  RECORD,
} from './bin-host.ts';

/** Prepares one upload of a file with a unique name. */
async function prepareUpload({ name = 'page.html', own = name, ...setup }: BinSetup & Naming = {}) {
  const opened = openBin(setup);
  const file = await localFile(CONTENT, own);
  return { ...opened, file, task: await prepareOne(opened.publisher, file, name) };
}
type Naming = { readonly name?: string; readonly own?: string };

/** Delivers files together, each with its name as its content. */
async function postFiles(names: readonly string[], setup: BinSetup) {
  const { host, kinds, publisher } = openBin(setup);
  const items = await Promise.all(names.map(async (name) => ({ file: await localFile(name), name })));
  const tasks = await prepareAll(publisher, items);
  const results = await publisher.perform(tasks);
  return { results, kinds: kinds(), posted: host.seen.filter(({ method }) => method === 'POST') };
}

const repeat = (kinds: string, times: number): string => Array(times).fill(kinds).join(' ');
const created = (more: object): Scripted => ({ status: 201, body: { ...RECORD, ...more } });
const withFiles = (files?: number) => created({ bin: { ...RECORD.bin, files } });

describe('publishing through channel K3', () => {
  test('posts the file with its SHA-256 and without a credential, then locks the bin', async () => {
    const post = created({ bin: { id: 'svstored' }, file: { filename: 'ä+b,[c].html' } });
    const binHostUrl = new URL('https://bins.dev/b/');
    const { file, host, task } = await prepareUpload({ post, name: "a'b.html", binHostUrl });
    const destination = `bin ${BIN}, name a_b.html`;
    expect(task.plan).toMatchObject({ method: 'one POST', destination, verb: 'is available' });
    // The URL has the wanted bin, and the file name from the host's answer.
    const evidence = `HTTP 201, bin ${BIN}, file ä+b,[c].html`;
    const url = new URL(`https://bins.dev/b/${BIN}/%C3%A4+b,%5Bc%5D.html`);
    await expect(task.perform()).resolves.toMatchObject({ evidence, first: { url }, unknown: [] });
    const headers = { 'content-sha256': file.sha256, 'content-length': String(file.size) };
    expect(host.seen).toMatchObject([
      { method: 'POST', url: `https://bins.dev/b/${BIN}/a_b.html`, headers, body: CONTENT },
      { method: 'PUT', url: `https://bins.dev/b/${BIN}`, headers: { accept: 'application/json' } },
    ]);
    for (const { headers: sent } of host.seen) expect(sent).not.toHaveProperty('authorization');
  });

  const typed = (type?: unknown) => created({ file: { filename: 'a.txt', 'content-type': type } });
  const named = (filename: unknown) => created({ file: { filename } });
  const DAYS =
    /^is available: the bin expires after about 7 days; anyone[^;]*; a browser[^;]*warning page first$/;
  const KEPT = /the bin named it/;
  const UNKEPT = /^(?!.*named it)/;
  test.each<[string, BinSetup & Naming, RegExp]>([
    [
      'a date',
      { name: 'a.html' },
      /^downloads: .*the bin expires at 2026-01-09T03:04:05Z; .*downloaded there/,
    ],
    ['nothing', { post: { status: 201, body: { file: {} } } }, DAYS],
    ['its own name', { name: 'a.txt', post: named('a.txt') }, UNKEPT],
    ['decomposed letters', { own: 'e\u0301.txt', name: '\u00e9.txt', post: named('\u00e9.txt') }, UNKEPT],
    ['spaces', { own: 'a b  c.txt', name: 'a-b-c.txt', post: named('a-b-c.txt') }, KEPT],
    ['a name that the host changes', { name: 'a.txt', post: named('a_.txt') }, KEPT],
    ['a folder', { own: 'a.txt', name: 'css/a.txt', path: 'css/', post: named('css-a.txt') }, KEPT],
    ['the wanted name', { own: 'out.tmp', name: 'a.txt', path: 'a.txt', post: named('a.txt') }, UNKEPT],
    ['text', { name: 'a.txt', post: typed('text/plain; charset=utf-8') }, /^opens: /],
    ['a picture', { name: 'a.txt', post: typed('image/svg+xml') }, /^opens: /],
    ['a page', { name: 'a.txt', post: typed('text/html; charset=utf-8') }, /^downloads: .*downloaded there/],
    ['a PDF', { name: 'a.txt', post: typed(' application/PDF') }, /^downloads: /],
    ['an archive', { name: 'a.txt', post: typed('application/zip') }, /^downloads: /],
    ['no type', { name: 'a.txt', post: typed(' ') }, /^is available: /],
    ...[null, 5, {}, '\ud800', 'a'.repeat(121)].flatMap((odd): [string, BinSetup & Naming, RegExp][] => [
      [`the type ${JSON.stringify(odd)}`, { name: 'a.txt', post: typed(odd) }, /^is available: /],
      [`the name ${JSON.stringify(odd)}`, { name: 'a.txt', post: named(odd) }, UNKEPT],
      [`the date ${JSON.stringify(odd)}`, { post: created({ bin: { expired_at: odd } }) }, /about 7 days/],
    ]),
  ])('reports what the host answers about a file: %s', async (_, setup, says) => {
    const { task } = await prepareUpload(setup);
    const { plan, notes = [] } = await task.perform();
    expect(`${plan?.verb}: ${notes.join('; ')}`).toMatch(says);
  });

  test('waits as long as the host may take to store the file, and logs that after the upload', async () => {
    const { ports, publisher } = openBin();
    const limits: unknown[] = [];
    const { http } = ports;
    Object.assign(ports, {
      http: (request: HttpRequest) => {
        limits.push(`${request.method} ${request.headersTimeout}`);
        return http(request);
      },
    });
    await (await prepareOne(publisher, await localFile('x'))).perform();
    expect(limits).toEqual(['POST 900000', 'PUT undefined']);
    expect(ports.logger.shownProgress).toMatchObject([{ title: 'uploaded', ended: true }]);
    expect(ports.logger.lines).toContain('the bin host is storing the file, which may take up to 15 minutes');
  });
});

describe('an upload to the bin that is not answered with HTTP 201', () => {
  test.each<[number, string, string, number, string?]>([
    [400, 'BAD_INPUT', 'bin:', 1],
    [404, 'BAD_INPUT', 'bin:', 1],
    [405, 'CONFLICT', 'locked or expired', 1],
    [413, 'TOO_LARGE', 'K2', 1],
    [429, 'RATE_LIMITED', 'later', 3],
    [507, 'HOST_ERROR', 'full', 1],
    [500, 'HOST_ERROR', 'later', 5],
    [503, 'HOST_ERROR', 'later', 5],
    [200, 'HOST_ERROR', 'bin-host-url:', 5],
    [302, 'HOST_ERROR', 'bin-host-url:', 1],
    [418, 'HOST_ERROR', 'bin-host-url:', 1],
    [403, 'NO_PERMISSION', 'another name', 1, 'Something new'],
    [403, 'NO_PERMISSION', `\`bin: ${BIN}\``, 1, 'This bin requires approval before files can be uploaded.'],
    [403, 'NO_PERMISSION', 'banned this machine', 1, 'This client IP address has been banned.'],
    [403, 'NO_PERMISSION', 'content', 1, 'This content has been blocked and cannot be uploaded'],
    [403, 'NO_PERMISSION', 'another ending', 1, 'Illegal file extension'],
  ])(
    'fails for HTTP %i as %s with a hint about %j after %i attempts',
    async (status, code, hint, attempts, body = 'no') => {
      const { kinds, task } = await prepareUpload({ post: { status, body } });
      await expect(task.perform()).rejects.toMatchObject({
        ...{ code, httpCode: status, hint: expect.stringContaining(hint) },
        message: `posting to the bin answered HTTP ${status} instead of 201: ${body}`,
      });
      // The bin is listed before each further attempt.
      expect(kinds()).toBe(repeat('GET POST', attempts).slice(4));
    },
  );

  const gaveUp = { status: 504, body: 'timed out' };
  test('is checked for, and not posted again, while the host may still store it behind a gateway', async () => {
    const list = [...Array<Scripted>(40).fill(NO_BIN), await listOf({ 'page.html': CONTENT })];
    const { kinds, ports, task } = await prepareUpload({ post: gaveUp, list });
    const evidence = `bin ${BIN}, file page.html holds these bytes`;
    await expect(task.perform()).resolves.toMatchObject({ evidence });
    expect(kinds()).toBe(`POST ${repeat('GET', 41)} PUT`);
    expect(ports.clock.slept.slice(1)).toEqual(Array(40).fill(10_000));
  });

  test('is posted again if the host did not store it in time behind a gateway', async () => {
    const { kinds, ports, task } = await prepareUpload({ post: [gaveUp, CREATED] });
    await expect(task.perform()).resolves.toMatchObject({ evidence: expect.stringMatching(/^HTTP 201, /) });
    expect(kinds().match(/POST/g)).toHaveLength(2);
    expect(ports.clock.now() - NOON).toBeGreaterThanOrEqual(900_000);
  });

  test('is never posted again if the host gave no answer in time', async () => {
    const cause = Object.assign(new Error('timeout'), { code: 'UND_ERR_HEADERS_TIMEOUT' });
    const post = new DeliveryError('CONNECTION', 'no response', { retryable: true, cause });
    const { kinds, task } = await prepareUpload({ post });
    const message = 'the bin host gave no answer to the upload within 15 minutes';
    const hint = expect.stringContaining(`\`bin: ${BIN}\``);
    await expect(task.perform()).rejects.toMatchObject({ code: 'CONNECTION', message, hint });
    expect(kinds()).toBe('POST GET');
  });

  test('is sent again after the time that the host asks to wait', async () => {
    const limited = { status: 429, headers: { 'retry-after': '9' } };
    const { ports, task } = await prepareUpload({ post: [limited, CREATED] });
    await task.perform();
    expect(ports.clock.slept).toEqual([9_500]);
  });
});

describe('a named bin', () => {
  const NAMED = { binIsNew: false };
  const SURE = null;
  const UNSURE =
    /was not locked, because this delivery did not create it, or others wrote to it at the same time/;
  const ABSENT = { body: { bin: { created_at: '0001-01-01T00:00:00Z', readonly: false }, files: null } };
  const empty = (bin: object): Scripted => ({ body: { bin, files: [] } });

  test.each<[string, Scripted | Promise<Scripted>, Scripted, RegExp | null]>([
    ['the bytes under another name', listOf({ 'b.html': CONTENT }), CREATED, UNSURE],
    ['nothing', empty({}), CREATED, UNSURE],
    ['nothing, with a date that is none', empty({ created_at: 7 }), CREATED, UNSURE],
    ['a first upload under way', { body: { bin: { created_at: EXPIRY }, files: null } }, CREATED, UNSURE],
    ['a file without a name', { body: { bin: {}, files: [{ sha256: 'ff' }] } }, CREATED, UNSURE],
    ['no bin', NO_BIN, withFiles(0), SURE],
    ['a bin that is described as an empty one that never was', ABSENT, withFiles(0), SURE],
    ['no bin, but somebody was first to fill it', ABSENT, withFiles(1), UNSURE],
    ['no bin, and the host does not say who was first', ABSENT, withFiles(), UNSURE],
  ])(
    'takes the file if there is %s; it is locked only if this delivery created it',
    async (_, list, post, unknown) => {
      const { kinds, task } = await prepareUpload({ ...NAMED, list: await list, post });
      const said = unknown === null ? [] : [expect.stringMatching(unknown)];
      await expect(task.perform()).resolves.toMatchObject({ unknown: said, written: true });
      expect(kinds()).toBe(unknown === null ? 'GET POST PUT' : 'GET POST');
    },
  );

  test('gets no second copy of a file that it already has', async () => {
    const list = await listOf({ 'other.html': 'x', 'page.html': CONTENT });
    const { kinds, task } = await prepareUpload({ ...NAMED, list });
    await expect(task.perform()).resolves.toMatchObject({
      evidence: `bin ${BIN}, file page.html had these bytes before this delivery`,
      first: { url: new URL(`${ADDRESS}/page.html`) },
      written: false,
      notes: expect.arrayContaining([`the bin expires at ${EXPIRY}`]),
      unknown: [expect.stringMatching(UNSURE)],
    });
    expect(kinds()).toBe('GET');
  });

  const gone = { status: 404, body: { bin: { readonly: false }, files: null } };
  const LISTING = /^listing the bin answered HTTP /;
  test.each<[string, Scripted, RegExp, string | undefined]>([
    ['is locked', empty({ readonly: true }), /is locked/, 'CONFLICT'],
    ['is deleted', gone, /expired or was deleted/, 'CONFLICT'],
    ['is expired', { status: 404, body: 'no longer available' }, /expired or was deleted/, 'CONFLICT'],
    ['is kept from this address', { status: 403, body: 'has been banned.' }, LISTING, 'NO_PERMISSION'],
    ['cannot be listed', { status: 500 }, LISTING, 'HOST_ERROR'],
    ['is answered by a page with HTTP 404', { ...PAGE, status: 404 }, LISTING, 'HOST_ERROR'],
    ['is answered by a page with HTTP 200', { body: '<html>' }, LISTING, 'HOST_ERROR'],
    ['has a list that can not be read', { body: { bin: {}, files: [null] } }, LISTING, 'HOST_ERROR'],
    ['is not named in JSON', { body: {} }, LISTING, 'HOST_ERROR'],
    ['is another one', empty({ id: 'another-bin' }), LISTING, 'HOST_ERROR'],
    ['is another', { ...gone, body: { bin: { id: 'another-bin' }, files: null } }, LISTING, 'HOST_ERROR'],
  ])(
    'that %s is refused in the preview and before the upload, also with overwrite',
    async (_, list, message, code) => {
      for (const overwrite of [false, true]) {
        const { kinds, task } = await prepareUpload({ ...NAMED, overwrite, list });
        const refused = { code, message: expect.stringMatching(message) };
        await expect(task.preview()).rejects.toMatchObject(refused);
        await expect(task.perform()).rejects.toMatchObject({ ...refused, leftBehind: [] });
        expect(kinds()).toMatch(/^GET( GET)+$/);
      }
    },
  );

  const REPLACED =
    'page.html would replace the file of that name; the bin exists already and would not be locked';
  test.each<[string, BinSetup, Record<string, string> | null, string]>([
    ['already holds the bytes', NAMED, { 'page.html': CONTENT }, 'the bin already has this file'],
    ['does not exist', NAMED, null, 'page.html would be uploaded'],
    ['was just generated', {}, { 'page.html': CONTENT }, 'page.html would be uploaded'],
    ['holds another file', { ...NAMED, overwrite: true }, { 'page.html': 'other' }, REPLACED],
  ])('that %s gives a preview, and only GET requests are sent', async (_, more, held, words) => {
    const list = held === null ? NO_BIN : await listOf(held);
    const { kinds, task } = await prepareUpload({ ...more, list });
    await expect(task.preview()).resolves.toBe(words);
    expect(kinds()).toMatch(/^(GET)?$/);
  });
});

/** An upload may replace a file that somebody posted after the bin was read. */
test.each<[string, object, BinSetup, RegExp | null]>([
  ['nothing: the file is new', {}, {}, null],
  [
    'that it did',
    { updated_at: EXPIRY },
    {},
    /^whose file this upload replaced: .* named page\.html, deleted/,
  ],
  ['whether it did', { updated_at: 7 }, {}, /^whether this upload replaced a file named page\.html that/],
  ['nothing where replacing is allowed', { updated_at: EXPIRY }, { overwrite: true }, null],
  ['nothing of a name that nobody can know', { updated_at: EXPIRY }, { binIsNew: true }, null],
])('of a file that the host may have replaced, it says %s', async (_, more, setup, says) => {
  const post = created({ bin: { files: 0 }, file: { ...RECORD.file, ...more } });
  const { task } = await prepareUpload({ binIsNew: false, post, ...setup });
  const unknown = says === null ? [] : [expect.stringMatching(says)];
  await expect(task.perform()).resolves.toMatchObject({ unknown });
});

describe('the last check, after the proof', () => {
  const READ = 'POST PUT GET';
  const UNREACHED = new DeliveryError('CONNECTION', 'reset');
  const listed = (readonly: boolean) => listOf({ 'page.html': CONTENT }, { readonly });
  const NOT_LOCKED = [expect.stringContaining('could not be locked')];
  const UNREAD = [expect.stringMatching(/^whether the bin still has the file .*could not be read/)];

  test.each<[string, boolean[], BinSetup, unknown[], string]>([
    ['nothing: the bin is locked', [true], {}, [], READ],
    ['nothing, locked again after an upload', [false, true], {}, [], `${READ} PUT GET`],
    ['that it is not locked', [false], {}, NOT_LOCKED, `${READ} PUT GET`],
    ['that the lock is refused', [false], { put: { status: 405 } }, NOT_LOCKED, `${READ} PUT GET`],
    ['that the lock is unanswered', [false], { put: UNREACHED }, NOT_LOCKED, `${READ} PUT GET`],
    ['whether it is there, and locked', [], { list: { status: 403 } }, UNREAD, READ],
  ])('leaves open %s', async (_, locks, setup, unknown, asked) => {
    const list = await Promise.all(locks.map(listed));
    const { kinds, task } = await prepareUpload({ list, ...setup });
    await expect(task.recheck(await task.perform())).resolves.toEqual(unknown);
    expect(kinds()).toBe(asked);
  });

  test.each<[string, Scripted | Promise<Scripted>, string]>([
    ['was deleted', listOf({ 'other.html': CONTENT }, { readonly: true }), 'no longer has the file'],
    ['was replaced', listOf({ 'page.html': 'x' }, { readonly: true }), 'has another file under its name'],
    ['is gone with its bin', NO_BIN, 'no longer has the file'],
  ])('makes a file not ready that %s', async (_, list, message) => {
    const { task } = await prepareUpload({ list: await list });
    await expect(task.recheck(await task.perform())).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      message: `after verification, bin ${BIN} ${message}`,
      hint: expect.stringContaining('without `bin:`'),
    });
  });
});

describe('posting several files', () => {
  const refused = { status: 403, body: 'Illegal file extension' };
  const theirs = listOf({ 'b.txt': 'theirs' });
  const NAMED = { binIsNew: false, list: NO_BIN };
  test.each<[string, BinSetup, readonly (string | null)[], string]>([
    ['all of them into one bin, which is locked once', {}, [null, null], 'POST POST PUT'],
    ['the others where one is', { post: [refused, CREATED] }, ['NO_PERMISSION', null], 'POST POST PUT'],
    ['none where each is refused', { post: refused }, ['NO_PERMISSION', 'NO_PERMISSION'], 'POST POST'],
    ['each after a look', { ...NAMED, post: [0, 1].map(withFiles) }, [null, null], 'GET POST GET POST PUT'],
    ['beside others, unlocked', { ...NAMED, post: [0, 2].map(withFiles) }, [null, null], 'GET POST GET POST'],
  ])('puts %s', async (_, setup, codes, kinds) => {
    const { results, posted, ...sent } = await postFiles(['deep/a.txt', 'b.txt'], setup);
    expect(results.map((one) => (hasFailed(one) ? one.code : null))).toEqual(codes);
    expect(sent.kinds).toBe(kinds);
    expect(posted.map(({ url }) => url)).toEqual([`${ADDRESS}/deep-a.txt`, `${ADDRESS}/b.txt`]);
  });

  test('gives each file its own result, even if another answer is odd', async () => {
    const post = [created({ file: { filename: '\ud800' } }), created({ file: { filename: 'b.txt' } })];
    const { results } = await postFiles(['a.txt', 'b.txt'], { post });
    expect(results.map((one) => (hasFailed(one) ? one.code : one.first.url.href))).toEqual([
      `${ADDRESS}/a.txt`,
      `${ADDRESS}/b.txt`,
    ]);
  });

  test('keeps a file that somebody added while an earlier file was posted', async () => {
    const list = [NO_BIN, await theirs];
    const { results, posted } = await postFiles(['a.txt', 'b.txt'], { ...NAMED, list });
    const left = expect.arrayContaining([expect.stringContaining('others wrote to it at the same time')]);
    expect(results).toMatchObject([{ unknown: left }, { code: 'NOT_OURS', leftBehind: [] }]);
    expect(posted).toHaveLength(1);
  });
});
