import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { commitOwned } from '../support/commit-owned.ts';
import { computeBlobSha } from '../world/git/bare-repository.ts';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, MARKER, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
const filled = (megabytes: number, text: string): Buffer => Buffer.alloc(megabytes * 1_000_000, text);

describe('K1, a page on the screen', () => {
  test.each([
    { story: 'a Latin name', file: 'page.html', path: '', address: 'page.html' },
    { story: 'a Cyrillic name', file: 'отчёт.html', path: '', address: encodeURIComponent('отчёт.html') },
    {
      story: 'a Cyrillic folder',
      file: 'page.html',
      path: 'папка/ещё/',
      address: `${encodeURIComponent('папка')}/${encodeURIComponent('ещё')}/page.html`,
    },
  ])('a new file with $story', async ({ file, path, address }) => {
    const repository = await scenario.repository();
    const before = await repository.log();
    const delivered = await scenario.deliver({
      repository,
      files: { [file]: createPage() },
      inputs: { channel: 'K1', marker: MARKER, path, message: 'the weekly report' },
    });
    await expectReady(scenario, delivered, {
      channel: 'K1',
      shows: createPage(),
      url: `${repository.pages.url}${address}`,
    });

    const { outputs, report } = delivered;
    const [commit, ...older] = await repository.log();
    expect(older).toEqual(before);
    const blob = computeBlobSha(Buffer.from(createPage()));
    expect(commit).toEqual({
      sha: outputs['commit-sha'],
      message: `ADD ${file}: the weekly report\n\nDelivered-by: screen-delivery\nDelivered-object: ${blob} ${path}${file}`,
      files: [`${path}${file}`],
    });
    expect(report.lines.TEST).toMatch(
      /^HTTP 200; marker found: yes, 1 ×; bytes identical: yes; build time: \d/,
    );
    expect(report.lines.CODE).toContain(`file ${file}; channel K1 (pages)`);
    expect(report.lines.CODE).toContain(
      `commit ${outputs['commit-sha']}; ${Buffer.byteLength(createPage())} bytes`,
    );
    expect(outputs).toMatchObject({
      sha256: sha256(createPage()),
      size: String(Buffer.byteLength(createPage())),
    });
    const raw = await scenario.fetchPublic(outputs['raw-url'] ?? '');
    expect(raw.toString()).toBe(createPage());
  });

  test('an update says UPDATE, takes the place of the old page and leaves other files alone', async () => {
    const repository = await scenario.repository({ files: { 'index.html': 'theirs' } });
    const first = await scenario.deliver({
      repository,
      files: { 'page.html': createPage('old') },
      inputs: { channel: 'K1' },
    });
    await expectReady(scenario, first, { channel: 'K1', shows: createPage('old') });
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage('new') },
      inputs: { channel: 'K1', marker: MARKER, message: 'second edition' },
    });
    await expectReady(scenario, delivered, {
      channel: 'K1',
      shows: createPage('new'),
      url: first.outputs.url ?? '',
    });
    const [commit] = await repository.log();
    expect(commit?.message).toMatch(/^UPDATE page\.html: second edition\n/);
    expect(commit?.files).toEqual(['page.html']);
    expect((await repository.read('index.html'))?.toString()).toBe('theirs');
  });

  test('an update under a Cyrillic name', async () => {
    const repository = await scenario.repository();
    await commitOwned(repository, 'отчёт.html', createPage('old'));
    await repository.pages.whenBuilt();
    const delivered = await scenario.deliver({
      repository,
      files: { 'отчёт.html': createPage('new') },
      inputs: { channel: 'pages', marker: MARKER },
    });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage('new') });
    expect((await repository.log())[0]?.message).toMatch(/^UPDATE отчёт\.html: from run 7 of Deliver\n/);
  });

  test('3 MB go through the object API, new and again', async () => {
    const repository = await scenario.repository({ files: { 'data.bin': 'x' } });
    const old = filled(3, 'first');
    const first = await scenario.deliver({
      repository,
      files: { 'large.html': old },
      inputs: { channel: 'K1' },
    });
    await expectReady(scenario, first, { channel: 'K1', shows: old });
    expect(first.report.lines.CODE).toContain('method B');

    const fresh = filled(3, 'second');
    const second = await scenario.deliver({
      repository,
      files: { 'large.html': fresh },
      inputs: { channel: 'K1' },
    });
    await expectReady(scenario, second, { channel: 'K1', shows: fresh });
    expect((await repository.log()).map(({ message, files }) => [message.split(':')[0], files])).toEqual([
      ['UPDATE large.html', ['large.html']],
      ['ADD large.html', ['large.html']],
      ['Initial commit', ['data.bin']],
    ]);
  });

  test('20 MB go through the object API', async () => {
    const repository = await scenario.repository();
    const bytes = filled(20, 'abcdefg');
    const delivered = await scenario.deliver({
      repository,
      files: { 'video.bin': bytes },
      inputs: { channel: 'K1' },
    });
    await expectReady(scenario, delivered, { channel: 'K1', shows: bytes });
  });
});

describe('K2, a file for download', () => {
  test('50 MB, new; other bytes under the name only with `overwrite: true`', async () => {
    const repository = await scenario.repository();
    const old = filled(50, 'first');
    const fresh = filled(50, 'second');
    const inputs = { channel: 'K2', tag: 'files-1' };
    const first = await scenario.deliver({ repository, files: { 'set.zip': old }, inputs });
    await expectReady(scenario, first, {
      channel: 'K2',
      shows: old,
      url: `https://github.com/${repository.fullName}/releases/download/files-1/set.zip`,
    });
    expect(first.report.lines.TEST).toContain('no build');
    expect(first.report.lines.CLAIM).toContain('downloaded, never shown');

    const refused = await scenario.deliver({ repository, files: { 'set.zip': fresh }, inputs });
    expectNotReady(refused, {
      step: 'place',
      reason: /release files-1 already has an asset set\.zip with other bytes/,
      hint: /overwrite: true/,
    });
    expect(repository.releases()[0]?.assets).toMatchObject([{ digest: `sha256:${sha256(old)}` }]);

    const replaced = await scenario.deliver({
      repository,
      files: { 'set.zip': fresh },
      inputs: { ...inputs, overwrite: 'true' },
    });
    await expectReady(scenario, replaced, { channel: 'K2', shows: fresh, url: first.outputs.url ?? '' });
    expect(repository.releases()[0]?.assets.map(({ name }) => name)).toEqual(['set.zip']);
    expect(await repository.log()).toHaveLength(1);
  });

  test('a Cyrillic name becomes an ASCII asset with the name as its label', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      files: { 'отчёт.zip': 'bytes' },
      inputs: { channel: 'release' },
    });
    await expectReady(scenario, delivered, {
      channel: 'K2',
      shows: 'bytes',
      url: /\/files-\d{8}\/otchyot\.zip$/,
    });
    expect(repository.releases()[0]?.assets).toMatchObject([
      { name: 'otchyot.zip', label: 'отчёт.zip (screen-delivery)' },
    ]);
    expect(delivered.report.lines.CLAIM).toContain('its label is отчёт.zip');
  });
});

describe('K3, the anonymous file-bin', () => {
  test.each(['page.txt', 'отчёт.txt'])(
    'a new file named %s, in a bin that is locked afterwards',
    async (file) => {
      const repository = await scenario.repository();
      const delivered = await scenario.deliver({
        repository,
        files: { [file]: createPage() },
        inputs: { channel: 'K3', token: '', marker: MARKER },
      });
      await expectReady(scenario, delivered, {
        channel: 'K3',
        shows: createPage(),
        url: new RegExp(`^https://filebin\\.net/sv\\d+-[a-z0-9]{16}/${encodeURIComponent(file)}$`),
      });
      const bin = scenario.world.filebin.bins.get(delivered.outputs.url?.split('/')[3] ?? '');
      expect(bin?.locked).toBe(true);
      expect(delivered.report.lines.CLAIM).toContain(`the bin expires at ${bin?.expiresAt.toISOString()}`);
      expect(scenario.world.traffic.exchanges(/api\.github\.com/)).toEqual([]);
    },
  );

  test('an HTML file is said to be downloaded there', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage() },
      inputs: { channel: 'filebin' },
    });
    await expectReady(scenario, delivered, { channel: 'K3', shows: createPage() });
    expect(delivered.report.lines.CLAIM).toMatch(/^page\.html downloads at .*not shown on the screen/);
  });
});

/** No request can tell that. */
const LATER = /^whether the link still opens later, and from every network$/;

describe("K4, the environment's own link", () => {
  const url = 'https://preview.agent-host.com/f/42';

  test('with the file: every byte is compared', async () => {
    scenario.world.host('preview.agent-host.com', () => ({ status: 200, body: createPage() }));
    const repository = await scenario.repository();
    const inputs = { channel: 'K4', url, token: '' };
    const delivered = await scenario.deliver({ repository, files: { 'page.html': createPage() }, inputs });
    await expectReady(scenario, delivered, { channel: 'K4', shows: createPage(), url, unknown: LATER });
    expect(delivered.report.lines.TEST).toContain('all bytes compared');
    expect(delivered.report.lines.TEST).toContain('bytes identical: yes');
  });

  test('with the marker alone: UNKNOWN says that no more was compared', async () => {
    const shown = `<html><body>viewer: ${MARKER}, ${MARKER}</body></html>`;
    scenario.world.host('preview.agent-host.com', () => ({ status: 200, body: shown }));
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      inputs: { channel: 'native', url, marker: MARKER },
    });
    await expectReady(scenario, delivered, {
      channel: 'K4',
      shows: shown,
      url,
      unknown:
        /^whether the link still opens later.*; what else the page says: no file was given, so only the marker was seen$/,
    });
    expect(delivered.report.lines.TEST).toContain('marker found: yes, 2 ×');
    expect(delivered.outputs).toMatchObject({ sha256: '', size: '', 'commit-sha': '' });
  });
});

describe('auto', () => {
  const event = (isPrivate: boolean) => ({ name: 'push', payload: { repository: { private: isPrivate } } });

  test('with a token: K1', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({ repository, files: { 'page.html': createPage() } });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
  });

  test('without a token, for a public repository: K3', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage() },
      inputs: { token: '' },
      event: event(false),
    });
    await expectReady(scenario, delivered, { channel: 'K3', shows: createPage() });
    expect(delivered.report.lines.CODE).toContain('because there is no token');
  });

  test.each([
    { story: 'a private repository', event: event(true), reason: /the file's repository is private/ },
    {
      story: 'a repository that nobody calls public',
      event: { name: 'push', payload: {} },
      reason: /may be private/,
    },
  ])('without a token, for $story: refused', async ({ event: told, reason }) => {
    const repository = await scenario.repository({ private: true });
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage() },
      inputs: { token: '' },
      event: told,
    });
    expectNotReady(delivered, { step: 'authorize', reason, hint: /allow-public-bin: true/ });
    expect(scenario.world.traffic.lines()).toEqual([]);
  });

  test("on the owner's word a private repository's file goes to the bin", async () => {
    const repository = await scenario.repository({ private: true });
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage() },
      inputs: { token: '', 'allow-public-bin': 'true' },
      event: event(true),
    });
    await expectReady(scenario, delivered, { channel: 'K3', shows: createPage() });
  });

  test('with a link and without a token: K4', async () => {
    scenario.world.host('preview.agent-host.com', () => ({ status: 200, body: createPage() }));
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage() },
      inputs: { token: '', url: 'https://preview.agent-host.com/page' },
    });
    await expectReady(scenario, delivered, { channel: 'K4', shows: createPage(), unknown: LATER });
  });

  test('without a site: a page is refused with the ways out', async () => {
    const repository = await scenario.repository({ pages: false });
    const delivered = await scenario.deliver({ repository, files: { 'page.html': createPage() } });
    expectNotReady(delivered, {
      step: 'authorize',
      httpCode: 404,
      reason: /has no Pages site/,
      hint: /`setup: true`.*Settings → Pages.*channel: K2/,
    });
    expect(repository.releases()).toEqual([]);
  });

  test('a program beside a page: K2 for the one, K1 for the other', async () => {
    const repository = await scenario.repository();
    const files = { 'page.html': createPage(), 'setup.exe': 'MZ\0program' };
    const inputs = { file: 'page.html\nsetup.exe' };
    const { reports } = await scenario.deliver({ repository, files, inputs });
    expect(reports.map(({ channel, ready }) => [channel, ready])).toEqual([
      ['K1', true],
      ['K2', true],
    ]);
    expect(reports[1]?.lines.CODE).toContain('because a browser downloads this type of file');
  });

  test('programs with a tag: one release, and no commit', async () => {
    const repository = await scenario.repository();
    const files = { 'a.exe': 'MZ\0a', 'b.exe': 'MZ\0b' };
    const before = await repository.read('a.exe');
    const inputs = { file: '*.exe', tag: 'v1.2.0' };
    const { reports } = await scenario.deliver({ repository, files, inputs });
    expect(reports.map(({ ready }) => ready)).toEqual([true, true]);
    expect(reports[0]?.lines.CODE).toContain('because a tag was named');
    expect(repository.releases()).toMatchObject([{ tag: 'v1.2.0', assets: [{}, {}] }]);
    expect([before, await repository.read('a.exe')]).toEqual([null, null]);
  });
});

test('K1+K3: the page, and a duplicate that is proven as well', async () => {
  const repository = await scenario.repository();
  const delivered = await scenario.deliver({
    repository,
    files: { 'page.html': createPage() },
    inputs: { channel: 'K1+K3', marker: MARKER },
  });
  await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
  const { outputs, report } = delivered;
  expect(outputs['duplicate-url']).toMatch(/^https:\/\/filebin\.net\//);
  expect((await scenario.fetchPublic(outputs['duplicate-url'] ?? '')).toString()).toBe(createPage());
  expect(report.duplicates).toEqual([{ channel: 'K3', url: outputs['duplicate-url'], reason: null }]);
});

test('a duplicate that fails leaves the page ready, and UNKNOWN says so', async () => {
  const repository = await scenario.repository();
  scenario.intercept(
    { method: 'POST', url: /filebin\.net/, times: 9 },
    { status: 403, body: 'Illegal file extension' },
  );
  const delivered = await scenario.deliver({
    repository,
    files: { 'page.html': createPage() },
    inputs: { channel: 'K1+K3' },
  });
  await expectReady(scenario, delivered, {
    channel: 'K1',
    shows: createPage(),
    unknown: /^the duplicate on K3 is not proven: .*HTTP 403/,
  });
  expect(delivered.outputs['duplicate-url']).toBe('');
});
