import { describe, expect, test } from '@jest/globals';
import { stoppedError } from '../../src/errors.ts';
import type { TestRepository } from '../world/repository.ts';
import { type Played, proven, requestsOf, setUpPlay } from './play.ts';
import { createPage, MARKER } from './scenario.ts';

const play = setUpPlay();
const BEFORE = createPage('before');
const AFTER = createPage('after');
type Files = Readonly<Record<string, string>>;

const put = (repository: TestRepository, files: Files, more: object = {}): Promise<Played> => {
  const inputs = { channel: 'K1', 'on-failure': 'restore', timeout: '30', ...more };
  return play.deliver({ repository, files, inputs });
};
const deliver = (repository: TestRepository, text: string, more: object = {}): Promise<Played> =>
  put(repository, { 'page.html': text }, { path: 'page.html', ...more });
/** A repository with an earlier delivery of the page. */
async function withPage(): Promise<TestRepository> {
  const repository = await play.repository();
  await proven(deliver(repository, BEFORE));
  return repository;
}

/** The host answers 404 for this path. */
const hide = (repository: TestRepository, path: string, hidden: string) =>
  play.alterSite(repository, path, {
    alter: (real) => (String(real.body) === hidden ? { status: 404 } : real),
  });

const readAll = (repository: TestRepository, paths: readonly string[]) =>
  Promise.all(paths.map(async (path) => (await repository.read(path))?.toString() ?? null));

async function expectFailed(playing: Promise<Played>, restored: object, reason: RegExp): Promise<Played> {
  const played = await playing;
  const { report } = played;
  expect(report).toMatchObject({ ready: false, url: null, restored });
  expect(report.notReady?.reason).toMatch(reason);
  expect(report.lines.RESULT).toMatch(reason);
  return played;
}

test('a page that is not shown is replaced by the previous page, which is verified; the step still fails', async () => {
  const repository = await withPage();
  hide(repository, 'page.html', AFTER);
  const { report } = await expectFailed(
    deliver(repository, AFTER),
    { proven: true },
    /; commit \w{7} restored .*, and https:.*\/page\.html shows it again, byte for byte/,
  );
  expect(await readAll(repository, ['page.html'])).toEqual([BEFORE]);
  expect(report.notReady?.reason).not.toMatch(/somebody/);
  const [restored, failed] = await repository.log();
  expect([restored?.sha, failed?.sha]).toEqual([report.restored?.commitSha, report.commitSha]);
  expect(restored?.files).toEqual(['page.html']);
  // It is still known as ours.
  await proven(deliver(repository, createPage('third')));
});

test('two pages of a step are restored, one commit after the other', async () => {
  const repository = await play.repository();
  const both = (text: string) =>
    put(repository, { 'one.html': text, 'two.html': text }, { file: 'one.html\ntwo.html' });
  await proven(both(BEFORE));
  for (const path of ['one.html', 'two.html']) hide(repository, path, AFTER);
  const { reports } = await expectFailed(both(AFTER), { proven: true }, /restored/);
  expect(reports.map(({ restored }) => restored?.proven)).toEqual([true, true]);
  expect(await readAll(repository, ['one.html', 'two.html'])).toEqual([BEFORE, BEFORE]);
});

test('if a push starts no build, a build is requested for the restored page', async () => {
  const repository = await withPage();
  repository.pages.startsBuilds = false;
  hide(repository, 'page.html', AFTER);
  await expectFailed(deliver(repository, AFTER), { proven: true }, /restored/);
});

test('a page is restored if the build of the site breaks', async () => {
  const repository = await withPage();
  repository.pages.builds = ['errored', 'normal'];
  const says = /restored the previous version/;
  const { report } = await expectFailed(deliver(repository, AFTER), { proven: true }, says);
  expect(report.notReady?.code).toBe('BUILD_ERRORED');
  expect(await readAll(repository, ['page.html'])).toEqual([BEFORE]);
});

test('a restored page that Jekyll renders is verified at its raw URL', async () => {
  const repository = await play.repository();
  const notes = (text: string) =>
    deliver(repository, `# ${text} ${MARKER}\n`, { path: 'notes.md', marker: MARKER });
  await proven(notes('first'));
  repository.pages.builds = ['errored', 'normal'];
  const says = /raw\.githubusercontent\.com\/\S+\/notes\.md shows it again/;
  await expectFailed(notes('second'), { proven: true }, says);
  expect(await readAll(repository, ['notes.md'])).toEqual([expect.stringContaining('first')]);
});

test('a folder is restored as a whole if the host lacks one of its files', async () => {
  const repository = await play.repository();
  const site = (files: Files, nojekyll = 'true') =>
    put(repository, files, { file: 'dist/', path: 'docs/', nojekyll });
  const before = { 'dist/index.html': BEFORE, 'dist/old.js': 'old\n', 'dist/app.js': 'one\n' };
  await proven(site(before, 'false'));
  await repository.commit('docs/theirs.txt', 'of a person');
  hide(repository, 'docs/chunk.js', 'chunk\n');
  const after = { 'dist/index.html': AFTER, 'dist/chunk.js': 'chunk\n', 'dist/app.js': 'two\n' };
  const { report } = await expectFailed(site(after), { proven: true }, /chunk\.js/);
  expect(report.restored?.detail).toMatch(
    /byte for byte; other files of the undone commits stay: \.nojekyll$/,
  );
  const paths = ['index.html', 'old.js', 'app.js', 'chunk.js', 'theirs.txt'].map((name) => `docs/${name}`);
  expect(await readAll(repository, paths)).toEqual([BEFORE, 'old\n', 'one\n', null, 'of a person']);
  await proven(site({ ...before, 'dist/app.js': 'three\n' }));
});

test('nothing is changed if somebody pushed meanwhile, to the same path or another', async () => {
  for (const path of ['page.html', 'other.txt']) {
    const repository = await withPage();
    hide(repository, 'page.html', AFTER);
    play.intercept(
      { url: (address) => address.startsWith(`${repository.pages.url}page.html?`) },
      { alter: () => repository.commit(path, 'of a person').then(() => ({ status: 404 })) },
    );
    const says = /could not be restored: somebody wrote to the branch/;
    const played = await expectFailed(deliver(repository, AFTER), { commitSha: null, proven: false }, says);
    expect(await readAll(repository, [path])).toEqual(['of a person']);
    expect(requestsOf(played, /^PATCH .*\/git\/refs/)).toEqual([]);
  }
});

test('a push between our check and the write wins', async () => {
  const repository = await withPage();
  hide(repository, 'page.html', AFTER);
  play.meanwhile({ method: 'POST', url: /\/git\/commits$/ }, () =>
    repository.commit('page.html', 'of a person'),
  );
  await expectFailed(deliver(repository, AFTER), { commitSha: null, proven: false }, /./);
  expect(await readAll(repository, ['page.html'])).toEqual(['of a person']);
});

test.each<[string, string | null, object, object?]>([
  ['nothing was there before', null, {}],
  ['there was no branch before', null, {}, { empty: true }],
  ['the page was of somebody else', 'of a person', { overwrite: 'true' }],
])('nothing is written if %s', async (_, bytes, inputs, spec = {}) => {
  const repository = await play.repository(spec);
  if (bytes !== null) await repository.commit('page.html', bytes);
  hide(repository, 'page.html', AFTER);
  const says =
    /could not be restored: (this tool didn't deliver the previous content|nothing was there before)/;
  await expectFailed(deliver(repository, AFTER, inputs), { commitSha: null }, says);
  expect(await readAll(repository, ['page.html'])).toEqual([AFTER]);
});

test('a restoration that is not verified either says so', async () => {
  const repository = await withPage();
  play.alterSite(repository, 'page.html', { status: 404 });
  const restored = { commitSha: expect.any(String), proven: false };
  await expectFailed(deliver(repository, AFTER), restored, /and that is not verified either: .*HTTP 404/);
  expect(await readAll(repository, ['page.html'])).toEqual([BEFORE]);
});

const MOVE = { method: 'PATCH', url: /git\/refs/ };

test.each([
  ['carried out', { alter: () => ({ status: 502 }) }],
  ['not carried out', { status: 502 }],
])('a lost answer to the update of the branch, %s, is outlived by one commit', async (_, answer) => {
  const repository = await withPage();
  hide(repository, 'page.html', AFTER);
  play.intercept(MOVE, answer);
  const says = /; commit \w{7} restored .* shows it again/;
  const { report } = await expectFailed(deliver(repository, AFTER), { proven: true }, says);
  expect(await readAll(repository, ['page.html'])).toEqual([BEFORE]);
  const log = await repository.log();
  expect(log.slice(0, 2).map(({ sha }) => sha)).toEqual([report.restored?.commitSha, report.commitSha]);
});

test("a lost answer to the branch's update is reported as open if nothing can be read afterwards", async () => {
  const repository = await withPage();
  hide(repository, 'page.html', AFTER);
  play.intercept(MOVE, {
    alter: () => {
      play.intercept({ url: /api\.github/, times: 99 }, { status: 401 });
      return { status: 502 };
    },
  });
  const says = /; the previous version could not be restored: reading the branch failed with HTTP 401/;
  const { report } = await expectFailed(deliver(repository, AFTER), { commitSha: null, proven: false }, says);
  expect(report.lines.UNKNOWN).toContain('whether the previous version was restored anyway');
  expect(await readAll(repository, ['page.html'])).toEqual([BEFORE]);
});

test('a restored duplicate is reported together with its page', async () => {
  const repository = await withPage();
  hide(repository, 'page.html', AFTER);
  const inputs = { channel: 'K3+K1', bin: `bin-of-${repository.name}` };
  const { report } = await proven(deliver(repository, AFTER, inputs));
  const back = /; commit \w{7} restored .* shows it again/;
  expect(report.lines.UNKNOWN).toMatch(/the duplicate on K1 isn't verified: .*; commit \w{7} restored /);
  const duplicate = { channel: 'K1', reason: expect.stringMatching(back), restored: { proven: true } };
  expect(report).toMatchObject({
    duplicates: [duplicate],
    notes: expect.arrayContaining([expect.stringMatching(/bin/)]),
  });
  expect(report.restored).toBeUndefined();
});

describe('after a run that was stopped', () => {
  const inRun = (repository: TestRepository, run: number, text: string, more: object = {}) =>
    play.deliver({
      repository,
      files: { 'page.html': text },
      inputs: { channel: 'K1', path: 'page.html', 'on-failure': 'restore', timeout: '30' },
      token: play.world.token({ actions: 'read' }),
      around: { deliverer: { name: `${repository.fullName}/.github/workflows/a.yml`, run: `${run}/1` } },
      ...more,
    });
  const STOPPED = createPage('of the run that was stopped');

  /** A verified delivery, and one that was stopped right after its commit. */
  async function stopped() {
    const repository = await play.repository();
    await proven(inRun(repository, 1, BEFORE));
    const stop = new AbortController();
    play.meanwhile({ method: 'PUT', url: /contents/ }, () => stop.abort(stoppedError()));
    const { report } = await inRun(repository, 2, STOPPED, { signal: stop.signal });
    repository.runEnds.set('1/1', 'success');
    hide(repository, 'page.html', AFTER);
    return { repository, report };
  }

  test('its report says that nothing was restored', async () => {
    const { repository, report } = await stopped();
    expect(report.notReady?.reason).toMatch(/not restored, because the run was stopped$/);
    expect(await readAll(repository, ['page.html'])).toEqual([STOPPED]);
  });

  test.each<[string | null | undefined, string, RegExp]>([
    ['cancelled', BEFORE, /^(?!.*was verified)/],
    ['timed_out', BEFORE, /^(?!.*was verified)/],
    ['success', STOPPED, /^(?!.*was verified)/],
    ['failure', STOPPED, /whether the restored delivery of run 2 of \S+ was ever verified/],
    [null, STOPPED, /whether the restored delivery of run 2 of/],
    [undefined, STOPPED, /whether the restored delivery of run 2 of/],
  ])(
    'which GitHub calls %s, the next failure restores the last page that is not known as unverified',
    async (end, back, unknown) => {
      const { repository } = await stopped();
      if (end !== undefined) repository.runEnds.set('2/1', end);
      const { report } = await expectFailed(inRun(repository, 3, AFTER), { proven: true }, /restored/);
      expect(await readAll(repository, ['page.html'])).toEqual([back]);
      expect(report.lines.UNKNOWN).toMatch(unknown);
      expect(report.restored?.detail.includes('skipped')).toBe(back === BEFORE);
      // What was put back is as good as it was: the same once more.
      await expectFailed(inRun(repository, 4, AFTER), { proven: true }, /restored/);
      expect(await readAll(repository, ['page.html'])).toEqual([back]);
    },
  );

  /** A folder that a person changes between the stopped run and the failing run. */
  async function failAfter(change: Files) {
    const repository = await play.repository();
    const site = (run: number, files: Files) =>
      inRun(repository, run, '', {
        files,
        inputs: { channel: 'K1', file: 'dist/', path: 'docs/', 'on-failure': 'restore', timeout: '30' },
      });
    await proven(site(1, { 'dist/index.html': BEFORE, 'dist/old.js': 'old\n' }));
    await proven(site(2, { 'dist/index.html': STOPPED, 'dist/new.js': 'new\n' }));
    repository.runEnds.set('1/1', 'success').set('2/1', 'cancelled');
    for (const [path, text] of Object.entries(change)) await repository.commit(path, text);
    hide(repository, 'docs/', AFTER);
    const failed = site(3, { 'dist/index.html': AFTER });
    const paths = ['index.html', 'old.js', 'new.js', 'theirs.txt'].map((name) => `docs/${name}`);
    return { failed, read: () => readAll(repository, paths) };
  }

  test("a folder is restored without the files of that run, and with a person's files", async () => {
    const { failed, read } = await failAfter({ 'docs/theirs.txt': 'of a person' });
    await expectFailed(failed, { proven: true }, /skipped/);
    expect(await read()).toEqual([BEFORE, 'old\n', null, 'of a person']);
  });

  test('a file of that run is not removed if a person changed it since', async () => {
    const { failed, read } = await failAfter({ 'docs/new.js': 'of a person' });
    await expectFailed(failed, { commitSha: null }, /another commit changed since: docs\/new\.js/);
    expect(await read()).toEqual([AFTER, null, 'of a person', null]);
  });
});

test('without the input, the commit stays', async () => {
  const repository = await withPage();
  hide(repository, 'page.html', AFTER);
  const { report } = await deliver(repository, AFTER, { 'on-failure': 'keep' });
  expect([report.ready, report.restored]).toEqual([false, undefined]);
  expect(await readAll(repository, ['page.html'])).toEqual([AFTER]);
});

test("the step's other delivery stays complete, including the file for the whole site", async () => {
  const repository = await play.repository();
  const both = { path: 'out/', file: 'a/\nb/' };
  await proven(put(repository, { 'a/index.html': BEFORE, 'b/index.html': BEFORE }, both));
  hide(repository, 'out/a/bad.js', 'bad\n');
  const pages = { 'a/index.html': AFTER, 'b/index.html': createPage('of b') };
  const files = { ...pages, 'a/bad.js': 'bad\n', 'b/_next/x.js': 'needed\n' };
  const { reports } = await put(repository, files, { ...both, nojekyll: 'true' });
  expect(reports.map(({ ready }) => ready)).toEqual([false, true]);
  expect(await readAll(repository, ['.nojekyll', 'out/a/bad.js'])).toEqual(['', null]);
  expect(String(await repository.pages.readLive('out/b/_next/x.js'))).toBe('needed\n');
});

describe("a person's change between two pushes of the step stays", () => {
  test.each([
    ['an edit', 'of a person'],
    ['a removal', null],
  ])('%s of the page', async (_, bytes) => {
    const repository = await play.repository();
    const both = (page: string) =>
      put(
        repository,
        { 'page.html': page, 'dist/index.html': page },
        { file: 'page.html\ndist/', nojekyll: 'true' },
      );
    await proven(both(BEFORE));
    // A build of the first push may have shown the page.
    hide(repository, 'page.html', AFTER);
    play.meanwhile({ method: 'PUT', url: /contents\/page\.html/ }, () =>
      repository.commit('page.html', bytes),
    );
    const says = /could not be restored: another commit changed since: page\.html/;
    const { reports } = await expectFailed(both(AFTER), { commitSha: null, proven: false }, says);
    expect(await readAll(repository, ['page.html'])).toEqual([bytes]);
    expect(reports[1]?.ready).toBe(true);
  });

  test('a file at the path of a folder that would be restored', async () => {
    const repository = await play.repository();
    const both = (files: Files) => put(repository, files, { file: 'one/\ntwo/', nojekyll: 'true' });
    await both({ 'one/index.html': BEFORE, 'one/old/page.html': BEFORE, 'two/index.html': BEFORE });
    hide(repository, 'one/', AFTER);
    play.meanwhile({ method: 'PATCH', url: /\/git\/refs/ }, () =>
      repository.commit('one/old', 'of a person'),
    );
    const says = /another commit changed since: one\/old\/page\.html/;
    const files = { 'one/index.html': AFTER, 'two/index.html': AFTER };
    await expectFailed(both(files), { commitSha: null }, says);
    expect(await readAll(repository, ['one/old'])).toEqual(['of a person']);
  });
});
