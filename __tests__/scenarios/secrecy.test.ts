import { describe, expect, test } from '@jest/globals';
import type { TestRepository } from '../world/repository.ts';
import { collectOutput, expectNotReady } from './expect-report.ts';
import { createPage, type DeliveredStep, type ScenarioDelivery, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const files = { 'page.html': createPage() };

/** Shapes in which a token could travel. */
function formsOf(token: string): string[] {
  const base64 = (text: string): string => Buffer.from(text).toString('base64').replace(/=+$/, '');
  // In base64 a text looks different by where it begins; its middle is the same for each of the three.
  const shifted = [0, 1, 2].map((by) => base64(`${'x'.repeat(by)}${token}`).slice(by === 0 ? 0 : 4, -4));
  const escaped = [...token].map((sign) => `%${sign.charCodeAt(0).toString(16)}`).join('');
  return [token, ...shifted, escaped, encodeURIComponent(token), Buffer.from(token).toString('hex')];
}

const API_HOSTS = ['api.github.com', 'uploads.github.com'];

test('the token is sent only in the Authorization header, to the API and the upload host', async () => {
  const { world } = scenario;
  const token = world.token();
  const forms = [...new Set(formsOf(token))];
  for (const form of forms) world.traffic.watchFor(form);
  const repository = await scenario.repository();
  const failing = await scenario.repository({
    pages: { builds: 'errored', errorMessage: `failed for ${token}` },
  });
  const protectedOne = await scenario.repository();
  protectedOne.protect(true);
  world.host('preview.agent-host.com', () => ({ status: 302, headers: { location: 'https://10.0.0.1/' } }));
  const large = { 'large.bin': Buffer.alloc(1_100_000, 'large') };
  /** An input or a file that holds the token: refused before any host is asked. */
  const refused: ScenarioDelivery[] = [
    { repository, files: { 'leak.html': `<p>${token}</p>` }, inputs: { channel: 'K1' } },
    { repository, files, inputs: { channel: 'K1', message: `by ${token}` } },
    { repository, files, inputs: { channel: 'K1', path: `${token}/page.html` } },
    { repository, files, inputs: { channel: 'K1', marker: token } },
    { repository, files, inputs: { channel: 'K3', bin: token } },
    { repository, files, inputs: { channel: 'K4', url: `https://preview.agent-host.com/?t=${token}` } },
  ];
  const stories: ScenarioDelivery[] = [
    { repository, files, inputs: { channel: 'K1+K2+K3' } },
    { repository, files: large, inputs: { channel: 'K1' } },
    { repository: failing, files, inputs: { channel: 'K1' } },
    { repository: protectedOne, files, inputs: { channel: 'K1' } },
    { repository, files, inputs: { channel: 'K4', url: 'https://preview.agent-host.com/x' } },
    { repository, files, inputs: { channel: 'K1', repository: 'octo/nowhere' } },
  ];
  const all: DeliveredStep[] = [];
  for (const story of refused) all.push(await scenario.deliver({ ...story, token }));
  for (const [at, { report }] of all.entries()) {
    const what = ['leak', 'message', 'path', 'marker', 'bin', 'url'][at];
    expect(report.notReady?.reason).toMatch(
      new RegExp(`\\b${what}\\b.* (contains|holds) (the token|a credential)`),
    );
  }
  expect(world.traffic.lines()).toEqual([]);
  for (const story of stories) all.push(await scenario.deliver({ ...story, token }));
  const results = all.map(({ outputs }) => outputs.result);
  expect(results.filter((result) => result === 'ready')).toHaveLength(2);
  for (const { stdout } of all) expect(stdout.split('\n')[0]).toBe(`::add-mask::${token}`);

  const sightings = world.traffic.found();
  expect(sightings.length).toBeGreaterThan(10);
  const elsewhere = sightings.filter(
    ({ host, place }) => place !== 'header authorization' || !API_HOSTS.includes(host),
  );
  expect(elsewhere).toEqual([]);
  // No other host got any credential.
  const strangers = world.traffic.exchanges().filter(({ host }) => !API_HOSTS.includes(host));
  expect(strangers.length).toBeGreaterThan(5);
  expect(strangers.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);

  const published = await everythingPublished([repository, failing, protectedOne]);
  for (const form of forms) {
    for (const delivered of all) {
      const printed = collectOutput(delivered);
      expect(printed.includes(form)).toBe(false);
    }
    expect(published.some((text) => text.includes(form))).toBe(false);
  }
});

/** All public content of a world afterwards. */
async function everythingPublished(repositories: readonly TestRepository[]): Promise<string[]> {
  const texts: string[] = [];
  for (const repository of repositories) {
    for (const { message, files } of await repository.log()) {
      texts.push(message, ...files);
      for (const path of files) texts.push((await repository.read(path))?.toString() ?? '');
    }
    for (const { tag, name, body, assets } of repository.releases()) {
      texts.push(tag, name ?? '', body ?? '', ...assets.flatMap((asset) => [asset.name, asset.label ?? '']));
    }
  }
  for (const bin of scenario.world.filebin.bins.values()) texts.push(bin.id, ...bin.files.keys());
  return texts;
}

test('the token goes nowhere after a refusal, and to no other instance for a comment', async () => {
  const repository = await scenario.repository();
  const repo = { full_name: repository.fullName };
  const pull_request = { number: 1, head: { sha: 'c0ffee0123456789', repo }, base: { repo } };
  const event = { name: 'pull_request', payload: { pull_request, repository: repo } };
  const foreign = { 'api-url': 'https://evil.octo.dev/api/v3' };
  for (const inputs of [foreign, { ...foreign, 'auth-url': 'https://evil.octo.dev' }]) {
    const token = scenario.world.token();
    const given = { ...inputs, channel: 'K3', comment: 'true', file: 'absent.html' };
    await scenario.deliver({ repository, files, token, event, inputs: given });
  }
  const asked = scenario.world.traffic.exchanges().filter(({ host }) => host.includes('evil'));
  expect(asked).toEqual([]);
});

test('a file that a pattern finds is not delivered if its name is a secret, which is printed nowhere', async () => {
  const secret = ['ghp', 'R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m'].join('_');
  const delivered = await scenario.deliver({
    files: { [`out/${secret}.html`]: createPage() },
    inputs: { channel: 'K3', file: 'out/*.html' },
  });
  expectNotReady(delivered, 'check', /the name of a file contains what looks like a secret/);
  expect(collectOutput(delivered).replaceAll(`::add-mask::${secret}`, '')).not.toContain(secret);
});

describe('the step ends with outputs and a report', () => {
  test.each<[string, Record<string, string>, RegExp]>([
    ['a proxy that is not a URL', { HTTPS_PROXY: 'x y', https_proxy: 'x y' }, /`http_proxy` is not a URL/],
    ['unchecked certificates', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, /NODE_TLS_REJECT_\w+ turns off/],
  ])('with %s', async (_, env, reason) => {
    const delivered = await scenario.deliver({ files, env, inputs: { channel: 'K3' } });
    expect(delivered.exitCode).toBe(1);
    expect(delivered.outputs).toMatchObject({ result: 'not-ready', url: '' });
    expect(delivered.report.notReady?.reason).toMatch(reason);
    expect(delivered.stdout + delivered.stderr).not.toMatch(/^\s+at /m);
  });

  test('with a line break in the token, which is printed nowhere', async () => {
    const token = `${scenario.world.token()}\n${scenario.world.token()}`;
    const delivered = await scenario.deliver({ files, token, inputs: {} });
    expectNotReady(delivered, 'check', /input `token` is too short .* or a line break/);
    expect(delivered.outputs.result).toBe('not-ready');
  });

  test('without a file for the summary', async () => {
    const env = { GITHUB_STEP_SUMMARY: '/nowhere/summary.md' };
    const delivered = await scenario.deliver({ files, env, inputs: { channel: 'K3' } });
    expect(delivered.exitCode).toBe(0);
    expect(delivered.outputs.result).toBe('ready');
    expect(delivered.stdout).toContain('Could not write the job summary');
  });

  test('with GH_TOKEN=ready, and hands over the verified URL', async () => {
    const env = { GH_TOKEN: 'ready' };
    const delivered = await scenario.deliver({ files, env, inputs: { channel: 'K3' } });
    expect(delivered.outputs).toMatchObject({ result: 'ready', url: delivered.report.url });
    expect(String(await scenario.fetchPublic(delivered.outputs.url ?? ''))).toBe(createPage());
  });
});
