import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createWorldClient, type WorldClient } from '../world/client.ts';
import type { StoredRelease } from '../world/release-store.ts';
import type { TestRepository } from '../world/repository.ts';
import { expectNotReady, expectReady } from './expect-report.ts';
import {
  createPage,
  type DeliveredStep,
  listRequests,
  type ScenarioDelivery,
  setUpScenario,
} from './scenario.ts';

const scenario = setUpScenario();
const BODY = 'Files for download.\n\nDelivered-by: screen-delivery';
const MODES = [
  ['mutable', false],
  ['immutable', true],
] as const;
const THREE = { 'a.zip': 'PK a', 'b.zip': 'PK b', 'c.zip': 'PK c' };
const threeFiles = Object.keys(THREE).join('\n');

async function createRepository(isImmutable: boolean): Promise<TestRepository> {
  const repository = await scenario.repository({ pages: false });
  repository.immutableReleases(isImmutable);
  return repository;
}

type Delivery = Pick<ScenarioDelivery, 'files' | 'onStart' | 'timeoutMs'> & {
  readonly inputs?: Readonly<Record<string, string>>;
};

const deliver = (repository: TestRepository, { inputs, ...more }: Delivery): Promise<DeliveredStep> =>
  scenario.deliver({ repository, simulatedTime: false, inputs: { channel: 'K2', ...inputs }, ...more });

const drafts = (repository: TestRepository): readonly StoredRelease[] =>
  repository.releases().filter(({ draft }) => draft);

/** The published releases, each with the names of its assets. */
const published = (repository: TestRepository): [string, string[]][] =>
  repository
    .releases()
    .filter(({ draft }) => !draft)
    .map(({ tag, assets }): [string, string[]] => [tag, assets.map(({ name }) => name).sort()])
    .sort();

let client: WorldClient;
beforeAll(() => {
  client = createWorldClient(scenario.world);
});
afterAll(() => client.close());

/** Calls the API as somebody else; `route` is below the repository. */
async function callApi(repository: TestRepository, route: string, body: object = {}) {
  const [method, path] = route.split(' ');
  const answer = await client.send(`${method} /repos/${repository.fullName}${path}`, body);
  expect(answer.status).toBeLessThan(300);
  return answer.status === 204 ? null : answer.json;
}

describe.each(MODES)('a release in %s mode', (_, isImmutable) => {
  test('is published only with all files of the step', async () => {
    const repository = await createRepository(isImmutable);
    const states: string[][] = [];
    scenario.intercept(
      { url: /uploads\.github\.com/, times: 3 },
      {
        alter: async (real) => {
          states.push(repository.releases().map(({ draft }) => (draft ? 'draft' : 'public')));
          return real;
        },
      },
    );
    const delivered = await deliver(repository, { files: THREE, inputs: { file: threeFiles, tag: 'v1' } });
    expect(delivered.outputs.result).toBe('ready');
    expect(states).toEqual([['draft'], ['draft'], ['draft']]);
    expect(published(repository)).toEqual([['v1', Object.keys(THREE)]]);
    expect(repository.releases()).toMatchObject([{ body: BODY, immutable: isImmutable }]);
    expect(repository.releases()[0]?.assets.map(({ label }) => label)).toContain('a.zip (screen-delivery)');
  });

  test('takes the same files again without a write', async () => {
    const repository = await createRepository(isImmutable);
    const files = { 'page.html': createPage() };
    const first = await deliver(repository, { files });
    const before = listRequests(scenario, /^(POST|PATCH|DELETE) .*\/releases/).length;
    const again = await deliver(repository, { files });
    await expectReady(scenario, again, { channel: 'K2', shows: createPage(), url: first.outputs.url ?? '' });
    expect(listRequests(scenario, /^(POST|PATCH|DELETE) .*\/releases/)).toHaveLength(before);
  });

  test('is made for a tag that exists already', async () => {
    const repository = await createRepository(isImmutable);
    const head = await repository.head();
    await callApi(repository, 'POST /git/refs', { ref: 'refs/tags/v2', sha: head ?? '' });
    const delivered = await deliver(repository, { files: { 'a.zip': 'PK a' }, inputs: { tag: 'v2' } });
    await expectReady(scenario, delivered, { channel: 'K2', shows: 'PK a', url: /\/v2\/a\.zip$/ });
    expect(published(repository)).toEqual([['v2', ['a.zip']]]);
  });
});

describe('where releases are immutable', () => {
  test('the second file of a day goes to a numbered tag, and the report says how to check it', async () => {
    const repository = await createRepository(true);
    await deliver(repository, { files: { 'a.zip': 'PK a' } });
    const delivered = await deliver(repository, { files: { 'b.zip': 'PK b' } });
    await expectReady(scenario, delivered, { channel: 'K2', shows: 'PK b', url: /\/files-\d{8}-2\/b\.zip$/ });
    const { CLAIM, CODE } = delivered.report.lines;
    expect(CLAIM).toMatch(/gh release verify-asset files-\d{8}-2 b\.zip --repo octo\/demo-\d+/);
    expect(CLAIM).toContain(`digest is sha256:${delivered.report.file?.sha256}`);
    expect(CODE).toMatch(/release files-\d{8}-2, asset b\.zip/);
    expect(published(repository).map(([tag]) => tag.slice(14))).toEqual(['', '-2']);
  });

  test('a named tag is refused before a byte is sent, and in a dry run alike', async () => {
    const repository = await createRepository(true);
    await deliver(repository, { files: { 'a.zip': 'PK a' }, inputs: { tag: 'v1' } });
    scenario.world.traffic.clear();
    for (const dryRun of ['false', 'true']) {
      const inputs = { tag: 'v1', 'dry-run': dryRun };
      const delivered = await deliver(repository, { files: { 'b.zip': 'PK b' }, inputs });
      expect(delivered.report.notReady).toMatchObject({
        reason: expect.stringMatching(/the release v1 is immutable/),
        hint: expect.stringMatching(/`tag:`/),
      });
    }
    expect(listRequests(scenario, /^(POST|PATCH|DELETE) /)).toEqual([]);
    expect(published(repository)).toEqual([['v1', ['a.zip']]]);
  });

  test('the tag of a deleted release is left out', async () => {
    const repository = await createRepository(true);
    await deliver(repository, { files: { 'a.zip': 'PK a' } });
    const [{ id } = { id: 0 }] = repository.releases();
    await callApi(repository, `DELETE /releases/${id}`);
    const delivered = await deliver(repository, { files: { 'b.zip': 'PK b' } });
    await expectReady(scenario, delivered, { channel: 'K2', shows: 'PK b', url: /\/files-\d{8}-2\/b\.zip$/ });
    expect(drafts(repository)).toEqual([]);
  });

  test('nothing can be withdrawn, which is said before a request that must fail', async () => {
    const repository = await createRepository(true);
    const files = { 'a.zip': 'PK a' };
    await deliver(repository, { files });
    const refused = await deliver(repository, { files, inputs: { operation: 'withdraw' } });
    expectNotReady(refused, { step: 'place', reason: /is immutable/, hint: /by hand/ });
    expect(listRequests(scenario, /^DELETE /)).toEqual([]);
  });
});

describe('a release that somebody publishes between our draft and our publishing', () => {
  test.each([
    ['mutable, a named tag: takes the files', false, { tag: 'v1' }, 'ready', ['v1']],
    ['immutable, a named tag: is the reason of the refusal', true, { tag: 'v1' }, 'not-ready', ['v1']],
    ['immutable, the default tag: the next number is taken', true, {}, 'ready', ['', '-2']],
  ])('%s', async (_, isImmutable, inputs, result, tags) => {
    const repository = await createRepository(isImmutable);
    scenario.intercept(
      { method: 'POST', url: /\/repos\/octo\/demo-\d+\/releases$/ },
      {
        alter: async (real) => {
          const { tag_name } = JSON.parse(String(real.body)) as { tag_name: string };
          await callApi(repository, 'POST /releases', { tag_name, name: 'theirs', body: 'theirs' });
          return real;
        },
      },
    );
    const delivered = await deliver(repository, { files: THREE, inputs: { file: threeFiles, ...inputs } });
    expect(delivered.outputs.result).toBe(result);
    expect(drafts(repository)).toEqual([]);
    expect(published(repository).map(([tag]) => tag.replace(/^files-\d{8}/, ''))).toEqual(tags);
    expect(repository.releases().find(({ name }) => name === 'theirs')).toMatchObject({ body: 'theirs' });
  });
});

describe('16 jobs at once for one new tag', () => {
  test.each(MODES)('end with every file delivered once and no draft left (%s)', async (_, isImmutable) => {
    const repository = await createRepository(isImmutable);
    const jobs = Array.from({ length: 16 }, (__, at) => `build-${at + 1}.zip`);
    const delivered = await Promise.all(
      jobs.map((name) => deliver(repository, { files: { [name]: `PK ${name}` }, timeoutMs: 240_000 })),
    );
    expect(delivered.map(({ report }) => report.notReady)).toEqual(jobs.map(() => null));
    expect(drafts(repository)).toEqual([]);
    const releases = published(repository);
    expect(releases.flatMap(([, names]) => names).sort()).toEqual([...jobs].sort());
    if (!isImmutable) expect(releases).toHaveLength(1);
  });
});

test('an unfinished upload of another job is waited for, reported, and never deleted', async () => {
  const repository = await createRepository(false);
  await repository.addUnfinishedAsset('v1', 'a.zip');
  const delivered = await deliver(repository, {
    files: { 'a.zip': 'PK a' },
    inputs: { tag: 'v1', timeout: '2', overwrite: 'true' },
  });
  expectNotReady(delivered, { step: 'place', reason: /has not ended within 2 s/, hint: /`path:`/ });
  expect(repository.releases()[0]?.assets).toMatchObject([{ state: 'starter' }]);
});

test('a tag with the name of a branch is refused before anything is created', async () => {
  const repository = await createRepository(false);
  const inputs = { tag: repository.branch };
  const delivered = await deliver(repository, { files: { 'a.zip': 'PK a' }, inputs });
  expectNotReady(delivered, { step: 'place', reason: /has the name of a branch/, hint: /`tag:`/ });
  expect(repository.releases()).toEqual([]);
});

test('a full release is refused before an upload', async () => {
  const repository = await createRepository(false);
  repository.addEarlierAssets('v1', 1_000);
  const delivered = await deliver(repository, { files: { 'a.zip': 'PK a' }, inputs: { tag: 'v1' } });
  expectNotReady(delivered, { step: 'place', reason: /has 1000 assets/, hint: /`tag:`/ });
  expect(listRequests(scenario, /uploads\.github\.com/)).toEqual([]);
});

describe('withdrawing without a tag', () => {
  const files = { 'a.zip': 'PK a' };
  /** The default tag of some days ago. */
  const tagOf = (days: number): string =>
    `files-${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')}`;

  test('finds the file in the release of yesterday, which stays with its tag', async () => {
    const repository = await createRepository(false);
    await deliver(repository, { files, inputs: { tag: tagOf(1) } });
    const withdrawn = await deliver(repository, { files, inputs: { operation: 'withdraw' } });
    expect(withdrawn.report).toMatchObject({
      ready: true,
      withdrawn: expect.stringMatching(`${tagOf(1)}/a\\.zip$`),
    });
    expect(published(repository)).toEqual([[tagOf(1), []]]);
    expect(listRequests(scenario, /^DELETE .*\/(releases\/\d+|git\/refs)/)).toEqual([]);
  });

  test('does not look further, and says so', async () => {
    const repository = await createRepository(false);
    await deliver(repository, { files, inputs: { tag: tagOf(2) } });
    const refused = await deliver(repository, { files, inputs: { operation: 'withdraw' } });
    expectNotReady(refused, { step: 'place', reason: /others were not searched/, hint: /`tag:`/ });
    expect(published(repository)).toEqual([[tagOf(2), ['a.zip']]]);
  });
});

describe('an asset whose replacement was killed before the new one got its name', () => {
  const LOST = 'incoming-0123456789ab-a.zip';
  async function createHalfReplaced(): Promise<TestRepository> {
    const repository = await createRepository(false);
    await deliver(repository, { files: { 'a.zip': 'PK new' }, inputs: { tag: 'v1' } });
    const [asset] = repository.releases().flatMap(({ assets }) => assets);
    await callApi(repository, `PATCH /releases/assets/${asset?.id}`, { name: LOST });
    return repository;
  }

  test('never gets it with bytes that nobody proved: the next delivery removes it', async () => {
    const repository = await createHalfReplaced();
    const delivered = await deliver(repository, { files: { 'a.zip': 'PK other' }, inputs: { tag: 'v1' } });
    await expectReady(scenario, delivered, { channel: 'K2', shows: 'PK other' });
    expect(published(repository)).toEqual([['v1', ['a.zip']]]);
  });

  test('gets its name, and is proven where it holds the bytes', async () => {
    const repository = await createHalfReplaced();
    const delivered = await deliver(repository, { files: { 'a.zip': 'PK new' }, inputs: { tag: 'v1' } });
    await expectReady(scenario, delivered, { channel: 'K2', shows: 'PK new' });
    expect(published(repository)).toEqual([['v1', ['a.zip']]]);
  });

  test('is not said to be withdrawn', async () => {
    const repository = await createHalfReplaced();
    const inputs = { tag: 'v1', operation: 'withdraw', path: 'a.zip' };
    const delivered = await deliver(repository, { inputs });
    expectNotReady(delivered, { step: 'place', reason: /has incoming-0123456789ab-a\.zip/, hint: /delete/ });
    expect(published(repository)).toEqual([['v1', [LOST]]]);
  });
});
