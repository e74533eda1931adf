import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import type { Report } from '../../src/delivery/report.ts';
import { type ChildResult, runChild } from '../world/child.ts';
import { SIMULATED_TIME, writeFiles } from '../world/runner.ts';
import { parseDocument, parseReports } from './report-documents.ts';
import { CLI, createPage, NODE, setUpScenario } from './scenario.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LINES = ['CLAIM', 'CODE', 'TEST', 'RESULT', 'UNKNOWN'];
const sha256 = (bytes: string): string => createHash('sha256').update(bytes).digest('hex');

const scenario = setUpScenario();

/** A call of the command line in a folder of its own. */
interface Call {
  readonly files?: Readonly<Record<string, string>>;
  /** The folder's git remote; by default the folder is not a repository. */
  readonly remote?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly program?: string;
}

async function launch(args: readonly string[], { files, remote, env, program = CLI }: Call) {
  const folder = await mkdtemp(join(scenario.world.folder, 'shell-'));
  await writeFiles(folder, files ?? { 'page.html': createPage() });
  if (remote !== undefined) {
    await promisify(execFile)('git', ['init', '--quiet'], { cwd: folder });
    await promisify(execFile)('git', ['remote', 'add', 'origin', remote], { cwd: folder });
  }
  const quick = args[0] === 'deliver' ? ['--poll-interval', '0.05'] : [];
  return {
    args: [program, ...args, ...quick],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, ...scenario.world.env, ...env },
  };
}

const run = async (args: readonly string[], call: Call = {}): Promise<ChildResult> =>
  runChild(NODE, await launch(args, call));

/** Starts a call; its output grows as it is printed. */
async function start(args: readonly string[], call: Call) {
  const { args: words, cwd, env } = await launch(args, call);
  const child = spawn(NODE, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output, ended };
}

/** The reports of a call with --json: stdout holds them and nothing else. */
const reportsOf = ({ stdout }: Pick<ChildResult, 'stdout'>): readonly Report[] => parseReports(stdout);

test('without a token, client id and git remote, a file is delivered over K3 and the report is printed', async () => {
  const { exitCode, stdout, stderr } = await run(['deliver', 'page.html', '--report', '--verbose']);
  expect(exitCode).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.split(':')[0])).toEqual(LINES);
  const url = /^RESULT: ГОТОВО → (https:\/\/filebin\.net\/\S+)$/m.exec(stdout)?.[1] ?? '';
  const [, bin = '', name = ''] = new URL(url).pathname.split('/');
  expect(scenario.world.filebin.bins.get(bin)?.files.get(name)?.sha256).toBe(sha256(createPage()));
  // The log has no address: only the report has it, once it is verified.
  const headings = stderr.split('\n').filter((line) => /^\S/.test(line));
  expect(headings).toEqual([
    'Check page.html',
    'Authorize',
    'Plan',
    expect.stringMatching(/^Publish to file-bin: bin sv\d+-\w{16}, name page\.html$/),
    'Verify the public URL',
  ]);
  expect(stderr).not.toContain('https://filebin.net');
  expect(scenario.world.traffic.exchanges(/github/)).toEqual([]);
});

describe('with a token', () => {
  test('several files are delivered together, a dry run writes nothing, and withdraw removes them', async () => {
    const repository = await scenario.repository();
    const env = { GITHUB_TOKEN: scenario.world.token() };
    const files = { 'out/a.html': createPage('a'), 'out/deep/b.html': createPage('b') };
    const where = ['--repository', repository.fullName, '--channel', 'K1', '--path', 'previews/'];
    const deliver = ['deliver', 'out/a.html', 'out/deep/b.html', ...where, '--json'];

    const dry = await run([...deliver, '--dry-run'], { env, files });
    expect(dry.exitCode).toBe(0);
    expect(reportsOf(dry).map(({ result }) => result)).toEqual(['planned', 'planned']);
    expect(reportsOf(dry)[0]?.lines.CODE).toMatch(/method [BC].*: commit "ADD a\.html: .*"; branch main/);
    expect(await repository.log()).toHaveLength(1);
    expect(parseDocument(dry.stdout)).toMatchObject({
      result: 'planned',
      reason: 'nothing failed, and nothing was written',
      hint: 'leave `--dry-run` out to do it',
    });

    const delivered = await run(deliver, { env, files });
    expect(reportsOf(delivered).map(({ url }) => url)).toEqual([
      `${repository.pages.url}previews/a.html`,
      `${repository.pages.url}previews/deep/b.html`,
    ]);
    expect(await repository.log()).toHaveLength(3);

    const withdrawn = await run(['withdraw', ...where, '--json'], { env });
    expect(withdrawn.exitCode).toBe(0);
    expect(reportsOf(withdrawn).map(({ ready, url }) => [ready, url])).toEqual([[true, null]]);
    expect(await repository.read('previews/a.html')).toBeNull();
    expect(await repository.log()).toHaveLength(4);
  });
});

test('on an older Node, one sentence names the needed version', async () => {
  const older = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'22.18.9'})";
  const { exitCode, stdout, stderr } = await run(['contract'], {
    env: { NODE_OPTIONS: `--import=${older}` },
  });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toMatch(
    /^Error: screen-delivery needs Node 22\.19 or newer; this is 22\.18\.9\nTo fix: install a newer Node, or .* absolute paths\n$/,
  );
});

test('wrong usage is also reported as JSON if JSON is requested', async () => {
  const { exitCode, stdout, stderr } = await run(['deliver', 'page.html', '--channel', 'K9', '--json']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: '' });
  const says = { result: 'not-ready', code: 'BAD_USAGE', url: '', reports: [] };
  expect(parseDocument(stdout)).toMatchObject({ ...says, hint: expect.stringMatching(/^use auto, K1/) });
});

describe('SIGINT', () => {
  /** Starts a call, interrupts it once `when` is true, and waits for its end. */
  async function interrupted(args: readonly string[], call: Call, when: (stderr: string) => boolean) {
    const { child, output, ended } = await start(args, call);
    try {
      const deadline = performance.now() + 60_000;
      while (!when(output.stderr)) {
        if (child.exitCode !== null || performance.now() > deadline) {
          throw new Error(`it never came so far:\n${output.stdout}\n${output.stderr}`);
        }
        await sleep(5);
      }
      child.kill('SIGINT');
      const exitCode = await Promise.race([ended, sleep(100_000, 'still running' as const, { ref: false })]);
      return { exitCode, ...output };
    } finally {
      child.kill('SIGKILL');
    }
  }

  /** It is an honest НЕ ГОТОВО, at once, and hands over no address. */
  function expectStopped(result: Awaited<ReturnType<typeof interrupted>>, step: string): string {
    const { exitCode, stdout, stderr } = result;
    const [, said] =
      /^RESULT: НЕ ГОТОВО → the delivery was stopped before it was finished \(step (\w+)(?:, HTTP \d+)?\)\. To fix: run it again: /m.exec(
        stdout,
      ) ?? [];
    expect(said).toBe(step);
    expect(exitCode).toBe(1);
    expect(stdout + stderr).not.toMatch(/https:\/\/\S*(github\.io|filebin\.net|releases\/download)/);
    return /^UNKNOWN: (.*)$/m.exec(stdout)?.[1] ?? '';
  }

  test("while a person's approval is awaited", async () => {
    const repository = await scenario.repository();
    scenario.world.deviceUser.script = ['pending'];
    const args = ['deliver', 'page.html', '--client-id', 'Iv1.0123', '--repository', repository.fullName];
    // The code is shown without a log, and nothing else.
    const result = await interrupted([...args, '--report'], {}, (stderr) =>
      stderr.includes('enter the code'),
    );
    expect(result.stderr).toMatch(
      /^ {2}Open https:\/\/github\.com\/login\/device and enter the code [\w-]+\n$/,
    );
    expect(expectStopped(result, 'authorize')).toContain('nothing was published');
  });

  test('while a large file is read', async () => {
    const folder = await mkdtemp(join(scenario.world.folder, 'large-'));
    const large = join(folder, 'large.bin');
    const handle = await open(large, 'w');
    // Sparse: takes no room, and longer to hash than the test waits.
    await handle.truncate(512 * 1024 ** 3);
    await handle.close();
    const result = await interrupted(['deliver', large, '--report', '--verbose'], {}, (stderr) =>
      stderr.includes('Check '),
    );
    expect(expectStopped(result, 'check')).toContain('nothing was published');
  });

  test('among several files: placed files are reported as placed, and no other file is started', async () => {
    const files = { 'a.html': createPage('a'), 'b.html': createPage('b'), 'c.html': createPage('c') };
    const hanging = scenario.intercept({ method: 'POST', url: /filebin.*b\.html/ }, { fault: 'hang' });
    const args = ['deliver', 'a.html', 'b.html', 'c.html', '--json'];
    // In simulated time nothing but the signal can end a request that hangs.
    const call = { files, env: SIMULATED_TIME };
    const { stdout, exitCode } = await interrupted(args, call, () => hanging.hits > 0);
    expect(exitCode).toBe(1);
    const reports = reportsOf({ stdout });
    expect(reports.map(({ file }) => file?.path)).toEqual(Object.keys(files));
    expect(reports.map(({ ready }) => ready)).toEqual([false, false, false]);
    expect(reports[0]?.lines.UNKNOWN).toContain('it is published: HTTP 201, ');
    expect(scenario.world.traffic.exchanges(/POST .*c\.html/)).toEqual([]);
  });
});

describe('a machine without free resources', () => {
  const limited = (limit: string, { args, cwd, env }: Awaited<ReturnType<typeof launch>>) =>
    runChild('bash', { args: ['-c', `${limit}; echo text | "$@"`, 'bash', NODE, ...args], cwd, env });

  test.each<[string, string, string[], Record<string, string>, RegExp, string]>([
    [
      'no file can grow',
      'ulimit -f 0',
      ['-', '--name', 'a.txt'],
      {},
      /^this machine can't write: file too large \(EFBIG\)$/,
      '`ulimit -f`',
    ],
    [
      'the temporary folder is missing',
      ':',
      ['-', '--name', 'a.txt'],
      { TMPDIR: '/dev/null' },
      /^this machine can't use \/dev\/null\/\S+: not a directory \(ENOTDIR\)$/,
      '`TMPDIR`',
    ],
    [
      "git can't write a file",
      'ulimit -f 0',
      ['dist'],
      {},
      /^creating .* failed: (?:git|a signal ended git)/,
      '`ulimit -a`',
    ],
  ])("%s: the report says so, and doesn't call it a bug", async (_, limit, args, more, reason, hint) => {
    const repository = await scenario.repository();
    const files = { 'dist/index.html': createPage(), 'dist/a.txt': 'a' };
    const env = { GITHUB_TOKEN: scenario.world.token(), ...more };
    const words = ['deliver', ...args, '--repository', repository.fullName, '--channel', 'K1', '--json'];
    const { stdout, exitCode } = await limited(limit, await launch(words, { files, env }));
    const said = {
      code: 'LOCAL',
      reason: expect.stringMatching(reason),
      hint: expect.stringContaining(hint),
    };
    expect(parseDocument(stdout)).toMatchObject(said);
    expect(exitCode).toBe(1);
  });

  test('with a low limit of open files, the action is ready or reports why, and its outputs are written', async () => {
    const repository = await scenario.repository();
    for (const most of [22, 23, 24, 25, 26]) {
      const files = {
        'dist/index.html': createPage(`${most}`),
        'dist/a.txt': 'a',
        'dist/b.txt': 'b',
        outputs: '',
      };
      const call = await launch([], { files, program: join(ROOT, 'dist/index.js') });
      const inputs = { INPUT_FILE: 'dist', INPUT_TOKEN: scenario.world.token(), INPUT_SCREEN: 'off' };
      const around = { GITHUB_REPOSITORY: repository.fullName, GITHUB_OUTPUT: join(call.cwd, 'outputs') };
      const times = { INPUT_TIMEOUT: '2', 'INPUT_POLL-INTERVAL': '0.05' };
      const env = { ...call.env, ...inputs, ...around, ...times };
      await limited(`ulimit -n ${most}`, { ...call, env });
      // What runs out of files first, Node itself or the action, is a matter of chance.
      const outputs = await readFile(around.GITHUB_OUTPUT, 'utf8');
      expect({ most, outputs }).toEqual({ most, outputs: expect.stringMatching(/^result<</m) });
      expect(outputs).toMatch(/"result": ?"(?:not-)?ready"/);
    }
  });
});

describe("output that can't be written", () => {
  test('a log that nobody reads does not end a delivery', async () => {
    const repository = await scenario.repository();
    const args = ['deliver', 'page.html', '--repository', repository.fullName, '--json'];
    const env = { GITHUB_TOKEN: scenario.world.token() };
    const { child, output, ended } = await start(args, { env });
    child.stderr.on('data', () => {
      if (/^Publish to /m.test(output.stderr)) child.stderr.destroy();
    });
    expect(await ended).toBe(0);
    const url = `${repository.pages.url}page.html`;
    expect(parseDocument(output.stdout)).toMatchObject({ result: 'ready', url });
  });

  test.each([
    ['a full disk', '> /dev/full', 1],
    ['a closed pipe', '| true', 0],
  ])('a result that goes to %s: exit code %s', async (_, where, code) => {
    const { args, cwd, env } = await launch(['check', 'page.html', '--json'], {});
    const words = ['-c', `set -o pipefail; "$@" ${where}`, 'bash', NODE, ...args];
    const shell = await runChild('bash', { args: words, cwd, env });
    expect(shell).toMatchObject({ exitCode: code, stderr: '' });
  });

  test("the action's outputs are written even if nobody reads its log", async () => {
    const files = { 'page.html': createPage(), outputs: '' };
    const { args, cwd, env } = await launch([], { files, program: join(ROOT, 'dist/index.js') });
    const shell = await runChild('bash', {
      args: ['-c', '"$@" | true', 'bash', NODE, ...args],
      cwd,
      env: { ...env, GITHUB_OUTPUT: join(cwd, 'outputs') },
    });
    expect(shell.stderr).toBe('');
    expect(await readFile(join(cwd, 'outputs'), 'utf8')).toContain('nothing to deliver');
  });
});

test('list prints what was delivered, and writes a page only over an earlier list', async () => {
  const repository = await scenario.repository();
  const to = ['--repository', repository.fullName];
  const env = { GITHUB_TOKEN: scenario.world.token() };
  await run(['deliver', 'page.html', ...to, '--path', 'a/page.html'], { env });
  const listed = await run(['list', ...to, '--json', '--html', 'list.html'], { env });
  const written = await run(['list', ...to, '--html', 'new/overview/index.html'], { env });
  expect(written).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^Written: new\/overview\/index\.html$/m),
  });
  expect(listed.exitCode).toBe(0);
  expect(JSON.parse(listed.stdout)).toMatchObject({
    result: 'listed',
    deliveries: [{ path: 'a/page.html', url: `${repository.pages.url}a/page.html`, files: 1 }],
  });
  const text = await run(['list', ...to, '--path', 'a/'], { env });
  expect(text.stdout).toMatch(/^a\/page\.html .*\n1 delivery below a\/; nothing was verified\. To verify/);
  const refused = await run(['list', ...to, '--html', 'page.html'], { env });
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('not an earlier list')]);
  const failed = await run(['list', ...to]);
  expect([failed.exitCode, failed.stdout]).toEqual([1, expect.stringMatching(/^Not ready: .*token/)]);
});
