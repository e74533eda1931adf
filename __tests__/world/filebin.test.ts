import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { setUpWorld } from './set-up-world.ts';

const setup = setUpWorld();
let bin: string;
let count = 0;

beforeEach(() => {
  setup.world.filebin.reset();
  bin = `sv1700000000-${++count}`;
});

const upload = (name: string, body: string | Buffer = '<p>x</p>', headers = {}) =>
  setup.anonymous.send(`POST https://filebin.net/${bin}/${encodeURIComponent(name)}`, body, headers);
const download = (name: string, headers = {}) =>
  setup.anonymous.send(`GET https://filebin.net/${bin}/${encodeURIComponent(name)}`, null, headers);
const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');

test('an uploaded file can be downloaded from the storage host', async () => {
  setup.world.filebin.cookieCheck = false;
  const uploaded = await upload('a.txt', 'text', { 'content-sha256': sha256('text') });
  expect(uploaded).toMatchObject({
    status: 201,
    json: {
      bin: { id: bin, readonly: false, bytes: 0, files: 0, expired_at: expect.any(String) },
      file: {
        filename: 'a.txt',
        'content-type': 'text/plain; charset=utf-8',
        bytes: 4,
        sha256: sha256('text'),
      },
    },
  });
  const first = await download('a.txt');
  expect(first.status).toBe(302);
  expect(first.headers.location).not.toContain('filebin.net');
  expect(await setup.anonymous.send(`GET ${first.headers.location}`)).toMatchObject({
    status: 200,
    text: 'text',
  });
  expect((await setup.anonymous.send(`HEAD https://filebin.net/${bin}/a.txt`)).status).toBe(405);
});

test('an HTML page is served as an attachment', async () => {
  setup.world.filebin.cookieCheck = false;
  await upload('a.html', '<!doctype html><p>x</p>');
  const { headers } = await setup.anonymous.send(`GET ${(await download('a.html')).headers.location}`);
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-disposition': expect.stringMatching(/^attachment/),
  });
});

test('the warning page is shown until a request carries its cookie', async () => {
  await upload('a.txt', 'text');
  const warning = await download('a.txt');
  expect(warning).toMatchObject({ status: 200, text: expect.stringContaining('Please read') });
  const cookie = warning.headers['set-cookie']?.toString().split(';')[0] as string;
  expect(cookie).toMatch(/^verified=/);
  expect((await download('a.txt', { cookie })).status).toBe(302);
  expect((await download('a.txt', { cookie: 'verified=made-up' })).status).toBe(200);
  expect((await download('a.txt', { 'user-agent': 'curl/8' })).status).toBe(302);
});

test.each([
  ['a short bin', 'short', 'a.txt', 'x', {}, 400, 'the bin is too short'],
  ['a long bin', 'x'.repeat(61), 'a.txt', 'x', {}, 400, 'the bin is too long'],
  ['a bin with a dot', 'sv.1234567', 'a.txt', 'x', {}, 404, '404 page not found'],
  ['an empty body', 'sv12345678', 'a.txt', '', {}, 400, 'Empty file uploads are not allowed'],
  [
    'another sha256',
    'sv12345678',
    'a.txt',
    'x',
    { 'content-sha256': 'f' },
    400,
    'SHA256 checksum did not match',
  ],
])('an upload with %s is refused', async (_, name, file, body, headers, status, message) => {
  const answer = await setup.anonymous.send(`POST https://filebin.net/${name}/${file}`, body, headers);
  expect([answer.status, answer.text.trim()]).toEqual([status, message]);
});

test.each([
  ['отчёт'.normalize('NFC'), 'отчёт'.normalize('NFC')],
  ['ё'.normalize('NFD'), 'е_'],
  ["a'b.txt", 'a_b.txt'],
  ['a  b.txt', 'a b.txt'],
  ['.hidden', '_hidden'],
  [`${'x'.repeat(130)}.html`, 'x'.repeat(120)],
])('a file called %s is stored as %s', async (asked, stored) => {
  expect((await upload(asked)).json.file.filename).toBe(stored);
  expect((await upload(asked)).status).toBe(asked === stored ? 201 : 500);
});

test('a bin can be listed, locked and deleted, and its name can not be used again', async () => {
  await upload('a.txt');
  const address = `https://filebin.net/${bin}`;
  const listed = await setup.anonymous.send(`GET ${address}`, null, { accept: 'application/json' });
  expect(listed.json).toMatchObject({ bin: { files: 1 }, files: [{ filename: 'a.txt' }] });
  expect((await setup.anonymous.send(`PUT ${address}`)).status).toBe(200);
  const locked = await upload('b.txt');
  expect([locked.status, locked.text.trim()]).toEqual([405, 'Uploads to locked bins are not allowed']);
  expect((await setup.anonymous.send(`DELETE ${address}/a.txt`)).status).toBe(200);
  expect((await download('a.txt')).text.trim()).toBe('The file is not available for download.');
  expect((await setup.anonymous.send(`DELETE ${address}`)).status).toBe(200);
  expect((await download('a.txt')).text.trim()).toBe('This bin is no longer available.');
  const reused = await upload('a.txt');
  expect([reused.status, reused.text.trim()]).toEqual([405, 'The bin is no longer available']);
});

const disposition = async (name: string) => {
  const { headers } = await setup.anonymous.send(`GET ${(await download(name)).headers.location}`);
  return [headers['content-type'], headers['content-disposition']?.split(';')[0]];
};

test.each([
  ['page.txt', '<!doctype html><p>x</p>', 'text/html; charset=utf-8', 'attachment'],
  ['plain.html', 'Hello', 'text/plain; charset=utf-8', 'inline'],
  ['page.xhtml', '<?xml version="1.0"?><html/>', 'text/xml; charset=utf-8', 'inline'],
  ['data.json', '{"a":1}', 'application/json', 'inline'],
  ['report.txt', '%PDF-1.7', 'application/pdf', 'attachment'],
  ['files.zip', 'PK\u0003\u0004x', 'application/zip', 'inline'],
  ['x.html', 'a\u0000b', 'application/octet-stream', 'inline'],
])('the bytes of %s decide on its type and disposition, not its name', async (name, body, type, shown) => {
  setup.world.filebin.cookieCheck = false;
  expect((await upload(name, body)).json.file['content-type']).toBe(type);
  expect(await disposition(name)).toEqual([type, shown]);
});

test('the warning page repeats the address of the file', async () => {
  await upload('marker-42.txt', 'text');
  const { text } = await download('marker-42.txt');
  expect(text).toContain(`https://filebin.net/${bin}/marker-42.txt`);
  expect(text).toContain('Filebin');
});

test('anybody can upload into a bin until somebody locks it for good', async () => {
  setup.world.filebin.cookieCheck = false;
  await upload('a.txt', 'mine');
  await setup.world.filebin.addFile(bin, 'a.txt', 'theirs');
  const { headers } = await download('a.txt');
  expect((await setup.anonymous.send(`GET ${headers.location}`)).text).toBe('theirs');
  setup.world.filebin.lock(bin);
  const listed = await setup.anonymous.send(`GET https://filebin.net/${bin}`, null, {
    accept: 'application/json',
  });
  expect(listed.json.bin.readonly).toBe(true);
  expect((await upload('a.txt', 'mine')).status).toBe(405);
  await expect(setup.world.filebin.addFile(bin, 'b.txt', 'theirs')).rejects.toThrow(/locked bins/);
});

test('a bin that needs approval shows nothing before, and its files can still be deleted', async () => {
  Object.assign(setup.world.filebin, { cookieCheck: false, manualApproval: true });
  await upload('a.txt', 'text');
  await upload('b.txt', 'text');
  expect(await download('a.txt')).toMatchObject({
    status: 403,
    text: 'This bin requires approval before files can be downloaded.\n',
  });
  expect((await setup.anonymous.send(`DELETE https://filebin.net/${bin}/b.txt`)).status).toBe(200);
  setup.world.filebin.approve(bin);
  expect((await download('a.txt')).status).toBe(302);
});

test('a download limit counts every GET that is not answered by the warning page', async () => {
  setup.world.filebin.downloadLimit = 2;
  await upload('a.txt', 'text');
  const cookie = String((await download('a.txt')).headers['set-cookie']).split(';')[0] as string;
  const seen = [];
  for (let number = 0; number < 3; number += 1) seen.push(await download('a.txt', { cookie }));
  expect(seen.map(({ status }) => status)).toEqual([302, 302, 403]);
  expect(seen[2]?.text).toBe('The file has been requested too many times.\n');
  expect(setup.world.filebin.bins.get(bin)?.files.get('a.txt')?.downloads).toBe(2);
});

test('the answer to an upload can come long after the file is stored', async () => {
  setup.world.filebin.cookieCheck = false;
  const answer = Promise.withResolvers<void>();
  setup.world.filebin.beforeAnswer = () => answer.promise;
  const pending = upload('a.txt', 'text');
  while (!setup.world.filebin.bins.has(bin)) await new Promise((resolve) => setImmediate(resolve));
  expect((await download('a.txt')).status).toBe(302);
  // The late answer also writes over a lock of the meantime.
  setup.world.filebin.lock(bin);
  answer.resolve();
  expect((await pending).status).toBe(201);
  expect(setup.world.filebin.bins.get(bin)?.locked).toBe(false);
});

test.each([
  ['blocked content', { refusal: 'This content is blocked.' }, 403, 'This content is blocked.'],
  ['full storage', { full: true }, 507, 'Insufficient storage, please retry later'],
])('an upload is refused because of %s', async (_, settings, status, text) => {
  Object.assign(setup.world.filebin, settings);
  const refused = await upload('a.txt', 'text');
  expect([refused.status, refused.text.trim()]).toEqual([status, text]);
});

/** Seen on the real server. */
test('a deleted file, a bin without approval and a locked bin answer in words of their own', async () => {
  const ask = (operation: string) =>
    setup.anonymous.send(operation.replace('BIN', `https://filebin.net/${bin}`));
  await upload('a.txt', 'text');
  expect(await ask('DELETE BIN/a.txt')).toMatchObject({ status: 200 });
  expect(await ask('DELETE BIN/a.txt')).toMatchObject({
    status: 404,
    text: 'This file is no longer available\n',
  });
  expect(await ask('GET BIN/a.txt')).toMatchObject({
    status: 404,
    text: 'The file is not available for download.\n',
  });
  expect(await ask('PUT BIN')).toMatchObject({ text: 'Bin locked successfully.\n' });
  expect(await ask('PUT BIN')).toMatchObject({ status: 200, text: 'This bin is already locked\n' });
  bin = `${bin}-unapproved`;
  setup.world.filebin.manualApproval = true;
  await upload('a.txt', 'text');
  expect(await ask('GET BIN/other.txt')).toMatchObject({ status: 403 });
});

/** As the real server answered; see also its 201 for each. */
test.each([
  ['a,b\n1,2\n', 'text/csv'],
  ['a\tb\n1\t2\n', 'text/tab-separated-values'],
  ['a, b\nc\n', 'text/plain; charset=utf-8'],
  ['{"a":1}', 'application/json'],
  ['{"a":1}\n{"a":2}', 'text/plain; charset=utf-8'],
  ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
  ['<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
  ['<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>', 'application/xhtml+xml'],
  ['<iframe src=x></iframe>', 'text/html; charset=utf-8'],
])('the type of %j is %s', async (content, type) => {
  expect((await upload('a.txt', content)).json.file['content-type']).toBe(type);
});
