import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { TestRepository } from './repository.ts';
import { parseOutputs, runAction } from './runner.ts';
import { type GitHubWorld, startWorld } from './world.ts';

let world: GitHubWorld;
let repository: TestRepository;

beforeAll(async () => {
  world = await startWorld();
  repository = await world.repository({ owner: 'octo', name: 'runner' });
});

afterAll(() => world.stop());

/** A step's program, in a file of its own. */
async function program(source: string): Promise<string> {
  const path = join(await mkdtemp(join(world.folder, 'program-')), 'program.mjs');
  await writeFile(path, source);
  return path;
}

test('runAction does not pass on its own environment', async () => {
  process.env.LEAK = 'leak';
  const bundle = await program('console.log(JSON.stringify(process.env))');
  const { stdout } = await runAction({ world, repository, bundle, env: { EXTRA: 'extra' } });
  const env = JSON.parse(stdout);
  expect(env).toMatchObject({
    EXTRA: 'extra',
    CI: 'true',
    GITHUB_REPOSITORY: 'octo/runner',
    GITHUB_SHA: await repository.head(),
    HTTPS_PROXY: world.proxyUrl,
  });
  expect(env.LEAK).toBeUndefined();
  expect(env.HOME).not.toBe(process.env.HOME);
  expect(env.GITHUB_TOKEN).toBeUndefined();
  expect(env.GITHUB_WORKSPACE.startsWith(tmpdir())).toBe(true);
});

test('runAction ends a step after the timeout', async () => {
  const folder = await mkdtemp(join(world.folder, 'started-'));
  const bundle = await program(`
    import { writeFileSync } from 'node:fs';
    console.log('started');
    writeFileSync(${JSON.stringify(join(folder, 'started'))}, '');
    setInterval(() => {}, 1000);
  `);
  // The time is over once the step runs, however long its start took.
  jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'setImmediate', 'setInterval'] });
  try {
    const ended = expect(runAction({ world, repository, bundle, timeoutMs: 500 })).rejects.toThrow(
      /500 ms:\nstarted/,
    );
    while ((await readdir(folder)).length === 0) await new Promise((resolve) => setImmediate(resolve));
    jest.advanceTimersByTime(500);
    await ended;
  } finally {
    jest.useRealTimers();
  }
});

test('parseOutputs refuses an output without an end', () => {
  expect(parseOutputs('a=1\nb<<E\nx\n\ny\nE\nc=\n')).toEqual({ a: '1', b: 'x\n\ny', c: '' });
  expect(() => parseOutputs('b<<E\nx\n')).toThrow('The value of b has no end.');
});
