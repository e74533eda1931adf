import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { createWorldClient } from './client.ts';
import type { FakeFilebin } from './hosts/filebin.ts';
import { setUpWorld } from './set-up-world.ts';

/** As the real server answered or reads in its source: what the product meets there. */

const setup = setUpWorld();
let bin: string;
let count = 0;

beforeEach(() => {
  setup.world.filebin.reset();
  setup.world.filebin.cookieCheck = false;
  bin = `sv1700000000-${++count}`;
});

type Headers = Readonly<Record<string, string>>;
const send = (operation: string, body: string | null = null, headers: Headers = {}) => {
  const [, method, path = ''] = /^(\S+) (.*)$/.exec(operation) ?? [];
  const url = /^https:/.test(path)
    ? path
    : `https://filebin.net/${bin}${path && `/${encodeURIComponent(path)}`}`;
  return createWorldClient(setup.world, null)(`${method} ${url}`, body, headers);
};
const upload = (name: string, body = 'text') => send(`POST ${name}`, body);

/** A request, the status, what its text or headers hold, and its headers; or what happens meanwhile. */
type Call = readonly [operation: string, status: number, says?: RegExp, headers?: Headers];
type Step = Call | ((filebin: FakeFilebin) => unknown);

const STORIES: Readonly<Record<string, readonly Step[]>> = {
  'a file is stored at another host, and every upload of its name replaces it': [
    ['POST a.txt', 201, /"sha256":"982d9e3eb996f559/, { 'content-sha256': sha256('text') }],
    ['GET a.txt', 302, /location: https:\/\/situla\./],
    ['HEAD a.txt', 405],
    (filebin) => filebin.addFile(bin, 'a.txt', 'theirs'),
    ['GET ', 200, new RegExp(`"files":1.*${sha256('theirs')}`), { accept: 'application/json' }],
  ],
  'the warning page has the address of the file, and goes with its cookie alone': [
    (filebin) => Object.assign(filebin, { cookieCheck: true }),
    ['POST marker-42.txt', 201],
    ['GET marker-42.txt', 200, /Please read[\s\S]*\/marker-42\.txt[\s\S]*set-cookie: verified=/],
    ['GET marker-42.txt', 200, /Please read/, { cookie: 'verified=made-up' }],
    ['GET marker-42.txt', 302, /./, { 'user-agent': 'curl/8' }],
  ],
  'a bin is locked by anybody, for good': [
    ['POST a.txt', 201],
    ['PUT ', 200, /^Bin locked successfully\./],
    ['PUT ', 200, /^This bin is already locked/],
    ['POST b.txt', 405, /^Uploads to locked bins are not allowed/],
    ['GET ', 200, /"readonly":true/, { accept: 'application/json' }],
    ['DELETE a.txt', 200],
    ['DELETE a.txt', 404, /^This file is no longer available/],
    ['GET a.txt', 404, /^The file is not available for download\./],
    ['DELETE ', 200],
    ['GET a.txt', 404, /^This bin is no longer available\./],
    ['POST a.txt', 405, /^The bin is no longer available/],
  ],
  'storage is full': [
    (filebin) => Object.assign(filebin, { full: true }),
    ['POST a.txt', 507, /^Insufficient storage, please retry later/],
  ],
  'an empty file': [['POST empty.txt', 400, /^Empty file/]],
  'another sha256': [['POST a.txt', 400, /^SHA256 checksum did not match/, { 'content-sha256': 'f' }]],
  'a short bin': [['POST https://filebin.net/short/a', 400, /^the bin is too short/]],
  'a long bin': [[`POST https://filebin.net/${'x'.repeat(61)}/a`, 400, /^the bin is too long/]],
  'a bin with a dot': [['POST https://filebin.net/sv.1234567/a', 404, /^404 page not found/]],
};

test.each(Object.entries(STORIES))('%s', async (_, steps) => {
  for (const step of steps) {
    if (typeof step === 'function') {
      await step(setup.world.filebin);
      continue;
    }
    const [operation, status, says = /(?:)/, sent] = step;
    const body = operation.endsWith('empty.txt') ? '' : 'text';
    const answer = await send(operation, operation.startsWith('POST') ? body : null, sent);
    const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
    const seen = [answer.text, ...headers].join('\n');
    expect([operation, answer.status, seen]).toEqual([operation, status, expect.stringMatching(says)]);
  }
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
  ['frame.txt', '<iframe src=x></iframe>', 'text/html; charset=utf-8', 'attachment'],
  ['plain.html', 'Hello', 'text/plain; charset=utf-8', 'inline'],
  ['x', 'a,b\n1,2\n', 'text/csv', 'inline'],
  ['x', 'a, b\nc\n', 'text/plain; charset=utf-8', 'inline'],
  ['x.html', 'a\u0000b', 'application/octet-stream', 'inline'],
])(
  'the bytes of %s decide on its type and disposition, not its name: %j',
  async (name, body, type, shown) => {
    expect((await upload(name, body)).json.file['content-type']).toBe(type);
    const { headers } = await send(`GET ${(await send(`GET ${name}`)).headers.location}`);
    expect([headers['content-type'], headers['content-disposition']?.split(';')[0]]).toEqual([type, shown]);
  },
);

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}
