import { describe, expect, test } from '@jest/globals';
import type { Report } from '../../src/delivery/report.ts';
import { createWorldClient } from '../world/client.ts';
import type { TestRepository } from '../world/repository.ts';
import { type Played, proven, refused, requestsOf, setUpPlay, writesOf } from './play.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();
const BODY = 'Files for download.\n\nDelivered-by: screen-delivery';
const MODES = [
  ['mutable', false],
  ['immutable', true],
] as const;
const THREE = { 'a.zip': 'PK a', 'b.zip': 'PK b', 'c.zip': 'PK c' };

async function createRepository(isImmutable: boolean): Promise<TestRepository> {
  const repository = await play.repository({ pages: false });
  repository.immutableReleases(isImmutable);
  return repository;
}

/** Delivers files together, by default for the tag v1; `null` means the daily tag. */
const deliver = (
  repository: TestRepository,
  files: Readonly<Record<string, string>>,
  inputs: Readonly<Record<string, string>> = { tag: 'v1' },
): Promise<Played> => {
  const file = Object.keys(files).join('\n');
  return play.deliver({ repository, files, inputs: { channel: 'K2', file, ...inputs } });
};

/** The public releases: each tag with its assets. */
const published = (repository: TestRepository): [string, string[]][] =>
  repository
    .releases()
    .filter(({ draft }) => !draft)
    .map(({ tag, assets }): [string, string[]] => [tag, assets.map(({ name }) => name).sort()])
    .sort();
const drafts = (repository: TestRepository) => repository.releases().filter(({ draft }) => draft);
const failures = ({ reports }: Played) => reports.map(({ notReady }) => notReady?.reason ?? null);
/** Delivers files, all of which must be ready. */
async function deliverAll(...given: Parameters<typeof deliver>): Promise<Played> {
  const played = await deliver(...given);
  expect(failures(played)).toEqual(Object.keys(given[1]).map(() => null));
  return played;
}

/** Calls the API as somebody else; `route` is below the repository. */
async function callApi(repository: TestRepository, route: string, body: object = {}): Promise<void> {
  const [method, path] = route.split(' ');
  const send = createWorldClient(play.world);
  const { status } = await send(`${method} /repos/${repository.fullName}${path}`, body);
  expect(status).toBeLessThan(300);
}

/** Kills a delivery after the host handled request `at` (from 0), and before the answer arrives. */
async function killAt(at: number, work: () => Promise<unknown>): Promise<void> {
  const done = Promise.withResolvers<void>();
  const alter = (): Promise<never> => {
    done.resolve();
    return new Promise(() => undefined);
  };
  const killed = play.intercept({ url: /./, skip: at }, { alter });
  const rest = play.intercept({ url: /./, skip: at + 1, times: 99 }, { fault: 'hang' });
  void work();
  await done.promise;
  killed.remove();
  rest.remove();
}

describe.each(MODES)('a release in %s mode', (_, isImmutable) => {
  test('is published only with all files of the step, and a rerun with the same files writes nothing', async () => {
    const repository = await createRepository(isImmutable);
    const states: boolean[] = [];
    play.meanwhile({ url: /uploads\.github\.com/, times: 3 }, () =>
      states.push(...repository.releases().map(({ draft }) => draft)),
    );
    await deliverAll(repository, THREE);
    expect(states).toEqual([true, true, true]);
    expect(published(repository)).toEqual([['v1', Object.keys(THREE)]]);
    expect(repository.releases()).toMatchObject([{ body: BODY, immutable: isImmutable }]);
    expect(writesOf(await deliverAll(repository, THREE))).toEqual([]);
  });

  test('has every file once and leaves no draft if 16 jobs create it at once', async () => {
    const repository = await createRepository(isImmutable);
    const names = Array.from({ length: 16 }, (__, at) => `build-${at + 1}.zip`);
    await Promise.all(names.map((name) => deliverAll(repository, { [name]: `PK ${name}` }, {})));
    expect(drafts(repository)).toEqual([]);
    const releases = published(repository);
    expect(releases.flatMap(([, all]) => all).sort()).toEqual([...names].sort());
    if (!isImmutable) expect(releases).toHaveLength(1);
  });

  test('is never half public after a kill at any request, and the next run completes it', async () => {
    const { requests } = await deliver(await createRepository(isImmutable), THREE);
    expect(requests.length).toBeGreaterThan(8);
    for (const at of requests.keys()) {
      const repository = await createRepository(isImmutable);
      await killAt(at, () => deliver(repository, THREE));
      const left = published(repository).filter(([, all]) => all.length < 3);
      expect([at, left]).toEqual([at, []]);
      await deliverAll(repository, THREE);
      expect(published(repository)).toEqual([['v1', Object.keys(THREE)]]);
      // The draft of the killed run is still too young.
      expect(drafts(repository).length).toBeLessThan(2);
    }
  });

  test.each<[string, Readonly<Record<string, string>>, string, RegExp]>([
    ['is empty', { 'b.zip': '' }, 'b.zip', /the file b\.zip is empty/],
    ['is missing', {}, 'b.zip', /the file b\.zip does not exist/],
    ['collides after its name was rewritten', { 'á.zip': 'PK' }, 'á.zip', /would both go to .*a\.zip/],
  ])('is not created if one file %s, and every file reports why', async (__, bad, name, reason) => {
    const repository = await createRepository(isImmutable);
    for (const dryRun of ['true', 'false']) {
      const inputs = { tag: 'v1', file: `a.zip\n${name}\nc.zip`, 'dry-run': dryRun };
      const delivered = await deliver(repository, { 'a.zip': 'PK a', 'c.zip': 'PK c', ...bad }, inputs);
      for (const why of failures(delivered)) expect(why).toMatch(reason);
      expect(failures(delivered)[0]).toMatch(/^the release was not published, because /);
      expect(writesOf(delivered)).toEqual([]);
    }
    expect(repository.releases()).toEqual([]);
  });
});

describe('a named tag', () => {
  const COMMIT = /; release (\S+) at commit ([0-9a-f]{40}), asset a\.zip;/;
  const A = { 'a.zip': 'PK a' };
  const read = ({ git }: TestRepository, tag: string) => git.readRef(`refs/tags/${tag}`);
  /** Delivers in a run about a commit. */
  const deliverAt = (repository: TestRepository, commit: string | undefined, inputs = {}) =>
    play.deliver({
      repository,
      files: A,
      inputs: { tag: 'v1.0.0', ...inputs },
      around: { sourceRepositories: [repository.fullName], commit },
    });
  const commitTwice = async (repository: TestRepository): Promise<string> => {
    const before = (await repository.head()) ?? '';
    await repository.commit('later.txt', 'later', 'Go on');
    return before;
  };

  test('makes an ordinary release; only the daily release is never the latest', async () => {
    const repository = await createRepository(false);
    const latest = () => repository.releaseStore.findLatest()?.tag;
    for (const [tag, isLatest] of [
      ['', undefined],
      ['v1.0.0', 'v1.0.0'],
      ['v1.1.0-rc.1', 'v1.0.0'],
      ['v1.1.0', 'v1.1.0'],
      ['v1.0.1', 'v1.1.0'],
    ] as const) {
      await deliverAll(repository, A, { tag });
      expect([tag, latest()]).toEqual([tag, isLatest]);
    }
    const prereleases = repository.releases().filter(({ prerelease }) => prerelease);
    expect(prereleases.map(({ tag }) => tag)).toEqual(['v1.1.0-rc.1']);
  });

  test("is created at the run's commit, and stays there", async () => {
    const repository = await createRepository(false);
    const commit = await commitTwice(repository);
    const planned = await deliverAt(repository, commit, { 'dry-run': 'true' });
    expect(planned.report.lines.CODE).toContain(`the tag would be made at commit ${commit}`);
    for (const given of [commit, await repository.head()]) {
      const { report } = await proven(deliverAt(repository, given ?? '', { overwrite: 'true' }));
      expect(COMMIT.exec(report.lines.CODE)?.slice(1)).toEqual(['v1.0.0', commit]);
      expect(read(repository, 'v1.0.0')).toBe(commit);
    }
    repository.git.updateRef('refs/tags/v2.0.0', commit, null);
    const { report, sightings } = await proven(
      deliverAt(repository, (await repository.head()) ?? '', { tag: 'v2.0.0' }),
    );
    expect(COMMIT.exec(report.lines.CODE)?.slice(1)).toEqual(['v2.0.0', commit]);
    expect(sightings('target_commitish')).toEqual([]);
  });

  test.each([
    ['without a run', undefined, {}],
    ['from another repository', 'f'.repeat(40), { sourceRepositories: ['octo/other'] }],
  ])('%s is made at the head of the default branch', async (_, commit, around) => {
    const repository = await createRepository(false);
    await commitTwice(repository);
    const inputs = { tag: 'v1.0.0' };
    const delivery = { repository, files: A, inputs, around: { commit, ...around } };
    const { report, log } = await proven(play.deliver(delivery));
    expect(log).toContain('the tag v1.0.0 is new, at the head of the default branch');
    expect(COMMIT.exec(report.lines.CODE)?.[2]).toBe(await repository.head());
  });

  test('at a commit with changed workflows is created at the head, or must be pushed first', async () => {
    const repository = await createRepository(false);
    const commit = await commitTwice(repository);
    const denied = { status: 403, body: '{"message":"Resource not accessible by integration"}' };
    const refuse = () => play.intercept({ method: 'PATCH', url: /\/releases\/\d+$/ }, denied);
    refuse();
    const says = /^place 403: .*not accessible by integration.* → .*push the tag v1\.0\.0 yourself first/;
    await refused(deliverAt(repository, commit), says);
    expect(repository.releases()).toEqual([]);
    refuse();
    const head = (await repository.head()) ?? '';
    const { report } = await proven(deliverAt(repository, head));
    expect(COMMIT.exec(report.lines.CODE)?.[2]).toBe(head);
  });

  test('that a ruleset for tags forbids is not redirected to another branch', async () => {
    const repository = await createRepository(false);
    const message =
      'pre_receive Repository rule violations found\n\nCannot create ref due to creations being restricted.\n\n';
    const errors = [{ resource: 'Release', code: 'custom', field: 'pre_receive', message }];
    const body = JSON.stringify({ message: 'Validation Failed', errors });
    play.intercept({ method: 'PATCH', url: /\/releases\/\d+$/ }, { status: 422, body });
    const says = /^place 422: .*being restricted.* → a ruleset forbids this tag .*`tag:`/;
    const { report } = await refused(deliverAt(repository, undefined), says);
    expect(report.notReady?.hint).not.toMatch(/branch|Pages/);
    expect(repository.releases()).toEqual([]);
  });

  test('with a message leads to its commit, and an unreadable tag is unknown', async () => {
    const repository = await createRepository(false);
    await deliverAt(repository, undefined);
    const object = { type: 'tag', sha: 'a'.repeat(40) };
    const body = JSON.stringify({ ref: 'refs/tags/v1.0.0', object });
    play.intercept({ url: /\/git\/ref\/tags/ }, { status: 200, body });
    const { report } = await proven(deliverAt(repository, undefined));
    expect(COMMIT.exec(report.lines.CODE)?.[2]).toBe(await repository.head());
    play.intercept({ url: /\/git\/ref\/tags/ }, { status: 403, body: '{"message":"No"}' });
    const unread = await proven(deliverAt(repository, undefined));
    expect(unread.report.lines.UNKNOWN).toContain('which commit the tag v1.0.0 is at');
  });
});

describe('with immutable releases,', () => {
  const TODAY = 'files-20260102';

  test('the second file of a day goes to a numbered tag, and the report says how to check it', async () => {
    const repository = await createRepository(true);
    await deliver(repository, { 'a.zip': 'PK a' }, {});
    const { report } = await deliver(repository, { 'b.zip': 'PK b' }, {});
    expect(report.url).toMatch(/\/files-20260102-2\/b\.zip$/);
    expect(report.lines.CLAIM).toContain(
      `gh release verify-asset ${TODAY}-2 b.zip --repo ${repository.fullName}`,
    );
    expect(report.lines.CLAIM).toContain(`digest is sha256:${report.file?.sha256}`);
    expect(report.lines.CODE).toContain(`release ${TODAY}-2, asset b.zip`);
    expect(published(repository).map(([tag]) => tag)).toEqual([TODAY, `${TODAY}-2`]);
  });

  test('more files than a list of releases shows are published together, and found again', async () => {
    const repository = await createRepository(true);
    await deliver(repository, { 'a.zip': 'PK a' }, {});
    const many = Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`${at}.zip`, `PK ${at}`]));
    await deliverAll(repository, many, {});
    expect(writesOf(await deliverAll(repository, many, {}))).toEqual([]);
  });

  test('the tag of a deleted release is skipped', async () => {
    const repository = await createRepository(true);
    await deliver(repository, { 'a.zip': 'PK a' }, {});
    await callApi(repository, `DELETE /releases/${repository.releases()[0]?.id}`);
    const { report } = await deliver(repository, { 'b.zip': 'PK b' }, {});
    expect(report.url).toMatch(/\/files-20260102-2\/b\.zip$/);
    expect(drafts(repository)).toEqual([]);
  });

  test("a named tag, and a tag with another person's draft, are refused before a write", async () => {
    const repository = await createRepository(true);
    await deliver(repository, { 'a.zip': 'PK a' });
    await deliver(repository, { 'a.zip': 'PK a' }, {});
    await callApi(repository, 'POST /releases', { tag_name: `${TODAY}-2`, name: 'Ours', draft: true });
    for (const [inputs, reason] of [
      [{ tag: 'v1' }, /^place.*: .*the release v1 is immutable.* → .*`tag:`/],
      [{}, /^place.*: .*prepares a release for the tag files-20260102-2.* → .*`tag:`/],
    ] as const) {
      for (const dryRun of ['false', 'true']) {
        const given = deliver(repository, { 'b.zip': 'PK b' }, { ...inputs, 'dry-run': dryRun });
        expect(writesOf(await refused(given, reason))).toEqual([]);
      }
    }
  });

  test('jobs with different bytes for one name use numbered tags, and delete no draft', async () => {
    const repository = await createRepository(true);
    const jobs = Array.from({ length: 8 }, (_, at) => deliver(repository, { 'build.zip': `PK ${at}` }, {}));
    const delivered = await Promise.all(jobs);
    expect(new Set(delivered.map(({ report }) => report.url)).size).toBe(jobs.length);
    expect(repository.releases().map(({ draft, assets }) => [draft, assets.length])).toEqual(
      jobs.map(() => [false, 1]),
    );
    expect(delivered.flatMap((one) => requestsOf(one, /^DELETE /))).toEqual([]);
  });

  test('the files of a release are verified even if the next release is not created', async () => {
    const repository = await createRepository(true);
    await deliver(repository, { 'a.zip': 'PK a' }, {});
    const { reports } = await deliver(repository, { ...THREE, 'b.zip': '' }, {});
    expect(reports.map(({ ready }) => ready)).toEqual([true, false, false]);
    expect(repository.releases()).toHaveLength(1);
  });
});

test.each([
  ['mutable, a named tag: it takes the files', false, { tag: 'v1' }, /^null$/, ['v1']],
  ['immutable, a named tag: it is the reason for the refusal', true, { tag: 'v1' }, /immutable/, ['v1']],
  ['immutable, the default tag: the next number is taken', true, {}, /^null$/, ['', '-2']],
])('if somebody publishes a release before ours: %s', async (_, isImmutable, inputs, refusal, tags) => {
  const repository = await createRepository(isImmutable);
  play.intercept(
    { method: 'POST', url: /\/releases$/ },
    {
      alter: async (real) => {
        const { tag_name } = JSON.parse(String(real.body)) as { tag_name: string };
        await callApi(repository, 'POST /releases', { tag_name, name: 'theirs', body: 'theirs' });
        return real;
      },
    },
  );
  const delivered = await deliver(repository, THREE, inputs);
  for (const reason of failures(delivered)) expect(String(reason)).toMatch(refusal);
  expect(drafts(repository)).toEqual([]);
  expect(published(repository).map(([tag]) => tag.replace(/^files-\d{8}/, ''))).toEqual(tags);
  // Another tag needs no other upload.
  if (isImmutable) expect(requestsOf(delivered, /^POST https:\/\/uploads/)).toHaveLength(3);
  expect(repository.releases().find(({ name }) => name === 'theirs')).toMatchObject({ body: 'theirs' });
});

test('a mutable release takes the other files of the step', async () => {
  const repository = await createRepository(false);
  repository.addEarlierAssets('v1', 1);
  const files = { ...THREE, 'b.zip': '', 'earlier-1.bin': 'ours' };
  const delivered = await deliver(repository, files);
  const codes = delivered.reports.map(({ notReady }) => notReady?.code ?? null);
  expect(codes).toEqual([null, 'BAD_FILE', null, 'NOT_OURS']);
  expect(requestsOf(delivered, /^GET .*\/releases\/\d+\/assets/)).toHaveLength(1);
  expect(published(repository)).toEqual([['v1', ['a.zip', 'c.zip', 'earlier-1.bin']]]);
});

test.each([
  { channel: 'K2', tag: 'v1', file: 'd/' },
  { channel: 'K1, K2', file: 'd' },
  { channel: 'K3', bin: 'some-bin', file: 'd' },
  { tag: 'v1', file: '', path: 'd/' },
])('no folder is withdrawn if the channel has no folders: %j', async (inputs) => {
  const withdrawal = { files: { 'd/a.zip': 'PK' }, inputs: { operation: 'withdraw', ...inputs } };
  const says = /^check: .*releases and the file-bin have no folders to withdraw.* → .*`file:`.*`path:`/;
  expect((await refused(play.deliver(withdrawal), says)).requests).toEqual([]);
});

test.each<[Record<string, string>, Record<string, string>]>([
  [{ 'page.html': createPage(), 'data.zip': 'PK' }, {}],
  [{ 'page.html': createPage(), 'data.zip': 'PK' }, { path: 'x/' }],
  [{ tool: 'a program' }, {}],
  [{ 'd/index.html': createPage(), 'd/data.zip': 'PK' }, { file: 'd' }],
])(
  'after a delivery of %j with %j, a withdrawal with the same inputs leaves nothing',
  async (files, given) => {
    const repository = await play.repository();
    const inputs = { file: Object.keys(files).join('\n'), ...given };
    const { reports } = await play.deliver({ repository, files, inputs });
    expect(reports.map(({ ready }) => ready)).not.toContain(false);
    const isLost = ({ channel }: Report) => channel === 'K2' && given.path !== undefined;
    const notes = reports.filter(({ notes }) =>
      notes.join().includes('the folder in input `path` was ignored'),
    );
    expect(notes).toEqual(reports.filter(isLost));
    const withdrawn = await play.deliver({ repository, files, inputs: { ...inputs, operation: 'withdraw' } });
    expect(withdrawn.reports.map((report) => report.withdrawn)).toEqual(reports.map(({ url }) => url));
    expect(withdrawn.reports.map(({ lines }) => lines.RESULT).join()).not.toContain('nothing to remove');
  },
);

test.each<[Record<string, string>, Record<string, string>, Record<string, string>]>([
  [{ path: 'page.html' }, { channel: 'K1', path: 'page.html' }, {}],
  [{ file: 'page.html' }, { channel: 'K1', file: 'page.html' }, {}],
  [{ channel: 'K1', file: 'out', path: 'x/' }, { channel: 'K1', path: 'x/' }, {}],
  // The local file may now be smaller than the delivered one.
  [{ file: 'page.html' }, { channel: 'K1', file: 'page.html' }, { 'page.html': createPage() }],
])('after nothing was found on the site with %j, %j is known', async (unsure, sure, files) => {
  const repository = await play.repository();
  const says =
    /^verify 404: the site had no .*, and no record of a delivery of it: .* → set `channel:` .*`path:`/;
  await refused(play.deliver({ repository, files, inputs: { operation: 'withdraw', ...unsure } }), says);
  await proven(play.deliver({ repository, files, inputs: { operation: 'withdraw', ...sure } }));
});

test('a name is withdrawn from the release if a person has it on the site, and the refusal names the site', async () => {
  const repository = await play.repository({ files: { 'a.zip': 'of a person' } });
  const inputs = { operation: 'withdraw', path: 'a.zip' };
  await refused(
    play.deliver({ repository, inputs }),
    /has an asset a\.zip.* → .*or `channel: K1` if it is on GitHub Pages/,
  );
  await proven(play.deliver({ repository, files: { 'a.zip': 'PK' }, inputs: {} }));
  const { report } = await proven(play.deliver({ repository, inputs }));
  expect(report.withdrawn).toContain('/releases/download/');
  expect(String(await repository.read('a.zip'))).toBe('of a person');
});

test.each([
  ['previews/demo', {}],
  ['previews/v1.2', {}],
  ['previews/v1.2', { channel: 'K1' }],
  ['tool', {}],
  ['data.zip', {}],
])("the site's file at %s is withdrawn only by that name: %j", async (path, more) => {
  const repository = await play.repository();
  const isFolder = path.includes('/');
  const files = isFolder ? { 'd/index.html': createPage() } : { [path]: 'PK' };
  const given = isFolder ? { file: 'd', path: `${path}/` } : { path };
  await proven(play.deliver({ repository, files, inputs: { channel: 'K1', ...given } }));
  const withdraw = (inputs: object) =>
    play.deliver({ repository, inputs: { operation: 'withdraw', ...more, ...inputs } });
  const { report } = await proven(withdraw({ path }));
  expect(report.withdrawn).toBe(`${repository.pages.url}${path}${isFolder ? '/' : ''}`);
});

test("a folder's URL works without its last slash, and a release is found by a name", async () => {
  const repository = await play.repository();
  const files = { 'd/index.html': createPage(), 'tool.zip': 'PK' };
  const inputs = { file: 'd', path: 'previews/demo/' };
  const { report } = await proven(play.deliver({ repository, files, inputs }));
  await proven(play.deliver({ repository, files, inputs: { file: 'tool.zip' } }));
  const withdraw = (more: object) => play.deliver({ repository, inputs: { operation: 'withdraw', ...more } });
  const folder = await proven(withdraw({ url: report.url?.replace(/\/$/, '') }));
  expect(folder.report.withdrawn).toBe(report.url);
  const asset = await proven(withdraw({ path: 'tool.zip' }));
  expect(asset.report.withdrawn).toMatch(/\/releases\/download\/.*\/tool\.zip$/);
});

test.each([
  ['this tool', { channel: 'K1' }],
  ['a person', null],
])('nothing on the site is certain if %s removed the delivery', async (_, inputs) => {
  const repository = await play.repository();
  const withdraw = (more = {}) =>
    play.deliver({ repository, inputs: { operation: 'withdraw', path: 'page.html', ...more } });
  await proven(play.deliver({ repository, files: { 'page.html': createPage() } }));
  await (inputs === null ? repository.commit('page.html', null, 'Clean up') : withdraw(inputs));
  const { report } = await proven(withdraw());
  expect(report.lines.RESULT).toMatch(/nothing to remove at page\.html/);
});

test('a path with a folder is withdrawn from the site alone, and never becomes the name of an asset', async () => {
  const repository = await play.repository();
  const files = { 'bin/pr-1': 'a program', 'd/index.html': createPage() };
  const run = (inputs: object) => proven(play.deliver({ repository, files, inputs }));
  const withdraw = { file: '', operation: 'withdraw', path: 'previews/pr-1' };
  const asset = await run({ file: 'bin/pr-1', channel: 'K2' });
  const never = await run(withdraw);
  expect(never.report.lines.UNKNOWN).toMatch(/to a release: the path has a folder, so only the site/);
  await run({ file: 'd', path: 'previews/pr-1/' });
  const first = await run(withdraw);
  expect(first.report.lines.RESULT).toMatch(/previews\/pr-1\/? is removed/);
  const second = await run(withdraw);
  for (const { report } of [never, second]) {
    expect(report.lines.RESULT).toMatch(/nothing to remove at previews\/pr-1/);
  }
  expect([second.report.withdrawn, second.report.gone]).toEqual([first.report.withdrawn, first.report.gone]);
  expect(published(repository)).toEqual([[expect.any(String), ['pr-1']]]);
  await run({ ...withdraw, url: asset.report.url, path: '' });
});

const STEPS = { upload: /\/assets\?name=incoming/, rename: /releases\/assets\// } as const;
test.each<[string, keyof typeof STEPS, string, object]>([
  ['a job that delivers the old bytes', 'upload', 'PK old', {}],
  ['a job that delivers the old bytes', 'rename', 'PK old', {}],
  ['another replacement', 'upload', 'PK other', { overwrite: 'true' }],
  ['another replacement', 'rename', 'PK other', { overwrite: 'true' }],
  ['a withdrawal', 'upload', '', { operation: 'withdraw', path: 'a.zip' }],
])('a replacement ends with its file if %s comes after its %s', async (_, step, text, inputs) => {
  const repository = await createRepository(false);
  await deliverAll(repository, { 'a.zip': 'PK old' });
  let other: Played | undefined;
  play.meanwhile({ url: STEPS[step] }, async () => {
    other = await deliver(repository, text === '' ? {} : { 'a.zip': text }, { tag: 'v1', ...inputs });
  });
  await deliverAll(repository, { 'a.zip': 'PK new' }, { tag: 'v1', overwrite: 'true' });
  expect(other?.requests.length).toBeGreaterThan(0);
  if (step === 'upload' && text !== '') expect(failures(other as Played)).toEqual([null]);
  const assets = repository.releases().flatMap((release) => release.assets);
  expect(assets.map(({ name, size }) => [name, size])).toEqual([['a.zip', 'PK new'.length]]);
});

test('a replacement that is killed at any request leaves no file under another name after a withdrawal', async () => {
  const over = { tag: 'v1', overwrite: 'true' };
  const open = async (): Promise<TestRepository> => {
    const repository = await createRepository(false);
    await deliverAll(repository, { 'a.zip': 'PK old' });
    return repository;
  };
  const replace = (repository: TestRepository) => deliver(repository, { 'a.zip': 'PK new' }, over);
  const { requests } = await replace(await open());
  expect(requests.length).toBeGreaterThan(6);
  for (const at of requests.keys()) {
    const repository = await open();
    await killAt(at, () => replace(repository));
    const names = published(repository).flatMap(([, all]) => all);
    const audited = await play.deliver({ repository, inputs: { operation: 'audit', channel: 'K2' } });
    const found = audited.reports.map(({ lines, ready }) => [/asset ([^;,]+)/.exec(lines.CODE)?.[1], ready]);
    expect([at, found]).toEqual([at, [['a.zip', names.includes('a.zip')]]]);
    const withdrawal = { operation: 'withdraw', channel: 'K2', tag: 'v1', path: 'a.zip' };
    await proven(play.deliver({ repository, inputs: withdrawal }));
    expect([at, published(repository)]).toEqual([at, [['v1', []]]]);
  }
});

test('an asset is withdrawn only by its own name or the name in its label', async () => {
  const repository = await play.repository();
  const inputs = { channel: 'K2', tag: 'v1', nojekyll: 'false' };
  const run = (file: string, more = {}) =>
    play.deliver({ repository, files: { [file]: 'PK' }, inputs: { ...inputs, file, ...more } });
  await proven(run('my report.zip'));
  const withdraw = { operation: 'withdraw' };
  await refused(
    run('my:report.zip', withdraw),
    /the asset my-report\.zip was delivered as my-report\.zip, not as my:report\.zip → to withdraw that asset, set `path: my-report\.zip`$/,
  );
  await proven(run('my report.zip', withdraw));
  await proven(run('my report.zip'));
  await proven(run('my-report.zip', withdraw));
});
