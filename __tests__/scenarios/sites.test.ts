import { describe, expect, test } from '@jest/globals';
import type { RepositoryOptions } from '../world/repository.ts';
import { LOGINS } from '../world/tokens.ts';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, listRequests, MARKER, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const files = { 'page.html': createPage() };
const inputs = { channel: 'K1' };

describe('where the site is', () => {
  const cases: { story: string; spec: Partial<RepositoryOptions>; url: string }[] = [
    {
      story: "a user's site",
      spec: { owner: 'Mona', name: 'mona.github.io' },
      url: 'https://mona.github.io/page.html',
    },
    {
      story: 'a domain of its own',
      spec: { name: 'own-domain', pages: { cname: 'reports.octo-org.com' } },
      url: 'https://reports.octo-org.com/page.html',
    },
    {
      story: 'a project of an owner in capitals',
      spec: { owner: 'ACME', name: 'Reports' },
      url: 'https://acme.github.io/Reports/page.html',
    },
  ];
  test.each(cases)('$story', async ({ spec, url }) => {
    const repository = await scenario.repository(spec);
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage(), url });
  });

  test('the folder /docs: the file goes there, and its address does not name the folder', async () => {
    const repository = await scenario.repository({ pages: { path: '/docs' } });
    const delivered = await scenario.deliver({ repository, files, inputs });
    const url = `${repository.pages.url}page.html`;
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage(), url });
    expect((await repository.log())[0]?.files).toEqual(['docs/page.html']);
    expect(delivered.outputs['raw-url']).toMatch(/\/main\/docs\/page\.html$/);
  });

  test('a path outside /docs is refused with the path to set', async () => {
    const repository = await scenario.repository({ pages: { path: '/docs' } });
    const delivered = await scenario.deliver({ repository, files, inputs: { ...inputs, path: 'reports/' } });
    expectNotReady(delivered, {
      step: 'check',
      reason: /shows only the folder \/docs/,
      hint: /set `path: docs\/reports\/`/,
    });
    expect(listRequests(scenario, /^(PUT|POST|PATCH) /)).toEqual([]);
  });

  test('another branch: it is taken from the settings', async () => {
    const repository = await scenario.repository({ pages: { branch: 'gh-pages' } });
    await repository.commit('index.html', 'theirs', undefined, 'gh-pages');
    await repository.pages.whenBuilt();
    const delivered = await scenario.deliver({ repository, files, inputs });
    const url = `${repository.pages.url}page.html`;
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage(), url });
    expect((await repository.log('gh-pages'))[0]?.files).toEqual(['page.html']);
    expect(await repository.read('page.html', 'main')).toBeNull();
    expect(delivered.outputs['raw-url']).toContain('/gh-pages/page.html');
  });

  test('a branch that the site is not built from is refused', async () => {
    const repository = await scenario.repository({ pages: { branch: 'main' } });
    const delivered = await scenario.deliver({ repository, files, inputs: { ...inputs, branch: 'drafts' } });
    expectNotReady(delivered, {
      step: 'check',
      reason: /built from branch main, not from drafts/,
      hint: /branch: main/,
    });
    expect(listRequests(scenario, /^(PUT|POST|PATCH) /)).toEqual([]);
  });
});

describe('a site that a workflow builds', () => {
  test('a deployment that succeeds', async () => {
    const repository = await scenario.repository({ pages: { buildType: 'workflow', buildMs: 300 } });
    const token = scenario.world.token({}, LOGINS.app);
    const delivered = await scenario.deliver({ repository, files, inputs, token });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    expect(delivered.stdout).toMatch(/deployment of our commit: in_progress/);
    expect(listRequests(scenario, /pages\/builds/)).toEqual([]);
  });

  test('a deployment that fails ends the wait with its own text', async () => {
    const repository = await scenario.repository({
      pages: { buildType: 'workflow', builds: 'errored', errorMessage: 'artifact is too large' },
    });
    const token = scenario.world.token({}, LOGINS.app);
    const delivered = await scenario.deliver({ repository, files, inputs, token, simulatedTime: true });
    expectNotReady(delivered, {
      step: 'wait',
      reason: /artifact is too large.*deployment of our commit: failure/,
    });
    expect(listRequests(scenario, /^GET .*page\.html\?v=/)).toHaveLength(1);
  });

  test("a deployment that can't be read: the live bytes decide", async () => {
    const repository = await scenario.repository({ pages: { buildType: 'workflow', buildMs: 200 } });
    const token = scenario.world.token({ deployments: 'none' }, LOGINS.app);
    const delivered = await scenario.deliver({ repository, files, inputs, token });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
  });
});

describe("a site that a workflow builds, with the job's own token", () => {
  const site = { pages: { buildType: 'workflow', buildMs: 200 } } as const;
  const writes = /^(PUT|PATCH|DELETE) |^POST (?!.*graphql)/;

  test('is refused before anything is committed, in a dry run too', async () => {
    const repository = await scenario.repository(site);
    for (const dryRun of ['false', 'true']) {
      const delivered = await scenario.deliver({
        repository,
        files,
        inputs: { ...inputs, 'dry-run': dryRun },
      });
      expectNotReady(delivered, {
        step: 'check',
        reason: /a workflow builds the site, and a commit by a job's own token starts no workflow/,
        hint: /`site-workflow:`.*actions: write.*`token:`.*K2 or K3/,
      });
    }
    expect(listRequests(scenario, writes)).toEqual([]);
  });

  test('is delivered by the workflow that `site-workflow` names, which is started after the commit', async () => {
    const repository = await scenario.repository(site);
    const token = scenario.world.token({ actions: 'write' });
    const delivered = await scenario.deliver({
      repository,
      files,
      inputs: { ...inputs, 'site-workflow': 'pages.yml' },
      token,
    });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    expect(delivered.stdout).toMatch(/the workflow pages\.yml was started/);
    expect(listRequests(scenario, /^POST .*\/dispatches$/)).toHaveLength(1);
  });

  test.each([
    ['no such workflow', { 'site-workflow': 'other.yml' }, {}, /no workflow other\.yml/, /`site-workflow:`/],
  ] as const)('is refused before the commit: %s', async (_, more, permissions, reason, hint) => {
    const repository = await scenario.repository(site);
    const token = scenario.world.token({ actions: 'write', ...permissions });
    const delivered = await scenario.deliver({ repository, files, inputs: { ...inputs, ...more }, token });
    expectNotReady(delivered, { step: 'check', reason, hint });
    expect(listRequests(scenario, writes)).toEqual([]);
  });

  test('names the permission that starting the workflow needs', async () => {
    const repository = await scenario.repository(site);
    const delivered = await scenario.deliver({
      repository,
      files,
      inputs: { ...inputs, 'site-workflow': 'pages.yml' },
      token: scenario.world.token({ actions: 'read' }),
    });
    expectNotReady(delivered, {
      step: 'wait',
      httpCode: 403,
      reason: /starting the site's workflow/,
      hint: /`permissions: { contents: write, pages: write, actions: write }`/,
    });
  });

  test('a site that is built from a branch has no workflow to start', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      files,
      inputs: { ...inputs, 'site-workflow': 'pages.yml' },
    });
    expectNotReady(delivered, {
      step: 'check',
      reason: /built from a branch/,
      hint: /leave `site-workflow:` out/,
    });
    expect(listRequests(scenario, writes)).toEqual([]);
  });
});

describe('what is known of the site', () => {
  test('unreadable settings: the usual address is taken, and UNKNOWN says so', async () => {
    const repository = await scenario.repository();
    const token = scenario.world.token({ pages: 'none' });
    const delivered = await scenario.deliver({ repository, files, inputs, token });
    await expectReady(scenario, delivered, {
      channel: 'K1',
      shows: createPage(),
      url: `${repository.pages.url}page.html`,
      unknown: /^the Pages settings could not be read \(the permission `pages: read` is missing\)/,
    });
  });

  test('no site: K1 is refused before anything is written', async () => {
    const repository = await scenario.repository({ pages: false });
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, {
      step: 'authorize',
      httpCode: 404,
      reason: /has no Pages site/,
      hint: /Settings → Pages.*K2 or K3/,
    });
    expect(listRequests(scenario, /^(PUT|POST|PATCH) /)).toEqual([]);
  });

  test('`pages-base` and `raw-base` beat whatever the settings say', async () => {
    const repository = await scenario.repository({ pages: false });
    const shows =
      (prefix: string) =>
      async ({ path }: { path: string }) => {
        const body = await repository.read(path.slice(prefix.length));
        return body === null ? { status: 404 } : { status: 200, body };
      };
    scenario.world.host('www.octo-org.com', shows('/site/'));
    scenario.world.host('raw.octo-org.com', shows('/main/'));
    const delivered = await scenario.deliver({
      repository,
      files,
      inputs: {
        ...inputs,
        'pages-base': 'https://www.octo-org.com/site',
        'raw-base': 'https://raw.octo-org.com/main/',
      },
    });
    await expectReady(scenario, delivered, {
      channel: 'K1',
      shows: createPage(),
      url: 'https://www.octo-org.com/site/page.html',
    });
    expect(delivered.outputs['raw-url']).toBe('https://raw.octo-org.com/main/page.html');
  });
});

describe('names that Jekyll leaves out', () => {
  test.each(['_page.html', 'drafts/_old/page.html', '.hidden.html', 'node_modules/page.html'])(
    '%s is refused, and nothing is written',
    async (path) => {
      const repository = await scenario.repository();
      const delivered = await scenario.deliver({ repository, files, inputs: { ...inputs, path } });
      expectNotReady(delivered, {
        step: 'check',
        reason: /Jekyll leaves .* out of the site because of its name/,
        hint: /\.nojekyll/,
      });
      expect(listRequests(scenario, /^(PUT|POST|PATCH) /)).toEqual([]);
    },
  );

  test('with a .nojekyll they are taken', async () => {
    const repository = await scenario.repository({ files: { '.nojekyll': '\n' } });
    const delivered = await scenario.deliver({
      repository,
      files: { '_page.html': createPage() },
      inputs: { ...inputs, marker: MARKER },
    });
    const url = `${repository.pages.url}_page.html`;
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage(), url });
  });
});
