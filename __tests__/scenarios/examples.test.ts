import { expect, test } from '@jest/globals';
import { getDeploymentState } from '../world/deployment-store.ts';
import { replyText } from '../world/server/messages.ts';
import { LOGINS } from '../world/tokens.ts';
import { runExample } from './example-steps.ts';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, setUpScenario } from './scenario.ts';
import { createRunCompletedEvent, createWorkflowEvent, openPullRequest } from './workflow-events.ts';

const scenario = setUpScenario();
/** A site whose builds are not started by a push: for these the examples need `pages: write`. */
const SITE = { pages: { startsBuilds: false } };
const PREVIEW = ['site-preview.yml', 'preview'] as const;

const expectGone = (url: string): Promise<void> =>
  expect(scenario.fetchPublic(url)).rejects.toThrow(/404 https/);

/** The files that a commit's build leaves. */
const site = (text: string) => ({
  'dist/index.html': createPage(text).replace('<p>', `<script type="module" src="./${text}.js"></script><p>`),
  [`dist/${text}.js`]: `document.title = "${text}"\n`,
});

test('a site for a pull request: one commit a push, one link in one comment, and nothing left at the end', async () => {
  const repository = await scenario.repository(SITE);
  const pull = await openPullRequest(repository, 'feature', site('first'));
  const folder = `previews/pr-${pull.number}/`;
  const url = `${repository.pages.url}${folder}`;
  const opened = await runExample(scenario, PREVIEW, pull.opened);
  await expectReady(scenario, opened, { channel: 'K1', url, shows: site('first')['dist/index.html'] ?? '' });

  const { report } = await runExample(scenario, PREVIEW, await pull.push(site('second')));
  expect(report.notReady).toBeNull();
  const changes = { added: ['second.js'], changed: ['index.html'], removed: ['first.js'] };
  expect(report.site?.changes).toMatchObject(changes);
  expect(await repository.log()).toHaveLength(3);
  const bodies = async () => (await repository.issues.comments(pull.number)).map(({ body }) => body);
  expect(await bodies()).toEqual([expect.stringContaining(`<${url}>`)]);

  const closed = await runExample(scenario, PREVIEW, (await pull.close()).pull_request);
  expect(closed.report).toMatchObject({ notReady: null, withdrawn: url });
  await expectGone(url);
  expect(await repository.read(`${folder}index.html`)).toBeNull();
  expect(await bodies()).toEqual([expect.stringContaining('Preview withdrawn')]);
});

test('previews that a nightly sweep removes: a closed one goes, an open one stays, and the comment says so', async () => {
  const repository = await scenario.repository(SITE);
  const pulls = [];
  for (const branch of ['one', 'two']) {
    const pull = await openPullRequest(repository, branch, site(branch));
    const { report } = await runExample(scenario, ['preview-sweep.yml', 'preview'], pull.opened);
    expect(report.notReady).toBeNull();
    pulls.push(pull);
  }
  await pulls[0]?.close();
  const sweep = await runExample(
    scenario,
    ['preview-sweep.yml', 'sweep'],
    createWorkflowEvent(repository, 'schedule', {}),
  );
  expect(sweep).toMatchObject({ exitCode: 0, outputs: { result: 'withdrawn' } });
  expect(sweep.report.swept?.map(({ path }) => path)).toEqual(['previews/pr-1/']);
  await expectGone(`${repository.pages.url}previews/pr-1/`);
  const bodies = [1, 2].map((number) => repository.issues.comments(number)[0]?.body ?? '');
  expect(bodies.map((body) => body.includes('To renew it, reopen the pull request'))).toEqual([true, false]);
});

test("a site for a fork's pull request, whose run may only read: one warning says why, and the step is green", async () => {
  const repository = await scenario.repository(SITE);
  const pull = await openPullRequest(repository, 'human:feature', site('first'));
  const opened = await runExample(scenario, PREVIEW, pull.opened);
  expectNotReady(opened, 'place', /denied to github-actions\[bot\]/, {
    httpCode: 403,
    hint: /^publish from a second workflow, .* the fork human\/\S+ is read-only: see examples\/fork-safe-build\.yml/,
    exitCode: 0,
  });
  expect(opened.stdout.match(/^::warning.*/gm)).toEqual([
    expect.stringMatching(
      /Not ready: .*HTTP 403.*To fix: publish from a second workflow, .* the fork human\/\S+ is read-only/,
    ),
  ]);
  // Closing it removes nothing, and needs no permission.
  const closed = await runExample(scenario, PREVIEW, (await pull.close()).pull_request);
  expect(closed).toMatchObject({ exitCode: 0, outputs: { result: 'withdrawn' } });
  expect(await repository.log()).toHaveLength(1);
  expect(await repository.issues.comments(pull.number)).toEqual([]);
});

test("a fork's run of several files warns once for each reason and each copy", async () => {
  const repository = await scenario.repository(SITE);
  const { name, payload } = (await openPullRequest(repository, 'human:feature', site('first'))).opened;
  const files = { 'out/a.html': createPage(), 'out/b.html': createPage() };
  const inputs = { file: 'out/*', channel: 'K1+K3', token: scenario.world.token({ contents: 'read' }) };
  const run = async (more: object) => {
    const event = { name, payload };
    const { stdout } = await scenario.deliver({ repository, files, inputs: { ...inputs, ...more }, event });
    return (stdout.match(/^::warning.*Not ready.*/gm) ?? []).map((line) => line.match(/[ab]\.html$/)?.[0]);
  };
  expect(await run({ 'allow-public-bin': 'true' })).toEqual(['a.html', 'b.html']);
  scenario.intercept({ method: 'POST', url: /filebin/, times: 99 }, { status: 403, body: 'blocked' });
  expect(await run({ 'allow-public-bin': 'true' })).toEqual([undefined]);
});

const JUNIT = (failures: number): string =>
  `<testsuites><testsuite name="unit" tests="2" failures="${failures}"><testcase name="adds" classname="sum" time="0.1"/><testcase name="divides" classname="sum" time="0.2">${failures === 0 ? '' : '<failure message="by zero">at sum.js:7</failure>'}</testcase></testsuite></testsuites>\n`;

test('the test results of a pull request: a page with its source, replaced by each push, and removed at the end', async () => {
  const results = ['test-results.yml', 'test'] as const;
  const repository = await scenario.repository(SITE);
  const pull = await openPullRequest(repository, 'feature', { 'junit.xml': JUNIT(1) });
  const path = `test-results/pr-${pull.number}/junit.xml`;
  const url = `${repository.pages.url}${path}.html`;
  const opened = await runExample(scenario, results, pull.opened);
  expect(opened.report).toMatchObject({ notReady: null, url });
  expect(String(await scenario.fetchPublic(url))).toContain('by zero');
  expect(String(await scenario.fetchPublic(url.replace(/\.html$/, '')))).toBe(JUNIT(1));

  const { report } = await runExample(scenario, results, await pull.push({ 'junit.xml': JUNIT(0) }));
  expect(report).toMatchObject({ notReady: null, url });
  expect(await repository.log()).toHaveLength(3);
  const [comment] = await repository.issues.comments(pull.number);
  expect(comment?.body).toContain(`<${url}>`);
  const closed = await runExample(scenario, results, (await pull.close()).pull_request);
  expect(closed.report).toMatchObject({ notReady: null, withdrawn: url });
  for (const name of [path, `${path}.html`]) expect(await repository.read(name)).toBeNull();
});

test('pages with libraries from a CDN are delivered with these in them', async () => {
  scenario.world.host('cdn.octo.dev', () =>
    replyText(200, 'document.title = "chart";', { 'content-type': 'text/javascript' }),
  );
  const repository = await scenario.repository(SITE);
  const page = createPage('<script src="https://cdn.octo.dev/chart.umd.js"></script>');
  const files = { 'out/notebook.html': page, 'out/chart.html': page };
  const pushed = {
    repository,
    name: 'push',
    ref: 'refs/heads/main',
    sha: 'a'.repeat(40),
    payload: {},
    files,
  };
  const { reports } = await runExample(scenario, ['self-contained-pages.yml', 'pages'], pushed);
  expect(reports.map(({ ready, inlined }) => [ready, inlined?.length])).toEqual([
    [true, 1],
    [true, 1],
  ]);
});

test.each([
  ['that may write something', LOGINS.workflow],
  ['of a person', LOGINS.human],
])("a fork's run with a token %s fails like any other run, and ends its deployment", async (_, login) => {
  const repository = await scenario.repository(SITE);
  const pull = await openPullRequest(repository, 'human:feature', site('first'));
  const { name, payload } = pull.opened;
  const token = scenario.world.token({ contents: 'read', deployments: 'write' }, login);
  const { outputs, exitCode } = await scenario.deliver({
    repository,
    files: { 'page.html': createPage() },
    inputs: { channel: 'K1', environment: 'preview', token },
    event: { name, payload },
  });
  expect([outputs.result, exitCode]).toEqual(['not-ready', 1]);
  expect(repository.deployments.all.map(getDeploymentState)).toEqual(['failure']);
});

test("a fork's pull request in two workflows: the second publishes, comments and withdraws", async () => {
  const repository = await scenario.repository(SITE);
  const pull = await openPullRequest(repository, 'human:feature/one', {});
  const path = 'previews/human/feature/one/index.html';
  const url = `${repository.pages.url}${path}`;
  const publish = ['fork-safe-publish.yml', 'deliver'] as const;
  const built = createRunCompletedEvent(pull.opened, { 'preview/index.html': createPage('first') });
  const published = await runExample(scenario, publish, built);
  await expectReady(scenario, published, { channel: 'K1', url, shows: createPage('first') });
  const comments = await repository.issues.comments(pull.number);
  expect(comments.map(({ body }) => body)).toEqual([expect.stringContaining(`<${url}>`)]);
  expect(comments[0]?.body).toContain(pull.opened.sha.slice(0, 7));

  const page = '<!doctype html><script src="https://cdn.example.com/miner.js"></script>';
  const pushed = createRunCompletedEvent(await pull.push({}), { 'preview/index.html': page });
  expectNotReady(await runExample(scenario, publish, pushed), 'check', /is not self-contained/);

  const withdraw = ['fork-safe-publish.yml', 'withdraw'] as const;
  const withdrawn = await runExample(scenario, withdraw, (await pull.close()).pull_request_target);
  expect(withdrawn.report).toMatchObject({ operation: 'withdraw', withdrawn: new URL('./', url).href });
  await expectGone(url);
  const [last] = await repository.issues.comments(pull.number);
  expect(last).toMatchObject({ id: comments[0]?.id, body: expect.stringContaining('Preview withdrawn') });
  // Everything that the fork changed in the repository.
  expect((await repository.log()).slice(0, -1).flatMap(({ files }) => files)).toEqual([path, path]);
});
