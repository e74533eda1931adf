import { expect, test } from '@jest/globals';
import type { RepositoryOptions } from '../world/repository.ts';
import { type FolderFiles, inFolder, readExtract, readOutput } from './generator-outputs.ts';
import { createPage, setUpScenario } from './scenario.ts';
import { createWorkflowEvent, openPullRequest } from './workflow-events.ts';
import {
  alterExample,
  getOnlyDelivery,
  listConclusions,
  SITE_WITHOUT_PUSH_BUILDS,
  setUpPlayer,
} from './workflow-player.ts';

const scenario = setUpScenario();
const player = setUpPlayer(scenario);
const ACTIONS_SITE = { pages: { buildType: 'workflow', built: false } } as const;

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
/** A commit whose script makes a folder as a generator made it. */
const makes = (folder: string, output: FolderFiles, script = 'build.sh', exitCode = 0): FolderFiles => ({
  [script]: `#!/bin/sh\nmkdir -p ${folder}\ncp -r generated/. ${folder}\nexit ${exitCode}\n`,
  ...inFolder('generated', output),
});
/** A commit whose script copies a page. */
const copies = (script: string, from: string, to: string): FolderFiles => ({
  [script]: `#!/bin/sh\ncp ${from} ${to}\n`,
  [from]: createPage(),
});

const PUSH = ['push', {}] as const;
const MONDAY = ['schedule', { schedule: '41 5 * * 1' }] as const;
const [STORYBOOK, SPHINX] = [readExtract('storybook'), readOutput('sphinx')];

test.each<
  [
    string,
    typeof PUSH | typeof MONDAY,
    Partial<RepositoryOptions>,
    FolderFiles,
    string,
    string | Buffer,
    number,
  ]
>([
  [
    'examples/quarto.yml',
    PUSH,
    SITE_WITHOUT_PUSH_BUILDS,
    copies('render.sh', 'report.qmd', 'report.html'),
    'analysis/report.html',
    createPage(),
    2,
  ],
  [
    'examples/workflow-site.yml',
    MONDAY,
    { pages: { buildType: 'workflow' } },
    copies('figures.sh', 'page.html', 'figures.html'),
    'figures/latest.html',
    createPage(),
    2,
  ],
  [
    'examples/storybook.yml',
    PUSH,
    SITE_WITHOUT_PUSH_BUILDS,
    makes('storybook-static', STORYBOOK),
    'storybook/',
    STORYBOOK['index.html'] ?? '',
    2,
  ],
  [
    'examples/documentation.yml',
    PUSH,
    SITE_WITHOUT_PUSH_BUILDS,
    makes('docs/_build/html', SPHINX),
    'manual/',
    SPHINX['index.html'] ?? '',
    2,
  ],
  ['examples/actions-site.yml', PUSH, ACTIONS_SITE, commit('first'), '', commit('first')['page.html'], 1],
])('%s: its page or folder is proven at one address', async (...row) => {
  const [example, [name, payload], spec, files, path, shows, commits] = row;
  const repository = await scenario.repository(spec);
  const sha = (await repository.head()) ?? '';
  const event = { ...createWorkflowEvent(repository, name, payload, files), sha };
  const run = await player.run(example, event);
  expect(listConclusions(run)).toHaveLength(2);
  await player.expectShown(run, repository.pages.url + path, shows);
  expect(await repository.log()).toHaveLength(commits);
  if (path === 'manual/') {
    // Its name begins with an underscore.
    const style = await scenario.fetchPublic(`${repository.pages.url}${path}_static/alabaster.css`);
    expect(style.toString()).toBe(SPHINX['_static/alabaster.css']);
  }
});

test('a site for a pull request: one commit a push, one link in one comment, and in the end nothing', async () => {
  const example = 'examples/site-preview.yml';
  const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
  const first = commit('first');
  const pull = await openPullRequest(repository, 'feature', first);
  const folder = `previews/pr-${pull.number}/`;
  const url = `${repository.pages.url}${folder}`;
  await player.expectShown(await player.run(example, pull.opened), url, first['page.html'], 'preview');

  const { report } = getOnlyDelivery(await player.run(example, await pull.push(commit('second'))));
  expect(report.notReady).toBeNull();
  expect(report.site?.changes).toMatchObject({
    added: ['assets/second.js'],
    changed: ['index.html'],
    removed: ['assets/first.js'],
  });
  const bodies = async () => (await repository.issues.comments(pull.number)).map(({ body }) => body);
  expect(await bodies()).toEqual([expect.stringContaining(`<${url}>`)]);

  const closed = await player.run(example, (await pull.close()).pull_request);
  expect(listConclusions(closed)).toEqual(['success', 'preview: success']);
  expect(getOnlyDelivery(closed).report).toMatchObject({ notReady: null, withdrawn: url });
  await player.expectGone(url);
  expect(await repository.read(`${folder}index.html`)).toBeNull();
  expect(await bodies()).toEqual([expect.stringContaining('**Withdrawn** → ')]);
});

test('previews on a site that Actions deploys: beside the main site, and in the end nothing of them', async () => {
  const example = 'examples/actions-site-preview.yml';
  const repository = await scenario.repository(ACTIONS_SITE);
  const { url } = repository.pages;
  const pushMain = async (text: string): Promise<void> => {
    const files = commit(text);
    const run = await player.run(
      example,
      createWorkflowEvent(repository, 'push', {}, files, 'refs/heads/main'),
    );
    await player.expectShown(run, url, files['page.html']);
  };
  await pushMain('main');
  const pull = await openPullRequest(repository, 'feature', commit('preview'));
  const folder = `previews/pr-${pull.number}/`;
  const opened = await player.run(example, pull.opened);
  await player.expectShown(opened, url + folder, commit('preview')['page.html']);
  await pushMain('again');
  expect(await repository.pages.readLive(`${folder}index.html`)).not.toBeNull();

  const closed = await player.run(example, (await pull.close()).pull_request);
  expect(listConclusions(closed)).toEqual(['success', 'site: success']);
  await player.expectGone(url + folder);
  expect(await repository.pages.readLive('index.html')).not.toBeNull();
});

test('a coverage report of the main branch, and of a pull request until it is closed', async () => {
  const example = 'examples/coverage.yml';
  const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
  const output = readOutput('c8');
  const shows = output['index.html'] ?? '';
  const files = makes('coverage', output, 'test.sh');
  const main = await player.run(example, createWorkflowEvent(repository, 'push', {}, files));
  const mainUrl = `${repository.pages.url}coverage/main/`;
  await player.expectShown(main, mainUrl, shows);

  const pull = await openPullRequest(repository, 'feature', files);
  const opened = await player.run(example, pull.opened);
  const url = `${repository.pages.url}coverage/pr-${pull.number}/`;
  await player.expectShown(opened, url, shows);
  expect(await repository.issues.comments(pull.number)).toMatchObject([
    { body: expect.stringContaining(`<${url}>`) },
  ]);

  const closed = await player.run(example, (await pull.close()).pull_request);
  expect(listConclusions(closed)).toEqual(['success', 'coverage: success']);
  await player.expectGone(url);
  expect((await scenario.fetchPublic(mainUrl)).toString()).toBe(shows);
  const groups = ['coverage-main', `coverage-${pull.number}`, `coverage-${pull.number}`];
  expect([main, opened, closed].map((run) => run?.group)).toEqual(groups);
});

test('a Playwright report of each run, above all of one that failed, and only the newest stay', async () => {
  const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
  const keepsTwo = alterExample('examples/playwright-report.yml', { 'keep: 20': 'keep: 2' });
  const output = readExtract('playwright');
  const folders: string[] = [];
  for (const exitCode of [1, 0, 1]) {
    const files = makes('playwright-report', output, 'test.sh', exitCode);
    const run = await player.run(keepsTwo, createWorkflowEvent(repository, 'push', {}, files));
    const result = exitCode === 0 ? 'success' : 'failure';
    expect(listConclusions(run)).toEqual([result, `test: ${result}`]);
    const folder = `playwright/run-${run?.id}-1/`;
    await player.expectShown(run, repository.pages.url + folder, output['index.html'] ?? '');
    folders.push(folder);
  }
  const kept = await Promise.all(folders.map((folder) => repository.read(`${folder}index.html`)));
  expect(kept.map((file) => file !== null)).toEqual([false, true, true]);
  const attachment = Object.keys(output).find((path) => path.endsWith('.md'));
  expect(await repository.read(`${folders[2]}${attachment}`)).not.toBeNull();
});
