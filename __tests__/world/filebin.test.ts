import { beforeEach, expect, test } from '@jest/globals';
import { createWorldClient } from './client.ts';
import { setUpWorld } from './set-up-world.ts';

/** The real server's refusals and its rules for names and bytes, from its answers and its source. */

const setup = setUpWorld();
let bin: string;
let count = 0;

beforeEach(() => {
  setup.world.filebin.reset();
  setup.world.filebin.cookieCheck = false;
  bin = `https://filebin.net/sv1700000000-${++count}`;
});

const send = (
  operation: string,
  body: string | null = null,
  headers: Readonly<Record<string, string>> = {},
) => createWorldClient(setup.world, null)(operation, body, headers);
const upload = (name: string, body = 'text', headers = {}) =>
  send(`POST ${bin}/${encodeURIComponent(name)}`, body, headers);

test.each([
  ['an empty file', '/a', '', {}, 400, 'Empty file'],
  ['another sha256', '/a', 'text', { 'content-sha256': 'f' }, 400, 'SHA256 checksum did not match'],
  ['a short bin', '/../short/a', 'text', {}, 400, 'the bin is too short'],
  ['a long bin', `/../${'x'.repeat(61)}/a`, 'text', {}, 400, 'the bin is too long'],
  ['a bin with a dot', '/../sv.1234567/a', 'text', {}, 404, '404 page not found'],
])('%s is refused', async (_, path, body, headers, status, says) => {
  const answer = await send(`POST ${bin}${path}`, body, headers);
  expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(`^${says}`)]);
});

test('the warning page has the address of the file, and goes with its cookie alone', async () => {
  setup.world.filebin.cookieCheck = true;
  await upload('marker-42.txt');
  const look = (headers = {}) => send(`GET ${bin}/marker-42.txt`, null, headers);
  expect((await look()).text).toMatch(/Please read[\s\S]*\/marker-42\.txt/);
  expect((await look({ cookie: 'verified=made-up' })).text).toContain('Please read');
  expect((await look({ 'user-agent': 'curl/8' })).status).toBe(302);
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

test.each([
  ['page.txt', '<!doctype html><p>x</p>', 'text/html; charset=utf-8', 'attachment'],
  ['plain.html', 'Hello', 'text/plain; charset=utf-8', 'inline'],
  ['x', 'a,b\n1,2\n', 'text/csv', 'inline'],
  ['x.html', 'a\u0000b', 'application/octet-stream', 'inline'],
])('the bytes of %s decide on its type and disposition: %j', async (name, body, type, shown) => {
  await upload(name, body);
  const { headers } = await send(`GET ${(await send(`GET ${bin}/${name}`)).headers.location}`);
  expect([headers['content-type'], headers['content-disposition']?.split(';')[0]]).toEqual([type, shown]);
});
