import { describe, expect, test } from '@jest/globals';
import { getDeploymentState } from '../world/deployment-store.ts';
import type { FolderFiles } from './generator-outputs.ts';
import { createPage, setUpScenario } from './scenario.ts';
import { createWorkflowEvent, openPullRequest } from './workflow-events.ts';
import { alterExample, getOnlyDelivery, listConclusions, setUpPlayer } from './workflow-player.ts';

const scenario = setUpScenario();
const player = setUpPlayer(scenario);

const PAGES = 'examples/prove-pages-deployment.yml';

/** A commit whose script makes a site, and an older one beside it. */
const COMMIT: FolderFiles = {
  'build.sh':
    '#!/bin/sh\nmkdir -p dist/docs old\ncp page.html dist/index.html\necho "<p>About" > dist/docs/about.html\necho "<p>Older" > old/index.html\n',
  'page.html': createPage('first').replace('<p>', '<a href="docs/about.html">About</a><p>'),
};

describe('a site that actions/deploy-pages deploys', () => {
  const url = 'https://octo-pages.github.io/';

  test('gets its address once all of it is served', async () => {
    const repository = await scenario.repository();
    const run = await player.run(PAGES, createWorkflowEvent(repository, 'push', {}, COMMIT));
    expect(listConclusions(run)).toEqual(['success', 'deploy: success']);
    const { report, outputs } = getOnlyDelivery(run);
    expect(outputs.url).toBe(url);
    expect(report.channel).toBe('K4');
    expect(report.site?.files).toHaveLength(2);
    expect((await scenario.fetchPublic(url)).toString()).toBe(COMMIT['page.html']);
  });

  test('fails the job while an older site is served, and names no address', async () => {
    const repository = await scenario.repository();
    const older = alterExample(PAGES, { 'path: dist/': 'path: old/', 'timeout: 1200': 'timeout: 20' });
    const run = await player.run(older, createWorkflowEvent(repository, 'push', {}, COMMIT));
    expect(listConclusions(run)).toEqual(['failure', 'deploy: failure']);
    const { report, outputs } = getOnlyDelivery(run);
    expect(outputs.url).toBe('');
    expect(report.notReady?.reason).toContain('was not proven in time');
  });
});

test.each([
  ['examples/prove-netlify.yml', 'https://pr-1--my-site.netlify.app/'],
  ['examples/prove-cloudflare.yml', 'https://a1b2c3d4.my-site.pages.dev/'],
])('%s: the pull request gets its button and its comment after the proof', async (example, url) => {
  const repository = await scenario.repository();
  const pull = await openPullRequest(repository, 'feature', COMMIT);
  const run = await player.run(example, pull.opened);
  expect(listConclusions(run)).toEqual(['success', 'preview: success']);
  const address = getOnlyDelivery(run).outputs.url ?? '';
  expect(`${address}/`.replace(/\/+$/, '/')).toBe(url);
  expect(repository.deployments.all.map((one) => [getDeploymentState(one), one.sha])).toEqual([
    ['success', pull.opened.sha],
  ]);
  expect(repository.deployments.all[0]?.statuses[0]?.environmentUrl).toBe(address);
  expect((await repository.issues.comments(pull.number)).map(({ body }) => body)).toEqual([
    expect.stringContaining(address),
  ]);
});
