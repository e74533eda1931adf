import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { TestRepository } from '../world/repository.ts';
import { parseWorkflowDefinition, type WorkflowDefinition } from '../world/workflow/definition.ts';
import type { WorkflowEvent } from '../world/workflow/event.ts';
import { type FolderFiles, inFolder, readExtract, readOutput } from './generator-outputs.ts';
import { createPage, setUpScenario } from './scenario.ts';
import { createRunCompletedEvent, createWorkflowEvent, openPullRequest } from './workflow-events.ts';
import { setUpPlayer } from './workflow-player.ts';
import {
  expectGone,
  getOnlyDelivery,
  listConclusions,
  SITE_WITHOUT_PUSH_BUILDS,
} from './workflow-results.ts';

const scenario = setUpScenario();
const player = setUpPlayer(scenario);

const EXAMPLE = 'examples/site-preview.yml';
const FORK_BUILD = 'examples/fork-safe-build.yml';
const FORK_PUBLISH = 'examples/fork-safe-publish.yml';
const PLAYWRIGHT = 'examples/playwright-report.yml';
const COVERAGE = 'examples/coverage.yml';

/** A commit with the sources of a site, and what builds it. */
const commit = (text: string) => ({
  'build.sh': `#!/bin/sh
mkdir -p dist/assets
cp page.html dist/index.html
echo 'document.title = "${text}"' > dist/assets/${text}.js
`,
  'page.html': createPage(text).replace(
    '<p>',
    `<script type="module" src="./assets/${text}.js"></script><p>`,
  ),
});

test('a site for a pull request: one commit a push, one link in one comment, and in the end nothing', async () => {
  const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
  const first = commit('first');
  const pull = await openPullRequest(repository, 'feature', first);
  const folder = `previews/pr-${pull.number}/`;
  const url = `${repository.pages.url}${folder}`;

  const opened = await player.run(EXAMPLE, pull.opened);
  await player.expectShown(opened, url, first['page.html'], 'preview');

  const second = commit('second');
  const pushed = await player.run(EXAMPLE, await pull.push(second));
  const { report } = getOnlyDelivery(pushed);
  expect(report.notReady).toBeNull();
  expect(report.site?.changes).toMatchObject({
    added: ['assets/second.js'],
    changed: ['index.html'],
    removed: ['assets/first.js'],
  });
  const [comment, ...others] = await repository.issues.comments(pull.number);
  expect(others).toEqual([]);
  expect(comment?.body).toContain(`<${url}>`);

  const closed = await player.run(EXAMPLE, (await pull.close()).pull_request);
  expect(listConclusions(closed)).toEqual(['success', 'preview: success']);
  expect(getOnlyDelivery(closed).report).toMatchObject({ notReady: null, withdrawn: url });
  await expectGone(scenario, url);
  expect(await repository.read(`${folder}index.html`)).toBeNull();
  const [last] = await repository.issues.comments(pull.number);
  expect(last?.body).toContain('**Withdrawn** → ');
});

const ACTIONS_SITE = { pages: { buildType: 'workflow', built: false } } as const;

test('a site without a branch: Actions deploys the folder, and nothing is committed', async () => {
  const repository = await scenario.repository(ACTIONS_SITE);
  const sources = commit('first');
  const head = (await repository.head()) ?? '';
  const pushed = { ...push(repository, sources), ref: 'refs/heads/main', sha: head };
  const run = await player.run('examples/actions-site.yml', pushed);
  const { url } = repository.pages;
  await player.expectShown(run, url, sources['page.html'], 'site');
  expect(await repository.head()).toBe(head);
});

test('previews on a site that Actions deploys: beside the main site, and in the end nothing of them', async () => {
  const repository = await scenario.repository(ACTIONS_SITE);
  const example = 'examples/actions-site-preview.yml';
  const main = commit('main');
  const run = await player.run(example, { ...push(repository, main), ref: 'refs/heads/main' });
  const { url } = repository.pages;
  await player.expectShown(run, url, main['page.html']);

  const preview = commit('preview');
  const pull = await openPullRequest(repository, 'feature', preview);
  const folder = `${url}previews/pr-${pull.number}/`;
  const opened = await player.run(example, pull.opened);
  await player.expectShown(opened, folder, preview['page.html']);
  const again = commit('again');
  const updated = await player.run(example, { ...push(repository, again), ref: 'refs/heads/main' });
  await player.expectShown(updated, url, again['page.html']);
  expect(await repository.pages.readLive(`previews/pr-${pull.number}/index.html`)).not.toBeNull();

  const closed = await player.run(example, (await pull.close()).pull_request);
  expect(listConclusions(closed)).toEqual(['success', 'site: success']);
  await expectGone(scenario, folder);
  expect(await repository.pages.readLive('index.html')).not.toBeNull();
});

/** A commit whose script makes a folder as a generator made it. */
const makes = (folder: string, output: FolderFiles, script = 'build.sh', exitCode = 0): FolderFiles => ({
  [script]: `#!/bin/sh\nmkdir -p ${folder}\ncp -r generated/. ${folder}\nexit ${exitCode}\n`,
  ...inFolder('generated', output),
});

/** A user's copy of an example. */
const alterExample = (path: string, from: string, to: string): WorkflowDefinition =>
  parseWorkflowDefinition(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').replace(from, to));

const push = (repository: TestRepository, files: FolderFiles): WorkflowEvent => ({
  ...createWorkflowEvent(repository, 'push', {}),
  files,
});

test('a Storybook of the main branch, at an address that never changes', async () => {
  const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
  const output = readExtract('storybook');
  const run = await player.run('examples/storybook.yml', push(repository, makes('storybook-static', output)));
  const url = `${repository.pages.url}storybook/`;
  const shows = output['index.html'] ?? '';
  await player.expectShown(run, url, shows, 'storybook');
  expect(await repository.log()).toHaveLength(2);
});

test('a coverage report of the main branch, and of a pull request until it is closed', async () => {
  const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
  const output = readOutput('c8');
  const shows = output['index.html'] ?? '';
  const commit = makes('coverage', output, 'test.sh');
  const main = await player.run(COVERAGE, push(repository, commit));
  const mainUrl = `${repository.pages.url}coverage/main/`;
  await player.expectShown(main, mainUrl, shows);

  const pull = await openPullRequest(repository, 'feature', commit);
  const opened = await player.run(COVERAGE, pull.opened);
  const url = `${repository.pages.url}coverage/pr-${pull.number}/`;
  await player.expectShown(opened, url, shows);
  expect((await repository.issues.comments(pull.number)).map(({ body }) => body)).toEqual([
    expect.stringContaining(`<${url}>`),
  ]);

  const closed = await player.run(COVERAGE, (await pull.close()).pull_request);
  expect(listConclusions(closed)).toEqual(['success', 'coverage: success']);
  await expectGone(scenario, url);
  expect((await scenario.fetchPublic(mainUrl)).toString()).toBe(shows);
  expect([main, opened, closed].map((run) => run?.group)).toEqual([
    'coverage-main',
    `coverage-${pull.number}`,
    `coverage-${pull.number}`,
  ]);
});

test('a Playwright report of each run, above all of one that failed, and only the newest stay', async () => {
  const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
  const keepsTwo = alterExample(PLAYWRIGHT, 'keep: 20', 'keep: 2');
  const output = readExtract('playwright');
  const folders: string[] = [];
  for (const exitCode of [1, 0, 1]) {
    const commit = makes('playwright-report', output, 'test.sh', exitCode);
    const run = await player.run(keepsTwo, push(repository, commit));
    const result = exitCode === 0 ? 'success' : 'failure';
    expect(listConclusions(run)).toEqual([result, `test: ${result}`]);
    const folder = `playwright/run-${run?.id}-1/`;
    const url = `${repository.pages.url}${folder}`;
    await player.expectShown(run, url, output['index.html'] ?? '');
    folders.push(folder);
  }
  const kept = await Promise.all(folders.map((folder) => repository.read(`${folder}index.html`)));
  expect(kept.map((file) => file !== null)).toEqual([false, true, true]);
  const attachment = Object.keys(output).find((path) => path.endsWith('.md'));
  expect(await repository.read(`${folders[2]}${attachment}`)).not.toBeNull();
});

test('documentation with names that begin with an underscore', async () => {
  const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
  const output = readOutput('sphinx');
  const commit = makes('docs/_build/html', output);
  const run = await player.run('examples/documentation.yml', push(repository, commit));
  const url = `${repository.pages.url}manual/`;
  await player.expectShown(run, url, output['index.html'] ?? '', 'documentation');
  const style = await scenario.fetchPublic(`${url}_static/alabaster.css`);
  expect(style.toString()).toBe(output['_static/alabaster.css']);
});

test('a folder of a fork, through the two workflows for forks', async () => {
  const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
  const output = readOutput('vite');
  const pull = await openPullRequest(repository, 'human:feature', makes('out', output));
  const build = await player.run(alterExample(FORK_BUILD, 'path: out/index.html', 'path: out/'), pull.opened);
  const publish = alterExample(FORK_PUBLISH, 'file: preview/index.html', 'file: preview/');
  const published = await player.run(publish, createRunCompletedEvent(build));
  const url = `${repository.pages.url}previews/human/feature/`;
  await player.expectShown(published, url, output['index.html'] ?? '');
});
