import { describe, expect, test } from '@jest/globals';
import { commitOwned } from '../support/commit-owned.ts';
import type { TestRepository } from '../world/repository.ts';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, listRequests, MARKER, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const files = { 'page.html': createPage() };
const inputs = { channel: 'K1' };
const large = Buffer.alloc(1_100_000, 'large');

/** Somebody commits after the action has looked at the path for the first time, and before it writes. */
function meanwhile(repository: TestRepository, path: string, bytes: string): void {
  scenario.intercept(
    { method: 'GET', url: new RegExp(`${repository.name}/contents/page\\.html`) },
    {
      async alter(real) {
        await repository.commit(path, bytes);
        return real;
      },
    },
  );
}

/** The beginning of what stands at a path. */
const standing = async (repository: TestRepository, path: string): Promise<string | undefined> =>
  (await repository.read(path))?.toString('utf8', 0, 40);

describe('somebody else is faster', () => {
  test('the branch moves during the write (409): the file lands on top', async () => {
    const repository = await scenario.repository();
    scenario.intercept(
      { method: 'PUT', url: /contents/ },
      { status: 409, body: JSON.stringify({ message: 'is at 1 but expected 2', status: '409' }) },
    );
    await repository.commit('other.txt', 'theirs');
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    expect(listRequests(scenario, /^PUT /)).toHaveLength(2);
    expect((await repository.log()).map(({ files: changed }) => changed)).toEqual([
      ['page.html'],
      ['other.txt'],
      ['README.md'],
    ]);
  });

  test('an answer that never arrives (the write was done): no second commit', async () => {
    const repository = await scenario.repository();
    scenario.intercept({ method: 'PUT', url: /contents/ }, { fault: 'reset-after' });
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    expect(await repository.log()).toHaveLength(2);
    expect(listRequests(scenario, /^PUT /)).toHaveLength(1);
  });

  test('method A: a file that appears at the path meanwhile is not overwritten', async () => {
    const repository = await scenario.repository();
    meanwhile(repository, 'page.html', 'theirs');
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, { step: 'place', reason: /this tool did not deliver what it holds now/ });
    expect(await standing(repository, 'page.html')).toBe('theirs');
  });

  test('method B: a file that appears at the path meanwhile is not overwritten', async () => {
    const repository = await scenario.repository();
    meanwhile(repository, 'page.html', 'theirs');
    const delivered = await scenario.deliver({ repository, files: { 'page.html': large }, inputs });
    expect(await standing(repository, 'page.html')).toBe('theirs');
    expectNotReady(delivered, { step: 'place', reason: /this tool did not deliver what it holds now/ });
  });

  test('method B: the branch moves before its update, so it is built anew on the new head', async () => {
    const repository = await scenario.repository();
    scenario.intercept(
      { method: 'POST', url: /git\/commits$/ },
      {
        async alter(real) {
          await repository.commit('other.txt', 'theirs');
          return real;
        },
      },
    );
    const delivered = await scenario.deliver({ repository, files: { 'page.html': large }, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: large });
    expect(await standing(repository, 'other.txt')).toBe('theirs');
    expect((await repository.log()).map(({ files: changed }) => changed)).toEqual([
      ['page.html'],
      ['other.txt'],
      ['README.md'],
    ]);
    expect(listRequests(scenario, /^POST .*git\/blobs/)).toHaveLength(1);
  });

  test('a release that another job creates at the same moment is shared', async () => {
    const repository = await scenario.repository();
    const theirs = await scenario.deliver({
      repository,
      files: { 'theirs.zip': 'theirs' },
      inputs: { channel: 'K2', tag: 'files-1' },
    });
    // The look-up lags behind the creation.
    scenario.intercept(
      { method: 'GET', url: /releases\/tags\/files-1/ },
      { status: 404, body: '{"message":"Not Found"}' },
    );
    const delivered = await scenario.deliver({
      repository,
      files: { 'ours.zip': 'ours' },
      inputs: { channel: 'K2', tag: 'files-1' },
    });
    await expectReady(scenario, theirs, { channel: 'K2', shows: 'theirs' });
    await expectReady(scenario, delivered, { channel: 'K2', shows: 'ours' });
    expect(repository.releases().map(({ tag, assets }) => [tag, assets.map(({ name }) => name)])).toEqual([
      ['files-1', ['theirs.zip', 'ours.zip']],
    ]);
  });

  test('three deliveries of different files at once into one branch all land', async () => {
    const repository = await scenario.repository();
    const names = ['one.html', 'two.html', 'three.html'];
    const all = await Promise.all(
      names.map((name) => scenario.deliver({ repository, files: { [name]: createPage(name) }, inputs })),
    );
    for (const [at, delivered] of all.entries()) {
      await expectReady(scenario, delivered, { channel: 'K1', shows: createPage(names[at]) });
    }
    expect((await repository.log()).flatMap(({ files: changed }) => changed).sort()).toEqual([
      'README.md',
      'one.html',
      'three.html',
      'two.html',
    ]);
  });
});

describe("somebody else's file at the path", () => {
  test('is refused', async () => {
    const repository = await scenario.repository({ files: { 'page.html': 'theirs' } });
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, {
      step: 'place',
      reason:
        /^page\.html already exists in the repository, and this tool did not deliver what it holds now$/,
      hint: /overwrite: true/,
    });
    expect(await repository.log()).toHaveLength(1);
  });

  test('is replaced with `overwrite: true`', async () => {
    const repository = await scenario.repository({
      files: { 'page.html': 'theirs', 'index.html': 'theirs' },
    });
    const delivered = await scenario.deliver({ repository, files, inputs: { ...inputs, overwrite: 'true' } });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    expect((await repository.log())[0]).toMatchObject({ files: ['page.html'] });
    expect(await standing(repository, 'index.html')).toBe('theirs');
  });

  test('is refused too where it was ours before somebody changed it', async () => {
    const repository = await scenario.repository();
    await commitOwned(repository, 'page.html', createPage('ours'));
    await repository.commit('page.html', 'mended by hand');
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, { step: 'place', reason: /this tool did not deliver what it holds now/ });
    expect(await standing(repository, 'page.html')).toBe('mended by hand');
  });

  test('a folder at the path is refused with the path to set', async () => {
    const repository = await scenario.repository({ files: { 'page.html/index.html': 'theirs' } });
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, { step: 'place', reason: /is a folder/, hint: /path: page\.html\// });
  });
});

describe('the same step again', () => {
  test('makes no second commit', async () => {
    const repository = await scenario.repository();
    const first = await scenario.deliver({ repository, files, inputs: { ...inputs, marker: MARKER } });
    const again = await scenario.deliver({ repository, files, inputs: { ...inputs, marker: MARKER } });
    await expectReady(scenario, again, { channel: 'K1', shows: createPage() });
    expect(again.outputs).toMatchObject({
      url: first.outputs.url,
      'commit-sha': first.outputs['commit-sha'],
    });
    expect(again.report.gates[0]?.evidence).toMatch(/already holds these bytes/);
    expect(await repository.log()).toHaveLength(2);
  });

  test('makes no second asset', async () => {
    const repository = await scenario.repository();
    const release = { channel: 'K2', tag: 'files-1' };
    const first = await scenario.deliver({ repository, files, inputs: release });
    const again = await scenario.deliver({ repository, files, inputs: release });
    await expectReady(scenario, again, { channel: 'K2', shows: createPage(), url: first.outputs.url ?? '' });
    expect(repository.releases()[0]?.assets).toHaveLength(1);
    expect(listRequests(scenario, /^POST https:\/\/uploads/)).toHaveLength(1);
  });
});

describe('an upload that fails once', () => {
  test('K2, 502: one asset', async () => {
    const repository = await scenario.repository();
    scenario.intercept({ method: 'POST', url: /uploads\.github\.com/ }, { status: 502, body: '' });
    const delivered = await scenario.deliver({
      repository,
      files,
      inputs: { channel: 'K2', tag: 'files-1' },
    });
    await expectReady(scenario, delivered, { channel: 'K2', shows: createPage() });
    expect(repository.releases()[0]?.assets).toHaveLength(1);
  });

  test('K2, the answer is lost: one asset, sent once', async () => {
    const repository = await scenario.repository();
    scenario.intercept({ method: 'POST', url: /uploads\.github\.com/ }, { fault: 'reset-after' });
    const delivered = await scenario.deliver({
      repository,
      files,
      inputs: { channel: 'K2', tag: 'files-1' },
    });
    await expectReady(scenario, delivered, { channel: 'K2', shows: createPage() });
    expect(listRequests(scenario, /^POST https:\/\/uploads/)).toHaveLength(1);
  });

  test('K3, 500: one file', async () => {
    const repository = await scenario.repository();
    scenario.intercept({ method: 'POST', url: /filebin\.net/ }, { status: 500, body: 'Storage error' });
    const delivered = await scenario.deliver({
      repository,
      files,
      inputs: { channel: 'K3', bin: 'races-0001' },
    });
    await expectReady(scenario, delivered, { channel: 'K3', shows: createPage() });
    expect([...(scenario.world.filebin.bins.get('races-0001')?.files.keys() ?? [])]).toEqual(['page.html']);
  });
});

describe('several channels, in any order', () => {
  test.each(['K3+K1', 'K2+K1', 'K2+K3', 'K3+K2'])('%s', async (channel) => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({ repository, files, inputs: { channel } });
    const [main] = channel.split('+') as ['K2' | 'K3'];
    await expectReady(scenario, delivered, { channel: main, shows: createPage() });
    const twin = await scenario.fetchPublic(delivered.outputs['duplicate-url'] ?? '');
    expect(twin.toString()).toBe(createPage());
  });
});

describe("somebody else's file where a folder would have to be", () => {
  test.each([
    ['method A', createPage()],
    ['method B', large],
  ])('%s: it is not lost', async (_, file) => {
    const repository = await scenario.repository();
    await repository.commit('docs', 'theirs');
    const inputs = { channel: 'K1', path: 'docs/deep/page.html', 'self-contained': 'off' };
    const delivered = await scenario.deliver({ repository, files: { 'page.html': file }, inputs });
    expectNotReady(delivered, { step: 'place', reason: /docs is a file of the repository/, hint: /`path:`/ });
    expect(await standing(repository, 'docs')).toBe('theirs');
  });

  test('method C, where it appears after both files were looked for', async () => {
    const repository = await scenario.repository();
    scenario.intercept(
      { method: 'GET', url: new RegExp(`${repository.name}/contents/docs\\?`), skip: 1 },
      {
        async alter(real) {
          await repository.commit('docs', 'theirs');
          return real;
        },
      },
    );
    const files = { 'out/a.html': createPage('a'), 'out/b.html': createPage('b') };
    const inputs = { channel: 'K1', file: 'out/*', path: 'docs/' };
    const { reports } = await scenario.deliver({ repository, files, inputs });
    expect(reports.map(({ notReady }) => notReady?.reason)).toEqual([
      expect.stringMatching(/docs is a file of the repository/),
      expect.stringMatching(/docs is a file of the repository/),
    ]);
    expect(await standing(repository, 'docs')).toBe('theirs');
  });
});
