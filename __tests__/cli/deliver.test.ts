import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { parseCommand, UsageError } from '../../src/cli/args.ts';
import { deliverAll } from '../../src/cli/deliver.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import type { Report } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeHttp, fakePorts, type Scripted, type Seen } from '../support/ports.ts';

const PAGE = '<p>marker-42</p>\n';
const SHA256 = createHash('sha256').update(PAGE).digest('hex');
const TOKEN = 'ghp_AbCd0123';

const home = process.cwd();
let folder: string;

// The command line looks for a repository in the folder it stands in.
beforeEach(async () => {
  folder = await temporaryFolder();
  process.chdir(folder);
  for (const name of ['page.html', 'second.html']) await writeFile(name, PAGE);
});
afterAll(() => process.chdir(home));

const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: folder });

/** A bin that takes everything and gives it back; anything else answers 401. */
function bin({ method, url }: Seen): Scripted {
  const [, name, file] = new URL(url).pathname.split('/');
  if (!url.startsWith('https://filebin.net/')) return { status: 401, body: { message: 'Bad credentials' } };
  if (method === 'POST') {
    return { status: 201, body: { bin: { id: name }, file: { filename: file, sha256: SHA256 } } };
  }
  return { body: method === 'PUT' ? 'locked' : PAGE };
}

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const printed: string[] = [];
  const host = new FakeHttp(bin);
  const ports = fakePorts(host.http);
  const terminal: Terminal = {
    print: (text) => void printed.push(text),
    complain: () => undefined,
    logger: ports.logger,
  };
  const ready = await deliverAll(parseCommand(args), terminal, ports, env);
  return { ready, printed, host, logger: ports.logger };
}

/** The one report of a run with --json. */
async function reported(args: readonly string[], env: Record<string, string> = {}) {
  const { printed, host } = await run([...args, '--json'], env);
  const [report] = JSON.parse(printed[0] ?? '') as [Report];
  return { report, host };
}

describe('deliver', () => {
  test('prints the report in the protocol’s lines', async () => {
    const { ready, printed } = await run(['deliver', 'page.html']);
    expect(ready).toBe(true);
    expect(printed).toHaveLength(1);
    expect(printed[0]?.split('\n').map((line) => line.split(':')[0])).toEqual([
      'CLAIM',
      'CODE',
      'TEST',
      'RESULT',
      'UNKNOWN',
    ]);
    expect(printed[0]).toMatch(/^RESULT: ГОТОВО → https:\/\/filebin\.net\/sv1767323045-\w{16}\/page\.html$/m);
  });

  test('prints a report for each file, and is ready only when all are', async () => {
    const { ready, printed } = await run(['deliver', 'absent.html', 'page.html', 'second.html']);
    expect(ready).toBe(false);
    expect(printed).toHaveLength(1);
    const texts = printed[0]?.split('\n\n') ?? [];
    expect(texts.map((text) => /^RESULT: (.*?) →/m.exec(text)?.[1])).toEqual([
      'НЕ ГОТОВО',
      'ГОТОВО',
      'ГОТОВО',
    ]);
  });

  test('with --json prints all reports as one array', async () => {
    const { ready, printed } = await run(['deliver', 'page.html', 'second.html', '--json']);
    expect(ready).toBe(true);
    expect(printed).toHaveLength(1);
    const reports = JSON.parse(printed[0] ?? '') as Report[];
    expect(reports.map(({ ready: each, file }) => [each, file?.path])).toEqual([
      [true, 'page.html'],
      [true, 'second.html'],
    ]);
  });

  test('leaves no meter running when the upload breaks off: a bar would keep the cursor hidden', async () => {
    const broken = new DeliveryError('CONNECTION', 'the exchange broke off');
    const ports = fakePorts(async ({ body }) => {
      for await (const _chunk of body?.() ?? []) break;
      throw broken;
    });
    const terminal = { print: () => undefined, complain: () => undefined, logger: ports.logger };
    await deliverAll(parseCommand(['deliver', 'page.html']), terminal, ports, {});
    // A stream lets go of its source a moment after it was destroyed.
    await new Promise((resolve) => setImmediate(resolve));
    expect(ports.logger.meters).toMatchObject([{ title: 'uploaded', total: PAGE.length, ended: true }]);
  });

  test('makes a report of an input that is refused', async () => {
    const { report } = await reported(['deliver', 'page.html', '--channel', 'K9']);
    expect(report).toMatchObject({
      ready: false,
      file: { path: 'page.html' },
      notReady: { step: 'check', code: 'BAD_INPUT' },
    });
  });
});

describe('the token', () => {
  const args = ['deliver', 'page.html', '--channel', 'K1', '--repository', 'octo/site'];

  test.each<[string, string[], Record<string, string>]>([
    [
      'the variable that --token-env names',
      ['--token-env', 'MINE'],
      { MINE: TOKEN, GITHUB_TOKEN: 'g', GH_TOKEN: 'h' },
    ],
    ['GITHUB_TOKEN, before GH_TOKEN', [], { GITHUB_TOKEN: TOKEN, GH_TOKEN: 'h' }],
    ['GH_TOKEN', [], { GH_TOKEN: TOKEN }],
    ['GH_TOKEN, where GITHUB_TOKEN is empty', [], { GITHUB_TOKEN: '', GH_TOKEN: TOKEN }],
  ])('is taken from %s, and masked', async (_where, flags, env) => {
    const { host, logger } = await run([...args, ...flags], env);
    expect(host.seen[0]?.headers.authorization).toBe(`token ${TOKEN}`);
    expect(logger.masked).toEqual([TOKEN]);
  });

  test.each([{}, { MINE: '' }])('is missed in %j where --token-env names MINE', async (env) => {
    const missed = run([...args, '--token-env', 'MINE'], env);
    await expect(missed).rejects.toThrow(UsageError);
    await expect(missed).rejects.toThrow('the environment variable MINE holds no token');
  });

  test('is of no use to verify, and not read for it', async () => {
    const link = 'https://preview.agent-host.com/';
    const { logger } = await run(['verify', link, '--marker', 'm', '--timeout', '1'], {
      GITHUB_TOKEN: TOKEN,
    });
    expect(logger.masked).toEqual(['']);
  });
});

describe('the repository', () => {
  const REMOTES: [string, string | undefined][] = [
    ['https://github.com/octo/site.git', 'octo/site'],
    ['https://github.com/octo/site', 'octo/site'],
    ['https://github.com/octo/site/', 'octo/site'],
    ['https://x-access-token:secret@github.com/octo/site.git', 'octo/site'],
    ['git@github.com:octo/site.git', 'octo/site'],
    ['ssh://git@github.com/octo/site.git', 'octo/site'],
    ['ssh://git@github.com:22/octo/site', 'octo/site'],
    ['https://github.com/octo/octo.github.io.git', 'octo/octo.github.io'],
  ];
  const args = ['deliver', 'page.html', '--channel', 'K1'];
  const asked = ({ seen }: FakeHttp) => seen.map(({ url }) => /\/repos\/([^/]+\/[^/]+)/.exec(url)?.[1]);

  test.each(REMOTES)('is that of the remote %s', async (remote, repository) => {
    await git('init', '--quiet');
    await git('remote', 'add', 'origin', remote);
    const { host } = await reported(args, { GITHUB_TOKEN: TOKEN });
    expect(asked(host)).toEqual([repository]);
  });

  test.each([
    // The token would be shown, and the file published, where nobody meant it: github.com/<same name>.
    'https://gitlab.com/octo/site.git',
    'git@codeberg.org:octo/site.git',
    '/srv/git/site.git',
    '../origin/site.git',
  ])('is not guessed from %s, which is no remote of the host', async (remote) => {
    await git('init', '--quiet');
    await git('remote', 'add', 'origin', remote);
    const { host, report } = await reported(args, { GITHUB_TOKEN: TOKEN });
    expect(asked(host)).toEqual([]);
    expect(report.notReady?.code).toBe('NO_TOKEN');
  });

  test('is that of a remote on the host that --auth-url names', async () => {
    await git('init', '--quiet');
    await git('remote', 'add', 'origin', 'git@git.example.com:octo/site.git');
    const place = ['--auth-url', 'https://git.example.com', '--api-url', 'https://git.example.com/api/v3'];
    const { host } = await reported([...args, ...place], { GITHUB_TOKEN: TOKEN });
    expect(asked(host)).toEqual(['octo/site']);
  });

  test('is that of a remote on the instance whose runner this is, and only it is given the token', async () => {
    await git('init', '--quiet');
    await git('remote', 'add', 'origin', 'https://git.example.com/octo/site.git');
    const runner = {
      GITHUB_API_URL: 'https://git.example.com/api/v3',
      GITHUB_SERVER_URL: 'https://git.example.com',
    };
    const { host } = await reported(args, { GITHUB_TOKEN: TOKEN, ...runner });
    expect(asked(host)).toEqual(['octo/site']);
    expect(host.seen.map(({ url }) => new URL(url).host)).toEqual(['git.example.com']);
  });

  test('is looked for on no two instances at once', async () => {
    const place = ['--repository', 'octo/site', '--api-url', 'https://git.example.com/api/v3'];
    const { host, report } = await reported([...args, ...place], { GITHUB_TOKEN: TOKEN });
    expect(host.seen).toEqual([]);
    expect(report.notReady?.hint).toContain('auth-url: https://git.example.com');
  });

  test('is what --repository says, before any remote', async () => {
    await git('init', '--quiet');
    await git('remote', 'add', 'origin', 'https://github.com/octo/site.git');
    const { host } = await reported([...args, '--repository', 'octo/other'], { GITHUB_TOKEN: TOKEN });
    expect(asked(host)).toEqual(['octo/other']);
  });

  test('is none where there is no remote, and nothing is wrong with that', async () => {
    await git('init', '--quiet');
    const { report } = await reported(['deliver', 'page.html']);
    expect(report).toMatchObject({ ready: true, channel: 'K3' });
  });

  test.each(['https://github.com/octo/site.git', 'git@gitlab.com:octo/site.git'])(
    'may be private where nobody tells: the public bin waits for the flag (%s)',
    async (remote) => {
      await git('init', '--quiet');
      await git('remote', 'add', 'origin', remote);
      const refused = await reported(['deliver', 'page.html']);
      expect(refused.report).toMatchObject({
        ready: false,
        notReady: { code: 'NOT_EXTERNAL', step: 'authorize' },
      });
      expect(refused.report.notReady?.hint).toContain('allow-public-bin');
      expect(refused.host.seen).toEqual([]);
      const allowed = await reported(['deliver', 'page.html', '--allow-public-bin']);
      expect(allowed.report).toMatchObject({ ready: true, channel: 'K3' });
    },
  );
});

describe('verify', () => {
  test('proves the link by the marker, or by the file', async () => {
    const link = 'https://filebin.net/bin/page.html';
    const marked = await reported(['verify', link, '--marker', 'marker-42']);
    expect(marked.report).toMatchObject({ ready: true, url: link, channel: 'K4' });
    const same = await reported(['verify', link, '--file', 'page.html']);
    expect(same.report).toMatchObject({ ready: true, url: link, file: { sha256: SHA256 } });
    expect(same.host.seen.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  test('refuses a link that is no delivery, under its own name', async () => {
    const { report } = await reported(['verify', 'sandbox:/mnt/data/page.html', '--marker', 'm']);
    expect(report).toMatchObject({ ready: false, url: null, notReady: { code: 'NOT_EXTERNAL' } });
    expect(report.lines.CLAIM).toContain('the given link');
  });
});
