import { expect, test } from '@jest/globals';
import { expectReady } from './expect-report.ts';
import { createPage, setUpScenario } from './scenario.ts';
import { openPullRequest } from './workflow-events.ts';
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
  expect(listConclusions(opened)).toEqual(['success', 'preview: success']);
  await expectReady(scenario, getOnlyDelivery(opened), { channel: 'K1', url, shows: first['page.html'] });

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
  expect(last?.body).toContain('**Withdrawn:** the preview was removed.');
});
