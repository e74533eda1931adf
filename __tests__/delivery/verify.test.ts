import { describe, expect, test } from '@jest/globals';
import type { HostProgress, Placement } from '../../src/channels/channel.ts';
import { newAttempt } from '../../src/delivery/delivery.ts';
import { proveAttempts } from '../../src/delivery/publish-through-channel.ts';
import { DeliveryError } from '../../src/errors.ts';
import { AGREEING_PROBES, LATER_PROBE } from '../../src/protocol/limits.ts';
import { shaOf } from '../channels/pages/site/memory-files.ts';
import { localFile } from '../support/files.ts';
import { FakeHttp, fakePorts, NOON, type Scripted } from '../support/ports.ts';
import { INTERVAL, placementWith, TIMEOUT, taskWith } from './builders.ts';

const BYTES = '<p>It works</p>\n<p>really</p>\n';
const MARKER = 'It works';
const ALTERED = { body: `<!-- built -->${BYTES}` };
const FILE = { body: BYTES };
const NOT_FOUND = { status: 404 };
const GONE = { status: 410 };
const LOOKS = TIMEOUT / INTERVAL + 1;
const RESET = new DeliveryError('CONNECTION', 'reset', { hint: 'plug it in' });
/** Placements of K2 and K3, and of K4. */
const BIN = { bypassCache: false, hostMayChangeBytes: false };
const LINK = { ...BIN, isLink: true };

interface Expected {
  readonly marker?: string;
  readonly gone?: boolean;
  /** Asks the host, where it is waited for. */
  readonly progress?: () => Promise<HostProgress>;
}

/** By how often the address of the proof is asked, as a browser does or not, and how many seconds after the placing. */
type Answer = (nth: number, seconds: number, isBrowser: boolean) => Scripted | Error;

/** Proves a file at an address. On K1 the address without `?v=` is always right. */
async function prove(
  answer: Answer | Scripted | Error,
  more: Partial<Placement> = {},
  { marker = MARKER, gone = false, progress }: Expected = {},
) {
  const { rawUrl: _, ...usual } = placementWith({ earlier: [{ sha: shaOf('old'), size: 3 }], ...more });
  const asked: number[] = [];
  const host = new FakeHttp(({ url, headers }) => {
    if (usual.bypassCache && !url.includes('?v=') && !url.includes('/login')) return FILE;
    const seconds = (ports.clock.now() - NOON) / 1000;
    asked.push(seconds);
    const isBrowser = headers['user-agent']?.startsWith('Mozilla/5.0 ') ?? false;
    return typeof answer === 'function' ? answer(asked.length, seconds, isBrowser) : answer;
  });
  const ports = fakePorts(host.http);
  const placement = { ...usual, file: gone ? null : await localFile(BYTES) };
  const attempt = { ...newAttempt(taskWith(), marker || undefined), gone, placement };
  const limits = { interval: INTERVAL, timeout: TIMEOUT };
  const [proven = attempt] = await proveAttempts([attempt], limits, ports, progress && { progress });
  const { proof, failure, unknown, took } = proven;
  return { proof, failure, unknown, took, host, ports, asked, elapsed: ports.clock.now() - NOON };
}

const building = async (): Promise<HostProgress> => ({ finished: false, detail: 'building' });
const builtAt = (committedAt?: number) => async () => ({ finished: true, detail: 'built', committedAt });
const dated = (at: number, body = ALTERED.body): Scripted => {
  return { body, headers: { 'last-modified': new Date(at).toUTCString() } };
};

test.each([
  ['ends the wait at once where waiting can not help', 'ban', '', 1],
  ['is waited out until the deadline where it may pass', 'approval', ' in time', LOOKS],
])('A refusal that the channel can explain %s.', async (_, word, time, looks) => {
  const refusals = ['ban', 'approval'].map((one) => ({
    ...{ httpCodes: [403], text: new RegExp(one) },
    ...{ hint: `what helps against ${one}`, isFinal: one === 'ban' },
  }));
  const answer = { status: 403, headers: { 'content-type': 'text/plain' }, body: word };
  const { failure, asked } = await prove(answer, { refusals });
  expect(failure).toMatchObject({
    ...{ code: 'NOT_PROVEN', httpCode: 403, hint: `what helps against ${word}` },
    message: `the address was not proven${time}: the address answers HTTP 403: ${word}`,
  });
  expect(asked).toHaveLength(looks);
});

describe('verifying', () => {
  test('asks a host that limits requests again only after the time in Retry-After', async () => {
    const limited = { status: 429, headers: { 'retry-after': '61' } };
    const { proof, asked } = await prove((nth) => (nth === 1 ? limited : FILE));
    expect(proof).toMatchObject({ match: 'identical' });
    expect(asked).toEqual([0, 65]);
  });

  test('names the limits of a site whose host limits requests until the end', async () => {
    const { failure, asked } = await prove({ status: 429, headers: { 'retry-after': '3600' } });
    const hint = expect.stringMatching(/10 builds an hour, 100 GB a month and 1 GB/);
    expect(failure).toMatchObject({ code: 'NOT_PROVEN', httpCode: 429, hint });
    expect(asked).toHaveLength(1);
  });

  test.each<[string, Scripted | Error]>([
    ['a 404', NOT_FOUND],
    ['the page before', { body: 'old' }],
    ['a beginning', { body: BYTES.slice(0, 9) }],
    ['a warning page', { body: 'Please read' }],
    ['altered bytes that hold the marker', ALTERED],
    ['a broken connection', RESET],
  ])('goes on after %s until the file shows', async (_, before) => {
    const { proof, asked } = await prove((nth) => (nth <= 3 ? before : FILE));
    expect(proof).toMatchObject({ match: 'identical' });
    expect(asked).toEqual([0, 5, 10, 15]);
  });

  test.each<[string, Scripted | Error, number | undefined, RegExp, RegExp]>([
    ['nothing', NOT_FOUND, 404, /answers HTTP 404$/, /public/],
    ['the page before', { body: 'old' }, 200, /the content from before$/, /cache.*`path:`/],
    ['a beginning', { body: BYTES.slice(0, 9) }, 200, /only the beginning/, /incompletely/],
    ['something else', { body: 'Please read' }, 200, /other content/, /plain text of it/],
    ['other bytes with the marker', ALTERED, 200, /marker, but other bytes/, /\.nojekyll/],
    ['silence', RESET, undefined, /^[^:]*: reset$/, /plug it in/],
  ])('fails at the deadline when the address still shows %s', async (_, answer, httpCode, message, hint) => {
    const { failure, asked, elapsed } = await prove(answer);
    expect(failure).toMatchObject({
      ...{ code: 'NOT_PROVEN', httpCode },
      ...{ message: expect.stringMatching(message), hint: expect.stringMatching(hint) },
    });
    expect([asked.length, elapsed]).toEqual([LOOKS, TIMEOUT]);
  });

  test('writes down what it saw, once, with the seconds that had gone by', async () => {
    const { ports } = await prove((nth) => (nth < 3 ? NOT_FOUND : FILE));
    expect(ports.logger.lines.slice(0, 3)).toEqual([
      '# Verify the public address',
      '0 s: the address answers HTTP 404',
      'the address answers HTTP 200 with the file, byte for byte',
    ]);
  });
});

describe('answers in a row', () => {
  test('are four where no cache is got past, at once', async () => {
    const { proof, asked } = await prove(FILE, BIN);
    expect(proof).toMatchObject({ match: 'identical' });
    expect(asked).toEqual([0, 0, 0, 0]);
  });

  test('are four of a link from outside, the second one some seconds later and as a browser asks', async () => {
    const browsers: boolean[] = [];
    const answer: Answer = (_, __, isBrowser) => {
      browsers.push(isBrowser);
      return FILE;
    };
    const { asked, unknown } = await prove(answer, LINK);
    expect([asked, unknown]).toEqual([[0, 5, 5, 5], []]);
    expect(browsers).toEqual([false, true, false, false]);
  });

  test('say where a link leads to another host, which may change what it shows', async () => {
    const store = { status: 302, headers: { location: 'https://store.dev/page.html' } };
    const { unknown } = await prove((nth) => (nth % 2 === 1 ? store : FILE), LINK);
    expect(unknown).toEqual([expect.stringMatching(/^whether store\.dev, where .* without the link$/)]);
  });

  test.each<[string, Answer, object]>([
    ['that opens once', (nth) => (nth === 1 ? FILE : GONE), { httpCode: 410 }],
    ['that opens for four seconds', (_, seconds) => (seconds < 4 ? FILE : GONE), { httpCode: 410 }],
    [
      'that shows browsers a page of its own',
      (_, __, isBrowser) => ({ body: isBrowser ? `<title>Friendly Reminder</title>${MARKER}` : BYTES }),
      { message: expect.stringMatching(/answers browsers HTTP 200 with other content/) },
    ],
  ])('are not given by a link %s', async (_, answer, failure) => {
    expect((await prove(answer, LINK)).failure).toMatchObject({ code: 'NOT_PROVEN', ...failure });
  });

  const away = { status: 302, headers: { location: 'https://b.dev/' } };
  test.each<[string, readonly (Scripted | Error)[]]>([
    ['come from two hosts', [dated(NOON, BYTES), away, dated(NOON, BYTES)]],
    ['are two pages with the marker', [dated(NOON), dated(NOON, `<!-- 2 -->${BYTES}`)]],
    ['are the file and a page with the marker', [dated(NOON, BYTES), dated(NOON)]],
  ])('prove nothing where they %s', async (_, turns) => {
    const answer: Answer = (nth) => turns[(nth - 1) % turns.length] as Scripted;
    const hidden = { ...BIN, hostMayChangeBytes: true };
    const { failure } = await prove(answer, hidden, { progress: builtAt(NOON) });
    expect(failure).toMatchObject({ code: 'NOT_PROVEN', message: expect.stringMatching(/at other times/) });
  });

  test.each([
    [1, 2 + 8],
    [2, 4 + 16],
    [9, 18 + 32],
  ])('are twice as many after each wrong one, up to a limit: %i', async (wrong, requests) => {
    const answer: Answer = (nth) => (nth % 2 === 0 && nth <= wrong * 2 ? NOT_FOUND : FILE);
    const { proof, asked } = await prove(answer, BIN);
    expect([proof?.match, asked.length]).toEqual(['identical', requests]);
  });

  test('prove nothing where the deadline cuts them short after a wrong one', async () => {
    const answer: Answer = (nth, seconds) => (seconds < TIMEOUT / 1_000 && nth % 2 === 0 ? NOT_FOUND : FILE);
    const { failure } = await prove(answer, BIN);
    expect(failure).toMatchObject({ code: 'NOT_PROVEN' });
  });
});

describe('a body that has the marker in other bytes, where a build was made', () => {
  const COMMITTED = NOON + 1_000;
  const built = builtAt(COMMITTED);
  /** The address is as it is without `?v=` too. */
  const rendered = { bypassCache: false };

  test.each<[string, Scripted]>([
    ['of the same second', dated(COMMITTED)],
    ['of later', dated(COMMITTED + 60_000)],
  ])('is proven at once by a page %s', async (_, answer) => {
    const { proof, elapsed } = await prove(answer, rendered, { progress: built });
    expect([proof, elapsed]).toMatchObject([{ match: 'altered', markerCount: 1 }, 0]);
  });

  test.each<[string, Scripted, Partial<Placement>, Expected]>([
    ['the page is older than the commit', dated(COMMITTED - 1_000), rendered, { progress: built }],
    ['the page has no date', ALTERED, rendered, { progress: built }],
    ['the time of the commit is not known', dated(COMMITTED), rendered, { progress: builtAt() }],
    ['another page answers', dated(COMMITTED, 'Please read'), rendered, { progress: built }],
    ['an old page answers', dated(COMMITTED, 'old'), rendered, { progress: built }],
    ['the host has no reason to change bytes', dated(COMMITTED), BIN, { progress: built }],
    ['it is to be withdrawn', dated(COMMITTED), rendered, { gone: true, progress: built }],
  ])('is not believed where %s, not even at the deadline', async (_, answer, placement, expected) => {
    const { failure, elapsed } = await prove(answer, placement, expected);
    expect([failure, elapsed]).toMatchObject([{ code: 'NOT_PROVEN' }, TIMEOUT]);
  });
});

test.each([
  [`${BYTES}<script>1</script>`, MARKER, "what the link's host has added to its pages does: <script>"],
  [BYTES.replace('\n', ''), '', 'changed spaces or line breaks, which count in preformatted text'],
])('A link is proven where its host only added to the file, and UNKNOWN says what: %s.', async (...row) => {
  const [body, marker, said] = row;
  const { proof, unknown, elapsed } = await prove({ body }, LINK, { marker });
  expect(proof?.match).toBe('extended');
  expect(unknown[0]).toMatch(said);
  expect(elapsed).toBe(LATER_PROBE);
});

describe('a host that nothing reaches', () => {
  const away = new DeliveryError('NO_NETWORK', "example.com can't be reached");

  test('is given up after a minute where it is that of a link', async () => {
    const { failure, elapsed } = await prove(away, LINK);
    expect(failure?.message).toBe(`the address was not proven: ${away.message}`);
    expect(elapsed).toBe(TIMEOUT / 4);
  });

  test.each<[string, Answer, Partial<Placement>]>([
    ['has answered', (nth) => (nth === 1 ? { status: 503 } : away), LINK],
    ['is that of a placement', () => away, {}],
  ])('is waited for where it %s', async (_, answer, more) => {
    const { failure, elapsed } = await prove(answer, more);
    expect(failure?.message).toMatch('the address was not proven in time');
    expect(elapsed).toBe(TIMEOUT);
  });
});

test.each([undefined, building])(
  'A login page ends the wait and the proof at once, whatever it holds.',
  async (progress) => {
    const answer: Answer = (nth) =>
      nth % 2 === 1 ? { status: 302, headers: { location: '/login' } } : { body: `Sign in: ${MARKER}` };
    const { failure, elapsed } = await prove(answer, {}, progress && { progress });
    expect(failure).toMatchObject({
      ...{ code: 'NOT_EXTERNAL', httpCode: 200, hint: expect.stringContaining('Public Pages') },
      message: expect.stringMatching(/^the address answers HTTP 200 with a login page: .* private mode/),
    });
    expect(elapsed).toBe(0);
  },
);

describe('verifying that nothing is there any more', () => {
  const withdraw = (answer: Answer | Scripted, progress?: Expected['progress']) =>
    prove(answer, {}, { marker: '', gone: true, ...(progress && { progress }) });

  test.each<[string, Scripted | Error]>([
    ['the file', FILE],
    ['an error of the host', { status: 503 }],
    ['no answer', RESET],
  ])('goes on after %s until nothing shows as often as it takes', async (_, before) => {
    const { proof, asked, elapsed } = await withdraw((nth) => (nth <= 2 ? before : GONE));
    expect(proof).toMatchObject({ match: 'gone', httpCode: 410, sha256: null, hosts: ['octo.github.io'] });
    expect(asked).toHaveLength(2 + AGREEING_PROBES.usual);
    expect(elapsed).toBe(2 * INTERVAL);
  });

  test.each<[string, HostProgress, number]>([
    ['waits while the host still builds', { finished: false, building: true, detail: 'building' }, 1],
    ['does not wait where nobody says so', { finished: false, building: false, detail: 'denied' }, 0],
  ])('%s: anything may answer a 404', async (_, first, waits) => {
    let asked = 0;
    const built = { finished: true, detail: 'built' };
    const { took } = await withdraw(NOT_FOUND, async () => (asked++ === 0 ? first : built));
    expect(took.wait).toBe(waits * INTERVAL);
  });

  test('fails at the deadline when the address still shows something', async () => {
    const { failure, elapsed } = await withdraw(FILE);
    const message = expect.stringContaining('some content: there should be none');
    expect([failure, elapsed]).toMatchObject([{ code: 'NOT_PROVEN', httpCode: 200, message }, TIMEOUT]);
  });
});

describe('waiting for the host', () => {
  const late: Answer = (nth) => (nth < 3 ? NOT_FOUND : FILE);
  const refuse = () => Promise.reject(new Error('asked'));

  test.each<[string, Answer, NonNullable<Expected['progress']>, number]>([
    ['at the live bytes, whatever the build says', late, building, 2],
    ['without asking the host when the bytes are live', () => FILE, refuse, 0],
    ['when the host has finished, and leaves the rest to verification', late, builtAt(), 0],
  ])('ends %s, and does not ask again for what it has seen', async (_, answer, progress, waits) => {
    const { proof, took, asked } = await prove(answer, {}, { progress });
    expect([proof?.match, took.wait]).toEqual(['identical', waits * INTERVAL]);
    expect(asked).toHaveLength(answer(1, 0, false) === NOT_FOUND ? 3 : 1);
  });

  test.each<[string, Scripted | Error, Partial<HostProgress>, object]>([
    [
      'with the HTTP code, the build’s state and what to do',
      NOT_FOUND,
      { hint: 'look at Settings' },
      {
        httpCode: 404,
        message: 'the site did not show the file within 240 s: the address answers HTTP 404; building',
        hint: 'look at Settings',
      },
    ],
    [
      'with what to do also where the host does not say it, and not on altered bytes',
      ALTERED,
      {},
      { httpCode: 200, hint: expect.stringContaining('try again') },
    ],
    ['with the API’s code where the address gave none', RESET, { httpCode: 403 }, { httpCode: 403 }],
  ])('ends after 240 s %s', async (_, answer, more, failure) => {
    const progress = async () => ({ ...(await building()), ...more });
    const waited = await prove(answer, {}, { progress });
    expect(waited.failure).toMatchObject({ code: 'BUILD_TIMEOUT', step: 'wait', ...failure });
    expect(waited.elapsed).toBe(TIMEOUT);
  });
});
