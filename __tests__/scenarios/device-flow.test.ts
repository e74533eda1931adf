import { beforeEach, describe, expect, test } from '@jest/globals';
import type { RawInputs } from '../../src/request/inputs.ts';
import type { RunContext } from '../../src/request/parse-request.ts';
import type { TestRepository } from '../world/repository.ts';
import { type Played, proven, refused, requestsOf, setUpPlay } from './play.ts';

const PAGE = '<!doctype html><p>marker-42</p>\n';
const play = setUpPlay();
let repository: TestRepository;

beforeEach(async () => {
  repository = await play.repository();
  const usual = { interval: 5, expiresIn: 899, clientIds: null, disabledClientIds: [] };
  Object.assign(play.world.deviceUser, { script: ['pending', 'grant'], ...usual });
});

/** One page, without a token and with a client id. */
const run = (
  inputs: Partial<RawInputs> = {},
  around: Partial<RunContext> = { sourceIsPrivate: false },
  signal?: AbortSignal,
): Promise<Played> =>
  play.deliver({
    repository,
    files: { 'page.html': PAGE },
    token: '',
    inputs: { 'client-id': 'Iv1.0123456789abcdef', ...inputs },
    around,
    ...(signal && { signal }),
  });

const POLL = /access_token$/;
/** What anybody but the flow's own host was asked. */
const ELSEWHERE = /filebin|api\.github/;

describe('a human who grants', () => {
  test('after pending twice and slow_down once, the page is delivered on K1', async () => {
    play.world.deviceUser.script = ['pending', 'pending', 'slow_down', 'grant'];
    const delivered = await proven(run({ channel: 'K1', marker: 'marker-42' }));
    expect(String(await repository.read('page.html'))).toBe(PAGE);
    expect(requestsOf(delivered, POLL)).toHaveLength(4);
    expect(delivered.took).toBeGreaterThanOrEqual((5 + 5 + 5 + 10) * 1_000);
    const shown = delivered.log.split('\n').filter((line) => /login|code/.test(line));
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatch(
      /^Open https:\/\/github\.com\/login\/device and enter the code [A-Z]{4}-[A-Z]{4}$/,
    );
    const token = play.world.deviceUser.tokens.at(-1) ?? 'none';
    expect(delivered.log + JSON.stringify(delivered.report)).not.toContain(token);
    // The API alone was shown the token.
    expect([...new Set(delivered.sightings(token).map(({ host }) => host))]).toEqual(['api.github.com']);
  });

  test('on an instance of its own enters the code there, and the token goes nowhere else', async () => {
    const instance = play.world.addEnterprise('ghes.example.com');
    repository = await play.repository({ instance });
    const delivered = await proven(run({ channel: 'K1' }));
    expect(delivered.report.url).toBe(`${repository.pages.url}page.html`);
    expect(delivered.log).toMatch(/^Open https:\/\/ghes\.example\.com\/login\/device and enter the code/m);
    const token = play.world.deviceUser.tokens.at(-1) ?? 'none';
    expect([...new Set(delivered.sightings(token).map(({ host }) => host))]).toEqual(['ghes.example.com']);
  });

  test('lets auto choose as with any token, and is told of no trouble on the way', async () => {
    play.intercept({ url: POLL }, { status: 502, body: '<h1>Bad gateway</h1>' });
    const delivered = await run();
    expect(delivered.report).toMatchObject({ ready: true, channel: 'K1' });
    expect(requestsOf(delivered, POLL)).toHaveLength(3);
  });
});

describe.each([
  ['a human who refuses', ['pending', 'refuse'], 'the authorization was refused'],
  ['a code that expires', ['pending', 'expire'], 'the code expired'],
] as const)('%s', (_, script, says) => {
  beforeEach(() => {
    play.world.deviceUser.script = [...script];
  });

  test('auto falls back to K3, and the report says why', async () => {
    const delivered = await run();
    expect(delivered.report).toMatchObject({ ready: true, channel: 'K3' });
    expect(delivered.report.lines.CODE).toContain(says);
    expect(requestsOf(delivered, POLL)).toHaveLength(2);
  });

  test.each([
    ['the public bin of a private file', {}, true, 'NOT_EXTERNAL'],
    ['the public bin of a file that may be private', {}, null, 'NOT_EXTERNAL'],
    ['K1', { channel: 'K1' }, false, 'NOT_AUTHORIZED'],
    ['K2', { channel: 'K2' }, false, 'NOT_AUTHORIZED'],
    ['K1+K3', { channel: 'K1+K3' }, false, 'NOT_AUTHORIZED'],
  ])('%s is НЕ ГОТОВО with that reason; nobody is pressed, and nothing is written', async (...row) => {
    const [, inputs, sourceIsPrivate, code] = row;
    const delivered = await refused(
      run(inputs, { sourceIsPrivate }),
      new RegExp(`^authorize.*: .*${says}.* → `),
    );
    expect(delivered.report.notReady?.code).toBe(code);
    expect(delivered.report.lines.UNKNOWN).toContain('nothing was published');
    expect(requestsOf(delivered, POLL)).toHaveLength(2);
    expect(requestsOf(delivered, ELSEWHERE)).toEqual([]);
  });
});

test.each([
  ['that nobody knows', { clientIds: ['another'] }, /^authorize.*: .*client ID.* → /],
  ['without device flow', { disabledClientIds: ['Iv1.0123456789abcdef'] }, /^authorize.*: .*device flow/i],
])('a client id %s is said, and not fallen back from', async (_, user, says) => {
  Object.assign(play.world.deviceUser, user);
  expect((await refused(run(), says)).requests).toHaveLength(1);
});

test('no human is asked where no channel needs a token, or there is one', async () => {
  for (const inputs of [{ channel: 'K3' }, { channel: 'K1', token: play.world.token() }]) {
    expect(requestsOf(await proven(run(inputs)), /\/login\//)).toEqual([]);
  }
});
