import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { runChild } from './child.ts';
import { setUpWorld } from './set-up-world.ts';
import type { GitHubWorld } from './world.ts';

const setup = setUpWorld();
let world: GitHubWorld;
let token: string;

beforeAll(async () => {
  ({ world } = setup);
  token = world.token();
  await setup.repository({ name: 'front', files: { 'a.html': 'x'.repeat(100) } });
});

const PAGE = 'https://octo.github.io/front/a.html';
const BIN = 'https://filebin.net/sv123456789/a.bin';
const curl = (...args: string[]) =>
  runChild('curl', {
    args: ['-sS', '-H', `Authorization: Bearer ${token}`, ...args],
    cwd: world.folder,
    env: { PATH: process.env.PATH ?? '', ...world.env },
  });

test('the traffic log finds a watched text in headers, and in a body across chunk borders', async () => {
  const needle = 'a-needle-that-must-not-leak';
  world.traffic.watchFor(needle);
  world.traffic.watchFor('not-there');
  const body = Buffer.concat([randomBytes(65_536 - 10), Buffer.from(needle), randomBytes(2_000_000)]);
  await writeFile(join(world.folder, 'body'), body);
  await curl('--data-binary', '@body', BIN);
  await curl('-H', `x-note: (${needle})`, PAGE);
  expect(world.traffic.found(needle)).toEqual([
    { needle, host: 'filebin.net', url: BIN, place: 'body' },
    { needle, host: 'octo.github.io', url: PAGE, place: 'header x-note' },
  ]);
  expect(world.traffic.found('not-there')).toEqual([]);
});

test('the hosts of the local GitHub are all that can be reached', async () => {
  expect((await curl('https://nowhere.example.com/')).exitCode).not.toBe(0);
});

test.each([
  ['https://uploads.github.com/repos/octo/front/releases/1/assets?name=a', / 411$/],
  [BIN, /^Missing or invalid content-length header\n 411$/],
])('an upload without a length is refused: %s', async (url, says) => {
  const chunked = ['-X', 'POST', '-H', 'Transfer-Encoding: chunked', '--data-binary', 'x'];
  expect((await curl(...chunked, '-w', ' %{http_code}', url)).stdout).toMatch(says);
});
