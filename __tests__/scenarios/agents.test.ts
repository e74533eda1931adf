import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, MARKER, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const NARROW = fileURLToPath(new URL('../../agent/index.js', import.meta.url));

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

  const step = () => ({ bundle: NARROW, env: { GITHUB_TOKEN: scenario.world.token() }, simulatedTime: true });
  /** Delivered byte by byte. */
  const content = `\n${createPage()}\n\n`;
  const inputs = { ...CHOSEN, content, name: 'answer.html', marker: MARKER };

  test('delivers to its own folder of the site, and replaces only what the same job delivered there', async () => {
    const repository = await scenario.repository({ pages: { path: '/docs' } });
    const url = `${repository.pages.url}agent/answer.html`;
    const first = await scenario.deliver({ ...step(), repository, inputs });
    await expectReady(scenario, first, { channel: 'K1', shows: content, url });
    const next = createPage('next');
    const second = await scenario.deliver({ ...step(), repository, inputs: { ...inputs, content: next } });
    await expectReady(scenario, second, { channel: 'K1', shows: next, url });

    // Files of the tool, another job or a person do not belong to the agent.
    const path = 'docs/agent/report.html';
    await scenario.deliver({
      repository,
      simulatedTime: true,
      inputs: { content: createPage('of the tool'), name: 'report.html', path: 'docs/agent/', channel: 'K1' },
    });
    const others = [
      { name: 'report.html', env: {} },
      { name: 'answer.html', env: { GITHUB_JOB: 'other' } },
    ];
    for (const { name, env } of others) {
      const { env: own, ...rest } = step();
      const page = { ...inputs, name, content: createPage('of the agent') };
      const refused = await scenario.deliver({ ...rest, env: { ...own, ...env }, repository, inputs: page });
      expectNotReady(refused, 'place', /no record shows that the same confined job delivered/);
      expect(refused.report.notReady?.hint).toBe('set `name:` to another name');
    }
    expect((await repository.read(path))?.toString()).toBe(createPage('of the tool'));
    expect((await repository.read('docs/agent/answer.html'))?.toString()).toBe(next);
  });

  test('refuses names and content that would affect more than the page', async () => {
    const repository = await scenario.repository();
    const head = await repository.head();
    const command = '::set-output name=url::https://evil.example.org/';
    for (const wrong of [
      { name: `\n${command}` },
      { content: `---\npermalink: /index.html\n${command}\n---\n${MARKER}` },
    ]) {
      const refused = await scenario.deliver({ ...step(), repository, inputs: { ...inputs, ...wrong } });
      expectNotReady(refused, 'check', /`name` is not (?:the name of a page|a file name)|front matter/);
      expect(refused.stdout).not.toMatch(/^\s*::set-output/m);
    }
    expect(await repository.head()).toBe(head);
  });
});
