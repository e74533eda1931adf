import { describe, expect, test } from '@jest/globals';
import type { TestRepository } from '../world/repository.ts';
import { type Played, requestsOf, setUpPlay } from './play.ts';
import { createPage, MARKER } from './scenario.ts';

const play = setUpPlay();
const BEFORE = createPage('before');
const AFTER = createPage('after');

const deliver = (repository: TestRepository, text: string, inputs: object = {}): Promise<Played> =>
  play.deliver({
    repository,
    files: { 'page.html': text },
    inputs: { channel: 'K1', path: 'page.html', 'on-failure': 'restore', timeout: '30', ...inputs },
  });
const deliverSite = (repository: TestRepository, files: Readonly<Record<string, string>>): Promise<Played> =>
  play.deliver({
    repository,
    files,
    inputs: { file: 'dist/', path: 'docs/', nojekyll: 'true', 'on-failure': 'restore', timeout: '30' },
  });

/** The host serves nothing at a path, until the branch has something else there. */
const hide = (repository: TestRepository, path: string, hidden: string) =>
  play.alterSite(repository, path, {
    alter: (real) => (String(real.body) === hidden ? { status: 404 } : real),
  });

const expectFailed = ({ report }: Played, restored: object, reason: RegExp): void => {
  expect(report).toMatchObject({ ready: false, url: null, restored });
  expect(report.notReady?.reason).toMatch(reason);
  expect(report.lines.RESULT).toMatch(reason);
};

test('a page that is not shown is replaced by the one before, which is proven; the step fails all the same', async () => {
  const repository = await play.repository();
  expect((await deliver(repository, BEFORE)).report.notReady).toBeNull();
  hide(repository, 'page.html', AFTER);
  const played = await deliver(repository, AFTER);
  expectFailed(
    played,
    { proven: true },
    /; commit \w{7} put back .*, and https:.*\/page\.html shows that again, byte for byte/,
  );
  expect(String(await repository.read('page.html'))).toBe(BEFORE);
  const [restored, failed] = await repository.log();
  expect([restored?.sha, failed?.sha]).toEqual([played.report.restored?.commitSha, played.report.commitSha]);
  expect(restored?.files).toEqual(['page.html']);
  // It is still known as ours.
  expect((await deliver(repository, createPage('third'))).report.notReady).toBeNull();
});

test('where the build of the site breaks', async () => {
  const repository = await play.repository();
  await deliver(repository, BEFORE);
  repository.pages.builds = ['errored', 'normal'];
  const played = await deliver(repository, AFTER);
  expect(played.report.notReady?.code).toBe('BUILD_ERRORED');
  expectFailed(played, { proven: true }, /put back what was delivered there before/);
  expect(String(await repository.read('page.html'))).toBe(BEFORE);
});

test('a page that Jekyll renders is proven at its raw address', async () => {
  const repository = await play.repository();
  const inputs = { path: 'notes.md', marker: MARKER };
  await deliver(repository, `# first ${MARKER}\n`, inputs);
  repository.pages.builds = ['errored', 'normal'];
  const played = await deliver(repository, `# second ${MARKER}\n`, inputs);
  expectFailed(played, { proven: true }, /raw\.githubusercontent\.com\/\S+\/notes\.md shows that again/);
  expect(String(await repository.read('notes.md'))).toContain('first');
});

test('a folder of which the host misses a chunk is put back as a whole', async () => {
  const repository = await play.repository();
  const before = { 'dist/index.html': BEFORE, 'dist/old.js': 'old\n', 'dist/app.js': 'one\n' };
  expect((await deliverSite(repository, before)).report.notReady).toBeNull();
  await repository.commit('docs/theirs.txt', 'of a person');
  hide(repository, 'docs/chunk.js', 'chunk\n');
  const after = { 'dist/index.html': AFTER, 'dist/chunk.js': 'chunk\n', 'dist/app.js': 'two\n' };
  const played = await deliverSite(repository, after);
  expectFailed(played, { proven: true }, /chunk\.js/);
  const held = ['index.html', 'old.js', 'app.js', 'chunk.js', 'theirs.txt'].map((name) =>
    repository.read(`docs/${name}`)?.toString(),
  );
  expect(held).toEqual([BEFORE, 'old\n', 'one\n', undefined, 'of a person']);
  expect((await deliverSite(repository, before)).report.notReady).toBeNull();
});

test('nothing is touched where somebody pushed meanwhile, to the same place or another', async () => {
  for (const path of ['page.html', 'other.txt']) {
    const repository = await play.repository();
    await deliver(repository, BEFORE);
    hide(repository, 'page.html', AFTER);
    let isPushed = false;
    play.intercept(
      { url: (address) => address.startsWith(`${repository.pages.url}page.html?`), times: 1 },
      {
        alter: async () => {
          if (!isPushed) await repository.commit(path, 'of a person');
          isPushed = true;
          return { status: 404 };
        },
      },
    );
    const played = await deliver(repository, AFTER);
    expectFailed(
      played,
      { commitSha: null, proven: false },
      /nothing was put back: somebody wrote to the branch/,
    );
    expect(String(await repository.read(path))).toBe('of a person');
    expect(requestsOf(played, /^PATCH .*\/git\/refs/)).toEqual([]);
  }
});

test('a push between the look and the write wins', async () => {
  const repository = await play.repository();
  await deliver(repository, BEFORE);
  hide(repository, 'page.html', AFTER);

  play.meanwhile({ method: 'POST', url: /\/git\/commits$/ }, () =>
    repository.commit('page.html', 'of a person'),
  );
  const played = await deliver(repository, AFTER);
  expectFailed(played, { commitSha: null, proven: false }, /./);
  expect(String(await repository.read('page.html'))).toBe('of a person');
});

test.each([
  ['nothing was there before', null, {}],
  ['it was of somebody else', 'of a person', { overwrite: 'true' }],
])('nothing is written where %s', async (_, bytes, inputs) => {
  const repository = await play.repository();
  if (bytes !== null) await repository.commit('page.html', bytes);
  hide(repository, 'page.html', AFTER);
  const played = await deliver(repository, AFTER, inputs);
  expectFailed(played, { commitSha: null }, /nothing was put back: what was there before, if anything/);
  expect(String(await repository.read('page.html'))).toBe(AFTER);
});

test('a restoration that is not proven either says so', async () => {
  const repository = await play.repository();
  await deliver(repository, BEFORE);
  play.alterSite(repository, 'page.html', { status: 404 });
  const played = await deliver(repository, AFTER);
  expectFailed(
    played,
    { commitSha: expect.any(String), proven: false },
    /and that is not proven either: .*HTTP 404/,
  );
  expect(String(await repository.read('page.html'))).toBe(BEFORE);
});

test('without the input what is committed stays', async () => {
  const repository = await play.repository();
  await deliver(repository, BEFORE);
  hide(repository, 'page.html', AFTER);
  const { report } = await deliver(repository, AFTER, { 'on-failure': 'keep' });
  expect(report).toMatchObject({ ready: false });
  expect(report.restored).toBeUndefined();
  expect(String(await repository.read('page.html'))).toBe(AFTER);
});

test('nothing of another delivery of the step is lost, such as the switch for the whole site', async () => {
  const repository = await play.repository();
  const put = (files: Readonly<Record<string, string>>, more: object = {}): Promise<Played> => {
    const inputs = { channel: 'K1', path: 'out/', file: 'a/\nb/', 'on-failure': 'restore', timeout: '30' };
    return play.deliver({ repository, files, inputs: { ...inputs, ...more } });
  };
  await put({ 'a/index.html': createPage('a1'), 'b/index.html': createPage('b1') });
  hide(repository, 'out/a/bad.js', 'bad\n');
  const files = {
    'a/index.html': createPage('a2'),
    'a/bad.js': 'bad\n',
    'b/index.html': createPage('b2'),
    'b/_next/x.js': 'needed\n',
  };
  const { reports } = await put(files, { nojekyll: 'true' });
  expect(reports.map(({ ready }) => ready)).toEqual([false, true]);
  expect(await repository.read('.nojekyll')).not.toBeNull();
  expect(await repository.read('out/a/bad.js')).toBeNull();
  expect(String(await repository.pages.readLive('out/b/_next/x.js'))).toBe('needed\n');
});

describe('what a person did between two pushes of the step stays', () => {
  const once = (work: () => Promise<unknown>) => {
    let isDone = false;
    return async <Answer>(real: Answer): Promise<Answer> => {
      if (!isDone) await work();
      isDone = true;
      return real;
    };
  };
  const put = (repository: TestRepository, file: string, files: Readonly<Record<string, string>>) => {
    const inputs = { channel: 'K1', file, nojekyll: 'true', 'on-failure': 'restore', timeout: '30' };
    return play.deliver({ repository, files, inputs });
  };

  test.each([
    ['an edit', 'of a person'],
    ['a removal', null],
  ])('%s of the page', async (_, bytes) => {
    const repository = await play.repository();
    const files = (text: string) => ({ 'page.html': createPage(text), 'dist/index.html': createPage(text) });
    await put(repository, 'page.html\ndist/', files('before'));
    // A build of the first push may have shown the page.
    hide(repository, 'page.html', createPage('after'));
    const alter = once(() => repository.commit('page.html', bytes));
    play.intercept({ method: 'PUT', url: /contents\/page\.html/ }, { alter });
    const played = await put(repository, 'page.html\ndist/', files('after'));
    expectFailed(
      played,
      { commitSha: null, proven: false },
      /nothing was put back: another commit changed since: page\.html/,
    );
    expect(String(await repository.read('page.html'))).toBe(String(bytes));
    expect(played.reports[1]?.ready).toBe(true);
  });

  test('a file in the place of a folder that would be put back', async () => {
    const repository = await play.repository();
    const old = { 'one/index.html': BEFORE, 'one/old/page.html': BEFORE, 'two/index.html': BEFORE };
    await put(repository, 'one/\ntwo/', old);
    hide(repository, 'one/', AFTER);
    const alter = once(() => repository.commit('one/old', 'of a person'));
    play.intercept({ method: 'PATCH', url: /\/git\/refs/ }, { alter });
    const played = await put(repository, 'one/\ntwo/', { 'one/index.html': AFTER, 'two/index.html': AFTER });
    expectFailed(played, { commitSha: null }, /another commit changed since: one\/old\/page\.html/);
    expect(String(await repository.read('one/old'))).toBe('of a person');
  });
});
