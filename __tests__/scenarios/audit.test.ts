import { describe, expect, test } from '@jest/globals';
import type { Report } from '../../src/delivery/report.ts';
import { computeBlobSha } from '../world/git/git-store.ts';
import type { TestRepository } from '../world/repository.ts';
import type { InterceptedReply } from '../world/server/interceptions.ts';
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

/** The verdict of each delivery by its place. */
const verdicts = ({ reports }: Pick<Played, 'reports'>): Record<string, unknown> =>
  Object.fromEntries(reports.map((report) => [report.file?.path, report.verdict]));
const reportOn = ({ reports }: Played, path: string): Report => {
  const found = reports.find(({ file }) => file?.path === path);
  if (found === undefined) throw new Error(`There is no report on ${path}`);
  return found;
};

test('an audit proves files and folders by the bytes that the branch holds, and writes nothing', async () => {
  const repository = await repositoryWith('one.html');
  await deliverSite(repository, 'docs/');
  await repository.commit('docs/kept.txt', 'of a person');
  const played = await audit(repository);
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
const LOGIN = { status: 302, headers: { location: 'https://octo.github.io/login?next=1' } };
/** Something of what was delivered is not there, or not what it was; for everybody, or only without `?v=`. */
test.each<[string, string, string, 'all' | 'browsers', InterceptedReply, RegExp]>([
  ['an altered page', 'one.html', 'one.html', 'all', DEFACED, /with other content.* → something else/],
  ['a page that is gone', 'one.html', 'one.html', 'all', { status: 404 }, /HTTP 404.*Settings → Pages/],
  ['a page behind a wall', 'one.html', 'one.html', 'all', LOGIN, /login page/],
  ['a page that only browsers get otherwise', 'one.html', 'one.html', 'browsers', DEFACED, /without \?v=/],
  [
    'a file of a folder',
    'docs/',
    'docs/app.js',
    'all',
    { status: 404 },
    /: 1 of 2 .*: app\.js \(HTTP 404\) → /,
  ],
  ['a cached file', 'docs/', 'docs/app.js', 'browsers', DEFACED, /without \?v=: app\.js \(HTTP 200 /],
])('%s is lost: the step fails with the file and the answer', async (_, path, at, whom, reply, says) => {
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

test('one wrong answer is no loss', async () => {
  const repository = await repositoryWith('one.html');
  play.intercept({ url: /\/one\.html/ }, { status: 503 });
  expect(verdicts(await audit(repository))).toEqual({ 'one.html': 'as-delivered' });
});

/** So many pages in one commit, none of which the site shows. */
async function repositoryThatLost(count: number): Promise<TestRepository> {
  const repository = await play.repository();
  const names = Array.from({ length: count }, (_, nth) => `p/${nth}.html`);
  await put(repository, Object.fromEntries(names.map((name) => [name, createPage(name)])), { file: 'p/*' });
  for (const name of names) play.alterSite(repository, name.slice(2), { status: 404 });
  return repository;
}

test('an audit of much that is lost takes no longer than one of little, and asks nothing after its time', async () => {
  const repository = await repositoryThatLost(40);
  const played = await audit(repository, { timeout: '60' });
  expect(Object.values(verdicts(played))).toEqual(Array(40).fill('lost'));
  expect(played.took).toBeGreaterThan(55_000);
  expect(played.took).toBeLessThan(65_000);
});

test('what comes back while other deliveries are asked is as delivered', async () => {
  const repository = await repositoryThatLost(30);
  const late = await deliver(repository, 'late.html');
  play.intercept({ url: /late\.html/, times: 2 }, { status: 503 });
  expect(verdicts(await audit(late.repository, { timeout: '60' }))['late.html']).toBe('as-delivered');
});

describe('what somebody changed on the branch is named, and no failure', () => {
  test.each([
    ['replaced', 'one.html', '<p>of a person</p>', 'changed'],
    ['removed', 'one.html', null, 'changed'],
    ['changed in a folder', 'docs/app.js', 'of a person', 'as-delivered'],
    ['removed from a folder', 'docs/app.js', null, 'as-delivered'],
  ])('%s', async (_, path, bytes, ofPage) => {
    const repository = await repositoryWith('one.html');
    await deliverSite(repository, 'docs/');
    const sha = await repository.commit(path, bytes, 'Fix it by hand');
    const played = await audit(repository);
    expect(verdicts(played)).toEqual({ 'one.html': ofPage, 'docs/': 'as-delivered' });
    expect(played.reports.every(({ ready }) => ready)).toBe(true);
    const { notes } = reportOn(played, path.startsWith('docs/') ? 'docs/' : path);
    expect(notes).toEqual([
      `changed or removed since it was delivered, by commit ${sha.slice(0, 7)} (Fix it by hand): ${path}`,
    ]);
  });

  test('with a message copied from ours', async () => {
    const repository = await repositoryWith('one.html');
    const [{ message } = { message: '' }] = await repository.log();
    await repository.commit('one.html', 'of a person', message);
    expect(verdicts(await audit(repository))).toEqual({ 'one.html': 'changed' });
  });
});

describe('what was withdrawn', () => {
  test('answers 404, a file and a folder; what was delivered again counts', async () => {
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

  test('and is still served is a failure that names it', async () => {
    const repository = await repositoryWith('docs/');
    await withdraw(repository, 'docs/');
    play.alterSite(repository, 'docs/app.js', { status: 200, body: 'first' });
    const played = await audit(repository, { timeout: '20' });
    expect(verdicts(played)).toEqual({ 'docs/': 'lost' });
    expect(played.report.notReady?.reason).toMatch(/still open: docs\/app\.js \(HTTP 200/);
  });
});

describe('a site', () => {
  test('that was switched off has lost everything, and is asked only briefly', async () => {
    const repository = await repositoryWith('one.html');
    repository.site = null;
    const played = await audit(repository);
    expect(verdicts(played)).toEqual({ 'one.html': 'lost' });
    await refused(Promise.resolve(played), / 404: .* → .*switch it on again/);
    expect(played.took).toBeLessThan(20_000);
  });

  test('whose branch has the same history under another name is as delivered', async () => {
    const repository = await repositoryWith('one.html');
    const { git } = repository;
    await git.updateRef('refs/heads/trunk', (await repository.head()) ?? '', null);
    Object.defineProperty(repository.pages, 'branch', { value: 'trunk' });
    expect(verdicts(await audit(repository))).toEqual({ 'one.html': 'as-delivered' });
  });

  test('with another branch, or a history without our commits, is not called well', async () => {
    const repository = await repositoryWith('one.html');
    await repository.commit('index.html', 'other', 'Begin', 'trunk');
    const { git } = repository;
    const head = (await repository.head()) ?? '';
    const tree = await git.writeTree(head, []);
    const person = { name: 'A', email: 'a@example.org', date: new Date(0).toISOString() };
    const by = { author: person, committer: person };
    const squashed = await git.writeCommit({ tree, parents: [], message: 'Begin again', ...by });
    await git.updateRef('refs/heads/main', squashed, head);
    const { report } = await refused(audit(repository), /its history rewritten/);
    expect([report.notReady?.code, report.verdict]).toEqual(['NOT_FOUND', undefined]);
  });
});

describe('deliveries within each other', () => {
  test('are each judged by what is their own', async () => {
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
    expect(played.reports.flatMap(({ notes, unknown }) => [...notes, ...unknown])).toEqual([]);
    expect(verdicts(await audit(repository, { path: 'docs' }))).toEqual({
      'docs/': 'as-delivered',
      'docs/more.html': 'as-delivered',
    });
  });

  test('an old preview that `keep` removed is withdrawn', async () => {
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

test('assets of releases are compared with their digest; those of others are not looked at', async () => {
  const repository = await play.repository();
  // More than a list of releases names.
  repository.addEarlierAssets('files', 40);
  await put(repository, { 'data.zip': 'PK one' }, { channel: 'K2', tag: 'files', nojekyll: 'false' });
  for (const path of ['', 'data.zip']) {
    const played = await audit(repository, { channel: 'K2', path });
    expect(verdicts(played)).toEqual({ 'files/data.zip': 'as-delivered' });
  }
  const none = audit(repository, { channel: 'K2', path: 'docs/' });
  await refused(none, /^check.*: .*to the releases as docs\/ of.* → .*the name of an asset/);
  const other = { status: 200, body: 'PK two' };
  play.intercept({ url: /releases\/download\/files\/data\.zip/, times: 99 }, other);
  expect(verdicts(await audit(repository, { timeout: '20' }))).toEqual({ 'files/data.zip': 'lost' });
});

test.each([
  ['is lost where only a killed replacement has it', ['incoming-0123456789ab-data.zip'], 'lost'],
  ['is lost where somebody renamed it', ['other.zip'], 'lost'],
  [
    'is one beside what a killed replacement left',
    ['data.zip', 'incoming-0123456789ab-data.zip'],
    'as-delivered',
  ],
])('an asset %s, by the name in its label', async (_, names, verdict) => {
  const repository = await play.repository();
  await put(repository, { 'data.zip': 'PK one' }, { channel: 'K2', tag: 'files', nojekyll: 'false' });
  const [release] = repository.releases();
  const [asset] = release?.assets ?? [];
  for (const name of names.slice(1)) repository.releaseStore.attach(release as never, name, { ...asset });
  Object.assign(asset ?? {}, { name: names[0] });
  expect(verdicts(await audit(repository, { channel: 'K2' }))).toEqual({ 'files/data.zip': verdict });
});

test('a folder that was withdrawn is found in both spellings', async () => {
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
])('a page of a withdrawn folder that is still served is lost, where %s is in the folder', async (_, add) => {
  const repository = await play.repository();
  const [index, old] = [createPage('site'), createPage('old')];
  await deliverSite(repository, 'd/', { 'dist/index.html': index, 'dist/old.html': old });
  await withdraw(repository, 'd/');
  await add(repository);
  expect(verdicts(await audit(repository))).toMatchObject({ 'd/': 'withdrawn' });
  play.alterSite(repository, 'd/old.html', { status: 200, body: old });
  expect(verdicts(await audit(repository))).toMatchObject({ 'd/': 'lost' });
});

test.each([
  ['a page', 'index.html'],
  ['a folder', 'd/'],
])('%s whose address a README has now is withdrawn, unless its own bytes are served', async (_, path) => {
  const repository = await play.repository({
    files: { 'README.md': '# Theirs', 'd/README.md': '# Theirs', 'd/x.txt': 'x' },
  });
  const file = path === 'd/' ? 'dist/' : 'dist/index.html';
  await put(repository, { 'dist/index.html': createPage('site') }, { file, path, nojekyll: 'false' });
  // A folder is not withdrawn twice where others have files in it.
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
