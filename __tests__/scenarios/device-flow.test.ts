import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { runRequest } from '../../src/context.ts';
import type { Report } from '../../src/delivery/report.ts';
import { stoppedError } from '../../src/errors.ts';
import { createHttpClient } from '../../src/http/client.ts';
import { INPUTS, type InputName, type RawInputs } from '../../src/request/inputs.ts';
import { parseRequest } from '../../src/request/parse-request.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeClock, type FakePorts, fakePorts } from '../support/ports.ts';
import type { TestRepository } from '../world/repository.ts';
import type { ActiveInterception } from '../world/server/interceptions.ts';
import { type GitHubWorld, startWorld } from '../world/world.ts';
import { checkAndClearTraffic } from './api-requests.ts';

const PAGE = '<!doctype html><p>marker-42</p>\n';
const DEFAULT_CA = getCACertificates('default');

let world: GitHubWorld;
let repository: TestRepository;
let repositories = 0;
let folder: string;
let ports: FakePorts;
const interceptions: ActiveInterception[] = [];

beforeAll(async () => {
  world = await startWorld();
  // The delivery runs in this very process, so that its clock is the test's.
  process.env.HTTPS_PROXY = world.proxyUrl;
  setDefaultCACertificates([...DEFAULT_CA, world.ca]);
  folder = await temporaryFolder();
  await writeFile(join(folder, 'page.html'), PAGE);
});
beforeEach(async () => {
  repositories += 1;
  repository = await world.repository({
    owner: 'octo',
    name: `flow-${repositories}`,
    pages: { buildMs: 1 },
  });
  Object.assign(world.deviceUser, {
    script: ['pending', 'grant'],
    interval: 5,
    expiresIn: 899,
    clientIds: null,
  });
  ports = fakePorts(createHttpClient());
});
afterEach(() => {
  for (const interception of interceptions.splice(0)) interception.remove();
  checkAndClearTraffic(world.traffic);
});
afterAll(async () => {
  delete process.env.HTTPS_PROXY;
  setDefaultCACertificates(DEFAULT_CA);
  await world.stop();
});

/** One file through the whole story, without a token and with a client id. */
async function run(
  inputs: Partial<RawInputs> = {},
  sourceIsPrivate: boolean | null = false,
): Promise<Report> {
  const defaults = (Object.keys(INPUTS) as InputName[]).map((name) => [name, INPUTS[name].default]);
  const raw: RawInputs = {
    ...Object.fromEntries(defaults),
    file: 'page.html',
    token: '',
    repository: repository.fullName,
    'client-id': 'Iv1.0123456789abcdef',
    'api-url': 'https://api.github.com',
    'auth-url': 'https://github.com',
    ...inputs,
  };
  const around = {
    folder,
    origin: 'a test',
    now: ports.clock.now(),
    random: Math.random,
    secrets: [],
    allowedRoots: [],
    allowsFullPaths: false,
    opensLinks: false,
    job: '',
    sources: [],
    sourceIsPrivate,
  };
  const request = parseRequest(raw, around);
  const [report] = await runRequest(request, ports);
  if (report === undefined) throw new Error('No report.');
  return report;
}

const polls = (): number => world.traffic.exchanges(/access_token$/).length;
const seconds = (): number[] => ports.clock.slept.map((ms) => ms / 1_000);

describe('a human who grants', () => {
  test('after pending twice and slow_down once, the page is delivered on K1', async () => {
    world.deviceUser.script = ['pending', 'pending', 'slow_down', 'grant'];
    const report = await run({ channel: 'K1', marker: 'marker-42' });
    expect(report.notReady).toBeNull();
    expect(report).toMatchObject({ ready: true, channel: 'K1', url: `${repository.pages.url}page.html` });
    expect((await repository.read('page.html'))?.toString()).toBe(PAGE);
    expect(seconds().slice(0, 4)).toEqual([5, 5, 5, 10]);

    const { lines, masked } = ports.logger;
    const shown = lines.filter((line) => /login|code/.test(line));
    expect(shown).toEqual([
      expect.stringMatching(
        /^Open https:\/\/github\.com\/login\/device and enter the code [A-Z]{4}-[A-Z]{4}$/,
      ),
    ]);
    const token = world.deviceUser.tokens.at(-1) ?? 'none';
    expect(masked).toHaveLength(2);
    expect(masked[1]).toBe(token);
    for (const secret of masked) expect(`${lines.join('\n')}${JSON.stringify(report)}`).not.toContain(secret);
    // The API alone was shown the token.
    const bearers = world.traffic.exchanges().filter(({ headers }) => headers.authorization !== undefined);
    expect(new Set(bearers.map(({ host }) => host))).toEqual(new Set(['api.github.com']));
    for (const { headers } of bearers) expect(headers.authorization).toContain(token);
  });

  test('on an instance of its own enters the code there, and the token goes nowhere else', async () => {
    const instance = world.addEnterprise('ghes.example.com');
    repository = await world.repository({ instance, owner: 'octo', name: 'flow', pages: { buildMs: 1 } });
    const report = await run({
      channel: 'K1',
      'api-url': instance.api,
      'auth-url': 'https://ghes.example.com',
    });
    expect(report).toMatchObject({ ready: true, url: `${repository.pages.url}page.html` });
    expect(ports.logger.lines).toContainEqual(
      expect.stringMatching(/^Open https:\/\/ghes\.example\.com\/login\/device and enter the code/),
    );
    const bearers = world.traffic.exchanges().filter(({ headers }) => headers.authorization !== undefined);
    expect(new Set(bearers.map(({ host }) => host))).toEqual(new Set(['ghes.example.com']));
  });

  test('lets auto choose as with any token', async () => {
    const report = await run();
    expect(report).toMatchObject({ ready: true, channel: 'K1' });
  });

  test('is told of trouble on the way by nothing: the flow waits it out', async () => {
    const trouble = [{ status: 502, body: '<h1>Bad gateway</h1>' }, { fault: 'reset-before' as const }];
    for (const answer of trouble) interceptions.push(world.intercept({ url: /access_token$/ }, answer));
    const report = await run({ channel: 'K1' });
    expect(report.ready).toBe(true);
    expect(interceptions.map(({ hits }) => hits)).toEqual([1, 1]);
    expect(seconds().slice(0, 4)).toEqual([5, 5, 5, 5]);
  });
});

const UNAUTHORIZED = [
  {
    who: 'a human who refuses',
    script: ['pending', 'refuse'] as const,
    says: /the authorization was refused/,
  },
  { who: 'a code that expires', script: ['pending', 'expire'] as const, says: /the code expired/ },
];
describe.each(UNAUTHORIZED)('$who', ({ script, says }) => {
  beforeEach(() => {
    world.deviceUser.script = [...script];
  });

  test('auto falls back to K3, and the report says why', async () => {
    const report = await run();
    expect(report).toMatchObject({ ready: true, channel: 'K3' });
    expect(report.url).toMatch(/^https:\/\/filebin\.net\//);
    expect(report.lines.CODE).toMatch(says);
    expect(polls()).toBe(2);
  });

  test('auto falls back to K4 where the environment gave a link', async () => {
    world.host('preview.agent-host.com', () => ({ status: 200, body: PAGE }));
    const url = 'https://preview.agent-host.com/page.html';
    const report = await run({ url });
    expect(report).toMatchObject({ ready: true, channel: 'K4', url });
    expect(report.lines.CODE).toMatch(says);
  });

  test.each([true, null])('the public bin waits for the flag (private: %j)', async (sourceIsPrivate) => {
    const report = await run({}, sourceIsPrivate);
    expect(report).toMatchObject({ ready: false, notReady: { code: 'NOT_EXTERNAL', step: 'authorize' } });
    expect(report.notReady?.reason).toMatch(says);
    expect(report.notReady?.hint).toContain('allow-public-bin');
    expect(world.traffic.exchanges(/filebin/)).toEqual([]);
  });

  test.each(['K1', 'K2', 'K1+K3'])('an explicit %s is НЕ ГОТОВО with that reason', async (channel) => {
    const report = await run({ channel });
    expect(report).toMatchObject({
      ready: false,
      url: null,
      notReady: { code: 'NOT_AUTHORIZED', step: 'authorize' },
    });
    expect(report.lines.RESULT).toMatch(/^НЕ ГОТОВО → /);
    expect(report.lines.RESULT).toMatch(says);
    expect(report.lines.UNKNOWN).toContain('nothing was published');
    // Nobody is pressed, and nothing is written.
    expect(polls()).toBe(2);
    expect(world.traffic.exchanges(/^(PUT|PATCH)|filebin|api\.github/)).toEqual([]);
  });
});

test('a human who never comes: the lifetime ends the flow, and auto goes on with K3', async () => {
  Object.assign(world.deviceUser, { script: ['pending'], expiresIn: 60 });
  const report = await run();
  expect(report).toMatchObject({ ready: true, channel: 'K3' });
  expect(report.lines.CODE).toMatch(/the code expired/);
  expect(polls()).toBe(11);
});

test('a client id that nobody knows is said, and not fallen back from', async () => {
  world.deviceUser.clientIds = ['another'];
  const report = await run();
  expect(report).toMatchObject({ ready: false, notReady: { code: 'BAD_INPUT', step: 'authorize' } });
  expect(report.notReady?.reason).toContain('client id');
  expect(world.traffic.exchanges()).toHaveLength(1);
});

test('a client id whose app has no device flow is said, with what to change', async () => {
  world.deviceUser.disabledClientIds = ['Iv1.0123456789abcdef'];
  try {
    const report = await run();
    expect(report).toMatchObject({ ready: false, notReady: { step: 'authorize' } });
    expect(report.notReady?.reason).toMatch(/device flow/i);
  } finally {
    world.deviceUser.disabledClientIds = [];
  }
});

test('no human is asked where no channel needs a token, or there is one', async () => {
  await expect(run({ channel: 'K3' })).resolves.toMatchObject({ ready: true });
  await expect(run({ channel: 'K1', token: world.token() })).resolves.toMatchObject({ ready: true });
  expect(world.traffic.exchanges(/\/login\//)).toEqual([]);
});

describe('an abort', () => {
  test('in the middle of a pause: НЕ ГОТОВО, nothing published, no further poll', async () => {
    world.deviceUser.script = ['pending'];
    const { sleep } = FakeClock.prototype;
    ports.clock.sleep = async (ms, signal) => {
      await sleep.call(ports.clock, ms, signal);
      if (ports.clock.slept.length === 3) ports.stop.abort(stoppedError());
      signal?.throwIfAborted();
    };
    expectStopped(await run());
    expect(polls()).toBe(2);
  });

  test.each([
    { call: 'the request for a code', url: /device\/code$/ },
    { call: 'a poll', url: /access_token$/ },
  ])('in the middle of $call that is never answered', async ({ url }) => {
    const hanging = world.intercept({ url }, { fault: 'hang' });
    interceptions.push(hanging);
    const running = run();
    while (hanging.hits === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    ports.stop.abort(stoppedError());
    expectStopped(await running);
  });

  function expectStopped(report: Report): void {
    expect(report).toMatchObject({ ready: false, notReady: { code: 'ABORTED', step: 'authorize' } });
    expect(report.lines.UNKNOWN).toContain('nothing was published');
    // Stopped is not refused: no other channel is tried.
    expect(world.traffic.exchanges(/filebin|api\.github/)).toEqual([]);
  }
});
