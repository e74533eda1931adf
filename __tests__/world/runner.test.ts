import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestRepository } from './repository.ts';
import { runAction } from './runner.ts';
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
