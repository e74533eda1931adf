import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, expect, test } from '@jest/globals';
import '../../support/one-realm.ts';
import { type GitOptions, hasGit, runGit } from '../../../src/github/git/process.ts';
import { EXCHANGE } from '../../../src/protocol/limits.ts';
import { SimulatedClock } from '../../faults/simulated-clock.ts';
import { NODE } from '../../scenarios/scenario.ts';
import { temporaryFolder } from '../../support/files.ts';
import { fakePorts } from '../../support/ports.ts';
import { runChild } from '../../world/child.ts';
import { writeGitScript } from './git-script.ts';

const { PATH } = process.env;
/** Longer than any test: a script that sleeps so long only ends when it is killed. */
const SLEEP = 'sleep 1000';

afterEach(() => {
  process.env.PATH = PATH;
});

/** The run of a `git` that is this shell script. */
async function createRun(script: string, overrides: Partial<GitOptions> = {}): Promise<GitOptions> {
  const env = { PATH: await writeGitScript(script) };
  return { args: [], folder: await temporaryFolder(), env, ...overrides };
}

test('runGit returns both outputs and the exit code', async () => {
  const run = await createRun('echo "out $1"; echo "err $2" >&2; exit 3', { args: ['one', 'two words'] });
  await expect(runGit(run, fakePorts())).resolves.toEqual({
    exitCode: 3,
    out: 'out one\n',
    err: 'err two words\n',
  });
});

test.each(['out', 'err'] as const)('runGit keeps only the end of a long %s', async (name) => {
  const redirect = name === 'err' ? ' >&2' : '';
  const script = `{ echo first; yes middle | head -n 100000; echo last; }${redirect}`;
  const { [name]: text } = await runGit(await createRun(script), fakePorts());
  expect(text).toMatch(/^(?!first).*\nmiddle\nlast\n$/s);
  expect(text.length).toBeLessThanOrEqual(65_536);
});

test('an input that git does not read to its end changes nothing of its exit code', async () => {
  const input = Readable.from(Array(100).fill('x'.repeat(10_000)));
  await expect(runGit(await createRun('exit 4', { input }), fakePorts())).resolves.toMatchObject({
    exitCode: 4,
  });
});

test('runGit rejects with the reason of the abort also when git has ended with a failure of the input', async () => {
  const { stop, ...ports } = fakePorts();
  async function* read(): AsyncGenerator<string> {
    yield 'first part';
    stop.abort(new Error('stopped'));
    throw new Error('the file was closed');
  }
  const input = Readable.from(read(), { objectMode: false });
  const run = await createRun(SLEEP, { input });
  await expect(runGit(run, ports)).rejects.toThrow('stopped');
});

test('runGit fails if no process can be started, and no event of it ends the program', async () => {
  const source = new URL('../../../src/github/git/process.ts', import.meta.url).href;
  const script = `
    const { openSync } = await import('node:fs');
    const { runGit } = await import('${source}');
    try { for (;;) openSync('/dev/null'); } catch {}
    const { signal } = new AbortController();
    const ports = { signal, clock: { timeout: () => signal } };
    const run = { args: [], folder: '/', env: { PATH: '' }, size: 0 };
    const failure = await runGit(run, ports).catch((thrown) => thrown);
    process.stdout.write(failure.message);`;
  const words = ['-c', 'ulimit -n 64; "$@"', 'bash', NODE, '--input-type=module', '--eval', script];
  const ended = await runChild('bash', { args: words, cwd: '/', env: {} });
  expect(ended).toMatchObject({ exitCode: 0, stdout: 'spawn git EMFILE' });
});

test.each([
  ['git version 2.31.0', true],
  ['git version 2.39.5 (Apple Git-154)', true],
  ['git version 2.30.9', false],
  ['no version', false],
])('hasGit returns for %j: %s', async (version, expected) => {
  process.env.PATH = await writeGitScript(`echo "${version}"`);
  await expect(hasGit(fakePorts())).resolves.toBe(expected);
});

test("hasGit returns false if no git is installed or it can't be run", async () => {
  const folder = await temporaryFolder();
  process.env.PATH = folder;
  await expect(hasGit(fakePorts())).resolves.toBe(false);
  await writeFile(join(folder, 'git'), 'echo git version 2.40.0', { mode: 0o644 });
  await expect(hasGit(fakePorts())).resolves.toBe(false);
});

test('hasGit returns false if git hangs', async () => {
  process.env.PATH = await writeGitScript(SLEEP);
  const clock = new SimulatedClock();
  const found = hasGit({ ...fakePorts(), clock });
  await clock.advance(EXCHANGE.api);
  await expect(found).resolves.toBe(false);
});

test('hasGit rejects with the reason of an abort', async () => {
  const signal = AbortSignal.abort(new Error('stopped'));
  await expect(hasGit({ ...fakePorts(), signal })).rejects.toThrow('stopped');
});
