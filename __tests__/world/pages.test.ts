import { describe, expect, test } from '@jest/globals';
import { createWorldClient, type WorldClient } from './client.ts';
import type { FakePagesOptions } from './pages/fake-pages.ts';
import type { TestRepository } from './repository.ts';
import { setUpWorld } from './set-up-world.ts';
import { LOGINS } from './tokens.ts';

let count = 0;

const setup = setUpWorld();

const newSite = (pages: FakePagesOptions = {}, spec = {}): Promise<TestRepository> =>
  setup.world.repository({
    owner: 'octo',
    name: `site-${++count}`,
    pages: { buildMs: 1, ...pages },
    ...spec,
  });
const visit = async ({ pages }: TestRepository, path: string) => {
  const { status, text } = await setup.anonymous.send(`GET ${pages.url}${path}`);
  return [status, status === 200 ? text : ''];
};
const latest = async ({ fullName }: TestRepository) => {
  const { status, json } = await setup.client.send(`GET /repos/${fullName}/pages/builds/latest`);
  return status === 200 ? json : status;
};

describe('switching Pages on', () => {
  const source = { branch: 'main', path: '/' };
  const switchOn = async (repository: TestRepository, body: object, client: WorldClient) => {
    const { status, json } = await client.send(`POST /repos/${repository.fullName}/pages`, body);
    return [status, status === 201 ? json.html_url : json.message];
  };
  const clientWith = (permissions: object, login: string): WorldClient =>
    createWorldClient(setup.world, setup.world.token(permissions, login));

  test('builds the branch, and is refused a second time', async () => {
    const repository = await newSite({}, { pages: false, files: { 'a.html': 'a' } });
    const admin = clientWith({ administration: 'write' }, LOGINS.human);
    expect(await switchOn(repository, { source: { branch: 'none' } }, admin)).toEqual([
      422,
      'The none branch must exist before GitHub Pages can be built.',
    ]);
    expect(await switchOn(repository, { source: { branch: 'main', path: '/x' } }, admin)).toEqual([
      422,
      'Invalid property /source/path.',
    ]);
    expect(repository.site).toBeNull();
    const [status, url] = await switchOn(repository, { build_type: 'legacy', source }, admin);
    expect([status, url]).toEqual([201, repository.pages.url]);
    await repository.pages.whenBuilt();
    expect(await visit(repository, 'a.html')).toEqual([200, 'a']);
    expect(await switchOn(repository, { source }, admin)).toEqual([409, 'GitHub Pages is already enabled.']);
  });

  test.each([
    ["a job's own token, whatever it asks for", { administration: 'write' }, LOGINS.workflow],
    ['an app without the permission', {}, LOGINS.app],
    ['an app that may only administrate', { administration: 'write', pages: 'read' }, LOGINS.app],
  ])('is refused for %s', async (_, permissions, login) => {
    const repository = await newSite({}, { pages: false });
    expect(await switchOn(repository, { source }, clientWith(permissions, login))).toEqual([
      403,
      'Resource not accessible by integration',
    ]);
  });
});

describe('a Pages build', () => {
  test('starts after a push, and its content is live when it has finished', async () => {
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
    const { json } = await setup.client.send(`GET /repos/${repository.fullName}/pages`);
    expect(json).toMatchObject({
      status: 'built',
      html_url: repository.pages.url,
      build_type: 'legacy',
      source: { branch: 'main', path: '/' },
    });
  });

  test('that fails reports its error and publishes nothing', async () => {
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

  test('can be live while its status stays `building` or shows the previous build', async () => {
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

  test('can finish without going live', async () => {
    const repository = await newSite();
    repository.pages.live = false;
    await repository.commit('a.html', 'a');
    await repository.pages.whenBuilt();
    expect(await latest(repository)).toMatchObject({ status: 'built' });
    expect(await visit(repository, 'a.html')).toEqual([404, '']);
  });

  test('starts only on request when pushes start no builds', async () => {
    const repository = await newSite({ startsBuilds: false });
    const commit = await repository.commit('a.html', 'a');
    await repository.pages.whenBuilt();
    expect(await visit(repository, 'a.html?1')).toEqual([404, '']);
    const requested = await setup.client.send(`POST /repos/${repository.fullName}/pages/builds`);
    expect(requested).toMatchObject({ status: 201, json: { status: 'queued' } });
    await repository.pages.whenBuilt();
    expect(await latest(repository)).toMatchObject({ commit, status: 'built' });
    expect(await visit(repository, 'a.html?2')).toEqual([200, 'a']);
    const reader = createWorldClient(setup.world, setup.world.token({ pages: 'read' }));
    expect((await reader.send(`POST /repos/${repository.fullName}/pages/builds`)).status).toBe(403);
    await reader.close();
  });

  test('serves the old content to the first requests when the edge lags', async () => {
    const repository = await newSite({ liveAfterRequests: 2 }, { files: { 'a.html': 'old' } });
    await repository.commit('a.html', 'new');
    await repository.pages.whenBuilt();
    const seen = [1, 2, 3].map((v) => () => visit(repository, `a.html?v=${v}`));
    for (const [index, expected] of ['old', 'old', 'new'].entries()) {
      expect(await seen[index]?.()).toEqual([200, expected]);
    }
  });
});

describe('a Pages site', () => {
  test('has a CDN cache by path and query', async () => {
    const repository = await newSite({ purges: false }, { files: { 'a.html': 'old' } });
    const first = await setup.anonymous.send(`GET ${repository.pages.url}a.html`);
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

  test('clears the CDN cache when a build goes live', async () => {
    const repository = await newSite({}, { files: { 'a.html': 'old' } });
    expect(await visit(repository, 'a.html')).toEqual([200, 'old']);
    await repository.commit('a.html', 'new');
    await repository.pages.whenBuilt();
    expect(await visit(repository, 'a.html')).toEqual([200, 'new']);
  });

  test('can cache a 404 as well', async () => {
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
    '~tilde.html': 'tilde',
    'doc.md': '# Title',
    'front.md': '---\ntitle: x\n---\n# Title',
    'guide/README.md': '# Guide',
    'sub/README.md': '# Sub',
    'LICENSE.md': '# License',
    'matter.html': '---\ntitle: x\n---\nbody',
    'key.pem': '-----BEGIN KEY-----',
    'имя.html': 'cyrillic',
  };

  test.each([
    ['', 200, 'home'],
    ['sub/', 200, 'sub'],
    ['sub', 301, ''],
    ['_hidden.html', 404, ''],
    ['.dot.html', 404, ''],
    ['node_modules/x.html', 404, ''],
    ['~tilde.html', 404, ''],
    ['doc.md', 200, '# Title'],
    ['front.md', 404, ''],
    ['front.html', 200, expect.stringContaining('<h1>Title</h1>')],
    ['guide/', 200, expect.stringContaining('<h1>Guide</h1>')],
    ['guide/README.md', 200, '# Guide'],
    ['guide/README.html', 404, ''],
    ['sub/README.md', 200, '# Sub'],
    ['LICENSE.html', 404, ''],
    ['key.pem', 200, '-----BEGIN KEY-----'],
    ['doc.html', 200, expect.stringContaining('<h1>Title</h1>')],
    ['matter.html', 200, 'body'],
    ['%D0%B8%D0%BC%D1%8F.html', 200, 'cyrillic'],
  ])('built with Jekyll answers /%s with %d', async (path, status, body) => {
    expect(await visit(await newSite({}, { files }), path)).toEqual([status, body]);
  });

  test.each([
    ['_hidden.html', 'hidden'],
    ['doc.md', '# Title'],
    ['matter.html', '---\ntitle: x\n---\nbody'],
  ])('built without Jekyll serves /%s unchanged', async (path, body) => {
    expect(await visit(await newSite({}, { files: { ...files, '.nojekyll': '' } }), path)).toEqual([
      200,
      body,
    ]);
  });

  test('has its own address for a user, a folder and a custom domain', async () => {
    const user = await newSite({}, { owner: 'Mona', name: 'mona.github.io', files: { 'a.html': 'user' } });
    expect(user.pages.url).toBe('https://mona.github.io/');
    expect(await visit(user, 'a.html')).toEqual([200, 'user']);
    const folder = await newSite({ path: '/docs' }, { files: { 'docs/a.html': 'docs', 'b.html': 'root' } });
    expect(await visit(folder, 'a.html')).toEqual([200, 'docs']);
    expect(await visit(folder, 'b.html')).toEqual([404, '']);
    const domain = await newSite({ cname: 'docs.example.org' }, { files: { 'a.html': 'domain' } });
    expect(await visit(domain, 'a.html')).toEqual([200, 'domain']);
    const { status, headers } = await setup.anonymous.send(
      `GET https://octo.github.io/${domain.name}/a.html?v=1`,
    );
    expect([status, headers.location]).toEqual([301, 'https://docs.example.org/a.html?v=1']);
  });
});

describe('a site that is published by a workflow', () => {
  test.each([
    ['normal', 'success', ''],
    ['errored', 'failure', 'Page build failed.'],
  ] as const)('reports deployments and no builds in mode %s', async (builds, state, description) => {
    const repository = await newSite({ buildType: 'workflow' });
    repository.pages.builds = builds;
    const sha = await repository.commit('a.html', 'a');
    await repository.pages.whenBuilt();
    const base = `/repos/${repository.fullName}`;
    expect((await setup.client.send(`GET ${base}/pages`)).json).toMatchObject({
      status: null,
      build_type: 'workflow',
    });
    expect((await setup.client.send(`GET ${base}/pages/builds`)).json).toEqual([]);
    expect(await latest(repository)).toBe(404);
    const { json } = await setup.client.send(`GET ${base}/deployments?environment=github-pages&sha=${sha}`);
    const statuses = await setup.client.send(`GET ${base}/deployments/${json[0].id}/statuses`);
    expect(statuses.json[0]).toMatchObject({ state, description, environment_url: repository.pages.url });
  });

  const put = ({ fullName }: TestRepository, sender: WorldClient) =>
    sender.send(`PUT /repos/${fullName}/contents/a.html`, {
      message: 'ADD',
      content: Buffer.from('a').toString('base64'),
    });

  test.each([
    [LOGINS.workflow, 404],
    [LOGINS.app, 200],
    [LOGINS.human, 200],
  ])('after a commit with a token of %s answers %d', async (login, status) => {
    const repository = await newSite({ buildType: 'workflow' });
    const sender = createWorldClient(setup.world, setup.world.token({}, login));
    expect((await put(repository, sender)).status).toBe(201);
    await repository.pages.whenBuilt();
    expect((await visit(repository, 'a.html'))[0]).toBe(status);
    expect(repository.pages.runs).toHaveLength(status === 200 ? 1 : 0);
    await sender.close();
  });

  test('goes live when its workflow is dispatched', async () => {
    const repository = await newSite({ buildType: 'workflow', workflow: 'site.yml' });
    await put(repository, setup.client);
    const actions = `/repos/${repository.fullName}/actions`;
    const sender = createWorldClient(setup.world, setup.world.token({ actions: 'write' }));
    const dispatch = `POST ${actions}/workflows/site.yml/dispatches`;
    const started = await sender.send(dispatch, { ref: 'main', return_run_details: true });
    expect(started.status).toBe(200);
    await repository.pages.whenBuilt();
    const run = await sender.send(`GET ${actions}/runs/${started.json.workflow_run_id}`);
    expect(run.json).toMatchObject({
      event: 'workflow_dispatch',
      head_sha: await repository.head(),
      status: 'completed',
      conclusion: 'success',
    });
    expect(await visit(repository, 'a.html')).toEqual([200, 'a']);
    expect((await sender.send(dispatch, { ref: 'main' })).status).toBe(204);
    const runs = await sender.send(`GET ${actions}/workflows/site.yml/runs?event=workflow_dispatch`);
    expect(runs.json).toMatchObject({ total_count: 2 });
    await sender.close();
  });

  test.each([
    ['without `actions: write`', {}, { actions: 'read' }, { ref: 'main' }, 'pages.yml', 403],
    ['of another workflow', {}, {}, { ref: 'main' }, 'other.yml', 404],
    ['on an unknown branch', {}, {}, { ref: 'nowhere' }, 'pages.yml', 422],
    ['of a workflow without the trigger', { dispatchable: false }, {}, { ref: 'main' }, 'pages.yml', 422],
    ['of a disabled workflow', { workflowEnabled: false }, {}, { ref: 'main' }, 'pages.yml', 422],
  ] as const)('refuses a dispatch %s', async (_, site, permissions, body, file, status) => {
    const repository = await newSite({ buildType: 'workflow', ...site });
    const sender = createWorldClient(setup.world, setup.world.token({ actions: 'write', ...permissions }));
    const path = `/repos/${repository.fullName}/actions/workflows/${file}/dispatches`;
    expect((await sender.send(`POST ${path}`, body)).status).toBe(status);
    expect(repository.pages.runs).toEqual([]);
    await sender.close();
  });

  test('refuses the request for a build of its branch', async () => {
    const { fullName } = await newSite({ buildType: 'workflow' });
    expect((await setup.client.send(`POST /repos/${fullName}/pages/builds`)).status).toBe(422);
  });
});

test('a repository without a Pages site answers 404 for it', async () => {
  const { fullName, name } = await setup.world.repository({ owner: 'octo', name: 'siteless', pages: false });
  expect((await setup.client.send(`GET /repos/${fullName}/pages`)).status).toBe(404);
  expect((await setup.anonymous.send(`GET https://octo.github.io/${name}/`)).status).toBe(404);
});

test('raw.githubusercontent.com serves bytes and never a page', async () => {
  const repository = await newSite({}, { files: { 'a/b.html': '<p>raw</p>' } });
  const raw = (fullName: string) =>
    setup.anonymous.send(`GET https://raw.githubusercontent.com/${fullName}/main/a/b.html`);
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
