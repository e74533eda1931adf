import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import type { TestRepository } from '../world/repository.ts';
import { expectReady } from './expect-report.ts';
import { createPage, type DeliveredStep, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const inputs = { channel: 'K1', path: 'previews/pr-1/', comment: 'true' };

/** A step in a run about the repository's first pull request. */
async function delivering(
  repository: TestRepository,
  text: string,
  more: Record<string, string> = {},
): Promise<DeliveredStep> {
  const repo = { full_name: repository.fullName };
  const pull_request = { number: 1, head: { sha: 'c0ffee0123456789', repo }, base: { repo } };
  return scenario.deliver({
    repository,
    files: { 'page.html': createPage(text) },
    inputs: { ...inputs, ...more },
    event: { name: 'pull_request', payload: { action: 'synchronize', pull_request, repository: repo } },
  });
}

const bodies = async (repository: TestRepository): Promise<string[]> =>
  (await repository.issues.comments(1)).map(({ body }) => body);

test('two runs at the same time create one comment, and one that fails says when its link was proven', async () => {
  const repository = await scenario.repository();
  await repository.issues.openPullRequest('a change', 'feature');
  const both = await Promise.all([delivering(repository, 'same'), delivering(repository, 'same')]);
  expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  const url = both[0]?.outputs.url;
  expect(await bodies(repository)).toEqual([expect.stringContaining(`](<${url}>)`)]);
  const failed = await delivering(repository, 'second', { marker: 'not in it' });
  expect(failed.exitCode).toBe(1);
  const [body, ...others] = await bodies(repository);
  expect(others).toEqual([]);
  expect(body).toContain('НЕ ГОТОВО');
  expect(body?.match(/https:\S+/g)).toContain(`${url}>)`);
  expect(body).toContain(`\n- Last proven at <code>c0ffee0</code>: [page.html](<${url}>)\n`);
});

test('a run whose event file is broken still delivers, and creates no comment', async () => {
  const delivered = await scenario.deliver({
    files: { 'page.html': createPage('first') },
    inputs: { ...inputs, marker: '' },
    // No JSON.
    env: { GITHUB_EVENT_PATH: fileURLToPath(import.meta.url) },
  });
  await expectReady(scenario, delivered, { channel: 'K1', shows: createPage('first') });
  expect(delivered.stdout).toContain('No comment: the run is not about a pull request');
});
