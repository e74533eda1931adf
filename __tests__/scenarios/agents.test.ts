import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, MARKER, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const NARROW = fileURLToPath(new URL('../../agent/index.js', import.meta.url));

test('content with a name is delivered as a file of that name, byte by byte', async () => {
  const repository = await scenario.repository();
  const content = `\n${createPage()}\n\n`;
  const delivered = await scenario.deliver({
    repository,
    inputs: { content, name: 'answer.html', marker: MARKER, channel: 'K1' },
  });
  const url = `${repository.pages.url}answer.html`;
  await expectReady(scenario, delivered, { channel: 'K1', shows: content, url });
  expect(delivered.report.file?.path).toBe('answer.html');
});

describe('the narrow action', () => {
  /** What a prompt-injected agent would like to choose; a runner passes undeclared inputs on. */
  const CHOSEN = {
    repository: 'octo/of-somebody-else',
    token: 'ghp_ofSomebodyElse12345678',
    overwrite: 'true',
    channel: 'K3',
    path: 'index.html',
    'allow-public-bin': 'true',
    'api-url': 'https://ghes.example.com/api/v3',
  };

  test('delivers to the repository of the job with the token of the step, and replaces no file of others', async () => {
    const repository = await scenario.repository();
    const env = { GITHUB_TOKEN: scenario.world.token() };
    const inputs = { ...CHOSEN, content: createPage(), name: 'answer.html', marker: MARKER };
    const step = { repository, bundle: NARROW, env, simulatedTime: true } as const;
    const delivered = await scenario.deliver({ ...step, inputs });
    const url = `${repository.pages.url}answer.html`;
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage(), url });

    await repository.commit('index.html', createPage('of somebody else'));
    const refused = await scenario.deliver({ ...step, inputs: { ...inputs, name: 'index.html' } });
    expectNotReady(refused, { step: 'place', reason: /already exists in the repository/ });
    expect((await repository.read('index.html'))?.toString()).toBe(createPage('of somebody else'));
  });
});
