import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createWorldClient, type WorldClient } from './client.ts';
import { getDeploymentState } from './deployment-store.ts';
import type { TestRepository } from './repository.ts';
import { FORK_PERMISSIONS } from './tokens.ts';
import { type GitHubWorld, startWorld } from './world.ts';

let world: GitHubWorld;
let client: WorldClient;
let repository: TestRepository;
let base: string;
let body: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  world = await startWorld();
  client = createWorldClient(world, world.token({ deployments: 'write' }));
  repository = await world.repository({ owner: 'octo', name: 'deployed', inMemory: true });
  base = `/repos/${repository.fullName}/deployments`;
  body = { ref: await repository.head(), environment: 'preview', auto_merge: false, required_contexts: [] };
});

afterAll(async () => {
  await client.close();
  await world.stop();
});

test.each<[string, object, number, RegExp]>([
  ['merges the default branch', { auto_merge: undefined }, 409, /^Conflict merging main/],
  ['waits for all checks', { required_contexts: undefined }, 409, /status checks failed/],
  ['is of an unknown commit', { ref: 'c0ffee'.padEnd(40, '0') }, 422, /^No ref found for: c0ffee/],
  ['is of nothing', { ref: undefined }, 422, /"ref" wasn't supplied/],
  ['is to the environment of Pages', { environment: 'GitHub-Pages' }, 422, /Validation Failed/],
  ['has a bad name', { environment: 'a;b' }, 422, /Validation Failed/],
  ['has a long task', { task: 'x'.repeat(129) }, 422, /Validation Failed/],
])('a deployment that %s is refused', async (_, more, status, message) => {
  const answer = await client.send(`POST ${base}`, { ...body, ...more });
  expect(answer).toMatchObject({ status, json: { message: expect.stringMatching(message) } });
});

test('a deployment is found by its commit, its environment and its task', async () => {
  const { json, status } = await client.send(`POST ${base}`, { ...body, task: 'show', payload: { a: 1 } });
  expect(status).toBe(201);
  for (const query of [`sha=${json.sha}`, 'task=show', 'environment=PREVIEW&task=show']) {
    const listed = await client.send(`GET ${base}?${query}`);
    expect(listed.json[0]).toMatchObject({ id: json.id, payload: { a: 1 }, transient_environment: false });
  }
  expect((await client.send(`GET ${base}?task=other`)).json).toEqual([]);
});

test('a success ends the others in its environment, unless it is told not to', async () => {
  const own = await world.repository({ owner: 'octo', name: 'own', inMemory: true });
  const at = `/repos/${own.fullName}/deployments`;
  const ref = await own.head();
  const succeed = async (more: object) => {
    const { json } = await client.send(`POST ${at}`, { ...body, ref });
    return client.send(`POST ${at}/${json.id}/statuses`, { state: 'success', ...more });
  };
  await succeed({});
  await succeed({ auto_inactive: false });
  expect(own.deployments.all.map(getDeploymentState)).toEqual(['success', 'success']);
  await succeed({});
  expect(own.deployments.all.map(getDeploymentState)).toEqual(['success', 'inactive', 'inactive']);
});

test.each([
  ['has an unknown state', { state: 'ready' }],
  ['has a long description', { state: 'success', description: 'x'.repeat(141) }],
  ['has an address without its scheme', { state: 'success', environment_url: 'octo.github.io' }],
])('a status that %s is refused', async (_, status) => {
  const { json } = await client.send(`POST ${base}`, body);
  expect((await client.send(`POST ${base}/${json.id}/statuses`, status)).status).toBe(422);
});

test('without `deployments: write` nothing is written', async () => {
  const { json } = await client.send(`POST ${base}`, body);
  for (const permissions of [{}, FORK_PERMISSIONS]) {
    const reader = createWorldClient(world, world.token(permissions));
    for (const path of [base, `${base}/${json.id}/statuses`]) {
      expect(await reader.send(`POST ${path}`, body)).toMatchObject({
        status: 403,
        headers: { 'x-accepted-github-permissions': 'deployments=write' },
      });
    }
    await reader.close();
  }
});
