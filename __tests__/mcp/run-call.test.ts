import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import type { ServerContext } from '@modelcontextprotocol/server';
import '../support/one-realm.ts';
import { createRedactor } from '../../src/credentials.ts';
import { McpSession, type McpSettings } from '../../src/mcp/session.ts';
import type { ToolArguments } from '../../src/mcp/tools.ts';
import type { ToolName } from '../../src/request/inputs.ts';
import { captureOutput } from '../cli/terminals.ts';
import { drawn } from '../rules/secrets/fake-secrets.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeHttp, fakePorts, type Scripted, type Seen } from '../support/ports.ts';
import { writeFiles } from '../world/runner.ts';

// The log of the server goes to stderr.
const output = captureOutput();

const PAGE = '<p>marker-42</p>\n';
const TOKEN = 'ghp_AbCd0123';

/** A server whose human allowed the public bin. */
const BIN = { 'allow-public-bin': 'true' };

const SITE = { token: TOKEN, fixed: { repository: 'octo/pages-demo' } };

/** A file-bin that accepts this page; any other host answers 401. */
function fakeBin({ method, url }: Seen): Scripted {
  const [, name, file] = new URL(url).pathname.split('/');
  if (!url.startsWith('https://filebin.net/')) return { status: 401, body: { message: 'Bad credentials' } };
  if (method === 'POST') return { status: 201, body: { bin: { id: name }, file: { filename: file } } };
  return { body: method === 'PUT' ? 'locked' : PAGE };
}

/** One call of a tool, on a root of its own unless one is given. */
async function run(tool: ToolName, args: ToolArguments, settings: Partial<McpSettings> = {}) {
  const host = new FakeHttp(fakeBin);
  const ports = fakePorts(host.http);
  const root = settings.root ?? (await temporaryFolder());
  const redactor = createRedactor();
  redactor.addSecret(settings.token ?? '');
  const usual = { root, fixed: BIN, token: '', secrets: [], env: {}, redactor };
  const session = new McpSession({ ...usual, ...settings }, ports);
  const mcpReq = { signal: ports.signal } as ServerContext['mcpReq'];
  const call = async (name: ToolName, given: ToolArguments) => {
    const answer = await session.run({ tool: name, args: given, isDeclined: false }, { mcpReq });
    return { host, answer, reports: session.ended.at(-1)?.document.reports ?? [], call };
  };
  return call(tool, args);
}

async function folderWith(...names: readonly string[]): Promise<string> {
  const root = await temporaryFolder();
  for (const name of names) await writeFile(join(root, name), PAGE);
  return root;
}

describe('a file', () => {
  test('below the root is delivered, also where the root is a link', async () => {
    const real = await folderWith('page.html');
    const link = join(await temporaryFolder(), 'link');
    await symlink(real, link);
    for (const file of ['page.html', join(link, 'page.html'), join(real, 'page.html')]) {
      const { answer } = await run('deliver', { file }, { root: link });
      expect(answer).toMatchObject({
        result: 'ready',
        url: expect.stringMatching(/^https:\/\/filebin\.net\//),
      });
    }
  });

  test('behind a link that stays in its folder is delivered', async () => {
    const root = await folderWith('page.html', 'index.html');
    await symlink('page.html', join(root, 'link.html'));
    for (const file of ['link.html', '.']) {
      const { answer } = await run('deliver', { file }, { ...SITE, root });
      // The host of these tests accepts no token.
      expect([file, answer.code]).toEqual([file, 'BAD_TOKEN']);
    }
  });

  test.each(['../page.html', '/etc/hostname', 'link.html', 'folder/page.html', 'folder'])(
    'outside the root, or behind a link, is refused before any request: %s',
    async (file) => {
      const outside = await folderWith('page.html', 'index.html');
      const root = join(outside, 'root');
      await mkdir(root);
      await symlink(join(outside, 'page.html'), join(root, 'link.html'));
      await symlink(outside, join(root, 'folder'));
      const { host, answer } = await run('deliver', { file }, { root });
      expect(answer.result).toBe('not-ready');
      expect(JSON.stringify(answer)).toMatch(/outside|symbolic link/);
      expect(host.seen).toEqual([]);
    },
  );
});

test('a content leaves nothing behind, however the call ends', async () => {
  const text = `<p>marker-42 of ${process.pid}</p>`;
  const findLeft = async () => {
    const folders = (await readdir(tmpdir())).filter((name) => name.startsWith('screen-delivery-'));
    const texts = folders.map((name) => readFile(join(tmpdir(), name, 'a.html'), 'utf8').catch(() => ''));
    return (await Promise.all(texts)).filter((one) => one === text);
  };
  const root = await temporaryFolder();
  const content = { content: text, name: 'a.html' };
  expect((await run('deliver', { ...content, dry_run: true }, { root })).answer.result).toBe('planned');
  expect((await run('deliver', content, { root })).answer.result).toBe('not-ready');
  expect((await run('deliver', { ...content, entry: '../' }, { root })).answer.result).toBe('not-ready');
  expect(await findLeft()).toEqual([]);
});

test('a content gets the name that every interface gives it', async () => {
  const { reports } = await run('deliver', { content: PAGE, name: 'Мой файл.html' });
  expect(reports).toMatchObject([{ result: 'ready', file: { path: 'Мой-файл.html' } }]);
});

test.each<[string, Record<string, string>, Record<string, string>]>([
  ['path', { path: 'reports/a.html' }, {}],
  ['branch of the server', {}, { branch: 'gh-pages' }],
  ['repository of the server', {}, { repository: 'octo/site', 'allow-public-bin': 'true' }],
])('a page for a %s never goes to the public bin for want of a token', async (_, args, fixed) => {
  const { answer, host } = await run('deliver', { content: PAGE, name: 'a.html', ...args }, { fixed });
  expect(answer).toMatchObject({ result: 'not-ready', code: 'NO_TOKEN' });
  expect(answer.hint).toMatch(/^ask your human: set `GITHUB_TOKEN` /);
  expect(answer.say).toMatch(/You can change that: set `GITHUB_TOKEN` /);
  expect(host.seen).toEqual([]);
});

test('the token of the server is refused in a file, a content and an argument', async () => {
  const root = await temporaryFolder();
  await writeFile(join(root, 'leak.html'), `<p>${TOKEN}</p>`);
  for (const args of [
    { file: 'leak.html' },
    { content: `<p>${TOKEN}</p>`, name: 'a.html' },
    { content: 'x', name: 'a.html', path: TOKEN },
  ]) {
    const { answer, host } = await run('deliver', args, { root, token: TOKEN });
    expect([answer.result, answer.url]).toEqual(['not-ready', undefined]);
    expect(JSON.stringify(answer)).not.toContain(TOKEN);
    expect(host.seen).toEqual([]);
  }
});

test('what the server has fixed can not be changed by a call', async () => {
  const fixed = { channel: 'K3', marker: 'marker-42' };
  const args = { content: PAGE, name: 'a.html', as: 'page', marker: 'other' };
  const { reports } = await run('deliver', args, { fixed });
  expect(reports).toMatchObject([{ result: 'ready', channel: 'K3' }]);
});

test('an argument for another channel is told in a note, and what the server has fixed for one is not', async () => {
  const args = { content: PAGE, name: 'a.html' };
  const fixed = { channel: 'K3', branch: 'main' };
  const { reports } = await run('deliver', args, { fixed });
  expect(reports).toMatchObject([{ result: 'ready', channel: 'K3' }]);
  expect(JSON.stringify(reports)).not.toContain('had no effect');
  const noted = await run('deliver', { ...args, other_hosts: 'allow' }, { fixed });
  expect(JSON.stringify(noted.reports)).toMatch(/`other_hosts` had no effect: it is for K1 \(pages\)/);
});

describe('a file with a secret', () => {
  const SECRET = `ghp_${drawn(36)}`;

  test.each([
    ['alone', { 'page.html': `<p>marker-42 ${SECRET}</p>` }, 'page.html'],
    [
      'in a folder with more to correct',
      { 'site/index.html': PAGE, 'site/a.js': SECRET, 'site/b.css': `\n${SECRET}` },
      'site',
    ],
  ])(
    '%s is refused without its fingerprint, which only the log of the server has',
    async (_, files, file) => {
      const root = await temporaryFolder();
      await writeFiles(root, files);
      const at = output.stderr.length;
      const call = await run('deliver', { file, 'allow-secret': 'x' }, { root, token: TOKEN });
      const { answer, host, reports } = call;
      const fingerprint = /--allow-secret '?([0-9a-f]{16})/.exec(output.stderr.slice(at))?.[1] ?? 'none';
      expect(fingerprint).toMatch(/^[0-9a-f]{16}$/);
      expect(answer.reason).toContain('contains what looks like a secret: GitHub token in line');
      expect(answer.hint).toMatch(/remove it from the file and revoke it$/);
      expect(JSON.stringify([answer, reports])).not.toMatch(RegExp(`${fingerprint}|allow-secret`));
      expect(host.seen).toEqual([]);
    },
  );

  test('in an argument is refused without its fingerprint', async () => {
    const { answer } = await run('deliver', { content: PAGE, name: 'a.html', path: `${SECRET}/` });
    expect(answer.reason).toBe('argument `path` contains what looks like a secret: GitHub token');
    expect(JSON.stringify(answer)).not.toMatch(/fingerprint/);
  });
});

describe('what is hidden', () => {
  const HIDDEN = {
    '.env': PAGE,
    '.ssh/config': PAGE,
    '.config/app/session.json': PAGE,
    '.config/index.html': PAGE,
    'site/.cache/index.html': PAGE,
    'site/.env': PAGE,
    'site/index.html': PAGE,
  };

  test.each([
    ...['.env', '.ssh/config', '.config/app/session.json', '.config', '.config/', 'site/.env', 'site/.cache'],
    ...['./site/../.env', 'link.html', 'linked', 'linked/index.html'],
  ])('is never delivered or verified: %s', async (file) => {
    const root = await temporaryFolder();
    await writeFiles(root, HIDDEN);
    await symlink(join(root, '.env'), join(root, 'link.html'));
    await symlink(join(root, '.config'), join(root, 'linked'));
    for (const [tool, args] of [
      ['deliver', { file }],
      ['verify', { file, url: 'https://a.example.com/' }],
    ] as const) {
      const { answer, host } = await run(tool, args, { root });
      expect([answer.result, answer.reason]).toEqual([
        'not-ready',
        expect.stringMatching(/is hidden, or is in a hidden folder|symbolic link/),
      ]);
      expect(host.seen).toEqual([]);
    }
  });

  test('is left out of a folder, and a root may be hidden itself', async () => {
    const root = join(await temporaryFolder(), '.pages');
    await writeFiles(root, { ...HIDDEN, 'site/.well-known/a.txt': 'x' });
    const outside = (await run('deliver', { file: '/etc/passwd' }, { root })).answer;
    expect(outside.reason).toBe('the file /etc/passwd is outside the allowed folder');
    expect(outside.hint).toMatch(/^only a person can deliver it; the allowed folder is \/.*\/\.pages$/);
    const { reports } = await run('deliver', { file: 'site' }, { ...SITE, root });
    const leftOut = ['.cache/', '.env', '.well-known/'];
    expect(reports).toMatchObject([{ notReady: { code: 'BAD_TOKEN' }, site: { count: 1, leftOut } }]);
    expect(reports[0]?.lines.CODE).toContain('left out: .cache/, .env, .well-known/');
    await symlink('.env', join(root, 'site/env.txt'));
    await symlink('.cache', join(root, 'site/linked'));
    await symlink('.', join(root, 'site/loop'));
    await symlink('self', join(root, 'site/self'));
    const circle = (await run('deliver', { file: 'site/self' }, { root })).answer;
    expect(circle.hint).toBe('only a person can deliver it');
    const refused = await run('deliver', { file: 'site' }, { root });
    for (const name of ['env.txt', 'linked/', 'loop/', 'self'])
      expect(refused.answer.reason).toContain(`${name} is a symbolic link`);
    expect(refused.answer.hint).toBe('only a person can deliver it');
    expect((await run('deliver', { content: PAGE, name: '.env' }, { root })).answer.reason).toContain(
      'hidden',
    );
    const link = join(await temporaryFolder(), 'link');
    await symlink(root, link);
    await writeFile(join(root, 'index.html'), PAGE);
    await rm(join(root, 'site'), { recursive: true });
    for (const file of ['.', link, root]) {
      const { answer: whole } = await run('deliver', { file }, { ...SITE, root: link });
      expect([file, whole.code]).toEqual([file, 'BAD_TOKEN']);
    }
    for (const path of ['.hid/x.html', 'a/.well-known/x.html', '.x.html', '.x/']) {
      const { answer: one } = await run(
        'deliver',
        { content: PAGE, name: 'x.html', path },
        { ...SITE, root },
      );
      expect([path, one.reason]).toEqual([path, 'argument `path` has a name that begins with a dot']);
    }
  });
});

test('an empty folder is refused without a way that an agent does not have', async () => {
  const root = await folderWith('page.html');
  await mkdir(join(root, 'empty'));
  const { answer } = await run('deliver', { file: 'empty' }, { root });
  expect([answer.code, answer.hint]).toEqual(['BAD_FILE', expect.not.stringContaining('!')]);
});

test('a repository is named by the server alone, and never by a remote that an agent can write', async () => {
  const root = await folderWith('page.html');
  await promisify(execFile)('git', ['init', '--quiet'], { cwd: root });
  await promisify(execFile)('git', ['remote', 'add', 'origin', 'https://github.com/octo/other.git'], {
    cwd: root,
  });
  const { answer, host } = await run('deliver', { file: 'page.html', as: 'page' }, { root, token: TOKEN });
  expect([answer.code, host.seen]).toEqual(['BAD_INPUT', []]);
  expect(answer.hint).toMatch(/^ask your human: set `--repository owner\/name`/);
});

test.each<[ToolName, Record<string, string>, RegExp]>([
  ['deliver', { file: 'absent.html' }, /does not exist/],
  ['deliver', { file: 'absent.html\nother.html' }, /a call takes one file or folder/],
  ['deliver', { content: 'x', name: '../a.html' }, /`name` is not a file name/],
  ['verify', {}, /K4 needs a link/],
  ['deliver', { marker: 'marker-42' }, /nothing to deliver/],
  ['withdraw', {}, /nothing to withdraw/],
])('%s %j is an answer that says what to change, and no request', async (tool, args, reason) => {
  const { answer, host, reports } = await run(tool, args);
  expect([answer.result, answer.url, answer.reason]).toEqual([
    'not-ready',
    undefined,
    expect.stringMatching(reason),
  ]);
  expect([reports.length, host.seen]).toEqual([1, []]);
});

test('a file of a bin that this server did not deliver is refused, and the bin is not asked', async () => {
  const { answer, host } = await run('withdraw', { url: 'https://filebin.net/sv1000-abcdef/a.html' });
  expect(answer).toMatchObject({ result: 'not-ready', code: 'NOT_OURS' });
  expect(answer.say).toBe(
    'I removed nothing: this server remembers no upload of it since its start, and the file-bin deletes a file about 7 days after its upload.',
  );
  expect(host.seen).toEqual([]);
});

test('an environment that trusts any host is refused', async () => {
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const { answer, host } = await run('deliver', { content: PAGE, name: 'a.html' }, { env });
  expect(answer.reason).toContain('NODE_TLS_REJECT_UNAUTHORIZED');
  expect(host.seen).toEqual([]);
});
