import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createWorldClient, type WorldClient } from '../world/client.ts';
import type { StoredRelease } from '../world/release-store.ts';
import type { TestRepository } from '../world/repository.ts';
import { type DeliveredStep, listRequests, type ScenarioDelivery, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const TAG = 'v1';
const MODES = [
  ['mutable', false],
  ['immutable', true],
] as const;
/** Two files; their bytes differ from build to build, as archives with the time in them do. */
const build = (number: number) => ({ 'a.zip': `PK a ${number}`, 'b.zip': `PK b ${number}` });
const file = 'a.zip\nb.zip';

async function createRepository(isImmutable = false): Promise<TestRepository> {
  const repository = await scenario.repository({ pages: false });
  repository.immutableReleases(isImmutable);
  return repository;
}

type Delivery = Omit<ScenarioDelivery, 'repository'>;

const deliver = (repository: TestRepository, { inputs, ...more }: Delivery): Promise<DeliveredStep> =>
  scenario.deliver({ repository, inputs: { channel: 'K2', tag: TAG, file, ...inputs }, ...more });

const drafts = (repository: TestRepository): readonly StoredRelease[] =>
  repository.releases().filter(({ draft }) => draft);

/** Kills the step at its second upload, so that a draft with one file is left. */
async function killDelivery(repository: TestRepository, delivery: Delivery): Promise<void> {
  let pid = 0;
  const interception = scenario.intercept(
    { url: /uploads\.github\.com/, skip: 1 },
    { fault: 'hang', meanwhile: async () => void process.kill(pid, 'SIGKILL') },
  );
  await expect(deliver(repository, { ...delivery, onStart: (started) => (pid = started) })).rejects.toThrow(
    'No report',
  );
  interception.remove();
}

let client: WorldClient;
beforeAll(() => {
  client = createWorldClient(scenario.world);
});
afterAll(() => client.close());

/** Calls the API as somebody else; `route` is below the repository. */
async function callApi(repository: TestRepository, route: string, body: object = {}): Promise<void> {
  const [method, path] = route.split(' ');
  const answer = await client.send(`${method} /repos/${repository.fullName}${path}`, body);
  expect(answer.status).toBeLessThan(300);
}

describe('a draft that an earlier run of the same delivery left', () => {
  test.each(MODES)('is replaced where the files have changed since (%s)', async (_, isImmutable) => {
    const repository = await createRepository(isImmutable);
    await killDelivery(repository, { files: build(1) });
    expect(drafts(repository)).toMatchObject([{ tag: TAG, assets: [{ name: 'a.zip' }] }]);
    const delivered = await deliver(repository, { files: build(2) });
    expect(delivered.outputs.result).toBe('ready');
    expect(repository.releases()).toMatchObject([{ draft: false, tag: TAG, assets: [{}, {}] }]);
    await expect(scenario.fetchPublic(delivered.reports[0]?.url ?? '')).resolves.toEqual(
      Buffer.from('PK a 2'),
    );
  });

  test('is never one of several, however often the delivery is killed', async () => {
    const repository = await createRepository();
    for (const number of [1, 2, 3]) {
      await killDelivery(repository, { files: build(number) });
      expect(drafts(repository)).toHaveLength(1);
    }
    const delivered = await deliver(repository, { files: build(4) });
    expect(delivered.outputs.result).toBe('ready');
    expect(drafts(repository)).toEqual([]);
  });

  test('is named by a dry run, which deletes nothing', async () => {
    const repository = await createRepository();
    await killDelivery(repository, { files: build(1) });
    const [left] = drafts(repository);
    scenario.world.traffic.clear();
    const planned = await deliver(repository, { files: build(2), inputs: { 'dry-run': 'true' } });
    expect(planned.outputs.result).toBe('planned');
    expect(planned.stdout).toContain(`the draft ${left?.id} of an earlier run would be deleted`);
    expect(drafts(repository)).toEqual([left]);
    expect(listRequests(scenario, /^(POST|PATCH|DELETE|PUT) /)).toEqual([]);
  });
});

describe('a draft with the same tag and the same file names', () => {
  test.each<[string, Delivery]>([
    ['of another job', { env: { GITHUB_JOB: 'other' } }],
    ['of another workflow', { env: { GITHUB_WORKFLOW: 'Other' } }],
    ['of a delivery with one file more', { files: { 'c.zip': 'PK c' }, inputs: { file: `${file}\nc.zip` } }],
    ['of a delivery with one file less', { inputs: { file: 'b.zip\nc.zip' }, files: { 'c.zip': 'PK' } }],
    ['for another tag', { inputs: { tag: 'v2' } }],
  ])('is left alone: one %s', async (_, { files, ...other }) => {
    const repository = await createRepository();
    await killDelivery(repository, { ...other, files: { ...build(1), ...files } });
    const left = structuredClone(drafts(repository));
    expect(left).toHaveLength(1);
    const delivered = await deliver(repository, { files: build(2) });
    expect(delivered.outputs.result).toBe('ready');
    expect(drafts(repository)).toEqual(left);
  });

  // With a text of their own it is their release for the tag, and only one can be published.
  test.each<[string, object, string]>([
    ['its text', { body: 'Notes by hand.' }, 'not-ready'],
    ['its title', { name: 'Version 1' }, 'ready'],
    ['its tag', { tag_name: 'v1-rc' }, 'ready'],
  ])('is left alone where somebody changed %s', async (_, change, result) => {
    const repository = await createRepository();
    await killDelivery(repository, { files: build(1) });
    await callApi(repository, `PATCH /releases/${drafts(repository)[0]?.id}`, change);
    const left = structuredClone(drafts(repository));
    const delivered = await deliver(repository, { files: build(2) });
    expect(delivered.outputs.result).toBe(result);
    expect(drafts(repository)).toEqual(left);
  });

  test('is left alone where a job still fills it', async () => {
    const repository = await createRepository();
    await killDelivery(repository, { files: build(1) });
    const [left] = drafts(repository);
    // The second look at it, after the quiet time: another asset has arrived.
    scenario.intercept(
      { method: 'GET', url: new RegExp(`/releases/${left?.id}$`) },
      {
        alter: async (real) => {
          const release = JSON.parse(String(real.body));
          const assets = [...release.assets, { ...release.assets[0], id: 99, name: 'b.zip' }];
          return { ...real, body: JSON.stringify({ ...release, assets }) };
        },
      },
    );
    const delivered = await deliver(repository, { files: build(2) });
    expect(delivered.outputs.result).toBe('ready');
    expect(delivered.stdout).toContain(`left the draft ${left?.id} to the job that fills it`);
    expect(drafts(repository)).toEqual([left]);
  });
});

describe('a draft that somebody changes while it is filled', () => {
  /** Somebody else comes in before the answer to the upload of b.zip. */
  const meanwhile = (work: () => Promise<void>, answer: object = {}) =>
    scenario.intercept(
      { url: /uploads\.github\.com.*name=b\.zip/ },
      {
        alter: async (real) => {
          await work();
          return { ...real, ...answer };
        },
      },
    );

  test.each<[string, object]>([
    ['that is complete', {}],
    ['that can not be completed', { status: 403, body: JSON.stringify({ message: 'no' }) }],
  ])('with a file of their own is kept: one %s', async (_, answer) => {
    const repository = await createRepository();
    meanwhile(async () => {
      const uploads = `https://uploads.github.com/repos/${repository.fullName}`;
      const url = `${uploads}/releases/${drafts(repository)[0]?.id}/assets?name=notes.txt`;
      const type = { 'content-type': 'application/octet-stream' };
      expect((await client.send(`POST ${url}`, Buffer.from('theirs'), type)).status).toBe(201);
    }, answer);
    const delivered = await deliver(repository, { files: build(1) });
    expect(delivered.outputs.result).toBe('not-ready');
    expect(delivered.outputs.report).toContain(`left behind: the draft ${drafts(repository)[0]?.id}`);
    expect(drafts(repository)[0]?.assets.map(({ name }) => name)).toContain('notes.txt');
  });

  test.each<[string, object]>([
    ['with a text of their own', { body: 'Notes by hand.' }],
    ['with a title of their own', { name: 'Version one' }],
    ['that they published', { tag_name: 'v1.0', body: 'Notes by hand.', draft: false }],
  ])('is not written over: one %s', async (_, change) => {
    const repository = await createRepository();
    meanwhile(() => callApi(repository, `PATCH /releases/${drafts(repository)[0]?.id}`, change));
    const delivered = await deliver(repository, { files: build(1) });
    expect(delivered.report.notReady).toMatchObject({ code: 'NOT_OURS' });
    const { tag_name: tag = TAG, ...texts } = change as { tag_name?: string };
    expect(repository.releases()).toMatchObject([{ tag, ...texts }]);
  });
});

test.each([true, false])(
  'a release that somebody prepares for the tag is not made impossible (dry run: %s)',
  async (isDryRun) => {
    const repository = await createRepository();
    await callApi(repository, 'POST /releases', {
      tag_name: TAG,
      name: 'Version 1',
      body: 'New.',
      draft: true,
    });
    const inputs = { 'dry-run': String(isDryRun) };
    const refused = await deliver(repository, { files: build(1), inputs });
    expect(refused.report.notReady).toMatchObject({
      code: 'NOT_OURS',
      reason: /prepares a release for the tag v1/,
    });
    expect(repository.releases()).toMatchObject([{ draft: true, name: 'Version 1', assets: [] }]);
    await callApi(repository, `PATCH /releases/${repository.releases()[0]?.id}`, { draft: false });
    const delivered = await deliver(repository, { files: build(1) });
    expect(delivered.outputs.result).toBe('ready');
    expect(repository.releases()).toMatchObject([{ name: 'Version 1', body: 'New.', assets: [{}, {}] }]);
  },
);

test('a release that somebody prepares for a numbered tag is not made impossible', async () => {
  const repository = await createRepository(true);
  const inputs = { tag: '' };
  const first = await deliver(repository, { files: build(1), inputs });
  expect(first.outputs.result).toBe('ready');
  const next = `${repository.releases()[0]?.tag}-2`;
  await callApi(repository, 'POST /releases', { tag_name: next, name: 'Ours', body: 'New.', draft: true });
  const refused = await deliver(repository, { files: build(2), inputs });
  expect(refused.report.notReady).toMatchObject({ code: 'NOT_OURS' });
  expect(repository.releases()).toHaveLength(2);
});

test('a job whose draft is deleted while it uploads starts again, and deletes none itself', async () => {
  const repository = await createRepository(true);
  scenario.intercept(
    { url: /uploads\.github\.com/, skip: 1, times: 1 },
    {
      alter: async (real) => {
        await callApi(repository, `DELETE /releases/${drafts(repository)[0]?.id}`);
        return { ...real, status: 404, body: JSON.stringify({ message: 'Not Found' }) };
      },
    },
  );
  const delivered = await deliver(repository, { files: build(1) });
  expect(delivered.outputs.result).toBe('ready');
  expect(repository.releases()).toMatchObject([{ draft: false, tag: TAG, assets: [{}, {}] }]);
  expect(listRequests(scenario, /^DELETE /)).toEqual([]);
});

test('jobs that deliver other bytes under one name at once end under numbered tags, and delete no draft', async () => {
  const repository = await createRepository(true);
  const jobs = Array.from({ length: 8 }, (_, at) => `PK ${at}`);
  const delivered = await Promise.all(
    jobs.map((bytes) =>
      deliver(repository, {
        files: { 'build.zip': bytes },
        inputs: { file: 'build.zip', tag: '' },
        timeoutMs: 240_000,
      }),
    ),
  );
  expect(delivered.map(({ report }) => report.notReady)).toEqual(jobs.map(() => null));
  expect(new Set(delivered.map(({ outputs }) => outputs.url)).size).toBe(jobs.length);
  expect(repository.releases().map(({ draft, assets }) => [draft, assets.length])).toEqual(
    jobs.map(() => [false, 1]),
  );
  expect(listRequests(scenario, /^DELETE /)).toEqual([]);
});
