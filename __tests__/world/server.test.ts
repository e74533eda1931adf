import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { runChild } from './child.ts';
import type { TestRepository } from './repository.ts';
import { setUpWorld } from './set-up-world.ts';
import type { GitHubWorld } from './world.ts';

const setup = setUpWorld();
let world: GitHubWorld;
let repository: TestRepository;
let token: string;

beforeAll(async () => {
  ({ world } = setup);
  token = world.token();
  repository = await setup.repository({ name: 'front', files: { 'a.html': 'x'.repeat(100) } });
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

test('a push needs a token with the permission, and is refused in the words of the rules of the branch', async () => {
  const remote = (secret: string) => `https://x-access-token:${secret}@github.com/octo/front.git`;
  const git = (...args: string[]) =>
    runChild('git', {
      args: ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args],
      cwd: world.folder,
      env: { PATH: process.env.PATH ?? '', HOME: world.folder, GIT_TERMINAL_PROMPT: '0', ...world.env },
    });
  const push = async (rule: Parameters<TestRepository['protect']>[0], secret = token) => {
    repository.protect(rule);
    const { exitCode, stderr } = await git('-C', 'clone', 'push', remote(secret), 'HEAD:main');
    return exitCode === 0 ? 'pushed' : stderr;
  };
  await git('clone', '-q', remote(token), 'clone');
  await git('-C', 'clone', 'commit', '--allow-empty', '-qm', 'By git');
  expect(await push(false, world.token({ contents: 'read' }))).not.toBe('pushed');
  expect(await push(true)).toContain('Changes must be made through a pull request');
  expect(await push('classic-signatures')).toContain('GH006: Protected branch update failed');
  expect(await push('signatures')).toMatch(
    /GH013:[\s\S]*Commits must have verified signatures\.[\s\S]*Found 1 violation:/,
  );
});
