import { describe, expect, test } from '@jest/globals';
import { LARGE_CONTENT } from '../faults/delivery-kinds.ts';
import type { RepositoryOptions, TestRepository } from '../world/repository.ts';
import { replyHtml } from '../world/server/messages.ts';
import { LOGINS } from '../world/tokens.ts';
import { expectRefused, type Played, requestsOf, setUpPlay } from './play.ts';
import { createPage, MARKER } from './scenario.ts';

const play = setUpPlay();
const files = { 'page.html': createPage() };
const inputs = { channel: 'K1' };
const WRITES = /^(PUT|PATCH|DELETE) |^POST (?!.*graphql)/;

describe('where the site is', () => {
  test.each<[string, Partial<RepositoryOptions>, string, string]>([
    [
      "a user's site",
      { owner: 'Mona', name: 'mona.github.io' },
      'https://mona.github.io/page.html',
      'page.html',
    ],
    [
      'a domain of its own',
      { name: 'own-domain', pages: { cname: 'reports.octo-org.com' } },
      'https://reports.octo-org.com/page.html',
      'page.html',
    ],
    [
      'the folder /docs of an owner in capitals',
      { owner: 'ACME', name: 'Reports', pages: { path: '/docs' } },
      'https://acme.github.io/Reports/page.html',
      'docs/page.html',
    ],
  ])('%s', async (_, spec, url, path) => {
    const repository = await play.repository(spec);
    const { report } = await play.deliver({ repository, files, inputs });
    expect(report).toMatchObject({ ready: true, url });
    expect((await repository.log())[0]?.files).toEqual([path]);
    expect(report.rawUrl).toBe(`https://raw.githubusercontent.com/${repository.fullName}/main/${path}`);
  });

  test('another branch is taken from the settings', async () => {
    const repository = await play.repository({ pages: { branch: 'gh-pages' } });
    await repository.commit('index.html', 'theirs', undefined, 'gh-pages');
    const { report } = await play.deliver({ repository, files, inputs });
    expect(report).toMatchObject({ ready: true, rawUrl: expect.stringContaining('/gh-pages/page.html') });
    expect(await repository.read('page.html')).toBeNull();
  });

  test('settings that can’t be read: the usual address is taken, and UNKNOWN says so', async () => {
    const repository = await play.repository();
    const token = play.world.token({ pages: 'none' });
    const { report } = await play.deliver({ repository, files, inputs, token });
    expect(report).toMatchObject({ ready: true, url: `${repository.pages.url}page.html` });
    expect(report.lines.UNKNOWN).toMatch(/^the Pages settings could not be read .*`pages: read`/);
  });

  test('`pages-base` and `raw-base` beat whatever the settings say', async () => {
    const repository = await play.repository({ pages: false });
    for (const [host, prefix] of [
      ['www.octo-org.com', '/site/'],
      ['raw.octo-org.com', '/main/'],
    ] as const) {
      play.world.host(host, async ({ path }) => {
        const body = await repository.read(path.slice(prefix.length));
        return body === null ? { status: 404 } : replyHtml(200, String(body));
      });
    }
    const bases = {
      'pages-base': 'https://www.octo-org.com/site',
      'raw-base': 'https://raw.octo-org.com/main/',
    };
    const { report } = await play.deliver({ repository, files, inputs: { ...inputs, ...bases } });
    expect(report).toMatchObject({
      ready: true,
      url: 'https://www.octo-org.com/site/page.html',
      rawUrl: 'https://raw.octo-org.com/main/page.html',
    });
  });

  test('a name that Jekyll leaves out is taken with a .nojekyll, and refused without', async () => {
    const named = { repository: await play.repository(), files: { '_page.html': createPage() }, inputs };
    const refused = await play.deliver(named);
    expectRefused(refused, 'check', /Jekyll.* leaves out _page\.html/, { hint: /\.nojekyll/ });
    expect(requestsOf(refused, WRITES)).toEqual([]);
    const repository = await play.repository({ files: { '.nojekyll': '\n' } });
    expect((await play.deliver({ ...named, repository })).report.ready).toBe(true);
  });

  test('an empty repository gets its first commit by one small file alone, and has nothing to withdraw', async () => {
    const repository = await play.repository({ empty: true });
    const withdrawal = { ...inputs, path: 'previews/', operation: 'withdraw' };
    const withdrawn = await play.deliver({ repository, inputs: withdrawal });
    expect(withdrawn.report.lines.RESULT).toMatch(/^ГОТОВО, nothing to withdraw/);
    const large = await play.deliver({ repository, files: { 'a.bin': LARGE_CONTENT }, inputs });
    expectRefused(large, 'place', /empty/, { hint: /push a first commit/ });
    expect((await play.deliver({ repository, files, inputs })).report.ready).toBe(true);
    expect(await repository.log()).toMatchObject([{ files: ['page.html'] }]);
  });
});

describe('a site that a workflow builds', () => {
  const pages = { buildType: 'workflow', buildMs: 200 } as const;
  const named = { ...inputs, 'site-workflow': 'pages.yml' };
  const RUN_PAGE = 'https://github\\.com/octo/play-\\d+/actions/runs/\\d+';
  const run = async (
    site: Partial<RepositoryOptions['pages'] & object>,
    more: { token?: string; inputs?: object; repository?: Awaited<ReturnType<typeof play.repository>> } = {},
  ): Promise<Played> =>
    play.deliver({
      repository: await play.repository({ pages: { ...pages, ...site } }),
      files,
      token: play.world.token({ actions: 'write' }),
      ...more,
      inputs: { ...named, ...more.inputs },
    });

  test('is built by a push of an app, and what the deployment says is told', async () => {
    const token = (more = {}) => play.world.token(more, LOGINS.app);
    const byPush = { 'site-workflow': '' };
    const ready = await run({}, { token: token(), inputs: byPush });
    expect(ready.report.ready).toBe(true);
    expect(ready.log).toContain('deployment of our commit: in_progress');
    expect(requestsOf(ready, /pages\/builds/)).toEqual([]);
    const unread = await run({}, { token: token({ deployments: 'none' }), inputs: byPush });
    expect(unread.report.ready).toBe(true);
    const failing = { builds: 'errored', errorMessage: 'artifact is too large' } as const;
    const failed = await run(failing, { token: token(), inputs: byPush });
    expectRefused(failed, 'wait', /artifact is too large.*our commit: failure/);
    expect(requestsOf(failed, /page\.html\?v=/).length).toBeLessThan(4);
  });

  test("with the job's own token is refused before anything is committed, in a dry run too", async () => {
    for (const dryRun of ['false', 'true']) {
      const refused = await run({}, { inputs: { 'site-workflow': '', 'dry-run': dryRun } });
      expectRefused(refused, 'check', /each deployment replaces all of it/, {
        hint: /`branch: gh-pages`.*`site-workflow:`.*K2 or K3/,
      });
      expect(requestsOf(refused, WRITES)).toEqual([]);
    }
  });

  test('is delivered by the workflow that `site-workflow` names, which is started after the commit', async () => {
    const delivered = await run({});
    expect(delivered.report.ready).toBe(true);
    expect(delivered.log).toContain('the workflow pages.yml was started');
    expect(requestsOf(delivered, /^POST .*\/dispatches$/)).toHaveLength(1);
    const unknown = await run({}, { inputs: { 'site-workflow': 'other.yml' } });
    expectRefused(unknown, 'check', /no workflow other\.yml/, { hint: /`site-workflow:`/ });
    const denied = await run({}, { token: play.world.token({ actions: 'read' }) });
    expectRefused(denied, 'wait', /starting/, { httpCode: 403, hint: /actions: write/ });
  });

  test.each([
    ['failure', /ended with failure/, /fix what failed there and try again/],
    ['timed_out', /ended with timed_out/, /fix what failed there/],
    ['cancelled', /ended with cancelled/, /try again/],
    ['skipped', /ended with skipped/, /change the `if:`/],
    ['startup_failure', /ended with startup_failure/, /fix the workflow file/],
    ['approval', /waits for an approval/, /approve it and try again.*Settings → Environments/],
    ['queued', /its run waits for a runner/, /`runs-on:`/],
    ['pending', /its run waits for another run/, /`concurrency:`/],
  ] as const)(
    'whose run ends as %s names the page of the run and what to change',
    async (end, reason, hint) => {
      const refused = await run({ runOutcomes: end });
      expectRefused(refused, 'wait', reason, { hint });
      expect(refused.report.notReady?.hint).toMatch(new RegExp(RUN_PAGE));
      // Only a run that waits is waited for until the timeout.
      if (!['queued', 'pending'].includes(end)) {
        expect(requestsOf(refused, /page\.html\?v=\d+$/).length).toBeLessThanOrEqual(3);
      }
    },
  );

  test.each([
    ['no run follows its start', { runOutcomes: 'absent' }, 'wait', /no run of it has appeared/, /Actions/],
    [
      'its run leaves the file out',
      { builds: 'never' },
      'wait',
      /its run ended with success/,
      /actions\/runs\/\d+: let the workflow publish this file too/,
    ],
    [
      'its run deploys our commit without the file',
      { live: false },
      'verify',
      /HTTP 404/,
      /^pages\.yml deployed our commit without `page\.html`; let its upload include it/,
    ],
  ] as const)('is not ready where %s', async (_, site, step, reason, hint) => {
    const refused = await run(site as object);
    expectRefused(refused, step, reason, { hint });
    if (step === 'wait' && 'runOutcomes' in site) expect(refused.took).toBeLessThan(120_000);
  });

  test('is not ready where the run deploys our commit without the files of a folder', async () => {
    const refused = await play.deliver({
      repository: await play.repository({ pages: { ...pages, live: false } }),
      files: { 'out/index.html': createPage(), 'out/a.txt': 'text' },
      inputs: { ...named, file: 'out/', path: 'p/' },
      token: play.world.token({ actions: 'write' }),
    });
    expectRefused(refused, 'verify', /HTTP 404/, {
      hint: /^pages\.yml deployed our commit without all of `p\/`; let its upload include it/,
    });
  });

  test('is ready where a timer holds the run back, and where a later run replaced it', async () => {
    expect((await run({ runOutcomes: 'timer' })).report.ready).toBe(true);
    const repository = await play.repository({
      pages: { ...pages, runOutcomes: ['cancelled', 'published'] },
    });
    play.meanwhile({ method: 'POST', url: /\/dispatches$/ }, async () => {
      const later = {
        event: 'workflow_dispatch' as const,
        branch: 'main',
        actor: LOGINS.app,
        inputs: {},
      };
      repository.pages.startWorkflow((await repository.head()) ?? '', later);
    });
    expect((await run({}, { repository })).report.ready).toBe(true);
    expect(repository.pages.runs.map(({ conclusion }) => conclusion)).toEqual(['success', 'cancelled']);
  });

  test('is ready where the token may not read runs: the deployment decides', async () => {
    const denied = {
      status: 403,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify({ message: 'Resource not accessible by integration' }),
    };
    play.intercept({ method: 'GET', url: /\/runs\?/, times: 99 }, denied);
    const delivered = await run({});
    expect(delivered.report.ready).toBe(true);
    expect(requestsOf(delivered, /\/actions\/(workflows\/pages\.yml\/runs|runs\/)/)).toHaveLength(1);
  });

  test.each([
    ['its run failed', { runOutcomes: ['failure', 'published'] }, /ended with failure/],
    ['its deployment failed', { builds: ['errored', 'normal'] }, /deployment of our commit: failure/],
  ] as const)('is started again by the next step where %s', async (_, site, reason) => {
    const repository = await play.repository({ pages: { ...pages, ...(site as object) } });
    expectRefused(await run({}, { repository }), 'wait', reason, { hint: new RegExp(RUN_PAGE) });
    expect((await run({}, { repository })).report.ready).toBe(true);
    expect(repository.pages.runs).toHaveLength(2);
  });

  test('is started again where another deployment has replaced ours', async () => {
    const repository = await play.repository({ pages });
    expect((await run({}, { repository })).report.ready).toBe(true);
    // An older commit was deployed at the same time, and ended later.
    const [, initial = ''] = (await repository.log()).map(({ sha }) => sha);
    await repository.pages.publishImmediately(initial);
    const { deployments } = repository.pages;
    deployments.reverse();
    deployments[0]?.statuses.unshift({ state: 'inactive', description: '', at: new Date() });
    expect((await run({}, { repository })).report.ready).toBe(true);
    expect(repository.pages.runs).toHaveLength(2);
  });
});

test('a build of a branch that had failed is requested again, and the permission for that is named', async () => {
  for (const [token, ready] of [
    [play.world.token(), true],
    [play.world.token({ pages: 'read' }), false],
  ] as const) {
    const repository = await play.repository({ pages: { builds: ['errored', 'normal'] } });
    const first = await play.deliver({ repository, files, inputs, token });
    expectRefused(first, 'wait', /Page build failed/);
    const second = await play.deliver({ repository, files, inputs, token });
    expect(second.report.ready).toBe(ready);
    expect(requestsOf(second, /^POST .*\/pages\/builds$/)).toHaveLength(1);
    if (!ready) expect(second.report.notReady?.reason).toContain('needs the permission `pages: write`');
  }
});

describe('`setup`', () => {
  const site = { 'dist/index.html': createPage(), 'dist/app.js': 'document.title = 1;\n' };
  const folder = { channel: 'K1', file: 'dist/', path: './', branch: 'gh-pages', setup: 'true' };
  /** The token of somebody who may change the repository's settings. */
  const adminToken = (): string => play.world.token({ administration: 'write' }, LOGINS.human);

  test('creates the branch without the history of others, and switches Pages on for it', async () => {
    const repository = await play.repository({ pages: false });
    const delivery = { repository, files: site, inputs: folder, token: adminToken() };
    const planned = await play.deliver({ ...delivery, inputs: { ...folder, 'dry-run': 'true' } });
    expect(planned.log).toContain('; creates the branch gh-pages; switches Pages on for the branch gh-pages');
    expect(requestsOf(planned, WRITES)).toEqual([]);
    const { report } = await play.deliver(delivery);
    expect(report).toMatchObject({ ready: true, url: repository.pages.url });
    expect(report.notes).toEqual(
      expect.arrayContaining([
        'the branch gh-pages was created',
        'Pages was switched on for the branch gh-pages',
      ]),
    );
    expect(await repository.log('gh-pages')).toMatchObject([{ files: ['app.js', 'index.html'] }]);
    expect(repository.pages).toMatchObject({ branch: 'gh-pages', path: '/' });
  });

  test("with the job's own token names the two clicks, and the branch is there already", async () => {
    const repository = await play.repository({ pages: false });
    const refused = await play.deliver({ repository, files: site, inputs: folder });
    expectRefused(refused, 'place', /^the branch gh-pages is there already, but this token may not/, {
      httpCode: 403,
      hint: /Settings → Pages .*"Deploy from a branch" and the branch gh-pages/,
    });
    expect(refused.report.unknown.join()).toMatch(/left behind: commit [0-9a-f]+ on the branch gh-pages/);
    expect(await repository.log('gh-pages')).toMatchObject([{ files: ['app.js', 'index.html'] }]);
  });

  test('makes the branch of a site for several files', async () => {
    const several = { 'a.html': createPage('a'), 'b.html': createPage(MARKER) };
    const existing = await play.repository({ pages: { branch: 'gh-pages', built: false } });
    const file = { ...folder, file: '*.html' };
    const { reports } = await play.deliver({ repository: existing, files: several, inputs: file });
    expect(reports.map(({ notReady }) => notReady)).toEqual([null, null]);
    expect(await existing.log('gh-pages')).toHaveLength(2);
  });

  test.each([
    ['where it is not set', { setup: 'false' }, /`setup: true`/],
    ['where a branch with sources would be shown', { branch: '' }, /`branch: gh-pages`/],
  ])('is named %s, and nothing is created', async (_, more, hint) => {
    const repository = await play.repository({ pages: false });
    const given = { ...folder, ...more };
    const refused = await play.deliver({ repository, files: site, inputs: given, token: adminToken() });
    expect(refused.report.notReady?.hint).toMatch(hint);
    expect(requestsOf(refused, WRITES)).toEqual([]);
  });
});

describe('a folder whose page needs code from outside of it', () => {
  const page = createPage('<script src="../lib/a.js"></script>');
  const files = { 'doc/book/index.html': page, 'doc/lib/a.js': '"a";\n' };
  const deliver = async (repository: TestRepository, file: string, more: object = {}) =>
    play.deliver({ repository, files, inputs: { channel: 'K1', file, ...more } });

  test('is refused where the site does not have it, and the hint leads out', async () => {
    const repository = await play.repository();
    const head = await repository.head();
    expectRefused(
      await deliver(repository, 'doc/book/'),
      'check',
      /script \.\.\/lib\/a\.js is outside the folder, .*: its host does not have it/,
      { hint: / deliver the folder doc\/, with `entry: book\/index\.html`/ },
    );
    expect(await repository.head()).toBe(head);
    const { report } = await deliver(repository, 'doc/', { entry: 'book/index.html' });
    expect(report).toMatchObject({ ready: true, url: `${repository.pages.url}doc/book/` });
  });

  test('is delivered where another delivery has put it there', async () => {
    const repository = await play.repository({ files: { 'lib/a.js': '"a";\n' } });
    const { report } = await deliver(repository, 'doc/book/');
    expect(report).toMatchObject({ ready: true, url: `${repository.pages.url}book/` });
    expect(report.lines.UNKNOWN).toMatch(
      /^index\.html line \d+: script \.\.\/lib\/a\.js is outside the folder, and no part of this delivery;/,
    );
  });

  test('is delivered with a folder of the same step that has it', async () => {
    const more = { ...files, 'doc/lib/index.html': createPage() };
    const inputs = { channel: 'K1', file: 'doc/book/\ndoc/lib/' };
    const { reports } = await play.deliver({ files: more, inputs });
    expect(reports.map(({ ready }) => ready)).toEqual([true, true]);
  });
});

test('`auto` takes K2 for a program beside a page, and one release, without a commit, for a tag', async () => {
  const repository = await play.repository();
  const given = { 'page.html': createPage(), 'setup.exe': 'MZ\0program' };
  const inputs = { file: 'page.html\nsetup.exe' };
  const { reports } = await play.deliver({ repository, files: given, inputs });
  expect(reports.map(({ channel, ready }) => [channel, ready])).toEqual([
    ['K1', true],
    ['K2', true],
  ]);
  const tagged = await play.deliver({ repository, files: given, inputs: { ...inputs, tag: 'v1.2.0' } });
  expect(tagged.reports.map(({ channel, ready }) => [channel, ready])).toEqual([
    ['K2', true],
    ['K2', true],
  ]);
  expect(tagged.report.lines.CODE).toContain('because a tag was named');
  expect(await repository.log()).toHaveLength(2);
});
