import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createWorldClient, type WorldClient } from '../world/client.ts';
import type { StoredRelease } from '../world/release-store.ts';
import type { TestRepository } from '../world/repository.ts';
import { type DeliveredStep, listRequests, type ScenarioDelivery, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const TAG = 'v1';
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

test('a draft that a killed run left is kept until it is quiet, and deleted by a later run', async () => {
  const repository = await createRepository();
  await killDelivery(repository, { files: build(1) });
  const [left] = drafts(repository);
  expect(left).toMatchObject({ tag: TAG, assets: [{ name: 'a.zip' }] });
  expect((await deliver(repository, { files: build(2) })).outputs.result).toBe('ready');
  expect(drafts(repository)).toEqual([left]);

  const sevenHoursAgo = Date.now() - 7 * 3_600_000;
  for (const time of [left?.createdAt, left?.assets[0]?.updatedAt]) time?.setTime(sevenHoursAgo);
  scenario.world.traffic.clear();
  const planned = await deliver(repository, {
    files: build(3),
    inputs: { tag: 'v2', 'dry-run': 'true' },
  });
  expect(planned.stdout).toContain(`the draft ${left?.id} of an earlier run would be deleted`);
  expect(listRequests(scenario, /^(POST|PATCH|DELETE|PUT) /)).toEqual([]);
  expect((await deliver(repository, { files: build(3), inputs: { tag: 'v2' } })).outputs.result).toBe(
    'ready',
  );
  expect(repository.releases().map(({ tag, draft }) => [tag, draft])).toEqual([
    ['v2', false],
    [TAG, false],
  ]);
});

describe('a draft that somebody changes while it is filled', () => {
  /** Somebody else comes in before the answer to the upload of b.zip. */
  const meanwhile = (work: () => Promise<void>) =>
    scenario.intercept(
      { url: /uploads\.github\.com.*name=b\.zip/ },
      {
        alter: async (real) => {
          await work();
          return real;
        },
      },
    );

  test('with a file of their own is kept', async () => {
    const repository = await createRepository();
    meanwhile(async () => {
      const uploads = `https://uploads.github.com/repos/${repository.fullName}`;
      const url = `${uploads}/releases/${drafts(repository)[0]?.id}/assets?name=notes.txt`;
      const type = { 'content-type': 'application/octet-stream' };
      expect((await client.send(`POST ${url}`, Buffer.from('theirs'), type)).status).toBe(201);
    });
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
