import { describe, expect, test } from '@jest/globals';
import { readJobRuntime } from '../../src/channels/pages/deploy/job-runtime.ts';
import { ARCHIVE_TOKEN } from '../world/hosts/codeload.ts';
import type { TestRepository } from '../world/repository.ts';
import type { InterceptedReply } from '../world/server/interceptions.ts';
import { LOGINS } from '../world/tokens.ts';
import {
  type Played,
  type PlayedDelivery,
  proven,
  refused,
  requestsOf,
  setUpPlay,
  writesOf,
} from './play.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();
const DEPLOYS = { buildType: 'workflow', built: false } as const;
const SITE = {
  'site/index.html': createPage('<script src="js/app.js"></script>'),
  'site/js/app.js': 'document.title = "app";\n',
};
const FOLDER = { channel: 'K1', path: './', file: 'site/' };
const BRANCH = { channel: 'K1', branch: 'gh-pages', setup: 'true' };
const BUSY =
  'Deployment request failed for a1 due to in progress deployment. Please cancel b2 first or wait for it to complete.';
const DENIED: [number, string] = [403, 'Resource not accessible by integration'];
const DEPLOYMENT = /^POST .*pages\/deployments$/;
const RECEIPT = '.well-known/screen-delivery.json';

const newSite = (): Promise<TestRepository> => play.repository({ pages: DEPLOYS });
/** A site that somebody else has deployed. */
const siteOfOthers = (files: Record<string, string>): Promise<TestRepository> =>
  play.repository({ pages: { buildType: 'workflow' }, files });
const readLive = async ({ pages }: TestRepository, path = 'index.html'): Promise<string> =>
  String(await pages.readLive(path));
const readReceipt = async (repository: TestRepository) => JSON.parse(await readLive(repository, RECEIPT));

/** What the runner of a job gives to the action. */
async function startJob(repository: TestRepository, job: object = {}): Promise<Record<string, string>> {
  const commit = (await repository.head()) ?? '';
  return play.world.actions.startJob({ commit, repository: repository.fullName, ...job });
}

type Given = Omit<PlayedDelivery, 'repository'> & { readonly job?: object; readonly env?: object };

/** Delivers in a job, by default the folder as the whole site. */
async function deliver(
  repository: TestRepository,
  { job, env, around, ...given }: Given = {},
): Promise<Played> {
  const runtime = readJobRuntime({ ...(await startJob(repository, job)), ...env });
  return play.deliver({ files: SITE, inputs: FOLDER, ...given, repository, around: { runtime, ...around } });
}
const deliverPage = (repository: TestRepository, name: string, text = name, inputs: object = BRANCH) =>
  deliver(repository, { files: { [name]: createPage(text) }, inputs });
const deliverSite = (repository: TestRepository, text: string, job = {}, inputs: object = FOLDER) =>
  deliver(repository, { files: { 'site/index.html': createPage(text) }, inputs, job });

/** Does something right after the host has answered a request, once. */
const onceAfter = (url: RegExp, act: () => unknown): void =>
  void play.meanwhile({ method: 'POST', url }, act);

describe('a site that GitHub Actions deploys, without a branch', () => {
  test('is replaced by a folder without a commit', async () => {
    const repository = await newSite();
    const before = await repository.log();
    const { report, log, requests } = await proven(deliver(repository));
    expect(report.url).toBe(repository.pages.url);
    expect(log).toMatch(/^deployment [0-9a-f]{40}$/m);
    expect(log).toMatch(/uploaded 2 files as artifact \d+/);
    expect(await repository.log()).toEqual(before);
    expect(requests.filter((one) => one.includes('api.github.com')).length).toBeLessThanOrEqual(15);
  });

  test('gets and loses a CNAME file, which GitHub ignores there, also on a branch', async () => {
    const files = { ...SITE, 'site/CNAME': 'www.example.org' };
    await proven(deliver(await newSite(), { files }));
    const repository = await newSite();
    const inputs = { ...FOLDER, ...BRANCH };
    await proven(deliver(repository, { files, inputs }));
    await proven(deliver(repository, { inputs }));
    expect(repository.read('CNAME', 'gh-pages')).toBeNull();
  });

  test('gets one page and another one, keeps a receipt, and is not deployed again without a change', async () => {
    const repository = await newSite();
    const whole = { channel: 'K1', path: './' };
    await proven(deliverPage(repository, 'report.html', '1', whole));
    const { report } = await proven(deliverPage(repository, 'other.html', '2', whole));
    expect(report.url).toBe(`${repository.pages.url}other.html`);
    const { deliveries, ...receipt } = await readReceipt(repository);
    expect(receipt).toMatchObject({ tool: 'screen-delivery', format: 2, branch: null });
    expect(deliveries).toMatchObject([
      { files: [{ path: 'other.html' }] },
      { files: [{ path: 'report.html' }] },
    ]);
    const again = await proven(deliverPage(repository, 'other.html', '2', whole));
    expect(writesOf(again)).toEqual([]);
  });

  test('is not changed by a dry run', async () => {
    const planned = await deliver(await newSite(), { inputs: { ...FOLDER, 'dry-run': 'true' } });
    expect(planned.log).toMatch(/GitHub Pages: deployment "ADD \.: .*" \(files: 2 added\)/);
    expect(writesOf(planned)).toEqual([]);
  });

  test('keeps a file that is missing from the next delivery', async () => {
    const repository = await newSite();
    const inputs = { channel: 'K1', path: './', file: 'a.html\nb.html' };
    await proven(
      deliver(repository, { files: { 'a.html': createPage('a'), 'b.html': createPage('b') }, inputs }),
    );
    const files = { 'a.html': createPage('new'), 'b.html': '' };
    const { reports } = await deliver(repository, { files, inputs });
    expect(reports.map(({ ready }) => ready)).toEqual([true, false]);
    expect(await readLive(repository, 'b.html')).toContain('b');
  });

  test("can't be restored", async () => {
    const repository = await newSite();
    await proven(deliver(repository));
    repository.pages.deploymentEnds = ['deployment_failed'];
    const failed = await deliverSite(repository, 'second', {}, { ...FOLDER, 'on-failure': 'restore' });
    expect(failed.report.ready).toBe(false);
    expect(failed.log).toContain('keeps no earlier version');
  });

  test.each(['index.html', 'docs/index.html'])(
    'of somebody else, with %s, is replaced only with `overwrite: true`',
    async (path) => {
      const repository = await siteOfOthers({ [path]: 'theirs' });
      await refused(
        deliver(repository),
        /^check: .*deployed by another tool, and a deployment replaces all of it → .*`overwrite: true` once/,
      );
      expect(await readLive(repository, path)).toBe('theirs');
      await proven(deliver(repository, { inputs: { ...FOLDER, overwrite: 'true' } }));
      await proven(deliver(repository));
    },
  );
});

/** The run of a workflow of the repository. */
const runOf = (name: string, run = '43/1') => ({
  deliverer: { name: `octo/site/.github/workflows/${name}.yml`, run },
});

describe('a site that one workflow deployed, without a branch,', () => {
  test('is taken over by another workflow, and the report says whose delivery was replaced', async () => {
    const repository = await newSite();
    await proven(deliver(repository, { around: runOf('docs') }));
    const files = { 'site/index.html': createPage('new') };
    const { report } = await proven(deliver(repository, { files, around: runOf('report') }));
    expect(report.notes?.join()).toMatch(/replaced the delivery of run 43 of octo\/site\/\S+\/docs\.yml/);
  });

  test.each(['before', 'after'])(
    'that another run replaces %s it is verified: deployed again, or reported as replaced',
    async (when) => {
      const repository = await newSite();
      const theirs = await newSite();
      const files = { 'site/index.html': createPage('theirs') };
      await proven(deliver(theirs, { files, around: runOf('docs') }));
      const body = await readLive(theirs, RECEIPT);
      const others = new Map([[RECEIPT, Buffer.from(body)]]);
      const commit = (await repository.head()) ?? '';
      if (when === 'before') {
        onceAfter(/pages\/deployments$/, () => repository.pages.deployArtifact(commit, others));
      } else {
        const asked = { method: 'GET', url: /github\.io\/.*js\/app\.js\?/ };
        play.meanwhile(asked, () => play.alterSite(repository, RECEIPT, { status: 200, body }));
      }
      const delivered = deliver(repository, { around: runOf('docs', '42/1') });
      const whose =
        /^verify.*: .*removed or replaced on the site .*, now deployed by run 43 of \S+\/docs\.yml/;
      if (when === 'after') await refused(delivered, whose);
      else expect(requestsOf(await proven(delivered), DEPLOYMENT)).toHaveLength(2);
    },
  );
});

describe('a site that GitHub Actions deploys, with a branch', () => {
  test('has all files of the branch except those for git and GitHub, and names what Pages refuses', async () => {
    const repository = await newSite();
    await proven(deliverPage(repository, 'a.html'));
    const shown = ['.gitbook/assets/a.png', '.gitlab-ci.yml', '.github-pages/b.txt'];
    const hidden = ['.gitattributes', '.gitignore', '.github/workflows/c.yml'];
    for (const path of [...shown, ...hidden]) await repository.commit(path, 'x', undefined, 'gh-pages');
    await repository.addSubmodule('lib', 'gh-pages');
    const { report } = await proven(deliverPage(repository, 'b.html'));
    for (const path of shown) expect(await readLive(repository, path)).toBe('x');
    for (const path of hidden) expect(repository.pages.readLive(path)).toBeNull();
    expect(report.notes?.join()).toContain('not deployed, because it is a link, a submodule');
    expect(report.notes?.join()).toMatch(/: lib$/);
  });

  test('shows previews beside other pages, and loses only the withdrawn one', async () => {
    const repository = await newSite();
    const { url } = repository.pages;
    const main = await proven(deliverPage(repository, 'index.html'));
    expect(main.report.url).toBe(`${url}index.html`);
    const inputs = { ...BRANCH, path: 'previews/pr-7/' };
    const preview = await proven(deliverPage(repository, 'page.html', 'preview', inputs));
    expect(preview.report.url).toBe(`${url}previews/pr-7/page.html`);
    expect(preview.log).toMatch(/commit [0-9a-f]{40}, deployment [0-9a-f]{40}/);
    const receipt = await readReceipt(repository);
    expect(receipt).toMatchObject({ branch: 'gh-pages', commit: await repository.head('gh-pages') });
    const paths = receipt.files.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(expect.arrayContaining(['index.html', 'previews/pr-7/page.html']));
    const withdrawal = { ...inputs, operation: 'withdraw', setup: 'false' };
    await proven(deliver(repository, { files: {}, inputs: withdrawal }));
    expect((await readReceipt(repository)).files).toHaveLength(paths.length - 1);
  });

  test('is deployed by a second run if the first one failed after its commit', async () => {
    const repository = await newSite();
    repository.pages.deploymentRefusals = [
      [400, 'Branch "x" is not allowed to deploy to github-pages due to environment protection rules.'],
    ];
    const { report } = await refused(
      deliverPage(repository, 'page.html'),
      /^place 400: .*not allowed to deploy.* → .*Deployment branches/,
    );
    expect(report.lines.UNKNOWN).toMatch(/commit [0-9a-f]{40} on the branch gh-pages/);
    for (const _ of ['second', 'third']) await proven(deliverPage(repository, 'page.html'));
    expect(await repository.log('gh-pages')).toHaveLength(1);
  });

  test('gets the newest tree, never an older tree in place of a newer one', async () => {
    const repository = await newSite();
    await deliverPage(repository, 'a.html');
    // Another job commits right after this deployment was accepted.
    onceAfter(/pages\/deployments$/, () => repository.commit('later.html', 'later', 'Later', 'gh-pages'));
    const { log } = await proven(deliverPage(repository, 'b.html'));
    expect(log).toContain('the content changed: deploying the newest');
    expect(repository.pages.liveCommit).toBe(await repository.head('gh-pages'));
  });

  test("is reported with the live commit if its branch can't be read afterwards", async () => {
    onceAfter(/pages\/deployments$/, () =>
      play.intercept({ method: 'GET', url: /git\/ref\/heads/ }, { status: 403, body: '{}' }),
    );
    const { report, log } = await proven(deliverPage(await newSite(), 'a.html'));
    expect(log).toMatch(/deployment [0-9a-f]{40}/);
    expect(report.lines.UNKNOWN).toContain('whether the newest files are deployed: ');
  });

  test('is not replaced if a folder without a branch is live, or another branch', async () => {
    const repository = await newSite();
    await proven(deliver(repository));
    const page = (inputs: object) => deliverPage(repository, 'a.html', 'a', inputs);
    await refused(page(BRANCH), /^check: .*deployed by this tool without a branch/);
    await proven(page({ ...BRANCH, overwrite: 'true' }));
    await refused(
      deliver(repository),
      /^check: .*deployed from the branch gh-pages.* → .*`branch: gh-pages`/,
    );
  });

  test.each(['export-ignore', 'export-subst'])(
    'is not deployed with files that differ from the branch: %s',
    async (attribute) => {
      const repository = await newSite();
      await deliverPage(repository, 'a.html');
      await repository.commit('.gitattributes', `a.html ${attribute}\n`, 'Set it', 'gh-pages');
      await refused(deliverPage(repository, 'b.html'), /^place: .*has another a\.html.* → .*export-ignore/);
    },
  );

  test('is restored and deployed as before, or the report names the commit that was not deployed', async () => {
    const repository = await newSite();
    await proven(deliverPage(repository, 'a.html', 'first'));
    const inputs = { ...BRANCH, 'on-failure': 'restore' };
    repository.pages.deploymentEnds = ['deployment_failed', 'succeed'];
    const failed = await deliverPage(repository, 'a.html', 'second', inputs);
    expect(failed.report.ready).toBe(false);
    expect(failed.log).toContain('shows it again, byte for byte');
    repository.pages.deploymentEnds = ['deployment_failed'];
    onceAfter(/pages\/deployments$/, () => {
      repository.pages.deploymentRefusals = Array.from({ length: 99 }, () => DENIED);
    });
    const { report } = await deliverPage(repository, 'a.html', 'third', inputs);
    const left = `left behind: commit ${await repository.head('gh-pages')} on the branch gh-pages`;
    expect(report.restored).toMatchObject({ proven: false, detail: expect.stringContaining(left) });
  });
});

describe('a site that others deploy at the same time', () => {
  test.each([
    [false, /^$/],
    [true, /^left behind: commit \w+ on the branch gh-pages, perhaps its deployment$/],
  ])(
    'is reported as perhaps deployed if the answer was lost (with a branch: %s)',
    async (hasBranch, says) => {
      const repository = await newSite();
      if (hasBranch) await proven(deliverPage(repository, 'a.html', 'first'));
      const headers = { 'content-type': 'application/json' };
      play.intercept(
        { method: 'POST', url: /pages\/deployments$/ },
        {
          alter: () => {
            play.intercept(
              { url: /api\.github/, times: 99 },
              { status: 403, headers, body: '{"message":"no"}' },
            );
            return { status: 502 };
          },
        },
      );
      const delivered = hasBranch ? deliverPage(repository, 'a.html', 'second') : deliver(repository);
      // Without a branch, the live receipt shows that the deployment arrived.
      if (!hasBranch) return void (await proven(delivered));
      const { report } = await refused(delivered, /^place 403: /);
      expect(report.lines.UNKNOWN).toMatch(says);
    },
  );

  test('is not replaced if it was deployed during the wait for another deployment', async () => {
    const repository = await newSite();
    repository.pages.deploymentRefusals = [[400, BUSY]];
    const theirs = new Map([['index.html', Buffer.from('theirs')]]);
    const commit = (await repository.head()) ?? '';
    onceAfter(/pages\/deployments$/, () => repository.pages.deployArtifact(commit, theirs));
    await refused(
      deliver(repository),
      /^place.*: .*deployed the site at .* meanwhile: it is deployed by another tool/,
    );
    expect(await readLive(repository)).toBe('theirs');
  });

  test('shows what was delivered last, as on a branch, and the report says whose delivery was replaced', async () => {
    const repository = await newSite();
    repository.pages.deploymentRefusals = [[400, BUSY]];
    onceAfter(/pages\/deployments$/, () => deliverSite(repository, 'faster'));
    const { report } = await proven(deliverSite(repository, 'slower'));
    expect(await readLive(repository)).toContain('slower');
    expect(report.notes?.join()).toContain('replaced the delivery of ');
  });

  test('ends with the newest tree if a slower job deploys after a faster one', async () => {
    const repository = await newSite();
    await deliverPage(repository, 'first.html');
    onceAfter(/FinalizeArtifact$/, () => deliverPage(repository, 'newer.html'));
    await proven(deliverPage(repository, 'older.html'));
    expect(repository.pages.liveCommit).toBe(await repository.head('gh-pages'));
    expect(await readLive(repository, 'newer.html')).toContain('newer.html');
  });

  test('is packed only until the timeout if others keep writing to its branch', async () => {
    const repository = await newSite();
    await deliverPage(repository, 'a.html');
    let commits = 0;
    play.meanwhile({ method: 'POST', url: /FinalizeArtifact$/, times: 99 }, () => {
      commits += 1;
      return repository.commit(`${commits}.html`, 'by others', undefined, 'gh-pages');
    });
    const played = await refused(
      deliverPage(repository, 'b.html', 'b', { ...BRANCH, timeout: '60' }),
      /^place: others kept changing the site's content.* → .*deploys the newest content/,
    );
    expect(played.report.lines.UNKNOWN).toMatch(/commit [0-9a-f]{40} on the branch gh-pages/);
    expect(commits).toBeLessThanOrEqual(7);
    expect(requestsOf(played, DEPLOYMENT)).toEqual([]);
  });

  test('is deployed again with `overwrite: true` if its receipt is right but its page is not', async () => {
    const repository = await newSite();
    await proven(deliverSite(repository, 'ours'));
    const files = { 'index.html': 'theirs', [RECEIPT]: await readLive(repository, RECEIPT) };
    const theirs = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
    repository.pages.deployArtifact('f'.repeat(40), theirs);
    await refused(deliverSite(repository, 'ours'), /^verify.*: .*other content/);
    await proven(deliverSite(repository, 'ours', {}, { ...FOLDER, overwrite: 'true' }));
    expect(await readLive(repository)).toContain('ours');
  });
});

describe('a file that a delivery removes must answer 404', () => {
  const both = { 'site/index.html': createPage(), 'site/secret.html': createPage('secret') };
  const one = { 'site/index.html': createPage() };
  const still = /^verify.*: .*secret\.html \(HTTP 200 with the previous content\)/;

  test('on a site that GitHub Actions deploys', async () => {
    const repository = await newSite();
    await proven(deliver(repository, { files: both }));
    repository.pages.deploymentEnds = ['deployment_failed', 'succeed'];
    await refused(deliver(repository, { files: one }), still);
    const { report } = await proven(deliver(repository, { files: one }));
    expect(report.lines.TEST).toContain('files identical: 1 of 1');
  });

  test('on a site that is built from a branch, also in a second run', async () => {
    const repository = await play.repository();
    const inputs = { channel: 'K1', path: 'docs/', file: 'site/' };
    await proven(play.deliver({ repository, files: both, inputs }));
    repository.pages.live = false;
    for (const _ of [1, 2]) await refused(play.deliver({ repository, files: one, inputs }), still);
    repository.pages.live = true;
    await repository.commit('later.txt', 'later');
    await proven(play.deliver({ repository, files: one, inputs }));
  });
});

const OBEYED =
  /^place: .*it records who delivered a site that GitHub Actions deploys → set `path:` to another path/;
const SCRIPT = { file: 'site/js/app.js' };
const BLOCK = 'environment github-pages.*pages: write, id-token: write';

test.each<[string, Given, RegExp]>([
  ['the path of the receipt', { inputs: { ...BRANCH, ...SCRIPT, path: RECEIPT } }, OBEYED],
  [
    'a file in place of its folder',
    { files: { ...SITE, 'site/.well-known': 'x' } },
    /^(check|place): .*it records who delivered/,
  ],
  ['a file below it', { inputs: { channel: 'K1', ...SCRIPT, path: `${RECEIPT}/a.js` } }, OBEYED],
  ['that, with overwrite', { inputs: { ...BRANCH, ...SCRIPT, path: RECEIPT, overwrite: 'true' } }, OBEYED],
  [
    'a job without an identity',
    { job: { identity: false } },
    RegExp(`^check.*identity token.* → .*${BLOCK}`),
  ],
  [
    'a job without one',
    { job: { environment: undefined } },
    RegExp(`^check.*doesn't name an environment.* → .*${BLOCK}`),
  ],
  ['a job of elsewhere', { job: { repository: 'octo/b' } }, /^check: .*octo\/b can't.* → .*in octo\/play/],
  [
    'a job without an identity token',
    { job: { environment: undefined } },
    RegExp(`^check.*doesn't name an environment.* → .*${BLOCK}`),
  ],
  [
    'a job of another repository',
    { job: { repository: 'octo/b' } },
    /^check: .*octo\/b can't.* → .*in octo\/play/,
  ],
  [
    'a runner that stores artifacts without https',
    { env: { ACTIONS_RESULTS_URL: 'http://results.example:8080/' } },
    /^check: .*artifacts at results\.example:8080 without https .* → run the job on a runner of github\.com, or/,
  ],
  [
    'a run outside of an action',
    { around: { runtime: null } },
    /^check: .*only an action in a job on github\.com.* → .*`uses:`.*`site-workflow:`.*Deploy from a branch.*K2 or K3/,
  ],
])('%s is refused before a write, and the message says what to change', async (what, given, says) => {
  const played = await refused(deliver(await newSite(), given), says);
  if (/another/.test(what)) expect(requestsOf(played, /actions\.githubusercontent/)).toEqual([]);
});

describe('a job that deploys a site', () => {
  test("with a person's token gets one way out if the branch is missing", async () => {
    const repository = await newSite();
    const token = play.world.token({}, LOGINS.human);
    const files = { 'page.html': createPage() };
    for (const setup of ['true', 'false']) {
      const inputs = { ...BRANCH, setup };
      const { report } = await deliver(repository, { files, inputs, token });
      expect(report.notReady?.hint).toMatch(
        /^leave `token:` out: screen-delivery then deploys the site itself/,
      );
      expect(report.notReady?.hint).not.toMatch(/`setup:/);
    }
    await proven(deliver(repository, { files, inputs: BRANCH }));
  });

  test('leaves the site to its workflow if its token starts that workflow', async () => {
    const token = play.world.token({}, LOGINS.app);
    const repository = await siteOfOthers({});
    const files = { 'a.html': createPage() };
    const { requests } = await proven(deliver(repository, { token, files, inputs: { channel: 'K1' } }));
    expect(requests.join('\n')).not.toMatch(/pages\/deployments|actions\.githubusercontent/);
  });

  test.each<[number, string, RegExp]>([
    [
      400,
      'Missing environment. Ensure your deployment job has an environment.',
      /`jobs.<id>.environment: github-pages`/,
    ],
    [400, 'Deployments are only allowed from gh-pages', /Deployment branches/],
    [...DENIED, /pages: write/],
    [404, 'Not Found', /GitHub Actions under Settings → Pages → Source/],
  ])('gets an explanation of %s (%s)', async (status, message, hint) => {
    const repository = await newSite();
    repository.pages.deploymentRefusals = [[status, message]];
    await refused(deliver(repository), new RegExp(`^place ${status}: .*${message}.* → .*${hint.source}`));
  });

  test.each([
    ['deployment_failed', /^wait.*: .*ended with deployment_failed.* → .*try again/],
    ['deployment_content_failed', /^wait.*: .*ended with deployment_content_failed.* → .*1 GB/],
    ['deployment_lost', /^wait.*: .*ended with deployment_lost.* → .*try again/],
    ['deployment_cancelled', /^wait.*: .*ended with deployment_cancelled.* → .*newer commit/],
    ['', /waits in the queue/],
    ['deployment_queued', /waits in the queue/],
    ['deployment_attempt_error', /has the status deployment_attempt_error/],
    ['something_new', /has the status something_new/],
  ])(
    'learns at once that a deployment ended, waits for any other, and cancels none: "%s"',
    async (end, says) => {
      const repository = await newSite();
      repository.pages.deploymentEnds = [end];
      const played = await refused(deliver(repository), says);
      if (/ended/.test(says.source)) {
        expect(played.report.notReady?.code).toBe('BUILD_ERRORED');
        expect(played.took).toBeLessThan(60_000);
      } else {
        const { step, reason, hint } = played.report.notReady ?? {};
        expect(`${step}: ${reason} ${hint}`).toMatch(
          /^wait: .*deployment [0-9a-f]{40}.*`timeout:`.*was not cancelled/,
        );
        expect(requestsOf(played, /GET .*pages\/deployments/).length).toBeLessThanOrEqual(75);
      }
      expect(requestsOf(played, /cancel/)).toEqual([]);
    },
  );

  test('is not ready if GitHub reports the deployment as finished but serves the old site', async () => {
    const repository = await newSite();
    await proven(deliver(repository));
    repository.pages.live = false;
    await refused(
      deliverSite(repository, 'new'),
      /^wait.*: .*GitHub reports deployment .* as finished.* → .*newer commit.*`branch: gh-pages`/,
    );
  });

  test('waits for the deployment of another job, and gives up after the timeout', async () => {
    const repository = await newSite();
    repository.pages.deploymentRefusals = [
      [400, BUSY],
      [400, BUSY],
    ];
    const ready = await proven(deliver(repository));
    expect(requestsOf(ready, /^PUT .*comp=blocklist/)).toHaveLength(1);
    repository.pages.deploymentRefusals = Array.from({ length: 99 }, () => [400, BUSY]);
    await refused(
      deliverSite(repository, 'new'),
      /^place 400: .*in progress deployment.* → .*wait for the other deployment/,
    );
  });

  test('sends each credential only to the host that it is for', async () => {
    const repository = await newSite();
    const { actions } = play.world;
    const env = await startJob(repository);
    const before = { tokens: actions.idTokens.length, signatures: actions.signatures.length };
    const token = play.world.token();
    const inputs = { ...FOLDER, branch: 'main' };
    const around = { runtime: readJobRuntime(env) };
    const played = await proven(play.deliver({ repository, token, files: SITE, inputs, around }));
    const idTokens = actions.idTokens.slice(before.tokens);
    const signatures = actions.signatures.slice(before.signatures);
    const hostsOf = (secret = ''): string[] => [...new Set(played.sightings(secret).map(({ host }) => host))];
    for (const [secret, host] of [
      [env.ACTIONS_RUNTIME_TOKEN, 'results-receiver.actions.githubusercontent.com'],
      [env.ACTIONS_ID_TOKEN_REQUEST_TOKEN, 'run-actions-1-azure-eastus.actions.githubusercontent.com'],
      [idTokens.at(-1), 'api.github.com'],
      [encodeURIComponent(signatures[0] ?? ''), 'productionresultssa0.blob.core.windows.net'],
      [token, 'api.github.com'],
      [ARCHIVE_TOKEN, 'codeload.github.com'],
    ] as const) {
      expect(hostsOf(secret)).toEqual([host]);
    }
    const secrets = [...idTokens, ...signatures, ARCHIVE_TOKEN];
    expect(played.masked).toEqual(expect.arrayContaining(secrets));
    const text = `${played.log}${JSON.stringify(played.reports)}`;
    for (const secret of secrets) expect(text).not.toContain(secret);
  });
});

describe('an audit of a site that GitHub Actions deploys', () => {
  const audit = (repository: TestRepository, inputs: object = {}): Promise<Played> =>
    play.deliver({ repository, inputs: { operation: 'audit', timeout: '20', ...inputs } });

  test("verifies the files in the site's receipt, without a branch", async () => {
    const repository = await newSite();
    await proven(deliver(repository));
    const played = await audit(repository, { channel: 'K1' });
    expect(played.reports).toMatchObject([{ verdict: 'as-delivered', url: repository.pages.url }]);
    expect(played.report.lines.TEST).toContain('files identical: 2 of 2');
    expect(played.report.unknown).toEqual([]);
    expect(writesOf(played)).toEqual([]);
    await refused(
      audit(repository, { path: 'js/' }),
      /^check: js came with the folder \.\/ .* → set `path: \.\/`/,
    );
  });

  test("reports that the site's deployer is unknown if another deployment is live", async () => {
    const repository = await newSite();
    await proven(deliver(repository));
    const asset = { channel: 'K2', tag: 'files' };
    await proven(play.deliver({ repository, files: { 'data.zip': 'PK one' }, inputs: asset }));
    play.alterSite(repository, RECEIPT, { status: 404 });
    const { reports } = await audit(repository);
    expect(reports).toMatchObject([{ verdict: 'as-delivered', channel: 'K2' }]);
    expect(reports[0]?.lines.UNKNOWN).toMatch(
      /of the branch main: its history shows no delivery.*; whether this tool deployed the site without a branch/,
    );
  });

  test('finds the branch that was deployed in the receipt', async () => {
    const repository = await newSite();
    await proven(deliverPage(repository, 'page.html', 'page', { ...BRANCH, path: 'previews/pr-7/' }));
    const { report } = await audit(repository);
    expect(report).toMatchObject({ verdict: 'as-delivered', file: { path: 'previews/pr-7/page.html' } });
  });

  test("accepts a folder's path with and without its last slash, and no similar path", async () => {
    const repository = await newSite();
    await proven(deliver(repository, { inputs: { ...FOLDER, path: 'pr-10/', entry: 'index.html' } }));
    for (const path of ['pr-10', 'pr-10/']) {
      const { report } = await audit(repository, { path });
      expect(report).toMatchObject({ verdict: 'as-delivered', url: `${repository.pages.url}pr-10/` });
    }
    await refused(audit(repository, { path: 'pr-1' }), /^check: no delivery of this tool/);
  });

  const receiptWith = (file: unknown): InterceptedReply => ({
    status: 200,
    body: JSON.stringify({ tool: 'screen-delivery', branch: null, commit: 'a1', files: [file] }),
  });
  const [path, size, blob] = ['a.html', 1, 'a'.repeat(40)];
  const FOREIGN = /no delivery of this tool was found/;

  test.each<[string, string, InterceptedReply, RegExp]>([
    ['an altered file', 'js/app.js', { status: 200, body: '!' }, /js\/app\.js \(HTTP 200 with other/],
    ['a lost file', 'js/app.js', { status: 404 }, /js\/app\.js \(HTTP 404\)/],
    ['a missing receipt', RECEIPT, { status: 404 }, FOREIGN],
    ['a receipt without files', RECEIPT, receiptWith(null), FOREIGN],
    ['a receipt with a file without a path', RECEIPT, receiptWith({ size, blob }), FOREIGN],
    ['a receipt with a file without a blob', RECEIPT, receiptWith({ path, size }), FOREIGN],
    ['a receipt with a file without a size', RECEIPT, receiptWith({ path, blob }), FOREIGN],
  ])('names %s', async (_, at, reply, reason) => {
    const repository = await newSite();
    await proven(deliver(repository));
    play.alterSite(repository, at, reply);
    const { report } = await audit(repository);
    expect([report.ready, report.verdict]).toEqual([false, at === RECEIPT ? undefined : 'lost']);
    expect(report.notReady?.reason).toMatch(reason);
  });
});
