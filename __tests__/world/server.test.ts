import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { runChild } from './child.ts';
import type { WorldClient } from './client.ts';
import type { TestRepository } from './repository.ts';
import { setUpWorld } from './set-up-world.ts';
import type { GitHubWorld } from './world.ts';

const setup = setUpWorld();
let world: GitHubWorld;
let client: WorldClient;
let repository: TestRepository;
let token: string;

beforeAll(async () => {
  ({ world, client } = setup);
  token = world.token();
  repository = await setup.newRepository({ name: 'front', files: { 'a.html': 'x'.repeat(100) } });
});
beforeEach(() => world.traffic.clear());

const API = 'GET /repos/octo/front';
const PAGE = 'GET https://octo.github.io/front/a.html';

describe('the traffic log', () => {
  test('finds a watched text in headers, and in a body across chunk borders', async () => {
    const needle = 'a-needle-that-must-not-leak';
    world.traffic.watchFor(needle);
    world.traffic.watchFor('not-there');
    const body = Buffer.concat([randomBytes(65_536 - 10), Buffer.from(needle), randomBytes(2_000_000)]);
    await client.send('POST https://filebin.net/sv123456789/a.bin', body);
    await client.send(PAGE, null, { 'x-note': `(${needle})` });
    expect(world.traffic.found(needle)).toEqual([
      { needle, host: 'filebin.net', url: 'https://filebin.net/sv123456789/a.bin', place: 'body' },
      { needle, host: 'octo.github.io', url: 'https://octo.github.io/front/a.html', place: 'header x-note' },
    ]);
    expect(world.traffic.found('not-there')).toEqual([]);
  });
});

describe('an interception', () => {
  test('replaces `times` replies after `skip` requests, and the newest rule takes precedence', async () => {
    const older = world.intercept({ url: /front$/, times: Infinity }, { status: 500, body: 'older' });
    const newer = world.intercept({ method: 'GET', url: /front$/, skip: 1 }, { status: 502, body: 'newer' });
    const seen = [];
    for (let round = 0; round < 3; round += 1) seen.push((await client.send(API)).text);
    expect(seen).toEqual(['older', 'newer', 'older']);
    expect([older.hits, newer.hits]).toEqual([2, 1]);
    older.remove();
    expect((await client.send(API)).status).toBe(200);
  });

  test.each(['reset-before', 'reset-midway', 'reset-after'] as const)(
    'with the fault %s resets the connection',
    async (fault) => {
      world.intercept({ url: /contents/ }, { fault });
      const write = client.send(`PUT /repos/octo/front/contents/${fault}.txt`, {
        message: 'ADD',
        content: 'eA==',
      });
      await expect(write).rejects.toThrow();
      // Only before the host was asked a broken connection means that nothing happened.
      expect(await repository.read(`${fault}.txt`)).toEqual(
        fault === 'reset-before' ? null : Buffer.from('x'),
      );
    },
  );

  test('with the fault reset-midway sends half of the body first', async () => {
    world.intercept({ url: /a\.html/ }, { fault: 'reset-midway' });
    const { stdout, exitCode } = await curl('https://octo.github.io/front/a.html');
    expect([exitCode, stdout]).toEqual([expect.any(Number), 'x'.repeat(50)]);
    expect(exitCode).not.toBe(0);
  });
});

const curl = (...args: string[]) =>
  runChild('curl', {
    args: ['-sS', ...args],
    cwd: world.folder,
    env: { PATH: process.env.PATH ?? '', ...world.env },
    timeoutMs: 30_000,
  });

describe('the hosts of the local GitHub', () => {
  test('are all that can be reached', async () => {
    await expect(client.send('GET https://nowhere.example.com/')).rejects.toThrow();
  });

  test('refuse an upload without a length', async () => {
    const args = ['-X', 'POST', '-H', 'Transfer-Encoding: chunked', '-H', `Authorization: Bearer ${token}`];
    const url = 'https://uploads.github.com/repos/octo/front/releases/1/assets?name=a';
    const github = await curl(...args, '--data-binary', 'x', '-w', '%{http_code}', '-o', '/dev/null', url);
    expect(github.stdout).toBe('411');
    const filebin = await curl(...args, '--data-binary', 'x', 'https://filebin.net/sv123456789/x');
    expect(filebin.stdout).toBe('Missing or invalid content-length header\n');
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
