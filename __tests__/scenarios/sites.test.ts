import { describe, expect, test } from '@jest/globals';
import { LARGE_CONTENT } from '../faults/delivery-kinds.ts';
import type { StoredDeploymentStatus } from '../world/deployment-store.ts';
import type { RepositoryOptions, TestRepository } from '../world/repository.ts';
import type { BufferedReply } from '../world/server/interceptions.ts';
import { replyHtml } from '../world/server/messages.ts';
import { LOGINS } from '../world/tokens.ts';
import { type Played, proven, refused, requestsOf, setUpPlay, writesOf } from './play.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();
const files = { 'page.html': createPage() };
const inputs = { channel: 'K1' };
const deliver = (repository: TestRepository, more: object = {}, token?: string) =>
  play.deliver({ repository, files, inputs: { ...inputs, ...more }, ...(token && { token }) });

describe('the URL of the site', () => {
  test.each<[string, Partial<RepositoryOptions>, string, string]>([
    ["a user's site", { owner: 'Mona', name: 'mona.github.io' }, 'https://mona.github.io/', 'page.html'],
    [
      'a custom domain',
      { name: 'own-domain', pages: { cname: 'a.octo.com' } },
      'https://a.octo.com/',
      'page.html',
    ],
    [
      'the folder /docs of an owner with capital letters',
      { owner: 'ACME', name: 'Reports', pages: { path: '/docs' } },
      'https://acme.github.io/Reports/',
      'docs/page.html',
    ],
  ])('%s', async (_, spec, url, path) => {
    const repository = await play.repository(spec);
    const { report } = await proven(deliver(repository));
    const rawUrl = `https://raw.githubusercontent.com/${repository.fullName}/main/${path}`;
    expect(report).toMatchObject({ url: `${url}page.html`, rawUrl });
    expect((await repository.log())[0]?.files).toEqual([path]);
  });

  test("a branch other than the site's is refused, and the hint names no missing branch", async () => {
    const repository = await play.repository();
    const says =
      /^check: the site is built from branch main, not from gh-pages → leave `branch:` out; to move the site, push a branch gh-pages/;
    await refused(deliver(repository, { branch: 'gh-pages' }), says);
    await proven(deliver(repository));
  });

  test('if the settings can’t be read, the usual URL is used, and UNKNOWN says so', async () => {
    const repository = await play.repository();
    const { report } = await proven(deliver(repository, {}, play.world.token({ pages: 'none' })));
    expect(report.url).toBe(`${repository.pages.url}page.html`);
    expect(report.lines.UNKNOWN).toMatch(/^the Pages settings could not be read .*`pages: read`/);
  });

  test('`pages-base` and `raw-base` override the settings', async () => {
    const repository = await play.repository({ pages: false });
    const bases = {
      'pages-base': 'https://www.octo-org.com/site',
      'raw-base': 'https://raw.octo-org.com/main/',
    };
    for (const base of Object.values(bases)) {
      const { host, pathname } = new URL(base);
      play.world.host(host, async ({ path }) => {
        const body = await repository.read(path.slice(pathname.replace(/\/$/, '').length + 1));
        return body === null ? { status: 404 } : replyHtml(200, String(body));
      });
    }
    const { report } = await proven(deliver(repository, bases));
    const [url, rawUrl] = [`${bases['pages-base']}/page.html`, `${bases['raw-base']}page.html`];
    expect(report).toMatchObject({ url, rawUrl });
  });

  test('a name that Jekyll skips is accepted with a .nojekyll, and otherwise refused', async () => {
    const named = { repository: await play.repository(), files: { '_page.html': createPage() }, inputs };
    await refused(play.deliver(named), /^check: Jekyll.* ignores _page\.html.* → .*\.nojekyll/);
    const repository = await play.repository({ files: { '.nojekyll': '\n' } });
    await proven(play.deliver({ ...named, repository }));
  });

  test('an empty repository gets its first commit with one small file, and has nothing to withdraw', async () => {
    const repository = await play.repository({ empty: true });
    const withdrawal = { ...inputs, path: 'previews/', operation: 'withdraw' };
    const { report } = await play.deliver({ repository, inputs: withdrawal });
    expect(report.lines.RESULT).toMatch(/^ГОТОВО, there was nothing to remove at previews\//);
    const large = { repository, files: { 'a.bin': LARGE_CONTENT }, inputs };
    await refused(play.deliver(large), /^place.*: .*empty.* → .*push a first commit/);
    await proven(deliver(repository));
    expect(await repository.log()).toMatchObject([{ files: ['page.html'] }]);
  });
});

describe('a site that a workflow builds', () => {
  const pages = { buildType: 'workflow', buildMs: 200 } as const;
  const newSite = (more: object = {}) => play.repository({ pages: { ...pages, ...more } });
  /** Delivers to a site with `site-workflow`, and a token that may start it. */
  const run = (repository: TestRepository, more: object = {}, permissions: object = { actions: 'write' }) =>
    deliver(repository, { 'site-workflow': 'pages.yml', ...more }, play.world.token(permissions));

  test("is built by a push of an app, and the deployment's state is reported", async () => {
    const byApp = (repository: TestRepository, more = {}): Promise<Played> =>
      deliver(repository, {}, play.world.token(more, LOGINS.app));
    const ready = await proven(byApp(await newSite()));
    expect(ready.log).toContain('deployment of our commit: in_progress');
    expect(requestsOf(ready, /pages\/builds/)).toEqual([]);
    await proven(byApp(await newSite(), { deployments: 'none' }));
    const failing = await newSite({ builds: 'errored', errorMessage: 'artifact is too large' });
    const failed = await refused(byApp(failing), /^wait.*: .*artifact is too large.*our commit: failure/);
    expect(requestsOf(failed, /page\.html\?v=/).length).toBeLessThan(5);
  });

  test.each(['false', 'true'])(
    "with the job's own token is refused before anything is committed (dry run: %s)",
    async (dryRun) => {
      await refused(
        run(await newSite(), { 'site-workflow': '', 'dry-run': dryRun }),
        /^check: .*only an action in a job.* → .*`site-workflow:`.*K2 or K3/,
      );
    },
  );

  test('is delivered by the workflow of `site-workflow`, which is started after the commit', async () => {
    const delivered = await proven(run(await newSite()));
    expect(delivered.log).toContain('the workflow pages.yml was started');
    expect(requestsOf(delivered, /^POST .*\/dispatches$/)).toHaveLength(1);
    const unknown = run(await newSite(), { 'site-workflow': 'other.yml' });
    await refused(unknown, /^check.*: .*the workflow other\.yml does not exist.* → .*`site-workflow:`/);
    const denied = run(await newSite(), {}, { actions: 'read' });
    await refused(denied, /^wait 403: .*starting.* → .*actions: write/);
  });

  const PAGE = 'https://github\\.com/octo/play-\\d+/actions/runs/\\d+';
  test.each([
    ['failure', 'ended with failure', 'fix what failed there and try again'],
    ['timed_out', 'ended with timed_out', 'fix what failed there'],
    ['cancelled', 'ended with cancelled', 'try again'],
    ['skipped', 'ended with skipped', 'change the `if:`'],
    ['startup_failure', 'ended with startup_failure', 'fix the workflow file'],
    ['approval', "its run waits for a rule of the site's environment", 'approve it.*Settings → Environments'],
    ['queued', 'its run waits for a runner', '`runs-on:`'],
    ['pending', 'its run waits for another run', '`concurrency:`'],
  ] as const)('reports the page of a run that ends as %s, and what to change', async (end, why, change) => {
    const says = new RegExp(`^wait.*: .*${why}.* → .*${change}`);
    const played = await refused(run(await newSite({ runOutcomes: end })), says);
    expect(played.report.notReady?.hint).toMatch(new RegExp(PAGE));
    // Only a run that waits is waited for until the timeout.
    const most = ['approval', 'queued', 'pending'].includes(end) ? 99 : 4;
    expect(requestsOf(played, /page\.html\?v=\d+$/).length).toBeLessThanOrEqual(most);
  });

  test.each([
    ['no run follows', { runOutcomes: 'absent' }, {}, /^wait.*: .*its run has not started → check Actions/],
    [
      'its run leaves the file out',
      { builds: 'never' },
      {},
      /^wait.*: .*its run ended with success.* → .*actions\/runs\/\d+: let the workflow publish this file too/,
    ],
    [
      'its run deploys our commit without the file',
      { live: false },
      {},
      /^verify 404: .* → pages\.yml deployed our commit without `page\.html`; let its upload include it/,
    ],
    [
      'its run deploys our commit without the files of a folder',
      { live: false },
      { file: './', path: 'p/', entry: 'page.html' },
      /^verify 404: .* → pages\.yml deployed our commit without all of `p\/`; let its upload include it/,
    ],
  ])('is not ready if %s', async (_, site, more, says) => {
    await refused(run(await newSite(site), more), says);
  });

  test('is ready if a timer delays the run, or a later run replaced it', async () => {
    await proven(run(await newSite({ runOutcomes: 'timer' })));
    const repository = await newSite({ runOutcomes: ['cancelled', 'published'] });
    play.meanwhile({ method: 'POST', url: /\/dispatches$/ }, async () => {
      repository.pages.startWorkflow((await repository.head()) ?? '', 'main');
    });
    await proven(run(repository));
    expect(repository.pages.runs.map(({ conclusion }) => conclusion)).toEqual(['success', 'cancelled']);
  });

  test('is ready if the token may not read runs: the deployment decides', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const body = JSON.stringify({ message: 'Resource not accessible by integration' });
    play.intercept({ method: 'GET', url: /\/runs\?/, times: 99 }, { status: 403, headers, body });
    const delivered = await proven(run(await newSite()));
    expect(requestsOf(delivered, /\/actions\/(workflows\/pages\.yml\/runs|runs\/)/)).toHaveLength(1);
  });

  test.each([
    ['its run failed', { runOutcomes: ['failure', 'published'] }, 'ended with failure'],
    ['its deployment failed', { builds: ['errored', 'normal'] }, 'deployment of our commit: failure'],
  ])('is started again by the next step if %s', async (_, site, reason) => {
    const repository = await newSite(site);
    await refused(run(repository), new RegExp(`^wait.*: .*${reason}.* → .*${PAGE}`));
    await proven(run(repository));
    expect(repository.pages.runs).toHaveLength(2);
  });

  test('is started again if another deployment has replaced ours', async () => {
    const repository = await newSite();
    await proven(run(repository));
    // An older commit was deployed at the same time, and ended later.
    const [, initial = ''] = (await repository.log()).map(({ sha }) => sha);
    await repository.pages.publishImmediately(initial);
    repository.pages.deployments.all.reverse();
    const [latest] = repository.pages.deployments.all;
    latest?.statuses.unshift({ ...(latest.statuses[0] as StoredDeploymentStatus), state: 'inactive' });
    await proven(run(repository));
    expect(repository.pages.runs).toHaveLength(2);
  });
});

test('a failed build of a branch is requested again, and the needed permission is named', async () => {
  for (const permission of ['write', 'read'] as const) {
    const token = play.world.token({ pages: permission });
    const repository = await play.repository({ pages: { builds: ['errored', 'normal'] } });
    await refused(deliver(repository, {}, token), /^wait.*: .*Page build failed/);
    const second = deliver(repository, {}, token);
    if (permission === 'write') await proven(second);
    else await refused(second, /needs the permission `pages: write`.* → /);
    expect(requestsOf(await second, /^POST .*\/pages\/builds$/)).toHaveLength(1);
  }
});

test('a job that may only write contents, and whose push starts no build, gets all needed permissions in one message', async () => {
  const repository = await play.repository({ pages: { startsBuilds: false } });
  const token = play.world.token({ pages: 'none' });
  const says =
    /^wait.*: .*reading the build status needs .* → give the job `permissions: \{ pages: write \}`, .* then run it again/;
  await refused(deliver(repository, {}, token), says);
  await proven(deliver(repository, {}));
});

describe("if a page needs the build's state and the token may not read builds, the message names the permission", () => {
  const token = () => play.world.token({ pages: 'none' });
  const says = /^wait.*: .*reading the build status needs .* → give the job `permissions: \{ pages: read \}`/;
  const notes = (text: string) => ({ inputs: { ...inputs, marker: 'version' }, files: { 'notes.md': text } });

  test('for a page that Jekyll renders again', async () => {
    const repository = await play.repository();
    await proven(play.deliver({ repository, ...notes('# version one') }));
    await refused(play.deliver({ repository, ...notes('# version two'), token: token() }), says);
    await proven(play.deliver({ repository, ...notes('# version two') }));
  });

  test("for a withdrawn page whose URL then shows a person's file", async () => {
    const repository = await play.repository({ files: { 'page.md': '# theirs' } });
    await proven(deliver(repository, { overwrite: 'true' }));
    await refused(deliver(repository, { operation: 'withdraw' }, token()), says);
    await proven(deliver(repository, { operation: 'withdraw' }));
  });
});

test.each([
  ['of a branch', {}, /builds\/latest/, 'errored'],
  ['of a workflow', { buildType: 'workflow' }, /deployments\/\d+\/statuses/, 'failure'],
] as const)('a build %s that a later build overtakes does not end the wait', async (_, site, url, word) => {
  const repository = await play.repository({ pages: { ...site, builds: ['errored', 'normal'] } });
  let isOvertaken = false;
  const alter = async (reply: BufferedReply): Promise<BufferedReply> => {
    if (!isOvertaken && String(reply.body).includes(`"${word}"`)) {
      isOvertaken = true;
      await repository.commit('other.html', createPage());
    }
    return reply;
  };
  play.intercept({ url, times: 9_999 }, { alter });
  const token = play.world.token({ deployments: 'read' }, LOGINS.app);
  const { log } = await proven(deliver(repository, {}, token));
  expect(isOvertaken).toBe(true);
  expect(log).toMatch(/: (errored|failure); Page build failed/);
});

describe('`setup`', () => {
  const files = { 'dist/index.html': createPage(), 'dist/app.js': 'document.title = 1;\n' };
  const folder = { channel: 'K1', file: 'dist/', path: './', branch: 'gh-pages', setup: 'true' };
  /** With the token of somebody who may change the repository's settings. */
  const asAdmin = (repository: TestRepository, more: object = {}): Promise<Played> => {
    const token = play.world.token({ administration: 'write' }, LOGINS.human);
    return play.deliver({ repository, files, inputs: { ...folder, ...more }, token });
  };

  test('creates the branch without other history, and switches Pages on for it', async () => {
    const repository = await play.repository({ pages: false });
    const planned = await asAdmin(repository, { 'dry-run': 'true' });
    expect(planned.log).toContain('; creates the branch gh-pages; switches Pages on for the branch gh-pages');
    expect(writesOf(planned)).toEqual([]);
    const { report } = await proven(asAdmin(repository));
    expect(report.url).toBe(repository.pages.url);
    const notes = ['the branch gh-pages was created', 'Pages was switched on for the branch gh-pages'];
    expect(report.notes).toEqual(expect.arrayContaining(notes));
    expect(await repository.log('gh-pages')).toMatchObject([{ files: ['app.js', 'index.html'] }]);
    expect(repository.pages).toMatchObject({ branch: 'gh-pages', path: '/' });
  });

  test("with the job's own token creates the branch, and names the two remaining clicks", async () => {
    const repository = await play.repository({ pages: false });
    const { report } = await refused(
      play.deliver({ repository, files, inputs: folder }),
      /^place 403: the branch gh-pages was created \(commit [0-9a-f]{40}\), and two clicks are left, because .* → under Settings → Pages choose "Deploy from a branch" and the branch gh-pages/,
    );
    expect(report.unknown).toEqual(['nothing was published']);
    expect(await repository.log('gh-pages')).toMatchObject([{ files: ['app.js', 'index.html'] }]);
    await refused(
      play.deliver({ repository, files, inputs: folder }),
      /^place 403: the branch gh-pages has it \(commit [0-9a-f]{40}\), and two clicks are left/,
    );
  });

  test.each(['page.html', './'])(
    'is not needed to withdraw %s after Pages was switched off',
    async (path) => {
      const repository = await play.repository();
      await proven(
        play.deliver({ repository, files: { 'page.html': createPage() }, inputs: { channel: 'K1' } }),
      );
      repository.site = null;
      const withdrawal = { channel: 'K1', operation: 'withdraw', branch: 'main', path };
      await proven(play.deliver({ repository, inputs: withdrawal }));
      expect(await repository.read('page.html')).toBeNull();
    },
  );

  test('makes the branch of a site for several files', async () => {
    const repository = await play.repository({ pages: { branch: 'gh-pages', built: false } });
    const several = { 'a.html': createPage('a'), 'b.html': createPage('b') };
    const given = { repository, files: several, inputs: { ...folder, file: '*.html' } };
    const { reports } = await proven(play.deliver(given));
    expect(reports.map(({ ready }) => ready)).toEqual([true, true]);
    expect(await repository.log('gh-pages')).toHaveLength(2);
  });

  test.each([
    ['if it is not set', { setup: 'false' }, /`setup: true`/],
    ['if a branch with sources would be published', { branch: '' }, /`branch: gh-pages`/],
  ])('is suggested %s, and nothing is created', async (_, more, hint) => {
    const { report, requests } = await asAdmin(await play.repository({ pages: false }), more);
    expect(report.notReady?.hint).toMatch(hint);
    expect(writesOf({ requests })).toEqual([]);
  });
});

test('a branch that another host serves is delivered and withdrawn without a GitHub build', async () => {
  const repository = await play.repository({ pages: false });
  play.world.host('site.example.dev', async () => {
    const body = await repository.read('page.html');
    return body === null ? { status: 404, body: '' } : replyHtml(200, String(body));
  });
  const at = { channel: 'K1', 'pages-base': 'https://site.example.dev/' };
  const files = { 'page.html': createPage() };
  await proven(play.deliver({ repository, files, inputs: { ...at, file: 'page.html' } }));
  const inputs = { ...at, operation: 'withdraw', path: 'page.html' };
  const { report, requests } = await play.deliver({ repository, inputs });
  expect([report.gone, report.notReady]).toEqual([['https://site.example.dev/page.html'], null]);
  expect(requests.filter((line) => line.includes('/pages/builds'))).toEqual([]);
});

describe('a folder whose page needs code from another folder', () => {
  const page = createPage('<script src="../lib/a.js"></script>');
  const files = { 'doc/book/index.html': page, 'doc/lib/a.js': '"a";\n', 'doc/lib/index.html': createPage() };
  const deliver = (repository: TestRepository, file: string, entry = 'index.html') =>
    play.deliver({ repository, files, inputs: { channel: 'K1', file, entry } });

  test('is refused if the site lacks it, unless another folder of the step has it', async () => {
    const repository = await play.repository();
    await refused(
      deliver(repository, 'doc/book/'),
      /^check: .*script \.\.\/lib\/a\.js is outside the folder, .*: its host doesn't have it.* → .*deliver the folder doc\/, with `entry: book\/index\.html`/,
    );
    const { report } = await proven(deliver(repository, 'doc/', 'book/index.html'));
    expect(report.url).toBe(`${repository.pages.url}doc/book/`);
    const { reports } = await proven(deliver(await play.repository(), 'doc/book/\ndoc/lib/'));
    expect(reports.map(({ ready }) => ready)).toEqual([true, true]);
  });

  test('is delivered if another delivery has published it', async () => {
    const repository = await play.repository({ files: { 'lib/a.js': '"a";\n' } });
    const { report } = await proven(deliver(repository, 'doc/book/'));
    expect(report.url).toBe(`${repository.pages.url}book/`);
    expect(report.lines.UNKNOWN).toMatch(
      /^index\.html line \d+: script \.\.\/lib\/a\.js is outside the folder, so it is not part of this delivery;/,
    );
  });
});

describe('a folder that was built for the root of its host', () => {
  const files = (body: string) => ({
    'dist/index.html': createPage(body),
    ...{ 'dist/about/index.html': createPage(), 'dist/blog/index.html': createPage() },
    ...{ 'dist/_astro/pic.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>\n', 'dist/c.js': '1;\n' },
    ...{ 'dist/_app/immutable/a.js': '1;\n', 'dist/_app/immutable/b.js': '2;\n' },
  });
  const deliver = async (body: string) => {
    const repository = await play.repository({ files: { '.nojekyll': '\n' } });
    return play.deliver({
      repository,
      files: files(body),
      inputs: { ...inputs, file: 'dist/', path: 'previews/1/' },
    });
  };
  const IMAGE = '<img src="/_astro/pic.svg">';
  const NAV = '<a href="/">Home</a><a href="/about/">About</a><a href="/blog/">Blog</a>';
  const START =
    '<script>Promise.all([import("/_app/immutable/a.js"), import("/_app/immutable/b.js")])</script>';

  test.each([
    ['all links of its entry lead out', IMAGE + NAV, 3, 'the picture /_astro/pic\\.svg'],
    ['all its scripts lead out, though its text is there', START, 2, 'import /_app/immutable/a\\.js|script'],
  ])('is refused if %s', async (_, body, count, first) => {
    const says = `(?:${first}).* leads out of the folder .*/previews/1/, ${count} times → .* built the folder: set \`(?:kit\\.paths\\.)?base`;
    await refused(deliver(body), new RegExp(`^check: .*${says}`));
  });

  test.each([
    [
      'a picture that leads out',
      IMAGE,
      /the picture \/_astro\/pic\.svg leads out of .* \(Astro built the folder: set `/,
    ],
    [
      'a missing picture',
      '<img src="fig/1.png">',
      /the picture fig\/1\.png is missing \(add the file to the folder/,
    ],
    [
      'some links that lead out',
      `${NAV}<a href="c.js">c</a>`,
      /the link to \/about\/ leads out .*, 2 times \(/,
    ],
  ])('is ready with %s in UNKNOWN', async (_, body, unknown) => {
    const { report } = await proven(deliver(body));
    expect(report.unknown[0]).toMatch(unknown);
  });

  test('is ready without a doubt if its links lead home and to an API', async () => {
    const { report } = await proven(deliver('<a href="/">Home</a><a href="/api/v1">API</a>'));
    expect(report.lines.UNKNOWN).not.toContain('leads out');
  });
});

test('`auto` uses K2 for a program beside a page, and for a tag one release without a commit', async () => {
  const repository = await play.repository();
  const given = { 'page.html': createPage(), 'setup.exe': 'MZ\0program' };
  const choose = async (tag: string, expected: readonly string[]): Promise<Played> => {
    const inputs = { file: 'page.html\nsetup.exe', tag };
    const played = await play.deliver({ repository, files: given, inputs });
    const chosen = played.reports.map(({ channel, ready }) => [channel, ready]);
    expect(chosen).toEqual(expected.map((channel) => [channel, true]));
    return played;
  };
  await choose('', ['K1', 'K2']);
  const { report } = await choose('v1.2.0', ['K2', 'K2']);
  expect(report.lines.CODE).toContain('because a tag was named');
  expect(await repository.log()).toHaveLength(2);
});
