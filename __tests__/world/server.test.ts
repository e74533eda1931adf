import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { runChild } from './child.ts';
import { createWorldClient, type WorldClient } from './client.ts';
import type { TestRepository } from './repository.ts';
import { replyJson } from './server/messages.ts';
import { type GitHubWorld, startWorld } from './world.ts';

let world: GitHubWorld;
let client: WorldClient;
let repository: TestRepository;
let token: string;

beforeAll(async () => {
  world = await startWorld();
  token = world.token();
  client = createWorldClient(world, token);
  repository = await world.repository({ owner: 'octo', name: 'front', files: { 'a.html': 'x'.repeat(100) } });
});

beforeEach(() => world.traffic.clear());

afterAll(async () => {
  await client.close();
  await world.stop();
});

const API = 'GET /repos/octo/front';
const PAGE = 'GET https://octo.github.io/front/a.html';

describe('the traffic log', () => {
  test('records requests and their status in order', async () => {
    await client.send(API);
    await client.send('PUT /repos/octo/front/contents/b.txt', { message: 'ADD' });
    expect(world.traffic.lines()).toEqual([
      'GET https://api.github.com/repos/octo/front 200',
      'PUT https://api.github.com/repos/octo/front/contents/b.txt 422',
    ]);
    expect(world.traffic.exchanges(/^PUT/)).toMatchObject([
      {
        host: 'api.github.com',
        headers: { authorization: `Bearer ${token}` },
        body: { head: '{"message":"ADD"}', size: 17, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    ]);
  });

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

  test('can change the reply of the host', async () => {
    world.intercept(
      { url: /a\.html/ },
      {
        alter: ({ status, headers, body }) => ({ status, headers, body: body.subarray(0, body.length / 2) }),
      },
    );
    expect((await client.send(PAGE)).text).toBe('x'.repeat(50));
    expect((await client.send(PAGE)).text).toBe('x'.repeat(100));
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

  test('with the fault hang sends no reply', async () => {
    world.intercept({ url: /a\.html/ }, { fault: 'hang' });
    const { exitCode } = await curl('--max-time', '0.2', 'https://octo.github.io/front/a.html');
    expect(exitCode).toBe(28);
  });
});

const curl = (...args: string[]) =>
  runChild('curl', {
    args: ['-sS', ...args],
    cwd: world.folder,
    env: { PATH: process.env.PATH ?? '', ...world.env },
    timeoutMs: 5000,
  });

describe('the hosts of the local GitHub', () => {
  test('include added ones, and unknown hosts can not be reached', async () => {
    world.host('preview.example.com', ({ query }) => replyJson(200, { v: query.get('v') }));
    expect((await client.send('GET https://preview.example.com/?v=1')).json).toEqual({ v: '1' });
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
        args: ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args],
        cwd: join(world.folder, 'clone'),
        env: { PATH: process.env.PATH ?? '', HOME: world.folder, GIT_TERMINAL_PROMPT: '0', ...world.env },
        timeoutMs: 20_000,
      });
    const clone = spawn('git', ['clone', '-q', remote(token), join(world.folder, 'clone')], {
      env: { ...process.env, ...world.env },
    });
    await new Promise((resolve) => clone.once('close', resolve));
    expect(await readFile(join(world.folder, 'clone/a.html'), 'utf8')).toBe('x'.repeat(100));
    await git('commit', '--allow-empty', '-qm', 'By git');
    const refused = await git('push', remote(world.token({ contents: 'read' })), 'HEAD:main');
    expect(refused.exitCode).not.toBe(0);
    repository.protect(true);
    const ruled = await git('push', remote(token), 'HEAD:main');
    repository.protect('classic-status-check');
    const classic = await git('push', remote(token), 'HEAD:main');
    repository.protect('signatures');
    const unsigned = await git('push', remote(token), 'HEAD:main');
    repository.protect('signatures', ['other']);
    expect(classic.stderr).toMatch(
      /GH006: Protected branch update failed[\s\S]*Required status check "ci" is expected\./,
    );
    expect(unsigned.stderr).toMatch(
      /GH013:[\s\S]*Commits must have verified signatures\.[\s\S]*Found 1 violation:/,
    );
    expect([ruled.exitCode, ruled.stderr]).toEqual([
      1,
      expect.stringContaining('Changes must be made through a pull request'),
    ]);
    expect((await git('push', remote(token), 'HEAD:main')).exitCode).toBe(0);
    expect((await repository.log())[0]?.message).toBe('By git');
    await repository.pages.whenBuilt();
    expect(repository.pages.liveCommit).toBe(await repository.head());
  });
});

describe('the device flow', () => {
  const headers = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' };
  const poll = (code: string) =>
    client.send(
      'POST https://github.com/login/oauth/access_token',
      `client_id=app&device_code=${code}&grant_type=urn:ietf:params:oauth:grant-type:device_code`,
      headers,
    );

  test('follows the script and issues a valid token', async () => {
    world.deviceUser.script = ['pending', 'slow_down', 'grant'];
    const startedAt = await client.send(
      'POST https://github.com/login/device/code',
      'client_id=app&scope=repo',
      headers,
    );
    expect(startedAt.json).toMatchObject({
      device_code: expect.stringMatching(/^\w{40}$/),
      user_code: expect.stringMatching(/^\w{4}-\w{4}$/),
      interval: 5,
    });
    expect((await poll('wrong')).json.error).toBe('incorrect_device_code');
    const answers = [];
    for (let round = 0; round < 3; round += 1) answers.push((await poll(startedAt.json.device_code)).json);
    expect(answers).toMatchObject([
      { error: 'authorization_pending' },
      { error: 'slow_down', interval: 10 },
      { token_type: 'bearer', scope: 'repo' },
    ]);
    const owner = createWorldClient(world, answers[2].access_token);
    expect((await owner.send(API)).json.permissions.push).toBe(true);
    await owner.close();
  });

  test.each([
    ['refuse', 'access_denied'],
    ['expire', 'expired_token'],
  ] as const)('answers a poll for the script entry %s with %s', async (act, error) => {
    world.deviceUser.script = [act];
    const startedAt = await client.send(
      'POST https://github.com/login/device/code',
      'client_id=app',
      headers,
    );
    expect((await poll(startedAt.json.device_code)).json.error).toBe(error);
  });
});
