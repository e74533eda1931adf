import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import type { Repository } from '../world/repository.ts';
import { type Delivered, expectNotReady, expectReady, openStage, page } from './stage.ts';

const stage = openStage();
const inputs = { channel: 'K1', path: 'previews/pr-1/', comment: 'true' };

/** A step in a run about the repository's first pull request. */
async function delivering(
  repository: Repository,
  text: string,
  more: Record<string, string> = {},
): Promise<Delivered> {
  const repo = { full_name: repository.fullName };
  const pull_request = { number: 1, head: { sha: 'c0ffee0123456789', repo }, base: { repo } };
  return stage.deliver({
    repository,
    files: { 'page.html': page(text) },
    inputs: { ...inputs, ...more },
    event: { name: 'pull_request', payload: { action: 'synchronize', pull_request, repository: repo } },
  });
}

const bodies = async (repository: Repository): Promise<string[]> =>
  (await repository.issues.comments(1)).map(({ body }) => body);

test('two runs at the same time create one comment', async () => {
  const repository = await stage.repository();
  await repository.issues.openPullRequest('a change', 'feature');
  const both = await Promise.all([delivering(repository, 'same'), delivering(repository, 'same')]);
  expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  const url = both[0]?.outputs.url;
  expect(await bodies(repository)).toEqual([expect.stringContaining(`](<${url}>)`)]);
});

test('a delivery that fails removes the older link from the comment', async () => {
  const repository = await stage.repository();
  await repository.issues.openPullRequest('a change', 'feature');
  const { outputs } = await delivering(repository, 'first');
  const failed = await delivering(repository, 'second', { marker: 'not in it' });
  expect(failed.exitCode).toBe(1);
  const [body, ...others] = await bodies(repository);
  expect(others).toEqual([]);
  expect(body).toContain('НЕ ГОТОВО');
  expect(body).not.toContain(outputs.url);
});

test("somebody else's comment with the same marker is not changed", async () => {
  const repository = await stage.repository();
  await repository.issues.openPullRequest('a change', 'feature');
  await delivering(repository, 'first');
  const [ours = ''] = await bodies(repository);
  const planted = ours.split('\n')[0] ?? '';
  expect(planted).toMatch(/^<!-- screen-delivery:[0-9a-f]{16} -->$/);
  const other = await stage.repository();
  await other.issues.openPullRequest('a change', 'feature');
  await other.issues.comment(1, `${planted}\nopen https://evil.example/`);
  await delivering(other, 'first');
  expect(await bodies(other)).toEqual([
    `${planted}\nopen https://evil.example/`,
    expect.stringContaining('https://octo.github.io/'),
  ]);
});

test('a first delivery that fails creates no comment', async () => {
  const repository = await stage.repository();
  await repository.issues.openPullRequest('a change', 'feature');
  const { exitCode } = await delivering(repository, 'first', { marker: 'not in it' });
  expect(exitCode).toBe(1);
  expect(await bodies(repository)).toEqual([]);
});

test('a run whose event file is broken still delivers, and creates no comment', async () => {
  const repository = await stage.repository();
  const delivered = await stage.deliver({
    repository,
    files: { 'page.html': page('first') },
    inputs: { ...inputs, marker: '' },
    // No JSON.
    env: { GITHUB_EVENT_PATH: fileURLToPath(import.meta.url) },
  });
  await expectReady(stage, delivered, { channel: 'K1', shows: page('first') });
  expect(delivered.stdout).toContain('No comment: the run is not about a pull request');
});

test('an unreadable `comment` is refused: the step fails and creates no comment', async () => {
  const repository = await stage.repository();
  await repository.issues.openPullRequest('a change', 'feature');
  const delivered = await delivering(repository, 'first', { comment: 'tRUE' });
  expectNotReady(delivered, { step: 'check', reason: /^input `comment` is neither true nor false$/ });
  expect(await bodies(repository)).toEqual([]);
});
