import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { EnterpriseInstance, PublicAccess } from '../world/instance.ts';
import type { TestRepository } from '../world/repository.ts';
import { collectOutput, expectNotReady, expectReady } from './expect-report.ts';
import { createPage, listRequests, setUpScenario } from './scenario.ts';

const MEGABYTE = 1_048_576;
const scenario = setUpScenario();
const files = { 'page.html': createPage() };
let instances = 0;

/** Each kind of instance: the host of its number, and whether its users' content is isolated. */
const KINDS = [
  { kind: 'a server with subdomain isolation', host: 'ghes#.example.com', isolated: true },
  { kind: 'a server without', host: 'git#.example.com', isolated: false },
  { kind: 'data residency', host: 'acme#.ghe.com', isolated: true },
] as const;

type Kind = (typeof KINDS)[number];

/** A new instance for a test, and a repository on it. */
async function open({ host, isolated }: Kind, shows: PublicAccess = 'everything') {
  instances += 1;
  const own = host.replace('#', String(instances));
  const instance: EnterpriseInstance = scenario.world.addEnterprise(own, isolated);
  instance.publicAccess = shows;
  return { instance, repository: await scenario.repository({ instance }) };
}

/** A token that the world watches for, also in git's encoding. */
function watchedToken(): string {
  const token = scenario.world.token();
  scenario.world.traffic.watchFor(token);
  scenario.world.traffic.watchFor(Buffer.from(`x-access-token:${token}`).toString('base64'));
  return token;
}

/** The parts of an instance that got the token; any other place is listed as seen. */
function shownTo({ api, uploads, host }: EnterpriseInstance): string[] {
  const partOf = (url: string): string => {
    if (url.startsWith(`${api}/`) || url === `${api.replace(/\/v3$/, '')}/graphql`) return 'api';
    if (url.startsWith(`${uploads}/`)) return 'uploads';
    return url.startsWith(`https://${host}/`) && /\.git\//.test(url) ? 'git' : url;
  };
  const seen = scenario.world.traffic
    .found()
    .map(({ url, place }) => (place === 'header authorization' ? partOf(url) : `${place} of ${url}`));
  return [...new Set(seen)].sort();
}

const rawOf = ({ instance, fullName }: TestRepository): string =>
  `${instance.raw}/${fullName}/main/page.html`;

/** Makes the API refuse blobs; returns bytes of a size that would need the blob API. */
function refuseBlobs(): Buffer {
  const body = JSON.stringify({ message: 'Sorry, your input was too large to process.' });
  const headers = { 'content-type': 'application/json' };
  scenario.intercept({ method: 'POST', url: /\/git\/blobs$/ }, { status: 422, body, headers });
  return randomBytes(2 * MEGABYTE);
}

describe.each(KINDS)('on $kind, by the runner’s own variables alone', (kind) => {
  test('a page goes to the instance’s own Pages, and its raw URL is verified too', async () => {
    const { instance, repository } = await open(kind);
    const token = watchedToken();
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K1' }, token });
    const url = `${repository.pages.url}page.html`;
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage(), url });
    expect(delivered.outputs['raw-url']).toBe(rawOf(repository));
    expect(shownTo(instance)).toEqual(['api']);
    const hosts = listRequests(scenario, /./).map(({ host }) => host);
    expect(hosts.filter((host) => !`.${host}`.endsWith(`.${instance.host}`))).toEqual([]);
  });

  test("a file that the blob API refuses is pushed by git, and an asset goes to the release's upload host", async () => {
    const { instance, repository } = await open(kind);
    const token = watchedToken();
    const bytes = refuseBlobs();
    const large = { repository, files: { 'a.bin': bytes }, inputs: { channel: 'K1' }, token };
    const pushed = await scenario.deliver(large);
    const address = `${repository.pages.url}a.bin`;
    await expectReady(scenario, pushed, { channel: 'K1', shows: bytes, url: address });
    expect(pushed.stdout).toContain('using git instead');
    const pushes = scenario.world.traffic.exchanges(/git-receive-pack/).map(({ host }) => host);
    expect(new Set(pushes)).toEqual(new Set([instance.host]));
    const inputs = { channel: 'K2', tag: 'files' };
    const asset = await scenario.deliver({ repository, files, inputs, token });
    const url = `https://${instance.host}/${repository.fullName}/releases/download/files/page.html`;
    await expectReady(scenario, asset, { channel: 'K2', shows: createPage(), url });
    expect(listRequests(scenario, /^POST .*\/assets\?/)[0]?.url).toMatch(`${instance.uploads}/repos/`);
    expect(shownTo(instance)).toEqual(['api', 'git', 'uploads']);
  });

  test('in private mode, a login page never counts as delivered, whatever its content', async () => {
    const { instance, repository } = await open(kind, 'nothing');
    const reason = /^the URL answers HTTP 200 with a login page: the URL is not public/;
    const more = { httpCode: 200, hint: /Public Pages.* channel: (K1, K2 or )?K3/ };
    const marked = { 'page.html': '<!doctype html><p>Sign in to your account</p>\n' };
    const inputs = { marker: 'Sign in to your account' };
    const shown = await scenario.deliver({ repository, files: marked, inputs: { ...inputs, channel: 'K1' } });
    expectNotReady(shown, 'wait', reason, more);
    const asset = await scenario.deliver({ repository, files: marked, inputs: { ...inputs, channel: 'K2' } });
    expectNotReady(asset, 'verify', reason, more);
    const url = `${repository.pages.url}page.html`;
    const link = await scenario.deliver({ repository, inputs: { ...inputs, channel: 'K4', url } });
    expectNotReady(link, 'verify', reason, more);
    // A login page never becomes the file, so each URL was requested once.
    const asked = listRequests(scenario, /^GET .*page\.html/).map(({ url }) => url.replace(/v=\d+/, 'v='));
    expect(asked).toEqual([...new Set(asked)]);
    for (const delivered of [shown, asset])
      expect(collectOutput(delivered)).not.toContain(`https://${instance.host}`);
  });

  test('in private mode with public sites, the page is verified, and UNKNOWN names the raw URL', async () => {
    const { repository } = await open(kind, 'sites');
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K1' } });
    const url = `${repository.pages.url}page.html`;
    const unknown = /^its source on GitHub answers with a login page, so it was not verified$/;
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage(), url, unknown });
    expect(delivered.outputs['raw-url']).toBe('');
  });
});

test('a release with an upload host outside its instance does not get the token', async () => {
  const { instance, repository } = await open(KINDS[0]);
  const token = watchedToken();
  const alter = ({ body, ...reply }: { status: number; body: Buffer }) => {
    const foreign = String(body).replaceAll(instance.uploads, 'https://uploads.example.com');
    return { ...reply, body: foreign };
  };
  scenario.intercept({ method: 'POST', url: /\/releases$/ }, { alter });
  const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K2' }, token });
  expectNotReady(delivered, 'place', /upload URL is on another host/);
  expect(shownTo(instance)).toEqual(['api']);
});

/** Only the warning page shows whether a file may be downloaded once more. */
const NO_WARNING = /^whether the file can be downloaded again/;

describe('your own file-bin', () => {
  const BIN = 'https://bin.example.com/some/prefix';

  test('gets the file below its prefix, redirects to its storage, and has no warning page', async () => {
    const own = scenario.world.addFilebin(BIN);
    const { repository } = await open(KINDS[0]);
    const inputs = { channel: 'K3', bin: 'own-bin-1', 'bin-host-url': BIN };
    const delivered = await scenario.deliver({ repository, files, inputs, token: '' });
    const url = `${BIN}/own-bin-1/page.html`;
    await expectReady(scenario, delivered, { channel: 'K3', shows: createPage(), url, unknown: NO_WARNING });
    expect(own.bins.get('own-bin-1')).toMatchObject({ locked: true });
    // The bin is read before the upload, because its name was given; then the file once; then the bin again.
    expect(listRequests(scenario, /^GET /).map(({ host }) => host)).toEqual([
      'bin.example.com',
      'bin.example.com',
      'situla.filebin-storage.com',
      'bin.example.com',
    ]);
  });
});

describe.each(['NO_PROXY', 'no_proxy'])('a host in %s gets direct connections', (variable) => {
  const direct = { [variable]: 'localhost' };

  test('from API calls and git, while the site is fetched through the proxy', async () => {
    const { instance, repository } = await open(KINDS[0]);
    const door = await scenario.world.openDirectAddress(instance.host);
    const env = { ...direct, GITHUB_API_URL: `${door}/api/v3`, GITHUB_SERVER_URL: door };
    const bytes = refuseBlobs();
    const inputs = { channel: 'K1', 'raw-base': `${instance.raw}/${repository.fullName}/main` };
    const delivered = await scenario.deliver({ repository, files: { 'a.bin': bytes }, inputs, env });
    const url = `${repository.pages.url}a.bin`;
    await expectReady(scenario, delivered, { channel: 'K1', shows: bytes, url });
    expect(delivered.stdout).toContain('using git instead');
  });

  test('but a bin on this machine gets no byte', async () => {
    const own = scenario.world.addFilebin('https://bin.example.com');
    const door = await scenario.world.openDirectAddress('bin.example.com');
    const { repository } = await open(KINDS[0]);
    const inputs = { channel: 'K3', bin: 'own-bin-2', 'bin-host-url': door };
    const delivered = await scenario.deliver({ repository, files, inputs, env: direct });
    const says = /^input `bin-host-url` is not an external https URL: localhost is a host name without a dot/;
    expectNotReady(delivered, 'check', says, { hint: /opens on other machines/ });
    expect(own.bins.get('own-bin-2')).toBeUndefined();
    expect(collectOutput(delivered)).not.toContain(`${door}/`);
  });
});

describe('the steps of docs/enterprise.md', () => {
  /** The `with:` of each step. */
  async function stepsOfPage(): Promise<Record<string, string>[]> {
    const page = await readFile(new URL('../../docs/enterprise.md', import.meta.url), 'utf8');
    const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = '']) => parse(yaml));
    return blocks.flatMap((steps: { with: Record<string, string> }[]) => steps.map((step) => step.with));
  }

  test('work as written, from a runner of github.com', async () => {
    const [onInstance = {}, onBin = {}, ...others] = await stepsOfPage();
    expect(others).toEqual([]);
    const instance = scenario.world.addEnterprise('ghes.example.com');
    const reports = await scenario.repository({ instance, owner: 'octo', name: 'reports' });
    const token = watchedToken();
    expect(onInstance.token).toBe('${{ secrets.GHES_TOKEN }}');
    const repository = await scenario.repository();
    const shown = await scenario.deliver({ repository, files, inputs: { ...onInstance, token } });
    const url = `${reports.pages.url}page.html`;
    await expectReady(scenario, shown, { channel: 'K1', shows: createPage(), url });
    expect(shownTo(instance)).toEqual(['api']);

    scenario.world.addFilebin('https://bin.example.com/some/prefix');
    const binned = await scenario.deliver({ repository, files, inputs: onBin });
    const below = /^https:\/\/bin\.example\.com\/some\/prefix\/sv/;
    const shows = createPage();
    await expectReady(scenario, binned, { channel: 'K3', shows, url: below, unknown: NO_WARNING });
  });
});
