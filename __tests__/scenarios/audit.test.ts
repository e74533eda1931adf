import { describe, expect, test } from '@jest/globals';
import type { Report } from '../../src/delivery/report.ts';
import { computeBlobSha } from '../world/git/git-store.ts';
import type { TestRepository } from '../world/repository.ts';
import type { InterceptedReply } from '../world/server/interceptions.ts';
import { addCommits, addFiles, replaceBranch } from './branch-of-others.ts';
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

const put = (repository: TestRepository, files: PlayedDelivery['files'] & object, inputs: object) =>
  proven(play.deliver({ repository, files, inputs: { channel: 'K1', nojekyll: 'true', ...inputs } }));
const deliver = (repository: TestRepository, path: string, text = createPage(path)) =>
  put(repository, { 'page.html': text }, { path, nojekyll: 'false' });
const SITE = { 'dist/index.html': createPage('site'), 'dist/app.js': 'first\n', 'dist/a/b.css': 'p {}\n' };
const deliverSite = (repository: TestRepository, path: string, files = SITE as Record<string, string>) =>
  put(repository, files, { file: 'dist/', path });
/** A repository with one page delivered to it, or a site. */
async function repositoryWith(path: string): Promise<TestRepository> {
  const repository = await play.repository();
  await (path.endsWith('/') ? deliverSite : deliver)(repository, path);
  return repository;
}

const withdraw = (repository: TestRepository, path: string): Promise<Played> =>
  play.deliver({ repository, inputs: { channel: 'K1', path, operation: 'withdraw' } });
const audit = (repository: TestRepository, inputs: object = {}): Promise<Played> =>
  play.deliver({ repository, inputs: { operation: 'audit', ...inputs } });

/** The verdict of each delivery by its path. */
const verdicts = ({ reports }: Pick<Played, 'reports'>): Record<string, unknown> =>
  Object.fromEntries(reports.map((report) => [report.file?.path, report.verdict]));
const reportOn = ({ reports }: Played, path: string): Report => {
  const found = reports.find(({ file }) => file?.path === path);
  if (found === undefined) throw new Error(`There is no report on ${path}`);
  return found;
};

test("an audit compares files and folders with the branch's bytes, and writes nothing", async () => {
  const repository = await repositoryWith('one.html');
  await deliverSite(repository, 'docs/');
  await repository.commit('docs/kept.txt', 'of a person');
  const played = await audit(repository, { channel: 'K1' });
  expect(verdicts(played)).toEqual({ 'one.html': 'as-delivered', 'docs/': 'as-delivered' });
  expect(reportOn(played, 'docs/')).toMatchObject({
    ready: true,
    url: `${repository.pages.url}docs/`,
    lines: { TEST: expect.stringContaining('files identical: 3 of 3') },
    unknown: [],
  });
  expect(writesOf(played)).toEqual([]);
});

const DEFACED = { status: 200, body: 'defaced' };
const LOST = { status: 404 };
const LOGIN = { status: 302, headers: { location: 'https://octo.github.io/login?next=1' } };
/** A delivered file is missing or changed, for everybody or only without `?v=`. */
test.each<[string, string, string, 'all' | 'browsers', InterceptedReply, RegExp]>([
  ['an altered page', 'one.html', 'one.html', 'all', DEFACED, /with other content.* → deliver it again/],
  ['a page that is gone', 'one.html', 'one.html', 'all', LOST, /HTTP 404.*Settings → Pages/],
  ['a page behind a wall', 'one.html', 'one.html', 'all', LOGIN, /login page/],
  ['a page that only browsers get altered', 'one.html', 'one.html', 'browsers', DEFACED, /without \?v=/],
  ['a file of a folder', 'docs/', 'docs/app.js', 'all', LOST, /: 1 of 3 .*: app\.js \(HTTP 404\) → /],
  ['a cached file', 'docs/', 'docs/app.js', 'browsers', DEFACED, /without \?v=: app\.js \(HTTP 200 /],
])('%s is lost: the step fails and names the file and the answer', async (_, path, at, whom, reply, says) => {
  const repository = await repositoryWith(path);
  await deliver(repository, 'two.html');
  if (whom === 'all') play.alterSite(repository, at, reply);
  else play.intercept({ url: (address) => address === repository.pages.url + at, times: 99 }, reply);
  const played = await audit(repository, { timeout: '20' });
  expect(verdicts(played)).toEqual({ [path]: 'lost', 'two.html': 'as-delivered' });
  const report = reportOn(played, path);
  await refused(Promise.resolve({ ...played, report, log: '' }), says);
  expect(['NOT_PROVEN', 'NOT_EXTERNAL']).toContain(report.notReady?.code);
});

test('one wrong answer does not count as lost', async () => {
  const repository = await repositoryWith('one.html');
  play.intercept({ url: /\/one\.html/ }, { status: 503 });
  expect(verdicts(await audit(repository))).toEqual({ 'one.html': 'as-delivered' });
});

/** Commits this many pages, which the site does not show. */
async function repositoryThatLost(count: number): Promise<TestRepository> {
  const repository = await play.repository();
  const names = Array.from({ length: count }, (_, nth) => `p/${nth}.html`);
  await put(repository, Object.fromEntries(names.map((name) => [name, createPage(name)])), { file: 'p/*' });
  for (const name of names) play.alterSite(repository, name.slice(2), { status: 404 });
  return repository;
}

test('an audit takes no longer if much is lost, and sends no request after its timeout', async () => {
  const repository = await repositoryThatLost(40);
  const played = await audit(repository, { timeout: '60' });
  expect(Object.values(verdicts(played))).toEqual(Array(40).fill('lost'));
  expect(played.took).toBeGreaterThan(55_000);
  expect(played.took).toBeLessThan(65_000);
});

test('a page that returns while others are checked counts as unchanged', async () => {
  const repository = await repositoryThatLost(30);
  const late = await deliver(repository, 'late.html');
  play.intercept({ url: /late\.html/, times: 2 }, { status: 503 });
  expect(verdicts(await audit(late.repository, { timeout: '60' }))['late.html']).toBe('as-delivered');
});

describe("a person's change on the branch is named", () => {
  const WELL = { 'one.html': 'as-delivered', 'docs/': 'as-delivered' };
  const repositoryWithBoth = async (): Promise<TestRepository> => {
    const repository = await repositoryWith('one.html');
    await deliverSite(repository, 'docs/');
    return repository;
  };

  test.each([
    ['a page', 'one.html', 'one.html', /nothing was fetched/],
    ['a file of a folder', 'docs/', 'docs/app.js', /files identical: 2 of 3/],
    ['the page of a folder', 'docs/', 'docs/index.html', /files identical: 2 of 3/],
  ])(
    '%s with other bytes is reported as changed, and does not fail the audit',
    async (_, place, path, tested) => {
      const repository = await repositoryWithBoth();
      const sha = await repository.commit(path, 'of a person', 'Fix it by hand');
      const played = await audit(repository);
      expect(verdicts(played)).toEqual({ ...WELL, [place]: 'changed' });
      const by = `changed since it was delivered, by commit ${sha.slice(0, 7)} (Fix it by hand): ${path}`;
      expect(reportOn(played, place)).toMatchObject({
        ready: true,
        url: null,
        notes: [by],
        lines: { TEST: expect.stringMatching(tested) },
      });
    },
  );

  test('the unchanged files of a changed folder must still match', async () => {
    const repository = await repositoryWithBoth();
    await repository.commit('docs/index.html', 'of a person');
    play.alterSite(repository, 'docs/app.js', { status: 404 });
    expect(verdicts(await audit(repository, { timeout: '20' }))).toEqual({ ...WELL, 'docs/': 'lost' });
  });

  test.each([
    ['a page', 'one.html', 'one.html'],
    ['a style sheet of a folder', 'docs/', 'docs/a/b.css'],
    ['the page of a folder', 'docs/', 'docs/index.html'],
  ])('%s that was deleted is reported as lost, with the commit', async (_, place, path) => {
    const repository = await repositoryWithBoth();
    const sha = await repository.commit(path, null, 'Tidy up');
    const played = await audit(repository);
    expect(verdicts(played)).toEqual({ ...WELL, [place]: 'lost' });
    const { notReady, url } = reportOn(played, place);
    expect(url).toBeNull();
    expect(notReady?.reason).toContain(`${path} any more (removed by commit ${sha.slice(0, 7)} (Tidy up))`);
  });

  test('a single file that was withdrawn from a folder is not lost', async () => {
    const repository = await repositoryWithBoth();
    const one = { channel: 'K1', path: 'docs/app.js', operation: 'withdraw', overwrite: 'true' };
    await proven(play.deliver({ repository, inputs: one }));
    const played = await audit(repository);
    expect(verdicts(played)).toEqual(WELL);
    expect(reportOn(played, 'docs/').unknown).toEqual(['whether the withdrawn files of docs/ are gone']);
    await repository.commit('docs/a/b.css', null);
    for (const path of ['docs/index.html', 'docs/index.html']) {
      expect(verdicts(await audit(repository))).toEqual({ ...WELL, 'docs/': 'lost' });
      await proven(play.deliver({ repository, inputs: { ...one, path } }));
    }
    expect(verdicts(await audit(repository))).toEqual({ ...WELL, 'docs/': 'lost' });
  });

  test.each(['docs/', './'])('a part that was withdrawn from %s is not lost', async (path) => {
    const repository = await repositoryWith(path);
    const part = `${path.replace('./', '')}a/`;
    await repository.commit(`${part}b.css`, 'of a person');
    const inputs = { channel: 'K1', path: part, operation: 'withdraw', overwrite: 'true' };
    await proven(play.deliver({ repository, inputs }));
    expect(verdicts(await audit(repository))).toEqual({ [path]: 'as-delivered', [part]: 'withdrawn' });
  });

  test('all is lost if another deployer commits a tree without our files', async () => {
    const repository = await repositoryWithBoth();
    await deliverSite(repository, 'old/');
    await withdraw(repository, 'old/');
    replaceBranch(repository, { isOrphan: false });
    const played = await audit(repository);
    expect(verdicts(played)).toEqual({ 'one.html': 'lost', 'docs/': 'lost', 'old/': 'withdrawn' });
    await refused(
      Promise.resolve(played),
      /^verify: the branch main does not have .* \(removed by commit \w{7} \(Deploy\)\) → deliver it again/,
    );
  });

  test('even if its message is copied from ours', async () => {
    const repository = await repositoryWith('one.html');
    const [{ message } = { message: '' }] = await repository.log();
    await repository.commit('one.html', 'of a person', message);
    expect(verdicts(await audit(repository))).toEqual({ 'one.html': 'changed' });
  });
});

describe('a withdrawn delivery', () => {
  test('must answer 404, for a file and a folder, unless it was delivered again', async () => {
    const repository = await repositoryWith('one.html');
    await deliver(repository, 'two.html');
    await deliverSite(repository, 'docs/');
    for (const path of ['one.html', 'two.html', 'docs/']) {
      await proven(withdraw(repository, path));
    }
    await deliver(repository, 'two.html', createPage('again'));
    const played = await audit(repository);
    expect(verdicts(played)).toEqual({
      'one.html': 'withdrawn',
      'two.html': 'as-delivered',
      'docs/': 'withdrawn',
    });
    expect(reportOn(played, 'docs/').url).toBeNull();
  });

  test.each<[string, string, string[]]>([
    ['a file', 'one.html', ['one.html']],
    ['the page of a folder', 'docs/', ['docs/index.html']],
    ['a folder', 'docs/', ['docs/a/b.css', 'docs/app.js', 'docs/index.html']],
  ])('that somebody put back is reported as changed, with the commit: %s', async (_, place, paths) => {
    const repository = await repositoryWith(place);
    await repository.commit('docs/theirs.txt', 'of a person');
    const earlier = paths.map((path) => [path, `${repository.read(path)}`] as const);
    await proven(withdraw(repository, place));
    for (const [path, text] of earlier) await repository.commit(path, text, 'Revert "REMOVE"');
    const played = await audit(repository);
    expect(verdicts(played)).toEqual({ [place]: 'changed' });
    expect(reportOn(played, place).notes).toEqual([
      expect.stringMatching(/^put back since this tool removed it, by commit \w{7} \(Revert "REMOVE"\): /),
    ]);
    const sha = await repository.commit(paths[0] ?? '', 'of a person', 'Fix it by hand');
    const again = await audit(repository);
    expect(verdicts(again)).toEqual({ [place]: 'changed' });
    const by = `changed since it was delivered, by commit ${sha.slice(0, 7)} (Fix it by hand): ${paths[0]}`;
    expect(reportOn(again, place).notes).toEqual([expect.stringContaining(by)]);
  });

  test('is not lost if the folder around it was withdrawn too', async () => {
    const repository = await repositoryWith('p/one.html');
    await deliverSite(repository, 'p/site/');
    await proven(withdraw(repository, 'p/'));
    const gone = { 'p/': 'withdrawn', 'p/one.html': 'withdrawn', 'p/site/': 'withdrawn' };
    expect(verdicts(await audit(repository))).toEqual(gone);
  });

  test('that is still served fails the audit and is named', async () => {
    const repository = await repositoryWith('docs/');
    await withdraw(repository, 'docs/');
    play.alterSite(repository, 'docs/app.js', { status: 200, body: 'first' });
    const played = await audit(repository, { timeout: '20' });
    expect(verdicts(played)).toEqual({ 'docs/': 'lost' });
    expect(played.report.notReady?.reason).toMatch(/still served: docs\/app\.js \(HTTP 200/);
  });

  /** Delivers the site, one page of it, or withdraws, as one of several workflows. */
  const workflowsOn =
    (repository: TestRepository) =>
    (path: string, by: string, inputs: object = {}): Promise<Played> =>
      proven(
        play.deliver({
          ...{ repository, files: SITE },
          inputs: { channel: 'K1', path, file: path.endsWith('/') ? 'dist/' : 'dist/index.html', ...inputs },
          around: { deliverer: { name: `octo/site/.github/workflows/${by}.yml`, run: '1/1' } },
        }),
      );
  const all = { operation: 'withdraw', file: '' };

  test('is not lost from an earlier delivery, whoever withdraws the folder around it', async () => {
    const repository = await play.repository();
    const go = workflowsOn(repository);
    for (const path of ['p/site/', 'p/gone/', 'p/gone.html']) await go(path, 'a');
    for (const path of ['p/site/b.html', 'p/b/']) await go(path, 'b');
    const paths = ['site/app.js', 'gone/index.html', 'gone/app.js', 'gone/a/b.css', 'gone.html'];
    for (const path of paths) await repository.commit(`p/${path}`, null, 'A person deletes it');
    const lost = { 'p/gone/': 'lost', 'p/gone.html': 'lost' };
    await go('p/', 'b', all);
    expect(verdicts(await audit(repository))).toEqual({
      ...{ ...lost, 'p/': 'withdrawn', 'p/b/': 'withdrawn' },
      ...{ 'p/site/': 'lost', 'p/site/b.html': 'withdrawn' },
    });
    await go('p/', 'a', all);
    expect(verdicts(await audit(repository))).toMatchObject({ ...lost, 'p/site/': 'withdrawn' });
    for (const path of Object.keys(lost)) await go(path, 'a');
    await go('p/', 'b', { ...all, overwrite: 'true' });
    expect(Object.values(verdicts(await audit(repository)))).not.toContain('lost');
  });

  test('does not make the files that it left lost, however many withdrawals follow', async () => {
    const repository = await repositoryWith('p/');
    const inputs = { channel: 'K1', path: 'p/', file: 'dist/\n!dist/a/**', operation: 'withdraw' };
    await proven(play.deliver({ repository, files: SITE, inputs }));
    expect(verdicts(await audit(repository))).toEqual({ 'p/': 'as-delivered' });
    const earlier = await repositoryWith('p/');
    await earlier.commit('p/a/b.css', null, 'A person deletes it');
    const left = { ...inputs, file: `${inputs.file}\n!dist/app.js` };
    await proven(play.deliver({ repository: earlier, files: SITE, inputs: left }));
    expect(verdicts(await audit(earlier))).toEqual({ 'p/': 'lost' });
    await repository.commit('p/a/b.css', null, 'A person deletes it');
    for (let nth = 0; nth < 13; nth += 1) {
      await deliverSite(repository, `later/${nth}/`, { 'dist/index.html': createPage(`${nth}`) });
      await withdraw(repository, `later/${nth}/`);
    }
    expect(verdicts(await audit(repository))['p/']).toBe('lost');
  });

  test('is not lost, however many files of others it left, and whatever happens to them', async () => {
    const repository = await repositoryWith('p/');
    const names = Array.from({ length: 501 }, (_, nth) => `p/${nth}.txt`);
    addFiles(repository, names);
    await repository.commit('p/app.js', 'of a person');
    await repository.site?.whenBuilt();
    await proven(withdraw(repository, 'p/'));
    expect(verdicts(await audit(repository))).toEqual({ 'p/': 'withdrawn' });
    await repository.commit('p/app.js', null, 'A person deletes it');
    expect(verdicts(await audit(repository))).toEqual({ 'p/': 'withdrawn' });
  });

  test("does not include another workflow's files below it, nor left-out files", async () => {
    const repository = await play.repository();
    const go = workflowsOn(repository);
    await go('p/', 'a');
    await go('p/q/', 'b');
    await go('p/one.html', 'b');
    const taken = await go('p/', 'a', { file: 'dist/\n!dist/a/**', operation: 'withdraw' });
    expect(taken.report.unknown.join()).not.toContain('what stays');
    expect(taken.report.notes).toContain('still there, because somebody else delivered it: p/q/, p/one.html');
    const left = await audit(repository);
    expect(verdicts(left)).toEqual({
      'p/': 'as-delivered',
      'p/q/': 'as-delivered',
      'p/one.html': 'as-delivered',
    });
    expect(reportOn(left, 'p/').unknown).toEqual(['whether the withdrawn files of p/ are gone']);
    await repository.commit('p/index.html', String(SITE['dist/index.html']), 'A person puts it back');
    await go('p/', 'a', all);
    expect(await repository.read('p/a/b.css')).toBeNull();
    expect(await repository.read('p/index.html')).not.toBeNull();
    await repository.commit('p/index.html', null);
    for (const path of ['p/q/index.html', 'p/one.html'])
      await repository.commit(path, null, 'A person deletes it');
    await repository.site?.whenBuilt();
    expect(verdicts(await audit(repository))).toEqual({
      'p/': 'withdrawn',
      'p/q/': 'lost',
      'p/one.html': 'lost',
    });
  });
});

describe('a site', () => {
  test('that was switched off has lost everything, and is checked only briefly', async () => {
    const repository = await repositoryWith('one.html');
    repository.site = null;
    const played = await audit(repository);
    expect(verdicts(played)).toEqual({ 'one.html': 'lost' });
    await refused(Promise.resolve(played), / 404: .* → .*on again/);
    expect(played.took).toBeLessThan(20_000);
  });

  test('whose branch has the same history under another name is unchanged', async () => {
    const repository = await repositoryWith('one.html');
    const { git } = repository;
    await git.updateRef('refs/heads/trunk', (await repository.head()) ?? '', null);
    Object.defineProperty(repository.pages, 'branch', { value: 'trunk' });
    expect(verdicts(await audit(repository))).toEqual({ 'one.html': 'as-delivered' });
  });

  test('with another branch, or a history without our commits, is not reported as verified', async () => {
    const repository = await repositoryWith('one.html');
    await repository.commit('index.html', 'other', 'Begin', 'trunk');
    replaceBranch(repository, { isOrphan: true });
    const { report } = await refused(audit(repository), /^check: no delivery of this tool/);
    expect([report.notReady?.code, report.verdict]).toEqual(['NOT_FOUND', undefined]);
    expect(report.lines.UNKNOWN).toContain('may have been rewritten');
  });
});

describe('nested deliveries', () => {
  test('are each compared with their own files', async () => {
    const repository = await play.repository();
    await deliverSite(repository, './', { 'dist/index.html': createPage('root'), 'dist/old/x.txt': 'x\n' });
    await deliverSite(repository, 'docs/');
    await deliver(repository, 'docs/more.html');
    await deliverSite(repository, 'docs/', { ...SITE, 'dist/app.js': 'second\n' });
    const played = await audit(repository);
    expect(verdicts(played)).toEqual({
      './': 'as-delivered',
      'docs/': 'as-delivered',
      'docs/more.html': 'as-delivered',
    });
    expect(played.reports.flatMap(({ notes }) => notes)).toEqual([]);
    expect(verdicts(await audit(repository, { path: 'docs' }))).toEqual({
      'docs/': 'as-delivered',
      'docs/more.html': 'as-delivered',
    });
  });

  test('an old preview that `keep` removed counts as withdrawn', async () => {
    const repository = await play.repository();
    for (const nth of [1, 2]) {
      await put(repository, SITE, { file: 'dist/', path: `previews/pr-${nth}/`, keep: '1' });
    }
    expect(verdicts(await audit(repository))).toEqual({
      'previews/pr-1/': 'withdrawn',
      'previews/pr-2/': 'as-delivered',
    });
  });
});

test('an old preview that `keep` removed and a restoration put back counts as delivered', async () => {
  const repository = await play.repository();
  await deliverSite(repository, 'previews/pr-1/');
  await deliverSite(repository, 'previews/pr-2/');
  const loss = play.alterSite(repository, 'previews/pr-2/new.js', { status: 404 });
  const { report } = await play.deliver({
    repository,
    files: { ...SITE, 'dist/new.js': 'new\n' },
    inputs: {
      ...{ channel: 'K1', file: 'dist/', path: 'previews/pr-2/', keep: '1', nojekyll: 'true' },
      ...{ 'on-failure': 'restore', timeout: '20' },
    },
  });
  expect(report).toMatchObject({ ready: false, restored: { proven: true } });
  loss.remove();
  expect(verdicts(await audit(repository))).toEqual({
    'previews/pr-1/': 'as-delivered',
    'previews/pr-2/': 'as-delivered',
  });
  await deliverSite(repository, 'previews/pr-1/', { 'dist/index.html': createPage('newer') });
});

test('assets of releases are compared with their digest; assets of others are ignored', async () => {
  const repository = await play.repository();
  // More assets than a list of releases shows.
  repository.addEarlierAssets('files', 40);
  await put(repository, { 'data.zip': 'PK one' }, { channel: 'K2', tag: 'files', nojekyll: 'false' });
  for (const path of ['', 'data.zip']) {
    const played = await audit(repository, { channel: 'K2', path });
    expect(verdicts(played)).toEqual({ 'files/data.zip': 'as-delivered' });
  }
  const none = audit(repository, { channel: 'K2', path: 'docs/' });
  await refused(none, /^check.*: .*in the releases as docs\/ of.* → .*folder or asset/);
  const other = { status: 200, body: 'PK two' };
  play.intercept({ url: /releases\/download\/files\/data\.zip/, times: 99 }, other);
  expect(verdicts(await audit(repository, { timeout: '20' }))).toEqual({ 'files/data.zip': 'lost' });
});

const INTERIM = 'incoming-0123456789ab-data.zip';
test.each([
  ['is lost if only a killed replacement has it', [INTERIM], 'lost'],
  ['is lost if somebody renamed it', ['other.zip'], 'lost'],
  ['is found beside the leftover of a killed replacement', ['data.zip', INTERIM], 'as-delivered'],
])('an asset, found by the name in its label, %s', async (_, names, verdict) => {
  const repository = await play.repository();
  await put(repository, { 'data.zip': 'PK one' }, { channel: 'K2', tag: 'files', nojekyll: 'false' });
  const [release] = repository.releases();
  const [asset] = release?.assets ?? [];
  for (const name of names.slice(1)) repository.releaseStore.attach(release as never, name, { ...asset });
  Object.assign(asset ?? {}, { name: names[0] });
  expect(verdicts(await audit(repository, { channel: 'K2' }))).toEqual({ 'files/data.zip': verdict });
});

describe('an audit has a line for what it could not read', () => {
  const withAsset = async (repository: TestRepository): Promise<TestRepository> => {
    await put(repository, { 'data.zip': 'PK one' }, { channel: 'K2', tag: 'files', nojekyll: 'false' });
    return repository;
  };
  const OF_RELEASES = /^whether somebody deleted or replaced assets of this tool/;

  test('in a history without deliveries', async () => {
    const repository = await withAsset(await repositoryWith('one.html'));
    replaceBranch(repository, { isOrphan: true });
    const played = await audit(repository);
    expect(verdicts(played)).toEqual({ 'files/data.zip': 'as-delivered' });
    expect(played.report.unknown).toEqual([
      expect.stringMatching(/^whether anything was delivered to \.\/ of the branch main: .* rewritten$/),
      expect.stringMatching(OF_RELEASES),
    ]);
  });

  test('before the oldest commit that is read', async () => {
    const repository = await withAsset(await repositoryWith('one.html'));
    play.alterSite(repository, 'one.html', { status: 404 });
    addCommits(repository, 1_300);
    const played = await audit(repository);
    expect(verdicts(played)).toEqual({ 'files/data.zip': 'as-delivered' });
    const older = /^deliveries before the newest 1200 commits on the branch main/;
    expect(played.report.unknown).toEqual([expect.stringMatching(older), expect.stringMatching(OF_RELEASES)]);
    const alone = await refused(
      audit(repository, { channel: 'K1' }),
      /^check: no delivery of this tool.*`path:`/,
    );
    expect(alone.report.unknown).toContainEqual(expect.stringMatching(older));
    // The history of the path itself is short.
    expect(verdicts(await audit(repository, { path: 'one.html', timeout: '5' }))).toEqual({
      'one.html': 'lost',
    });
  });

  test('in releases, if one of two assets was deleted by hand', async () => {
    const repository = await play.repository();
    const inputs = { channel: 'K2', tag: 'files', file: '*.zip', nojekyll: 'false' };
    await put(repository, { 'a.zip': 'PK a', 'b.zip': 'PK b' }, inputs);
    const [release] = repository.releases();
    const [asset] = release?.assets ?? [];
    if (!release || !asset) throw new Error('nothing was delivered');
    await repository.releaseStore.removeAsset(release, asset);
    const played = await audit(repository, { tag: 'files' });
    expect(verdicts(played)).toEqual({ 'files/b.zip': 'as-delivered' });
    expect(played.report.unknown).toEqual([expect.stringMatching(OF_RELEASES)]);
  });
});

test('a withdrawn folder is found with and without its last slash', async () => {
  const repository = await play.repository();
  await deliverSite(repository, 'pr-1/');
  await deliver(repository, 'other.html');
  await withdraw(repository, 'pr-1/');
  for (const path of ['pr-1', 'pr-1/']) {
    expect(verdicts(await audit(repository, { path }))).toEqual({ 'pr-1/': 'withdrawn' });
  }
});

test.each<[string, (repository: TestRepository) => Promise<unknown>]>([
  ['a file of somebody else', (repository) => repository.commit('d/theirs.txt', 'of a person')],
  ['a newer delivery', (repository) => deliver(repository, 'd/new.html')],
])(
  "a withdrawn folder's page that is still served fails the audit, if %s is in the folder",
  async (_, add) => {
    const repository = await play.repository();
    const [index, old] = [createPage('site'), createPage('old')];
    await deliverSite(repository, 'd/', { 'dist/index.html': index, 'dist/old.html': old });
    await withdraw(repository, 'd/');
    await add(repository);
    expect(verdicts(await audit(repository))).toMatchObject({ 'd/': 'withdrawn' });
    play.alterSite(repository, 'd/old.html', { status: 200, body: old });
    expect(verdicts(await audit(repository))).toMatchObject({ 'd/': 'lost' });
  },
);

test.each([
  ['a page', 'index.html'],
  ['a folder', 'd/'],
])('%s counts as withdrawn if a README now has its URL, unless its own bytes are served', async (_, path) => {
  const repository = await play.repository({
    files: { 'README.md': '# Theirs', 'd/README.md': '# Theirs', 'd/x.txt': 'x' },
  });
  const file = path === 'd/' ? 'dist/' : 'dist/index.html';
  await put(
    repository,
    { 'dist/index.html': createPage('site') },
    { file, path, overwrite: 'true', nojekyll: 'false' },
  );
  // A folder with others' files is not withdrawn twice.
  for (let run = path === 'd/' ? 1 : 0; run < 2; run += 1) {
    const { report } = await proven(withdraw(repository, path));
    expect(report.lines.TEST).toContain('nothing of it');
  }
  expect(verdicts(await audit(repository))).toEqual({ [path]: 'withdrawn' });
  play.intercept({ url: /github\.io/, times: 999 }, { status: 200, body: createPage('site') });
  expect(verdicts(await audit(repository))).toEqual({ [path]: 'lost' });
  expect((await withdraw(repository, path)).report.ready).toBe(false);
});

test('200 deliveries cost at most 30 API requests', async () => {
  const repository = await play.repository();
  await deliver(repository, 'previews/0.html');
  const [{ message } = { message: '' }] = await repository.log();
  const [, first = ''] = /Delivered-object: ([0-9a-f]{40})/.exec(message) ?? [];
  for (let nth = 1; nth < 200; nth += 1) {
    const text = createPage(`${nth}`);
    const named = message
      .replaceAll('0.html', `${nth}.html`)
      .replace(first, computeBlobSha(Buffer.from(text)));
    await repository.commit(`previews/${nth}.html`, text, named);
  }
  await repository.commit('previews/7.html', 'of a person');
  const played = await audit(repository, { path: 'previews/' });
  const counts = Object.groupBy(played.reports, ({ verdict }) => verdict ?? '');
  expect([counts['as-delivered']?.length, counts.changed?.length]).toEqual([199, 1]);
  expect(requestsOf(played, /https:\/\/api\.github\.com/).length).toBeLessThanOrEqual(30);
});
