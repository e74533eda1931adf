import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { connectClient } from './mcp-clients.ts';
import { CLI, createPage, NODE, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

describe('an agent that was misled by a prompt', () => {
  /** A server with a fixed repository and channel, and its client. */
  async function startServer(files: Readonly<Record<string, string>> = {}) {
    const repository = await scenario.repository();
    repository.pages.beforeAnswer = () => repository.pages.whenBuilt();
    const flags = ['--repository', repository.fullName, '--channel', 'K1'];
    const env = { GITHUB_TOKEN: scenario.world.token() };
    const server = await connectClient('2025', scenario.world, { files, env, flags });
    return { repository, server, head: await repository.head() };
  }

  test('can start no workflow, and choose no repository, branch, release, bin or app', async () => {
    const { repository, server, head } = await startServer();
    const page = { content: createPage(), name: 'page.html' };
    const choices = {
      'site-workflow': 'release.yml',
      repository: 'octo/of-somebody-else',
      branch: 'release',
      overwrite: true,
      channel: 'K3',
      'allow-public-bin': true,
      'allow-secret': '0123456789abcdef',
      'client-id': 'Iv1.0123456789abcdef',
      tag: 'v1.0.0',
      bin: 'of-somebody-else',
      setup: true,
      token: 'ghp_ofSomebodyElse12345678',
    };
    for (const [name, value] of Object.entries(choices)) {
      const { isError, text } = await server.call('deliver', { ...page, [name]: value });
      expect([isError, text]).toEqual([
        true,
        expect.stringMatching(RegExp(`${name}.*: the arguments are file, `)),
      ]);
    }
    expect(scenario.world.traffic.lines()).toEqual([]);
    // A person's file stays, wherever the path leads.
    await repository.commit('agent/index.html', createPage('of a person'));
    for (const path of ['index.html', '../index.html', '.github/workflows/x.yml', 'a/../../b.html']) {
      const { answer } = await server.call('deliver', { ...page, path });
      expect([path, answer.result]).toEqual([path, 'not-ready']);
      const report = await server.read(answer.report);
      expect(JSON.stringify([answer, report])).not.toMatch(/overwrite|allow-/);
    }
    expect((await repository.read('agent/index.html'))?.toString()).toBe(createPage('of a person'));
    expect((await repository.log()).map(({ sha }) => sha)).toContain(head);
    await server.close();
  });

  test('publishes nothing in the root of the site, where a file could affect all of it', async () => {
    const names = ['index.html', 'sw.js', 'robots.txt', '404.html', 'CNAME'];
    const site = names.map((name) => [`site/${name}`, name.endsWith('.html') ? createPage() : 'x']);
    const { repository, server } = await startServer(Object.fromEntries(site));
    const page = { content: createPage(), name: 'google1234.html' };
    for (const [args, path] of [
      [{ file: 'site', path: './' }, 'agent/'],
      [{ file: 'site', path: 'plans/' }, 'plans/'],
      [{ ...page, path: './' }, 'agent/google1234.html'],
      [{ ...page, path: 'plan.html' }, 'agent/plan.html'],
      [{ ...page, path: 'plans/plan.html' }, 'plans/plan.html'],
    ] as const) {
      const { answer } = await server.call('deliver', args);
      expect([answer.reason, answer.url]).toEqual([undefined, `${repository.pages.url}${path}`]);
    }
    const root = await Promise.all([...names, page.name].map((name) => repository.read(name)));
    expect(root.every((file) => file === null)).toBe(true);
    expect(await repository.read('agent/sw.js')).not.toBeNull();
    await server.close();
  });

  test('can replace or remove nothing that a workflow delivered, and gets no hint how to', async () => {
    const { repository, server } = await startServer({ 'page.html': createPage('of the agent') });
    const url = `${repository.pages.url}agent/`;
    const files = { 'site/index.html': createPage(), 'site/about.html': createPage() };
    const inputs = { file: 'site/', path: 'agent/' };
    const { report } = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    expect(report.ready).toBe(true);
    const head = await repository.head();
    const replacing = { file: 'page.html', path: 'about.html' };
    for (const [tool, args, way, verb] of [
      ['deliver', replacing, 'leave out `path` for a path that nothing else uses', 'replace'],
      ['withdraw', { url: `${url}about.html` }, 'leave it there', 'remove'],
      ['withdraw', { url }, 'leave it there', 'remove'],
    ] as const) {
      const { answer } = await server.call(tool, args);
      expect(answer).toMatchObject({ result: 'not-ready', code: 'NOT_OURS' });
      expect(answer.hint).toBe(way);
      const allowed = `a person may allow it: set \`--overwrite\` if you may ${verb} it`;
      expect(server.stderr()).toContain(allowed);
    }
    expect((await server.call('withdraw', { url: 'https://other.example.dev/a/' })).answer).toMatchObject({
      hint: 'set `url` to a delivered URL',
      say: 'I removed nothing: I made a mistake in my request, and will correct it.',
    });
    expect(await server.read('screen-delivery://reports/99')).toBe('This report is no longer kept.');
    expect(await repository.head()).toBe(head);
    await server.close();
  });

  test("gets no server if the client starts it in the machine's root folder", () => {
    const { status, stderr } = spawnSync(NODE, [CLI, 'mcp'], { cwd: '/', encoding: 'utf8', input: '' });
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining('add `--root /path/to/the/pages` to `mcp`'),
    ]);
  });
});
