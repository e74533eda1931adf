import { describe, expect, test } from '@jest/globals';
import { readJobRuntime } from '../../src/channels/pages/deploy/job-runtime.ts';
import { ARCHIVE_TOKEN } from '../world/hosts/codeload.ts';
import type { RepositoryOptions, TestRepository } from '../world/repository.ts';
import type { InterceptedReply } from '../world/server/interceptions.ts';
import { LOGINS } from '../world/tokens.ts';
import { expectRefused, type Played, type PlayedDelivery, requestsOf, setUpPlay } from './play.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();
const pages = { buildType: 'workflow', built: false } as const;
const WRITES = /^(PUT|POST|PATCH|DELETE) (?!.*\/graphql$)/;
const WHOLE = { channel: 'K1', path: './' };
const SITE = {
  'site/index.html': createPage('<script src="js/app.js"></script>'),
  'site/js/app.js': 'document.title = "app";\n',
};
const FOLDER = { ...WHOLE, file: 'site/' };

const newSite = (more: Partial<RepositoryOptions> = {}): Promise<TestRepository> =>
  play.repository({ pages, ...more });

/** What the runner of a job gives to the action. */
async function startJob(repository: TestRepository, job: object = {}): Promise<Record<string, string>> {
  return play.world.actions.startJob({
    commit: (await repository.head()) ?? '',
    repository: repository.fullName,
    ...job,
  });
}

async function deliver(given: PlayedDelivery & { readonly job?: object }): Promise<Played> {
  const { job = {}, repository = await newSite(), ...delivery } = given;
  const runtime = readJobRuntime(await startJob(repository, job));
  return play.deliver({ ...delivery, repository, around: { runtime, ...delivery.around } });
}

describe('a site that GitHub Actions deploys, without a branch', () => {
  test('is replaced by a folder, and nothing is committed', async () => {
    const repository = await newSite();
    const before = await repository.log();
    const { report, log, requests } = await deliver({ repository, files: SITE, inputs: FOLDER });
    expect(report.lines.RESULT).toMatch(/^ГОТОВО/);
    expect(report.url).toBe(repository.pages.url);
    expect(log).toMatch(/artifact of 2 files, deployment [0-9a-f]{40}/);
    expect(await repository.log()).toEqual(before);
    expect(log).toMatch(/uploaded 2 files as artifact \d+/);
    expect(requests.filter((one) => one.includes('api.github.com')).length).toBeLessThanOrEqual(15);
  });

  test('is replaced by one page, and by another one, and keeps a receipt', async () => {
    const repository = await newSite();
    const files = { 'report.html': createPage() };
    expect((await deliver({ repository, files, inputs: WHOLE })).report.ready).toBe(true);
    const token = play.world.token();
    const other = { repository, token, files: { 'other.html': createPage('2') }, inputs: WHOLE };
    const second = await deliver(other);
    expect(second.report).toMatchObject({ ready: true, url: `${repository.pages.url}other.html` });
    const receipt = await readReceipt(repository);
    expect(receipt).toMatchObject({ tool: 'screen-delivery', branch: null, files: [{ path: 'other.html' }] });
    const again = await deliver(other);
    expect(again.report.ready).toBe(true);
    // What is live says nothing of a deployment that is on its way.
    expect(requestsOf(again, /^POST .*pages\/deployments$/)).toHaveLength(1);
  });

  test('is only described by a dry run', async () => {
    const inputs = { ...FOLDER, 'dry-run': 'true' };
    const dry = await deliver({ files: SITE, inputs });
    expect(dry.log).toMatch(/would be deployed as the whole site octo\.github\.io/);
    expect(requestsOf(dry, WRITES)).toEqual([]);
  });

  test('is never deployed in part', async () => {
    const files = { 'a.html': createPage(), 'b.html': '' };
    const inputs = { ...WHOLE, file: 'a.html\nb.html' };
    const part = await deliver({ files, inputs });
    expect(part.reports.map(({ ready }) => ready)).toEqual([false, false]);
    expectRefused(part, 'place', /would be deployed without b\.html/);
    expect(requestsOf(part, WRITES)).toEqual([]);
  });

  test.each([
    ['a folder below the root', { ...FOLDER, path: 'previews/' }],
    ['no path', { channel: 'K1', file: 'site/' }],
    ['a file below the root', { channel: 'K1', file: 'site/index.html', path: 'a/index.html' }],
  ])('takes the whole of it alone: %s is refused with the line to add', async (_, inputs) => {
    const refused = await deliver({ files: SITE, inputs });
    expectRefused(refused, 'check', /each deployment replaces all of it/, {
      hint: /`branch: gh-pages`.*`path: \.\/`.*`site-workflow:`.*Deploy from a branch/,
    });
    expect(requestsOf(refused, WRITES)).toEqual([]);
  });

  test('has nothing that could be withdrawn, or put back', async () => {
    const repository = await newSite();
    await deliver({ repository, files: SITE, inputs: FOLDER });
    const inputs = { ...WHOLE, operation: 'withdraw' };
    const withdrawn = await deliver({ repository, inputs });
    expectRefused(withdrawn, 'check', /nothing can be removed from it alone/, {
      hint: /`branch:`.*deliver another site, or switch Pages off/,
    });
    repository.pages.deploymentEnds = ['deployment_failed'];
    const files = { ...SITE, 'site/js/app.js': 'document.title = 2;\n' };
    const failed = await deliver({ repository, files, inputs: { ...FOLDER, 'on-failure': 'restore' } });
    expect(failed.report.ready).toBe(false);
    expect(failed.log).toContain('keeps nothing of what was there before');
  });

  test('of somebody else is replaced with `overwrite: true` alone', async () => {
    const repository = await play.repository({
      pages: { buildType: 'workflow' },
      files: { 'index.html': createPage('theirs') },
    });
    const refused = await deliver({ repository, files: SITE, inputs: FOLDER });
    expectRefused(refused, 'check', /was not deployed by this tool, and a deployment replaces all of it/, {
      hint: /`overwrite: true` once/,
    });
    expect(requestsOf(refused, WRITES)).toEqual([]);
    const inputs = { ...FOLDER, overwrite: 'true' };
    expect((await deliver({ repository, files: SITE, inputs })).report.ready).toBe(true);
    expect((await deliver({ repository, files: SITE, inputs: FOLDER })).report.ready).toBe(true);
  });
});

describe('a site that GitHub Actions deploys, with a branch', () => {
  const BRANCH = { channel: 'K1', branch: 'gh-pages', setup: 'true' };

  test('shows previews and other pages beside each other, and loses a withdrawn one alone', async () => {
    const repository = await newSite();
    const main = await deliver({ repository, files: { 'index.html': createPage() }, inputs: BRANCH });
    expect(main.report).toMatchObject({ ready: true, url: `${repository.pages.url}index.html` });
    const files = { 'page.html': createPage('preview') };
    const inputs = { ...BRANCH, path: 'previews/pr-7/' };
    const preview = await deliver({ repository, files, inputs });
    expect(preview.report.url).toBe(`${repository.pages.url}previews/pr-7/page.html`);
    expect(preview.log).toMatch(/commit [0-9a-f]{40}, deployment [0-9a-f]{40}/);
    const receipt = await readReceipt(repository);
    expect(receipt).toMatchObject({ branch: 'gh-pages', commit: await repository.head('gh-pages') });
    const paths = receipt.files.map(({ path }: { path: string }) => path).toSorted();
    expect(paths).toEqual(expect.arrayContaining(['index.html', 'previews/pr-7/page.html']));
    const withdrawal = { ...inputs, operation: 'withdraw', setup: 'false' };
    const withdrawn = await deliver({ repository, inputs: withdrawal });
    expect(withdrawn.report.lines.RESULT).toMatch(/^ГОТОВО/);
    expect((await readReceipt(repository)).files).toHaveLength(paths.length - 1);
  });

  test('is deployed by a second try where the first one failed after its commit', async () => {
    const repository = await newSite();
    const files = { 'page.html': createPage() };
    repository.pages.deploymentRefusals = [
      [400, 'Branch "x" is not allowed to deploy to github-pages due to environment protection rules.'],
    ];
    const refused = await deliver({ repository, files, inputs: BRANCH });
    expectRefused(refused, 'place', /not allowed to deploy/, { httpCode: 400, hint: /Deployment branches/ });
    expect(refused.report.lines.UNKNOWN).toMatch(/commit [0-9a-f]{40} on the branch gh-pages/);
    const again = await deliver({ repository, files, inputs: BRANCH });
    expect(again.report.ready).toBe(true);
    expect(await repository.log('gh-pages')).toHaveLength(1);
    const third = await deliver({ repository, files, inputs: BRANCH });
    expect(third.report.ready).toBe(true);
    expect(await repository.log('gh-pages')).toHaveLength(1);
  });

  test('deploys the newest tree, never an older one over a newer', async () => {
    const repository = await newSite();
    await deliver({ repository, files: { 'a.html': createPage() }, inputs: BRANCH });
    let moved = false;
    play.meanwhile({ method: 'POST', url: /pages\/deployments$/ }, async () => {
      // Another job commits right after this deployment was accepted.
      if (!moved) await repository.commit('later.html', 'later', 'by another job', 'gh-pages');
      moved = true;
    });
    const { report, log } = await deliver({ repository, files: { 'b.html': createPage() }, inputs: BRANCH });
    expect(report.ready).toBe(true);
    expect(log).toContain('the branch has changed meanwhile');
    expect(repository.pages.liveCommit).toBe(await repository.head('gh-pages'));
  });

  test('names what is live where its branch can not be read after that', async () => {
    const repository = await newSite();
    play.meanwhile({ method: 'POST', url: /pages\/deployments$/ }, () => {
      play.intercept({ method: 'GET', url: /git\/ref\/heads/ }, { status: 403, body: '{}' });
    });
    const files = { 'a.html': createPage() };
    const { report, log } = await deliver({ repository, files, inputs: BRANCH });
    expect(report.ready).toBe(true);
    expect(log).toMatch(/deployment [0-9a-f]{40}/);
    expect(report.lines.UNKNOWN).toContain('whether the newest files of the branch are deployed: ');
  });

  test.each(['.gitlab/page.html', '.well-known/screen-delivery.json'])(
    'takes nothing that a deployment leaves out: %s',
    async (path) => {
      const refused = await deliver({ files: { 'page.html': createPage() }, inputs: { ...BRANCH, path } });
      expectRefused(refused, 'check', /a deployment leaves it out/, { hint: /`path:` to another place/ });
      expect(requestsOf(refused, WRITES)).toEqual([]);
    },
  );

  test('is refused where a folder without a branch is live, or another branch', async () => {
    const repository = await newSite();
    await deliver({ repository, files: SITE, inputs: FOLDER });
    const files = { 'a.html': createPage() };
    const branch = await deliver({ repository, files, inputs: BRANCH });
    expectRefused(branch, 'check', /a folder that this tool deployed without a branch/);
    await deliver({ repository, files, inputs: { ...BRANCH, overwrite: 'true' } });
    const folder = await deliver({ repository, files: SITE, inputs: FOLDER });
    expectRefused(folder, 'check', /that of the branch gh-pages/, { hint: /`branch: gh-pages`/ });
  });

  test.each(['export-ignore', 'export-subst'])(
    'is not deployed with other files than the branch has: %s',
    async (attribute) => {
      const repository = await newSite();
      await deliver({ repository, files: { 'a.html': createPage() }, inputs: BRANCH });
      await repository.commit('.gitattributes', `a.html ${attribute}\n`, 'Set it', 'gh-pages');
      const refused = await deliver({ repository, files: { 'b.html': createPage() }, inputs: BRANCH });
      expectRefused(refused, 'place', /has not the a\.html/, { hint: /export-ignore/ });
    },
  );

  test('puts back what was there before, and deploys that', async () => {
    const repository = await newSite();
    const first = { 'a.html': createPage('first') };
    await deliver({ repository, files: first, inputs: BRANCH });
    repository.pages.deploymentEnds = ['deployment_failed', 'succeed'];
    const inputs = { ...BRANCH, 'on-failure': 'restore' };
    const failed = await deliver({ repository, files: { 'a.html': createPage('second') }, inputs });
    expect(failed.report.ready).toBe(false);
    expect(failed.log).toContain('shows that again, byte for byte');
  });
});

describe('a site that others deploy at the same time', () => {
  const BRANCH = { channel: 'K1', branch: 'gh-pages', setup: 'true' };
  const BUSY =
    'Deployment request failed for a1 due to in progress deployment. Please cancel b2 first or wait for it to complete.';
  const isDeployment = /^POST .*pages\/deployments$/;
  const site = (text: string) => ({ 'site/index.html': createPage(text) });
  const liveText = async (repository: TestRepository, path = 'index.html'): Promise<string> =>
    String(await repository.pages.readLive(path));
  /** Does something right after the host has answered a request. */
  const onceAfter = (url: RegExp, act: () => Promise<unknown>): void => {
    let done = false;
    play.meanwhile({ method: 'POST', url }, async () => {
      if (!done) {
        done = true;
        await act();
      }
    });
  };

  test('is not replaced where it has no page at its root', async () => {
    const repository = await play.repository({
      pages: { buildType: 'workflow' },
      files: { 'docs/index.html': 'theirs' },
    });
    const refused = await deliver({ repository, files: SITE, inputs: FOLDER });
    expectRefused(refused, 'check', /was not deployed by this tool/);
    expect(await liveText(repository, 'docs/index.html')).toBe('theirs');
  });

  test('is not replaced where it came while another deployment was waited for', async () => {
    const repository = await newSite();
    repository.pages.deploymentRefusals = [[400, BUSY]];
    const theirs = new Map([['index.html', Buffer.from('theirs')]]);
    const commit = (await repository.head()) ?? '';
    onceAfter(/pages\/deployments$/, async () => repository.pages.deployArtifact(commit, theirs));
    const refused = await deliver({ repository, files: SITE, inputs: FOLDER });
    expectRefused(refused, 'place', /deployed the site at .* meanwhile, not by this tool/);
    expect(await liveText(repository)).toBe('theirs');
  });

  test('keeps the folder of a newer run that was faster', async () => {
    const repository = await newSite();
    const older = await repository.head();
    const newer = await repository.commit('src.txt', 'new source', undefined, 'other');
    repository.pages.deploymentRefusals = [[400, BUSY]];
    const job = { commit: newer };
    onceAfter(/pages\/deployments$/, () =>
      deliver({ repository, job, files: site('newer'), inputs: FOLDER }),
    );
    const given = { repository, job: { commit: older }, files: site('older'), inputs: FOLDER };
    const refused = await deliver(given);
    const reason = new RegExp(`meanwhile, from commit ${newer.slice(0, 7)}`);
    expectRefused(refused, 'place', reason, { hint: /deliver again/ });
    expect(await liveText(repository)).toContain('newer');
  });

  test('ends with the newest tree where a job that was slower deploys after one that was faster', async () => {
    const repository = await newSite();
    const add = (name: string) =>
      deliver({ repository, files: { [name]: createPage(name) }, inputs: BRANCH });
    await add('first.html');
    onceAfter(/FinalizeArtifact$/, () => add('newer.html'));
    expect((await add('older.html')).report.ready).toBe(true);
    expect(repository.pages.liveCommit).toBe(await repository.head('gh-pages'));
    expect(await liveText(repository, 'newer.html')).toContain('newer.html');
  });

  test('is packed only as long as the time allows where others write to its branch all the time', async () => {
    const repository = await newSite();
    await deliver({ repository, files: { 'a.html': createPage() }, inputs: BRANCH });
    let commits = 0;
    play.meanwhile({ method: 'POST', url: /FinalizeArtifact$/, times: 99 }, async () => {
      commits += 1;
      await repository.commit(`${commits}.html`, 'by others', undefined, 'gh-pages');
    });
    const inputs = { ...BRANCH, timeout: '60' };
    const refused = await deliver({ repository, files: { 'b.html': createPage() }, inputs });
    const reason = /others wrote to the branch all the time/;
    expectRefused(refused, 'place', reason, { hint: /the next try deploys what the branch has then/ });
    expect(refused.report.lines.UNKNOWN).toMatch(/commit [0-9a-f]{40} on the branch gh-pages/);
    expect(commits).toBeLessThanOrEqual(7);
    expect(requestsOf(refused, isDeployment)).toEqual([]);
  });

  test('is deployed again where a version that was not ready is still in the queue', async () => {
    const repository = await newSite();
    const put = (text: string) => deliver({ repository, files: site(text), inputs: FOLDER });
    await put('first');
    repository.pages.deploymentEnds = ['deployment_queued'];
    expect((await put('second')).report.ready).toBe(false);
    expect(requestsOf(await put('first'), isDeployment).length).toBeGreaterThan(0);
  });

  test('is deployed again where its receipt is right and its page is not', async () => {
    const repository = await newSite();
    await deliver({ repository, files: site('ours'), inputs: FOLDER });
    const path = '.well-known/screen-delivery.json';
    const copied = Buffer.from(await liveText(repository, path));
    const theirs = new Map([
      ['index.html', Buffer.from('theirs')],
      [path, copied],
    ]);
    repository.pages.deployArtifact('f'.repeat(40), theirs);
    const { report } = await deliver({ repository, files: site('ours'), inputs: FOLDER });
    expect(report.ready).toBe(true);
    expect(await liveText(repository)).toContain('ours');
  });

  test('names the commit that was put back and could not be deployed', async () => {
    const repository = await newSite();
    await deliver({ repository, files: { 'a.html': createPage('first') }, inputs: BRANCH });
    repository.pages.deploymentEnds = ['deployment_failed'];
    onceAfter(/pages\/deployments$/, async () => {
      const denied = [403, 'Resource not accessible by integration'] as const;
      repository.pages.deploymentRefusals = Array.from({ length: 99 }, () => [...denied]);
    });
    const inputs = { ...BRANCH, 'on-failure': 'restore' };
    const { report } = await deliver({ repository, files: { 'a.html': createPage('second') }, inputs });
    const head = await repository.head('gh-pages');
    expect(report.restored).toMatchObject({ proven: false });
    expect(report.restored?.detail).toContain(`what was put back is commit ${head} on the branch gh-pages`);
  });
});

describe('a file that a delivery removes', () => {
  const both = { 'site/index.html': createPage(), 'site/secret.html': createPage('secret') };
  const one = { 'site/index.html': createPage() };
  const reason = /secret\.html \(HTTP 200 with the content from before\)/;

  test('must be gone from a site that GitHub Actions deploys', async () => {
    const repository = await newSite();
    await deliver({ repository, files: both, inputs: FOLDER });
    repository.pages.deploymentEnds = ['deployment_failed', 'succeed'];
    expectRefused(await deliver({ repository, files: one, inputs: FOLDER }), 'verify', reason);
    const { report } = await deliver({ repository, files: one, inputs: FOLDER });
    expect(report.lines.TEST).toContain('files identical: 1 of 1');
  });

  test('must be gone from a site that a branch builds, in a second run as well', async () => {
    const repository = await play.repository();
    const inputs = { channel: 'K1', path: 'docs/', file: 'site/' };
    await play.deliver({ repository, files: both, inputs });
    repository.pages.live = false;
    expectRefused(await play.deliver({ repository, files: one, inputs }), 'verify', reason);
    expectRefused(await play.deliver({ repository, files: one, inputs }), 'verify', reason);
    repository.pages.live = true;
    await repository.commit('later.txt', 'later');
    expect((await play.deliver({ repository, files: one, inputs })).report.ready).toBe(true);
  });
});

describe('a job that deploys a site', () => {
  const inputs = FOLDER;

  test.each([
    ['without an identity', { identity: false }, /has no identity/],
    ['without an environment', { environment: undefined }, /has no environment/],
  ])('%s is told the whole block', async (_, job, reason) => {
    const refused = await deliver({ files: SITE, inputs, job });
    const hint = /environment github-pages.*pages: write, id-token: write/;
    expectRefused(refused, 'check', reason, { hint });
    expect(requestsOf(refused, WRITES)).toEqual([]);
  });

  test('of another repository can not deploy it', async () => {
    const job = { repository: 'octo/other' };
    const refused = await deliver({ files: SITE, inputs, job });
    expectRefused(refused, 'check', /a job of octo\/other can't/, { hint: /run it in octo\/play/ });
    expect(requestsOf(refused, /actions\.githubusercontent/)).toEqual([]);
  });

  test('outside of an action is told so, and the other ways', async () => {
    const repository = await newSite();
    const refused = await play.deliver({ repository, files: SITE, inputs });
    expectRefused(refused, 'check', /exists only in an action of a job on github\.com/, {
      hint: /`uses:`.*`site-workflow:`.*Deploy from a branch.*K2 or K3/,
    });
  });

  test('leaves a site to its workflow where its token starts that', async () => {
    const token = play.world.token({}, LOGINS.app);
    const repository = await play.repository({ pages: { buildType: 'workflow' } });
    const { report, requests } = await deliver({
      repository,
      token,
      files: { 'a.html': createPage() },
      inputs: { channel: 'K1' },
    });
    expect(report.ready).toBe(true);
    expect(requests.join('\n')).not.toMatch(/pages\/deployments|actions\.githubusercontent/);
  });

  test.each([
    [400, 'Missing environment. Ensure your deployment job has an environment.', /environment github-pages/],
    [400, 'Deployments are only allowed from gh-pages', /Deployment branches/],
    [403, 'Resource not accessible by integration', /pages: write/],
    [404, 'Not Found', /GitHub Actions under Settings → Pages → Source/],
  ])('is told what %s (%s) means', async (status, message, hint) => {
    const repository = await newSite();
    repository.pages.deploymentRefusals = [[status, message]];
    const refused = await deliver({ repository, files: SITE, inputs });
    expectRefused(refused, 'place', new RegExp(message), { httpCode: status, hint });
  });

  test.each([
    ['deployment_failed', /try again/],
    ['deployment_content_failed', /1 GB/],
    ['deployment_lost', /try again/],
    ['deployment_cancelled', /newer commit/],
  ])('is told at once that a deployment ended as %s', async (end, hint) => {
    const repository = await newSite();
    repository.pages.deploymentEnds = [end];
    const refused = await deliver({ repository, files: SITE, inputs });
    expectRefused(refused, 'wait', new RegExp(`ended with ${end}`), { hint });
    expect(refused.report.notReady?.code).toBe('BUILD_ERRORED');
    expect(refused.took).toBeLessThan(60_000);
  });

  test.each([
    ['', /waits in the queue/],
    ['deployment_queued', /waits in the queue/],
    ['deployment_attempt_error', /has the status deployment_attempt_error/],
    ['something_new', /has the status something_new/],
  ])('waits as long as the timeout for a deployment that is "%s", and cancels none', async (end, reason) => {
    const repository = await newSite();
    repository.pages.deploymentEnds = [end];
    const refused = await deliver({ repository, files: SITE, inputs });
    expectRefused(refused, 'wait', reason, { hint: /`timeout:`.*was not cancelled/ });
    expect(refused.report.notReady?.reason).toMatch(/deployment [0-9a-f]{40}/);
    expect(requestsOf(refused, /cancel/)).toEqual([]);
    expect(requestsOf(refused, /GET .*pages\/deployments/).length).toBeLessThanOrEqual(48);
  });

  test('is not ready where GitHub calls a deployment finished and serves the old site', async () => {
    const repository = await newSite();
    await deliver({ repository, files: SITE, inputs });
    repository.pages.live = false;
    const files = { ...SITE, 'site/index.html': createPage('new') };
    const refused = await deliver({ repository, files, inputs });
    expectRefused(refused, 'wait', /finished by the word of GitHub/, {
      hint: /newer commit.*`branch: gh-pages`/,
    });
  });

  test('waits for the deployment of another job, and gives up after the timeout', async () => {
    const repository = await newSite();
    const busy =
      'Deployment request failed for a1 due to in progress deployment. Please cancel b2 first or wait for it to complete.';
    repository.pages.deploymentRefusals = [
      [400, busy],
      [400, busy],
    ];
    const ready = await deliver({ repository, files: SITE, inputs });
    expect(ready.report.ready).toBe(true);
    expect(requestsOf(ready, /^PUT .*comp=blocklist/)).toHaveLength(1);
    repository.pages.deploymentRefusals = Array.from({ length: 99 }, () => [400, busy]);
    const files = { ...SITE, 'site/index.html': createPage('new') };
    const refused = await deliver({ repository, files, inputs });
    expectRefused(refused, 'place', /in progress deployment/, {
      httpCode: 400,
      hint: /wait for the other deployment/,
    });
  });

  test('shows its credentials to nobody but those they are for', async () => {
    const repository = await newSite();
    const { actions } = play.world;
    const env = await startJob(repository);
    const runtime = readJobRuntime(env);
    const before = { tokens: actions.idTokens.length, signatures: actions.signatures.length };
    const token = play.world.token();
    const onBranch = { channel: 'K1', branch: 'main', file: 'site/', path: './' };
    const around = { runtime };
    const played = await play.deliver({ repository, token, files: SITE, inputs: onBranch, around });
    expect(played.report.ready).toBe(true);
    const hostsOf = (secret = ''): string[] => [...new Set(played.sightings(secret).map(({ host }) => host))];
    expect(hostsOf(env.ACTIONS_RUNTIME_TOKEN)).toEqual(['results-receiver.actions.githubusercontent.com']);
    expect(hostsOf(env.ACTIONS_ID_TOKEN_REQUEST_TOKEN)).toEqual([
      'run-actions-1-azure-eastus.actions.githubusercontent.com',
    ]);
    const idTokens = actions.idTokens.slice(before.tokens);
    const signatures = actions.signatures.slice(before.signatures);
    expect(hostsOf(idTokens.at(-1))).toEqual(['api.github.com']);
    expect(hostsOf(encodeURIComponent(signatures[0] ?? ''))).toEqual([
      'productionresultssa0.blob.core.windows.net',
    ]);
    expect(played.masked).toEqual(expect.arrayContaining([...idTokens, ...signatures, ARCHIVE_TOKEN]));
    expect(hostsOf(token)).toEqual(['api.github.com']);
    expect(hostsOf(ARCHIVE_TOKEN)).toEqual(['codeload.github.com']);
    const text = `${played.log}${JSON.stringify(played.reports)}`;
    for (const secret of [...idTokens, ...signatures, ARCHIVE_TOKEN]) expect(text).not.toContain(secret);
  });
});

describe('an audit of a site that GitHub Actions deploys', () => {
  const audit = (repository: TestRepository, inputs: object = {}): Promise<Played> =>
    play.deliver({ repository, inputs: { operation: 'audit', timeout: '20', ...inputs } });

  test('proves what the receipt of the site says, without a branch', async () => {
    const repository = await newSite();
    expect((await deliver({ repository, files: SITE, inputs: FOLDER })).report.ready).toBe(true);
    const { report, reports, requests } = await audit(repository);
    expect(reports).toHaveLength(1);
    expect(report).toMatchObject({ verdict: 'as-delivered', url: repository.pages.url });
    expect(report.lines.TEST).toContain('files identical: 2 of 2');
    expect(report.unknown).toEqual([expect.stringContaining('only the receipt that it carries')]);
    expect(requests.filter((one) => WRITES.test(one))).toEqual([]);
    const part = await audit(repository, { path: 'js/' });
    expect(part.report).toMatchObject({ verdict: 'as-delivered', url: `${repository.pages.url}js/app.js` });
  });

  test.each<[string, InterceptedReply, RegExp]>([
    ['altered', { status: 200, body: 'defaced' }, /js\/app\.js \(HTTP 200 with other content\)/],
    ['lost', { status: 404 }, /js\/app\.js \(HTTP 404\)/],
  ])('names a file that is %s', async (_, reply, reason) => {
    const repository = await newSite();
    expect((await deliver({ repository, files: SITE, inputs: FOLDER })).report.ready).toBe(true);
    play.alterSite(repository, 'js/app.js', reply);
    const { report } = await audit(repository);
    expect(report).toMatchObject({ ready: false, verdict: 'lost' });
    expect(report.notReady?.reason).toMatch(reason);
  });

  test('finds the branch that was deployed in the receipt', async () => {
    const repository = await newSite();
    const onBranch = { channel: 'K1', branch: 'gh-pages', setup: 'true', path: 'previews/pr-7/' };
    const files = { 'page.html': createPage() };
    expect((await deliver({ repository, files, inputs: onBranch })).report.ready).toBe(true);
    const { report } = await audit(repository);
    expect(report).toMatchObject({ verdict: 'as-delivered', file: { path: 'previews/pr-7/page.html' } });
  });

  test('is asked for a folder in both spellings, and for no other one with its name', async () => {
    const repository = await newSite();
    const files = { ...SITE, 'site/pr-10/index.html': createPage('ten') };
    await deliver({ repository, files, inputs: FOLDER });
    for (const path of ['pr-10', 'pr-10/']) {
      const { report } = await audit(repository, { path });
      expect(report).toMatchObject({ verdict: 'as-delivered', url: `${repository.pages.url}pr-10/` });
    }
    expectRefused(await audit(repository, { path: 'pr-1' }), 'check', /nothing tells/);
  });

  const receiptWith = (file: unknown): InterceptedReply => ({
    status: 200,
    body: JSON.stringify({ tool: 'screen-delivery', branch: null, commit: 'a1', files: [file] }),
  });
  const [path, size, blob] = ['a.html', 1, 'a'.repeat(40)];

  test.each<[string, InterceptedReply]>([
    ['nothing', { status: 404 }],
    ['no file', receiptWith(null)],
    ['a file without a path', receiptWith({ size, blob })],
    ['a file without a blob', receiptWith({ path, size, blob: 'a1' })],
    ['a file without a size', receiptWith({ path, size: -1, blob })],
  ])('says so where another tool has replaced the site, with %s as its receipt', async (_, reply) => {
    const repository = await newSite();
    expect((await deliver({ repository, files: SITE, inputs: FOLDER })).report.ready).toBe(true);
    play.alterSite(repository, '.well-known/screen-delivery.json', reply);
    const { report } = await audit(repository);
    expect(report.ready).toBe(false);
    expect(report.notReady?.reason).toContain('nothing tells that this tool delivered anything');
  });
});

async function readReceipt(repository: TestRepository) {
  return JSON.parse(String(await repository.pages.readLive('.well-known/screen-delivery.json')));
}
