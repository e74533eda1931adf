import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createWorldClient, type WorldClient } from './client.ts';
import type { FakePagesOptions } from './pages/fake-pages.ts';
import type { TestRepository } from './repository.ts';
import { type GitHubWorld, startWorld } from './world.ts';

let world: GitHubWorld;
let client: WorldClient;
let visitor: WorldClient;
let count = 0;

beforeAll(async () => {
  world = await startWorld();
  client = createWorldClient(world);
  visitor = createWorldClient(world, null);
});

afterAll(async () => {
  await client.close();
  await visitor.close();
  await world.stop();
});

const newSite = (pages: FakePagesOptions = {}, spec = {}): Promise<TestRepository> =>
  world.repository({ owner: 'octo', name: `site-${++count}`, pages: { buildMs: 1, ...pages }, ...spec });
const visit = async ({ pages }: TestRepository, path: string) => {
  const { status, text } = await visitor.send(`GET ${pages.url}${path}`);
  return [status, status === 200 ? text : ''];
};
const latest = async ({ fullName }: TestRepository) => {
  const { status, json } = await client.send(`GET /repos/${fullName}/pages/builds/latest`);
  return status === 200 ? json : status;
};

describe('a build', () => {
  test('follows a push, and its content is live when it is over', async () => {
    const repository = await newSite({ buildMs: 500, built: false });
    expect(await latest(repository)).toBe(404);
    const commit = await repository.commit('a.html', '<p>1</p>');
    expect(await latest(repository)).toMatchObject({
      commit,
      status: expect.stringMatching(/queued|building/),
    });
    expect(await visit(repository, 'a.html?v=1')).toEqual([404, '']);
    await repository.pages.whenBuilt();
    expect(await latest(repository)).toMatchObject({ commit, status: 'built', error: { message: null } });
    expect(await visit(repository, 'a.html?v=2')).toEqual([200, '<p>1</p>']);
    const { json } = await client.send(`GET /repos/${repository.fullName}/pages`);
    expect(json).toMatchObject({
      status: 'built',
      html_url: repository.pages.url,
      build_type: 'legacy',
      source: { branch: 'main', path: '/' },
    });
  });

  test('that fails says why and changes nothing', async () => {
    const repository = await newSite({}, { files: { 'a.html': 'old' } });
    repository.pages.builds = 'errored';
    repository.pages.errorMessage = 'The tag `x` is unknown.';
    await repository.commit('a.html', 'new');
    await repository.pages.whenBuilt();
    expect(await latest(repository)).toMatchObject({
      status: 'errored',
      error: { message: 'The tag `x` is unknown.' },
    });
    expect(await visit(repository, 'a.html')).toEqual([200, 'old']);
  });

  test('may be live while its status stays building, or shows the build before', async () => {
    const repository = await newSite();
    repository.pages.builds = ['stuck', 'older'];
    const stuck = await repository.commit('a.html', 'stuck');
    await repository.pages.whenBuilt();
    expect(await latest(repository)).toMatchObject({ status: 'building', commit: stuck });
    expect(await visit(repository, 'a.html?1')).toEqual([200, 'stuck']);
    await repository.commit('a.html', 'older');
    await repository.pages.whenBuilt();
    expect(await latest(repository)).toMatchObject({ commit: stuck });
    expect(await visit(repository, 'a.html?2')).toEqual([200, 'older']);
  });

  test('may never go live', async () => {
    const repository = await newSite();
    repository.pages.live = false;
    await repository.commit('a.html', 'a');
    await repository.pages.whenBuilt();
    expect(await latest(repository)).toMatchObject({ status: 'built' });
    expect(await visit(repository, 'a.html')).toEqual([404, '']);
  });

  test('starts on request only, where a push starts none', async () => {
    const repository = await newSite({ startsBuilds: false });
    const commit = await repository.commit('a.html', 'a');
    await repository.pages.whenBuilt();
    expect(await visit(repository, 'a.html?1')).toEqual([404, '']);
    const requested = await client.send(`POST /repos/${repository.fullName}/pages/builds`);
    expect(requested).toMatchObject({ status: 201, json: { status: 'queued' } });
    await repository.pages.whenBuilt();
    expect(await latest(repository)).toMatchObject({ commit, status: 'built' });
    expect(await visit(repository, 'a.html?2')).toEqual([200, 'a']);
    const reader = createWorldClient(world, world.token({ pages: 'read' }));
    expect((await reader.send(`POST /repos/${repository.fullName}/pages/builds`)).status).toBe(403);
    await reader.close();
  });

  test('lags by requests at the edge: old content first', async () => {
    const repository = await newSite({ liveAfterRequests: 2 }, { files: { 'a.html': 'old' } });
    await repository.commit('a.html', 'new');
    await repository.pages.whenBuilt();
    const seen = [1, 2, 3].map((v) => () => visit(repository, `a.html?v=${v}`));
    for (const [index, expected] of ['old', 'old', 'new'].entries()) {
      expect(await seen[index]?.()).toEqual([200, expected]);
    }
  });
});

describe('serving', () => {
  test('the CDN keeps an answer by path and query', async () => {
    const repository = await newSite({ purges: false }, { files: { 'a.html': 'old' } });
    const first = await visitor.send(`GET ${repository.pages.url}a.html`);
    expect(first.headers).toMatchObject({
      'cache-control': 'max-age=600',
      'content-type': 'text/html; charset=utf-8',
      'x-cache': 'MISS',
      etag: expect.any(String),
    });
    await repository.commit('a.html', 'new');
    await repository.pages.whenBuilt();
    expect(await visit(repository, 'a.html')).toEqual([200, 'old']);
    expect(await visit(repository, 'a.html?v=1')).toEqual([200, 'new']);
  });

  test('a build that goes live empties the CDN', async () => {
    const repository = await newSite({}, { files: { 'a.html': 'old' } });
    expect(await visit(repository, 'a.html')).toEqual([200, 'old']);
    await repository.commit('a.html', 'new');
    await repository.pages.whenBuilt();
    expect(await visit(repository, 'a.html')).toEqual([200, 'new']);
  });

  test('a 404 may be kept too', async () => {
    const repository = await newSite({ caches404: true, purges: false });
    expect(await visit(repository, 'a.html')).toEqual([404, '']);
    await repository.commit('a.html', 'a');
    await repository.pages.whenBuilt();
    expect(await visit(repository, 'a.html')).toEqual([404, '']);
    expect(await visit(repository, 'a.html?v=1')).toEqual([200, 'a']);
  });

  const files = {
    'index.html': 'home',
    'sub/index.html': 'sub',
    '_hidden.html': 'hidden',
    '.dot.html': 'dot',
    'node_modules/x.html': 'module',
    'doc.md': '# Title',
    'matter.html': '---\ntitle: x\n---\nbody',
    'имя.html': 'cyrillic',
  };

  test.each([
    ['', 200, 'home'],
    ['sub/', 200, 'sub'],
    ['sub', 301, ''],
    ['_hidden.html', 404, ''],
    ['.dot.html', 404, ''],
    ['node_modules/x.html', 404, ''],
    ['doc.md', 404, ''],
    ['doc.html', 200, expect.stringContaining('<h1>Title</h1>')],
    ['matter.html', 200, 'body'],
    ['%D0%B8%D0%BC%D1%8F.html', 200, 'cyrillic'],
  ])('with Jekyll, /%s answers %d', async (path, status, body) => {
    expect(await visit(await newSite({}, { files }), path)).toEqual([status, body]);
  });

  test.each([
    ['_hidden.html', 'hidden'],
    ['doc.md', '# Title'],
    ['matter.html', '---\ntitle: x\n---\nbody'],
  ])('without Jekyll, /%s is what it is', async (path, body) => {
    expect(await visit(await newSite({}, { files: { ...files, '.nojekyll': '' } }), path)).toEqual([
      200,
      body,
    ]);
  });

  test('sites of users, of a folder and of a domain have their own addresses', async () => {
    const user = await newSite({}, { owner: 'Mona', name: 'mona.github.io', files: { 'a.html': 'user' } });
    expect(user.pages.url).toBe('https://mona.github.io/');
    expect(await visit(user, 'a.html')).toEqual([200, 'user']);
    const folder = await newSite({ path: '/docs' }, { files: { 'docs/a.html': 'docs', 'b.html': 'root' } });
    expect(await visit(folder, 'a.html')).toEqual([200, 'docs']);
    expect(await visit(folder, 'b.html')).toEqual([404, '']);
    const domain = await newSite({ cname: 'docs.example.org' }, { files: { 'a.html': 'domain' } });
    expect(await visit(domain, 'a.html')).toEqual([200, 'domain']);
    const { status, headers } = await visitor.send(`GET https://octo.github.io/${domain.name}/a.html?v=1`);
    expect([status, headers.location]).toEqual([301, 'https://docs.example.org/a.html?v=1']);
  });
});

describe('a site that a workflow publishes', () => {
  test.each([
    ['normal', 'success', ''],
    ['errored', 'failure', 'Page build failed.'],
  ] as const)('%s: tells by deployments, not by builds', async (builds, state, description) => {
    const repository = await newSite({ buildType: 'workflow' });
    repository.pages.builds = builds;
    const sha = await repository.commit('a.html', 'a');
    await repository.pages.whenBuilt();
    const base = `/repos/${repository.fullName}`;
    expect((await client.send(`GET ${base}/pages`)).json).toMatchObject({
      status: null,
      build_type: 'workflow',
    });
    expect((await client.send(`GET ${base}/pages/builds`)).json).toEqual([]);
    expect(await latest(repository)).toBe(404);
    const { json } = await client.send(`GET ${base}/deployments?environment=github-pages&sha=${sha}`);
    const statuses = await client.send(`GET ${base}/deployments/${json[0].id}/statuses`);
    expect(statuses.json[0]).toMatchObject({ state, description, environment_url: repository.pages.url });
  });
});

test('a repository without a site has none', async () => {
  const { fullName, name } = await world.repository({ owner: 'octo', name: 'siteless', pages: false });
  expect((await client.send(`GET /repos/${fullName}/pages`)).status).toBe(404);
  expect((await visitor.send(`GET https://octo.github.io/${name}/`)).status).toBe(404);
});

test('raw.githubusercontent.com gives bytes, never a page', async () => {
  const repository = await newSite({}, { files: { 'a/b.html': '<p>raw</p>' } });
  const raw = (fullName: string) =>
    visitor.send(`GET https://raw.githubusercontent.com/${fullName}/main/a/b.html`);
  expect(await raw(repository.fullName)).toMatchObject({
    status: 200,
    text: '<p>raw</p>',
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'max-age=300',
    },
  });
  const hidden = await newSite({}, { private: true, files: { 'a/b.html': 'x' } });
  expect((await raw(hidden.fullName)).status).toBe(404);
});
