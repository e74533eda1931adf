import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { computeBlobSha } from '../world/git/git-store.ts';
import { replyHtml } from '../world/server/messages.ts';
import { getUserId, LOGINS } from '../world/tokens.ts';
import { collectOutput, expectNotReady, expectReady, parseRunnerCommands } from './expect-report.ts';
import { createPage, MARKER, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
const files = { 'page.html': createPage('new') };

describe('K1, a page on the screen', () => {
  test('a new file with Cyrillic names is one commit, verified at each URL, and updated', async () => {
    const repository = await scenario.repository({ files: { 'index.html': 'theirs' } });
    // GitHub announces the end of a call.
    const old = { deprecation: '@1764547200', sunset: 'Sun, 01 Mar 2026 00:00:00 GMT' };
    scenario.intercept(
      { url: /\/pages$/, times: 9 },
      { alter: (real) => ({ ...real, headers: { ...real.headers, ...old } }) },
    );
    const inputs = { channel: 'K1', marker: MARKER, path: 'папка/', message: 'the weekly report' };
    const first = await scenario.deliver({ repository, files: { 'отчёт.html': createPage() }, inputs });
    const path = 'папка/отчёт.html';
    const url = repository.pages.url + path.split('/').map(encodeURIComponent).join('/');
    await expectReady(scenario, first, { channel: 'K1', shows: createPage(), url });
    const { outputs, report } = first;
    const [commit] = await repository.log();
    const blob = computeBlobSha(Buffer.from(createPage()));
    expect(commit).toEqual({
      sha: outputs['commit-sha'],
      message: `ADD отчёт.html: the weekly report\n\nDelivered-by: screen-delivery\nDelivered-object: ${blob} ${path}`,
      files: [path],
    });
    expect(report.lines.TEST).toMatch(
      /^HTTP 200; marker found: yes, 1 ×; bytes identical: yes; build time: \d/,
    );
    const size = Buffer.byteLength(createPage());
    expect(report.lines.CODE).toContain(`commit ${outputs['commit-sha']}; ${size} bytes`);
    expect(outputs).toMatchObject({ sha256: sha256(createPage()), size: String(size) });
    expect(String(await scenario.fetchPublic(outputs['raw-url'] ?? ''))).toBe(createPage());

    const given = { 'отчёт.html': createPage('second') };
    const again = await scenario.deliver({ repository, files: given, inputs: { ...inputs, message: '' } });
    await expectReady(scenario, again, { channel: 'K1', shows: createPage('second'), url });
    expect((await repository.log())[0]?.message).toMatch(/^UPDATE отчёт\.html: from run 7 of Deliver\n/);
    expect(String(await repository.read('index.html'))).toBe('theirs');
  });

  test('`setup` makes the first commit of an empty repository by git', async () => {
    const repository = await scenario.repository({ empty: true, pages: false });
    const delivered = await scenario.deliver({
      repository,
      files: { 'dist/index.html': createPage(), 'dist/app.js': 'document.title = 1;\n' },
      token: scenario.world.token({ administration: 'write' }, LOGINS.human),
      inputs: { channel: 'K1', file: 'dist/', path: './', branch: 'gh-pages', setup: 'true' },
    });
    expect(delivered.report.notReady).toBeNull();
    expect(await repository.log('gh-pages')).toHaveLength(1);
  });

  test.each(['signatures', 'classic-signatures'] as const)(
    '%s: several files go through the object API, and GitHub signs the commits',
    async (rule) => {
      const repository = await scenario.repository();
      repository.protect(rule);
      const delivered = await scenario.deliver({
        repository,
        files: { 'a.html': createPage('a'), 'b.html': createPage('b') },
        inputs: { channel: 'K1', file: '*.html' },
      });
      expect(delivered.reports.map(({ ready }) => ready)).toEqual([true, true]);
      expect(delivered.stdout).toContain('signed commits only: using the object API instead of git');
      const pushes = scenario.world.traffic.exchanges(/^POST .*\/git-receive-pack/);
      expect(pushes).toHaveLength(rule === 'signatures' ? 0 : 1);
    },
  );

  test.each([
    ["the job's bot", LOGINS.workflow, '41898282+github-actions[bot]'],
    ['a user', LOGINS.human, `${getUserId(LOGINS.human)}+human`],
  ])('git pushes with the token of %s commit as that account, with its id', async (_, login, name) => {
    const repository = await scenario.repository();
    const token = scenario.world.token({}, login);
    const pages = { 'out/a.html': '<p>a</p>', 'out/b.html': '<p>b</p>' };
    const inputs = { channel: 'K1', file: 'out/*.html', token };
    const delivered = await scenario.deliver({ repository, files: pages, inputs });
    expect(delivered.outputs.result).toBe('ready');
    expect(delivered.stdout).toContain("method C, git's own protocol");
    const person = `${login} <${name}@users.noreply.github.com>`;
    expect((await repository.authors()).slice(0, 2)).toEqual(Array(2).fill(`${person}, ${person}`));
  });
});

test('K2: a download gets an ASCII name, and is replaced only with `overwrite: true`', async () => {
  const repository = await scenario.repository();
  const inputs = { channel: 'K2', tag: 'files-1' };
  const given = (text: string) => ({ 'отчёт.zip': text });
  const first = await scenario.deliver({ repository, files: given('first'), inputs });
  const url = `https://github.com/${repository.fullName}/releases/download/files-1/otchyot.zip`;
  await expectReady(scenario, first, { channel: 'K2', shows: 'first', url });
  expect(first.report.lines.TEST).toContain('no build');
  expect(first.report.lines.CLAIM).toMatch(/its label is отчёт\.zip.*downloaded, never shown/);
  const refused = await scenario.deliver({ repository, files: given('second'), inputs });
  expectNotReady(refused, 'place', /release files-1 already has an asset otchyot\.zip with other bytes/, {
    hint: /overwrite: true/,
  });
  const forced = { ...inputs, overwrite: 'true' };
  const replaced = await scenario.deliver({ repository, files: given('second'), inputs: forced });
  await expectReady(scenario, replaced, { channel: 'K2', shows: 'second', url });
  expect(repository.releases()[0]?.assets).toMatchObject([{ label: 'отчёт.zip (screen-delivery)' }]);
  expect(await repository.log()).toHaveLength(1);
});

test('K3: a page is delivered without a token as a download, and the bin is locked', async () => {
  const delivered = await scenario.deliver({
    files: { 'отчёт.html': createPage() },
    inputs: { channel: 'K3', token: '', marker: MARKER },
  });
  const name = encodeURIComponent('отчёт.html');
  const url = new RegExp(`^https://filebin\\.net/sv\\d+-[a-z0-9]{16}/${name}$`);
  await expectReady(scenario, delivered, { channel: 'K3', shows: createPage(), url });
  const bin = scenario.world.filebin.bins.get(delivered.outputs.url?.split('/')[3] ?? '');
  expect(bin?.locked).toBe(true);
  expect(delivered.report.lines.CLAIM).toMatch(/^отчёт\.html downloads at .*not shown on the screen/);
  expect(delivered.report.lines.CLAIM).toContain(`the bin expires at ${bin?.expiresAt.toISOString()}`);
  expect(scenario.world.traffic.exchanges(/api\.github\.com/)).toEqual([]);
});

test('K4: with the file every byte is compared; with only the marker, UNKNOWN says so', async () => {
  const url = 'https://preview.agent-host.com/f/42';
  const repository = await scenario.repository();
  const later = /^whether the link still opens later, and from every network/;
  scenario.world.host('preview.agent-host.com', () => replyHtml(200, createPage()));
  for (const [given, unknown, test] of [
    [{ files: { 'page.html': createPage() }, inputs: { url } }, later, 'all bytes compared'],
    [
      { inputs: { channel: 'native', url, marker: MARKER } },
      /only the expected text was checked$/,
      'yes, 1 ×',
    ],
  ] as const) {
    const delivered = await scenario.deliver({ repository, ...given });
    await expectReady(scenario, delivered, { channel: 'K4', shows: createPage(), url, unknown });
    expect(delivered.report.lines.UNKNOWN).toMatch(later);
    expect(delivered.report.lines.TEST).toContain(test);
  }
});

test("no network: the delivery can't run, and the report says where the file stays", async () => {
  const nowhere = 'http://127.0.0.1:9';
  const delivered = await scenario.deliver({
    files,
    inputs: { channel: 'K3', token: '' },
    env: { HTTPS_PROXY: nowhere, https_proxy: nowhere },
    simulatedTime: true,
  });
  const says =
    /the protocol can't be executed, there is no network: the proxy 127\.0\.0\.1:9 can't be reached/;
  expectNotReady(delivered, 'place', says, { httpCode: null, hint: /https_proxy/ });
  const kept = `the file itself is still at page.html, sha256 ${delivered.outputs.sha256}`;
  expect(delivered.report.lines.UNKNOWN).toContain(kept);
});

test('several files: each failed file has an annotation, the others are delivered, and no URL is handed over', async () => {
  const repository = await scenario.repository();
  await repository.commit('p/out/c.html', 'theirs');
  const loads = '<script src="https://cdn.example/x.js"></script>';
  const { exitCode, outputs, reports, stdout, summary } = await scenario.deliver({
    repository,
    files: {
      'out/a.html': createPage('a'),
      'out/b.html': createPage('b').replace('</p>', `${loads}</p>`),
      'out/c.html': createPage('c'),
    },
    inputs: { file: 'out/*.html\n::stop-commands::x', path: 'p/', channel: 'K1' },
  });
  expect(reports.map(({ notReady }) => notReady?.reason ?? '')).toEqual([
    '',
    expect.stringMatching(/cdn\.example/),
    expect.stringMatching(/no record shows that this tool delivered its current content/),
    'the file ::stop-commands::x does not exist',
  ]);
  expect([exitCode, outputs.result, outputs.url]).toEqual([1, 'not-ready', '']);
  const errors = stdout.match(/(?<=^::error title=[^:]+::)\S+(?= is not ready )/gm);
  expect(errors?.slice(0, 2)).toEqual(['out/b.html', 'out/c.html']);
  const own = ['debug', 'add-mask', 'group', 'endgroup', 'error'];
  expect(parseRunnerCommands(stdout).filter((name) => !own.includes(name))).toEqual([]);
  for (const name of ['out/a.html', 'out/b.html', 'out/c.html']) expect(summary).toContain(name);
  expect(String(await repository.read('p/out/a.html'))).toBe(createPage('a'));
  expect(String(await repository.read('p/out/c.html'))).toBe('theirs');
});

test("a file of a private repository goes to the public bin only with the owner's consent", async () => {
  const repository = await scenario.repository({ private: true });
  const event = { name: 'push', payload: { repository: { private: true } } };
  const refused = await scenario.deliver({ repository, files, inputs: { token: '' }, event });
  const hint = /allow-public-bin: true/;
  expectNotReady(refused, 'authorize', /the file's repository is private/, { hint });
  expect(scenario.world.traffic.lines()).toEqual([]);
  expect(collectOutput(refused)).not.toContain('filebin.net/');
  const inputs = { token: '', 'allow-public-bin': 'true' };
  const delivered = await scenario.deliver({ repository, files, inputs, event });
  await expectReady(scenario, delivered, { channel: 'K3', shows: createPage('new') });
});

describe('the comment on a pull request', () => {
  const inputs = { channel: 'K1', path: 'previews/pr-1/', comment: 'true' };

  test('is shared by two concurrent runs, and after a failure says when its link was verified', async () => {
    const repository = await scenario.repository();
    await repository.issues.openPullRequest('a change', 'feature');
    const repo = { full_name: repository.fullName };
    const pull_request = { number: 1, head: { sha: 'c0ffee0123456789', repo }, base: { repo } };
    const payload = { action: 'synchronize', pull_request, repository: repo };
    const deliver = (marker = '') => {
      const event = { name: 'pull_request', payload };
      return scenario.deliver({ repository, files, event, inputs: { ...inputs, marker } });
    };
    const bodies = async () => (await repository.issues.comments(1)).map(({ body }) => body);
    const both = await Promise.all([deliver(), deliver()]);
    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    const url = both[0]?.outputs.url;
    expect(await bodies()).toEqual([expect.stringContaining(`](<${url}>)`)]);
    expect((await deliver('not in it')).exitCode).toBe(1);
    const [body, ...others] = await bodies();
    expect(others).toEqual([]);
    expect(body).toContain('НЕ ГОТОВО');
    expect(body).toMatch(/\n\nLast verified at <code>c0ffee0<\/code>, .*: \[page\.html\]\(<.+>\)\n\n/);
    expect(body).toContain(`](<${url}>)`);
  });

  test('is skipped if the event file is broken, and the delivery continues', async () => {
    // No JSON.
    const env = { GITHUB_EVENT_PATH: fileURLToPath(import.meta.url) };
    const delivered = await scenario.deliver({ files, inputs, env });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage('new') });
    expect(delivered.stdout).toContain('No comment, because this run belongs to no pull request');
  });
});
