import { describe, expect, test } from '@jest/globals';
import { LOGINS } from '../world/tokens.ts';
import { createPage, listRequests, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

const SITE = { 'dist/index.html': createPage(), 'dist/app.js': 'document.title = 1;\n' };
const inputs = { channel: 'K1', file: 'dist/', path: './', branch: 'gh-pages', setup: 'true' };
const page = { ...inputs, file: 'page.html' };

/** The token of somebody who may change the repository's settings. */
const adminToken = (): string => scenario.world.token({ administration: 'write' }, LOGINS.human);

const WRITES = /^(POST|PUT|PATCH) .*\/(pages|git|contents)|^POST .*git-receive-pack/;

describe('`setup`', () => {
  test('creates the branch without the history of others, and switches Pages on for it', async () => {
    const repository = await scenario.repository({ pages: false });
    const delivered = await scenario.deliver({ repository, files: SITE, inputs, token: adminToken() });
    expect(delivered.report.notReady).toBeNull();
    expect(delivered.outputs).toMatchObject({ result: 'ready', url: repository.pages.url });
    expect(delivered.report.notes).toEqual(
      expect.arrayContaining([
        'the branch gh-pages was created',
        'Pages was switched on for the branch gh-pages',
      ]),
    );
    expect(await repository.log('gh-pages')).toMatchObject([{ files: ['app.js', 'index.html'] }]);
    expect(repository.pages).toMatchObject({ branch: 'gh-pages', path: '/' });
    const files = { ...SITE, 'dist/index.html': createPage('second') };
    const again = await scenario.deliver({ repository, files, inputs });
    expect(again.outputs).toMatchObject({ result: 'ready', url: repository.pages.url });
    expect(await repository.log('gh-pages')).toHaveLength(2);
    expect(listRequests(scenario, /^POST .*\/pages$/)).toHaveLength(1);
  });

  test("with the job's own token names the two clicks, and the branch is there already", async () => {
    const repository = await scenario.repository({ pages: false });
    const refused = await scenario.deliver({ repository, files: SITE, inputs });
    expect(refused.outputs).toMatchObject({ result: 'not-ready', url: '' });
    expect(refused.report.notReady).toMatchObject({
      step: 'place',
      code: 'NO_PERMISSION',
      httpCode: 403,
      reason: expect.stringMatching(/^the branch gh-pages is there already, but this token may not/),
      hint: expect.stringMatching(/Settings → Pages .*"Deploy from a branch" and the branch gh-pages/),
    });
    expect(refused.report.unknown.join()).toMatch(/left behind: commit [0-9a-f]{40} on the branch gh-pages/);
    const [commit, ...others] = await repository.log('gh-pages');
    expect(others).toEqual([]);
    expect(commit?.files).toEqual(['app.js', 'index.html']);
  });

  test.each([
    ['one file', { 'page.html': createPage() }, page],
    ['several files', { 'a.html': createPage('a'), 'b.html': createPage('b') }, { ...page, file: '*.html' }],
  ])('creates the branch of an existing site for %s', async (_, files, given) => {
    const repository = await scenario.repository({ pages: { branch: 'gh-pages', built: false } });
    const delivered = await scenario.deliver({ repository, files, inputs: given });
    expect(delivered.outputs.result).toBe('ready');
    const log = await repository.log('gh-pages');
    expect(log.map((commit) => commit.files)).toEqual(
      Object.keys(files)
        .map((name) => [name])
        .reverse(),
    );
    expect(listRequests(scenario, /^POST .*\/pages$/)).toEqual([]);
  });

  test.each([
    ['a file', { 'page.html': createPage() }, page],
    ['a folder', SITE, inputs],
  ])('makes the first commit of an empty repository for %s', async (_, files, given) => {
    const repository = await scenario.repository({ empty: true, pages: false });
    const token = adminToken();
    const delivered = await scenario.deliver({ repository, files, token, inputs: given });
    expect(delivered.report.notReady).toBeNull();
    expect(await repository.log('gh-pages')).toHaveLength(1);
  });

  test('tells in a dry run what it would do, and writes nothing', async () => {
    const repository = await scenario.repository({ pages: false });
    const dry = { ...inputs, 'dry-run': 'true' };
    const planned = await scenario.deliver({ repository, files: SITE, inputs: dry, token: adminToken() });
    expect(planned.outputs.result).toBe('planned');
    expect(planned.stdout).toContain(
      '; creates the branch gh-pages; switches Pages on for the branch gh-pages',
    );
    expect(await repository.head('gh-pages')).toBeNull();
    expect(listRequests(scenario, WRITES)).toEqual([]);
  });

  test.each([
    [
      'a file',
      'a site',
      { files: { 'page.html': createPage() }, inputs: page, pages: { branch: 'gh-pages' } },
    ],
    ['a folder', 'a site', { files: SITE, inputs, pages: { branch: 'gh-pages' } }],
    ['a folder', 'no site', { files: SITE, inputs, pages: false as const }],
  ])('is named where it is not set, for %s and %s, and nothing is created', async (_, __, one) => {
    const repository = await scenario.repository({ pages: one.pages && { ...one.pages, built: false } });
    const given = { ...one.inputs, setup: 'false' };
    const refused = await scenario.deliver({ repository, files: one.files, inputs: given });
    expect(refused.outputs.result).toBe('not-ready');
    expect(refused.report.notReady?.hint).toContain('`setup: true`');
    expect(await repository.head('gh-pages')).toBeNull();
    expect(listRequests(scenario, WRITES)).toEqual([]);
  });

  test('does not show a branch with the sources, unless it is named', async () => {
    const repository = await scenario.repository({ pages: false });
    const { branch: _, ...unnamed } = inputs;
    const token = adminToken();
    const refused = await scenario.deliver({ repository, files: SITE, inputs: unnamed, token });
    expect(refused.report.notReady).toMatchObject({
      step: 'check',
      hint: expect.stringContaining('`branch: gh-pages`'),
    });
    expect(listRequests(scenario, WRITES)).toEqual([]);
  });
});
