import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
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
beforeEach(() => world.traffic.clear());

const API = 'https://api.github.com/repos/octo/front';
const PAGE = 'https://octo.github.io/front/a.html';
const BIN = 'https://filebin.net/sv123456789/a.bin';
const curl = (...args: string[]) =>
  runChild('curl', {
    args: ['-sS', '-H', `Authorization: Bearer ${token}`, ...args],
    cwd: world.folder,
    env: { PATH: process.env.PATH ?? '', ...world.env },
    timeoutMs: 30_000,
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

describe('an interception', () => {
  test('replaces `times` replies after `skip` requests, and the newest rule takes precedence', async () => {
    const older = world.intercept({ url: /front$/, times: Infinity }, { status: 500, body: 'older' });
    const newer = world.intercept({ method: 'GET', url: /front$/, skip: 1 }, { status: 502, body: 'newer' });
    const seen = [];
    for (let round = 0; round < 3; round += 1) seen.push((await curl(API)).stdout);
    expect(seen).toEqual(['older', 'newer', 'older']);
    expect([older.hits, newer.hits]).toEqual([2, 1]);
    older.remove();
    expect((await curl(API)).stdout).toContain('"full_name":"octo/front"');
  });

  test.each(['reset-before', 'reset-midway', 'reset-after'] as const)(
    'with the fault %s resets the connection',
    async (fault) => {
      world.intercept({ url: /contents/ }, { fault });
      const sent = JSON.stringify({ message: 'ADD', content: 'eA==' });
      const { exitCode } = await curl('-X', 'PUT', '-d', sent, `${API}/contents/${fault}.txt`);
      expect(exitCode).not.toBe(0);
      // Only before the host was asked a broken connection means that nothing happened.
      expect(repository.read(`${fault}.txt`)).toEqual(fault === 'reset-before' ? null : Buffer.from('x'));
    },
  );

  test('with the fault reset-midway sends half of the body first', async () => {
    world.intercept({ url: /a\.html/ }, { fault: 'reset-midway' });
    const { stdout, exitCode } = await curl(PAGE);
    expect([exitCode, stdout]).toEqual([expect.any(Number), 'x'.repeat(50)]);
    expect(exitCode).not.toBe(0);
  });
});

describe('the hosts of the local GitHub', () => {
  test('are all that can be reached', async () => {
    expect((await curl('https://nowhere.example.com/')).exitCode).not.toBe(0);
  });

  test('refuse an upload without a length', async () => {
    const send = (url: string) =>
      curl(
        '-X',
        'POST',
        '-H',
        'Transfer-Encoding: chunked',
        '--data-binary',
        'x',
        '-w',
        ' %{http_code}',
        url,
      );
    const url = 'https://uploads.github.com/repos/octo/front/releases/1/assets?name=a';
    expect((await send(url)).stdout).toMatch(/ 411$/);
    expect((await send(BIN)).stdout).toBe('Missing or invalid content-length header\n 411');
  });

  test('support git clone, and git push with a token that has the permission', async () => {
    const remote = (secret: string) => `https://x-access-token:${secret}@github.com/octo/front.git`;
    const git = (...args: string[]) =>
      runChild('git', {
        args: ['-C', 'clone', '-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args],
        cwd: world.folder,
        env: { PATH: process.env.PATH ?? '', HOME: world.folder, GIT_TERMINAL_PROMPT: '0', ...world.env },
        timeoutMs: 60_000,
      });
    const push = async (rule: Parameters<TestRepository['protect']>[0], secret = token) => {
      repository.protect(rule);
      const { exitCode, stderr } = await git('push', remote(secret), 'HEAD:main');
      return exitCode === 0 ? 'pushed' : stderr;
    };
    await mkdir(join(world.folder, 'clone'));
    await git('clone', '-q', remote(token), '.');
    expect(await git('fsck', '--strict')).toMatchObject({ exitCode: 0 });
    expect(await readFile(join(world.folder, 'clone/a.html'), 'utf8')).toBe('x'.repeat(100));
    await git('commit', '--allow-empty', '-qm', 'By git');
    expect(await push(false, world.token({ contents: 'read' }))).not.toBe('pushed');
    expect(await push(true)).toContain('Changes must be made through a pull request');
    expect(await push('classic-signatures')).toContain('GH006: Protected branch update failed');
    expect(await push('signatures')).toMatch(
      /GH013:[\s\S]*Commits must have verified signatures\.[\s\S]*Found 1 violation:/,
    );
    expect(await push(false)).toBe('pushed');
    expect((await repository.log())[0]?.message).toBe('By git');
    await repository.pages.whenBuilt();
    expect(repository.pages.liveCommit).toBe(await repository.head());
  });
});
