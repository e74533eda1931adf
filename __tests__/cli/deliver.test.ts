import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { parseCommand } from '../../src/cli/args.ts';
import { deliverAll } from '../../src/cli/deliver.ts';
import type { Report } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { commandFace } from '../../src/request/faces.ts';
import { say, type Text } from '../../src/words.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeHttp, fakePorts, NOON, type Scripted, type Seen } from '../support/ports.ts';
import { fakeTerminal } from './terminals.ts';

const sayHere = (text: Text): string => say(text, commandFace('deliver'));

const PAGE = '<p>marker-42</p>\n';
const SHA256 = createHash('sha256').update(PAGE).digest('hex');
const TOKEN = 'ghp_AbCd0123';

const originalFolder = process.cwd();
let folder: string;

// The command line reads the git remote of the current folder.
beforeEach(async () => {
  folder = await temporaryFolder();
  process.chdir(folder);
  for (const name of ['page.html', 'second.html']) await writeFile(name, PAGE);
});
afterAll(() => process.chdir(originalFolder));

const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: folder });

/** A repository with this remote. */
async function setRemote(url: string) {
  await git('init', '--quiet');
  await git('remote', 'add', 'origin', url);
}

/** A file-bin that accepts every file; any other host answers 401. */
function fakeBin({ method, url }: Seen): Scripted {
  const [, name, file] = new URL(url).pathname.split('/');
  if (!url.startsWith('https://filebin.net/')) return { status: 401, body: { message: 'Bad credentials' } };
  if (method === 'POST') {
    return { status: 201, body: { bin: { id: name }, file: { filename: file, sha256: SHA256 } } };
  }
  return { body: method === 'PUT' ? 'locked' : PAGE };
}

async function run(args: readonly string[], env: Record<string, string> = {}, input: readonly string[] = []) {
  const host = new FakeHttp(fakeBin);
  const ports = fakePorts(host.http);
  const terminal = fakeTerminal(ports.logger, input);
  const ready = await deliverAll(parseCommand(args), terminal, ports, env);
  return { ready, printed: terminal.printed, host, logger: ports.logger };
}

/** What is wrong with a command; nothing may be asked or printed before it is found. */
async function runForUsage(args: readonly string[], env: Record<string, string> = {}) {
  const host = new FakeHttp(fakeBin);
  const ports = fakePorts(host.http);
  const terminal = fakeTerminal(ports.logger);
  const thrown = await deliverAll(parseCommand(args), terminal, ports, env).catch((error: unknown) => error);
  expect([...host.seen, ...terminal.printed, ...ports.logger.lines]).toEqual([]);
  if (!(thrown instanceof DeliveryError) || thrown.code !== 'BAD_USAGE') throw thrown;
  const { message, about, advice: hint = '' } = thrown;
  return { message, about, hint };
}

/** Runs with --json and returns the only report. */
async function runForReport(args: readonly string[], env: Record<string, string> = {}) {
  const { printed, host } = await run([...args, '--json'], env);
  const { reports } = JSON.parse(printed[0] ?? '') as { readonly reports: readonly [Report] };
  const [report] = reports;
  return { report, host };
}

test('standard input is delivered under the name that is given, and reported by it', async () => {
  const args = ['deliver', '-', '--name', 'answer.html'];
  const { ready, printed, host } = await run(args, {}, ['<p>marker-', '42</p>\n']);
  expect(ready).toBe(true);
  expect(printed.at(-1)).toMatch(/^Ready: https:\/\/filebin\.net\/[\w-]+\/answer\.html$/);
  expect(host.seen.find(({ method }) => method === 'POST')?.body).toBe(PAGE);
  expect(JSON.stringify([printed, host.seen])).not.toContain(tmpdir());
});

test.each([
  [['deliver', '-'], 'the file name for standard input is missing', 'set `--name page.html`'],
  [['deliver', 'page.html', '--name', 'a.html'], 'only for standard input', 'set `--path a.html`'],
  [
    ['deliver', 'https://example.com/?page=[1]'],
    '`FILE` is a URL, not a path',
    '`screen-delivery verify URL`',
  ],
  [['deliver', 'page.html', '--receipt', 'page.html'], 'not an earlier receipt', 'name a new file'],
  [['deliver', '*.html', '--receipt', 'second.html'], 'not an earlier receipt', 'name a new file'],
  [['deliver', 'page.html', '--receipt', '.'], 'not an earlier receipt', 'name a new file'],
  [['deliver', 'page.html', '--receipt', 'pipe'], 'not an earlier receipt', 'name a new file'],
  [
    ['deliver', 'page.html', '--receipt', 'page.html/b'],
    "the folder for the receipt can't be created",
    'name another file',
  ],
])('%j is wrong usage, and what to change is said before anything is done', async (args, message, change) => {
  if (args.includes('pipe')) await promisify(execFile)('mkfifo', [join(folder, 'pipe')]);
  const { about, hint } = await runForUsage(args);
  expect(sayHere(about)).toContain(message);
  expect(sayHere(hint)).toContain(change);
});

test('a receipt replaces an earlier one', async () => {
  const args = ['deliver', 'page.html', '--receipt', 'receipt.json'];
  for (const nth of [1, 2]) expect([nth, (await run(args)).ready]).toEqual([nth, true]);
});

test.each(['deliver', 'withdraw'])(
  'a receipt is gone before the first request of a later %s',
  async (command) => {
    const receipt = ['--receipt', 'receipt.json'];
    await run(['deliver', 'page.html', ...receipt]);
    await run([command, 'absent.html', ...receipt]);
    expect(existsSync(join(folder, 'receipt.json'))).toBe(false);
  },
);

test('a flag without effect is told in a note', async () => {
  const { report } = await runForReport(['deliver', 'page.html', '--channel', 'K3', '--prune', 'false']);
  expect(report.notes).toContain(
    '`--prune` had no effect: it is for K1 (pages), and K3 was chosen, because it was asked for',
  );
});

test('a link that is none is answered in the words of verify, and named in the report', async () => {
  const { report } = await runForReport(['verify', 'sandbox:/mnt/data/page.html', '--marker', 'marker-42']);
  expect(report).toMatchObject({ ready: false, url: null, notReady: { code: 'NOT_EXTERNAL' } });
  expect(report.notReady?.reason).toMatch(/^`URL` is not an external https URL/);
  expect(report.notReady?.hint).toMatch(/ or publish the file with the command `deliver`$/);
  expect(report.lines.CLAIM).toContain('the given link');
});

test.each([
  [
    ['page.html'],
    'NO_TOKEN',
    'name the file, and set `--bin` to the first folder of its URL, or GITHUB_TOKEN for K1',
  ],
  [
    ['page.html', 'other.html', '--path', 'one.html', '--bin', 'my-own-bin'],
    'BAD_INPUT',
    'set `--path one.html/` to make it their folder',
  ],
])('a withdrawal of %j is refused before a host is asked', async (args, code, hint) => {
  const { report, host } = await runForReport(['withdraw', ...args]);
  expect(report.notReady).toMatchObject({ code, step: 'check', hint });
  expect(host.seen).toEqual([]);
});

test.each([
  [[], /^for a site with a page set GITHUB_TOKEN.* and `--repository`.*; otherwise pack it/],
  [['--channel', 'K1'], /^set GITHUB_TOKEN.* and `--repository`/],
  [['--bin', 'my-own-bin', '--repository', 'octo/site'], /a page use `--channel K1`/],
])('a folder without a token and with the flags %j is told what it needs', async (flags, hint) => {
  await mkdir(join(folder, 'dist'));
  await writeFile(join(folder, 'dist', 'index.html'), PAGE);
  const { report } = await runForReport(['deliver', 'dist/', '--allow-public-bin', ...flags]);
  expect(report.notReady?.hint).toMatch(hint);
});

test.each([
  [['--repository', 'octo/site', '--branch', 'gh-pages']],
  [['--repository', 'octo/site']],
  [['--branch', 'gh-pages']],
  [['--path', 'reports/x.html']],
  [['--path', 'reports/', '--allow-public-bin']],
])('a page for a place that is named by %j, without a token, never goes to the public bin', async (flags) => {
  const { report, host } = await runForReport(['deliver', 'page.html', ...flags]);
  const hint = /^set GITHUB_TOKEN to a token with the permissions `contents: write, pages: write`/;
  expect(report.notReady).toMatchObject({
    code: 'NO_TOKEN',
    step: 'authorize',
    hint: expect.stringMatching(hint),
  });
  expect(host.seen).toEqual([]);
});

describe('a pattern on the command line', () => {
  test('may match a file of another repository, which may be private', async () => {
    await mkdir(join(folder, 'clone'));
    await writeFile(join(folder, 'clone/page.html'), PAGE);
    await promisify(execFile)('git', ['init', '--quiet'], { cwd: join(folder, 'clone') });
    const { report, host } = await runForReport(['deliver', 'clo*/*.html']);
    expect(report.notReady).toMatchObject({
      code: 'NOT_EXTERNAL',
      hint: expect.stringContaining('--allow-public-bin'),
    });
    expect(host.seen).toEqual([]);
  });
});

test.each([
  [[], 30_000],
  [['--timeout', '240'], 240_000],
])('verify with %j waits %i ms for a dead link', async (flags, longest) => {
  const host = new FakeHttp(() => ({ status: 404 }));
  const ports = fakePorts(host.http);
  const terminal = fakeTerminal(ports.logger);
  const args = ['verify', 'https://preview.agent-host.com/page.html', '--marker', 'marker-42', ...flags];
  await expect(deliverAll(parseCommand(args), terminal, ports, {})).resolves.toBe(false);
  const waited = ports.clock.now() - NOON;
  expect([waited >= longest, waited <= longest + 1_000]).toEqual([true, true]);
});

describe('a file on the command line', () => {
  test('outside the current folder must be named by its absolute path', async () => {
    const elsewhere = await temporaryFolder();
    await writeFile(join(elsewhere, 'other.html'), PAGE);
    const relativePath = relative(process.cwd(), join(elsewhere, 'other.html'));
    const refused = await runForReport(['deliver', relativePath]);
    expect(refused.report.notReady).toMatchObject({
      code: 'BAD_FILE',
      reason: expect.stringContaining('is outside the current folder'),
    });
    expect(refused.host.seen).toEqual([]);
    for (const name of ['other.html', 'oth*.html']) {
      const named = await runForReport(['deliver', join(elsewhere, name)]);
      expect([name, named.report.ready]).toEqual([name, true]);
    }
  });

  test.each(['config.txt', '.git/config', 'env.txt'])(
    'is never git or hidden by an absolute path: %s',
    async (name) => {
      await git('init', '--quiet');
      await writeFile('.env', 'x');
      await symlink('.git/config', 'config.txt');
      await symlink('.env', 'env.txt');
      for (const path of [name, join(folder, name)]) {
        const { report, host } = await runForReport(['deliver', path, '--allow-public-bin']);
        expect(report.notReady?.reason).toMatch(
          /holds git's own data|leads into \.git|is a symbolic link to a hidden file/,
        );
        expect(host.seen).toEqual([]);
      }
    },
  );
});

describe('the credentials of the command line', () => {
  test('are all variables that are named like secrets, which a bundle got with `process.env`', async () => {
    const env = {
      DEPLOY_PASSWORD: 'tR0ub4dor&3-x9Zq',
      VITE_API_TOKEN: 'pk_Live0123456789ab',
      DB_SECRET: 'none',
    };
    const pages: [string, Record<string, string>][] = [
      ['page.html', env],
      ['second.html', { ...env, DEPLOY_PASSWORD: 'left out' }],
    ];
    for (const [name, bundled] of pages) {
      await writeFile(name, `<p>marker-42</p><script>const env = ${JSON.stringify(bundled)}</script>\n`);
    }
    const { report } = await runForReport(['check', 'page.html'], env);
    expect(report.notReady?.reason).toBe(
      'the file page.html contains a credential of this environment (DEPLOY_PASSWORD)',
    );
    expect(JSON.stringify(report)).not.toContain('tR0ub4dor');
    const passed = await runForReport(['check', 'second.html'], env);
    expect(passed.report.result).toBe('planned');
  });

  test.each([
    ['GITHUB_TOKEN', [] as string[]],
    ['GH_TOKEN', []],
    ['MINE', ['--token-env', 'MINE']],
  ])('are searched in the file, whichever variable holds them: %s', async (name, flags) => {
    const other = 'ghp_OtherOne77';
    await writeFile('page.html', Buffer.from(`x${other}`).toString('base64'));
    const env = { GITHUB_TOKEN: TOKEN, GH_TOKEN: TOKEN, [name]: other };
    const { report, host } = await runForReport(['deliver', 'page.html', ...flags], env);
    expect(report.notReady?.reason).toContain('contains a credential of this environment');
    expect(host.seen).toEqual([]);
  });

  test.each([
    ['NODE_TLS_REJECT_UNAUTHORIZED', '0', 'turns off'],
    ['GIT_SSL_NO_VERIFY', '0', 'turns off'],
    ...['child_process', 'http,CHILD_PROCESS ', '*', 'child*', 'net,ch*_process'].map((value) => [
      'NODE_DEBUG',
      value,
      'makes Node print the environment',
    ]),
  ])('are not used with %s=%s', async (name, value, effect) => {
    const { message } = await runForUsage(['deliver', 'page.html'], { [name]: value, GH_TOKEN: TOKEN });
    expect(message).toContain(`the environment variable ${name} ${effect}`);
  });

  test('are used with a NODE_DEBUG that prints no environment', async () => {
    const env = { NODE_DEBUG: 'http,net', GH_TOKEN: TOKEN };
    const { report } = await runForReport(['deliver', 'page.html'], env);
    expect(report.notReady?.reason ?? '').not.toContain('NODE_DEBUG');
  });

  const secret = ['ghp', 'R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m'].join('_');

  test('and a well-known secret in a pattern that matches nothing is printed nowhere', async () => {
    const { message, hint } = await runForUsage(['deliver', `*/${secret}*`]);
    expect(message).toContain('contains what looks like a secret');
    expect(message + sayHere(hint)).not.toContain(secret);
  });
});

describe('the token of the command line', () => {
  const args = ['deliver', 'page.html', '--channel', 'K1', '--repository', 'octo/site'];

  test.each<[string, string[], Record<string, string>]>([
    [
      'variable named by --token-env is empty',
      ['--token-env', 'MINE'],
      { MINE: TOKEN, GITHUB_TOKEN: 'g', GH_TOKEN: 'h' },
    ],
    ['GITHUB_TOKEN, before GH_TOKEN', [], { GITHUB_TOKEN: TOKEN, GH_TOKEN: 'h' }],
    ['GH_TOKEN', [], { GH_TOKEN: TOKEN }],
    ['GH_TOKEN, if GITHUB_TOKEN is empty', [], { GITHUB_TOKEN: '', GH_TOKEN: TOKEN }],
  ])('is read from %s and masked', async (_case, flags, env) => {
    const { host, logger } = await run([...args, ...flags], env);
    expect(host.seen[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(logger.masked).toEqual([TOKEN]);
  });

  test.each([
    ['MINE', ['--token-env', 'MINE'], { MINE: TOKEN, GITHUB_TOKEN: 'g' }],
    ['GH_TOKEN', [], { GH_TOKEN: TOKEN }],
  ])('is named by its variable where it is wrong: %s', async (name, flags, env) => {
    const { report } = await runForReport([...args, ...flags], env);
    expect(report.notReady?.hint).toContain(`set ${name} to a valid token`);
  });
});

describe('the repository of the command line', () => {
  const args = ['deliver', 'page.html', '--channel', 'K1'];
  const INSTANCE = 'https://git.example.com';

  test('is that of the git remote on the named instance, which alone gets the token', async () => {
    await setRemote('git@git.example.com:octo/site.git');
    const flags = ['--auth-url', INSTANCE, '--api-url', `${INSTANCE}/api/v3`];
    const { host } = await runForReport([...args, ...flags], { GITHUB_TOKEN: TOKEN });
    expect(host.seen.map(({ url }) => new URL(url).host)).toEqual(['git.example.com']);
    expect(host.seen[0]?.url).toContain('/repos/octo/site');
  });

  test('is not known, but there is a token: the file stays out of the public bin without a flag', async () => {
    const env = { GH_TOKEN: TOKEN };
    const { printed, host, logger } = await run(['deliver', 'page.html'], env);
    expect(host.seen.filter(({ url }) => url.includes('filebin'))).toEqual([]);
    expect(printed.join('\n')).toContain('--allow-public-bin');
    expect(logger.lines).toEqual(expect.arrayContaining(['repository: none found']));
    const allowed = await runForReport(['deliver', 'page.html', '--allow-public-bin'], env);
    expect(allowed.report).toMatchObject({ ready: true, channel: 'K3' });
  });
});

describe('deliverAll for verify', () => {
  test('opens the link in a browser only where that is enforced', async () => {
    const args = ['verify', 'https://filebin.net/b/page.html', '--marker', 'marker-42'];
    const opened = await runForReport([...args, '--screen', 'enforce']);
    expect(opened.report).toMatchObject({ ready: false, screen: { verdict: 'not-checked' } });
    const { report } = await runForReport(args);
    expect(report).toMatchObject({ ready: true, screen: null });
    expect(report.unknown.join()).not.toContain('browser');
  });
});
