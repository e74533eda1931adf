import { describe, expect, test } from '@jest/globals';
import type { HostProgress } from '../../src/channels/channel.ts';
import { PLAIN_HOST } from '../../src/channels/host-rules.ts';
import { rawCheck } from '../../src/channels/pages/site-checks.ts';
import { DeliveryError } from '../../src/errors.ts';
import { AGREEING_ANSWERS } from '../../src/protocol/limits.ts';
import { shaOf } from '../channels/pages/site/memory-files.ts';
import { localFile } from '../support/files.ts';
import { NOON, type Scripted } from '../support/ports.ts';
import { INTERVAL, PAGE, type PlacementParts, RAW, TIMEOUT } from './builders.ts';
import {
  type Answer,
  type Asked,
  BYTES,
  type Expected,
  FILE,
  isRaw,
  MARKER,
  NOT_FOUND,
  prove,
} from './proving.ts';

const ALTERED = { body: `<!-- built -->${BYTES}` };
const GONE = { status: 410 };
const LOOKS = TIMEOUT / INTERVAL + 1;
const RESET = new DeliveryError('CONNECTION', 'reset', { hint: 'plug it in' });
const LOGIN = { status: 302, headers: { location: '/login?return_to=x' } };
/** Placements of K2 and K3, and of K4. */
const STORE: PlacementParts = { on: 'K2', expect: { is: 'bytes' } };
const LINK: PlacementParts = { on: 'K4', expect: { is: 'bytes' } };
const OLD = 'old';
const BEFORE = [{ sha: shaOf(OLD), size: OLD.length }];

/** Proves a file where every request is answered so, but for those of K1 without `?v=`, which are right. */
async function provePage(
  answer: Answer | Scripted | Error,
  more: PlacementParts = {},
  expected: Expected = {},
) {
  const { on = 'K1', expect = {} } = more;
  const isMeant = ({ isFresh, url }: Asked) => isFresh || on !== 'K1' || url.includes('/login');
  const respond: Answer = (asked, ports) => {
    if (!isMeant(asked)) return FILE;
    return typeof answer === 'function' ? answer(asked, ports) : answer;
  };
  const proven = await prove(respond, { ...more, expect: { before: BEFORE, ...expect } }, expected);
  return { ...proven, times: proven.asked.filter(isMeant).map(({ seconds }) => seconds) };
}

const building = async (): Promise<HostProgress> => ({ finished: false, detail: 'building' });
const builtAt = (at?: number) => async () => ({ finished: true, detail: 'built', builtAt: at });
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
  const { failure, times } = await provePage(answer, { host: { ...PLAIN_HOST, refusals } });
  expect(failure).toMatchObject({
    ...{ code: 'NOT_PROVEN', httpCode: 403, hint: `what helps against ${word}` },
    message: `the URL was not verified${time}: the URL answers HTTP 403: ${word}`,
  });
  expect(times).toHaveLength(looks);
});

describe('verifying', () => {
  test('asks a host that limits requests again only after the time in Retry-After, and names its limits', async () => {
    const limited = (seconds: string) => ({ status: 429, headers: { 'retry-after': seconds } });
    const { proof, times } = await provePage(({ nth }) => (nth === 1 ? limited('61') : FILE));
    expect([proof?.match, times]).toEqual(['identical', [0, 65]]);
    const late = await provePage(limited('3600'));
    const hint = expect.stringMatching(/10 builds an hour and 100 GB a month/);
    expect(late.failure).toMatchObject({ code: 'NOT_PROVEN', httpCode: 429, hint });
    expect(late.times).toHaveLength(1);
  });

  test.each<[string, Scripted | Error, number | undefined, RegExp, RegExp]>([
    ['nothing', NOT_FOUND, 404, /answers HTTP 404$/, /public/],
    ['the page before', { body: OLD }, 200, /the previous content$/, /cache.*`path:`/],
    ['a beginning', { body: BYTES.slice(0, 9) }, 200, /only the beginning/, /only a part/],
    ['something else', { body: 'Please read' }, 200, /other content/, /another run replaced the file/],
    ['other bytes with the marker', ALTERED, 200, /expected text, but other content/, /\.nojekyll/],
    ['silence', RESET, undefined, /^[^:]*: reset$/, /plug it in/],
  ])('goes on after %s until the file shows, and fails at the deadline', async (_, answer, ...error) => {
    const shown = await provePage(({ nth }) => (nth <= 3 ? answer : FILE));
    expect([shown.proof?.match, shown.times]).toEqual(['identical', [0, 5, 10, 15]]);
    const { failure, times, elapsed } = await provePage(answer);
    const [httpCode, message, hint] = error;
    expect(failure).toMatchObject({
      ...{ code: 'NOT_PROVEN', httpCode },
      ...{ message: expect.stringMatching(message), hint: expect.stringMatching(hint) },
    });
    expect([times.length, elapsed]).toEqual([LOOKS, TIMEOUT]);
  });

  test('writes down what it saw, once, with the seconds that had gone by', async () => {
    const { ports } = await provePage(({ nth }) => (nth < 3 ? NOT_FOUND : FILE));
    expect(ports.logger.lines.slice(0, 3)).toEqual([
      '# Verify the public URL',
      'after 0 s: the URL answers HTTP 404',
      'the URL answers HTTP 200 with the file, byte for byte',
    ]);
  });

  test('tells why an address may open only inside this network', async () => {
    const url = new URL('https://pages.git.corp/octo/site/page.html');
    const { proof, unknown } = await prove(FILE, { url });
    const why = 'pages.git.corp is a host name of an internal network';
    expect([proof?.isInternal, unknown]).toEqual([
      true,
      [`whether the URL opens outside this network: ${why}`],
    ]);
  });

  test.each<[string, PlacementParts, readonly unknown[]]>([
    ['K1', {}, [expect.stringMatching(/^whether store\.dev, .* without the repository$/)]],
    ['a store', STORE, []],
    ['a link', LINK, [expect.stringMatching(/^whether store\.dev, .* without the link$/)]],
  ])('says of %s where it leads to another host, which may change it', async (_, more, expected) => {
    const store = { status: 302, headers: { location: 'https://store.dev/page.html' } };
    const { unknown } = await prove(({ url }) => (url.startsWith(PAGE.href) ? store : FILE), more);
    expect(unknown).toEqual(expected);
  });
});

describe('answers in a row', () => {
  test('are four of a link at once, the second one as a browser asks', async () => {
    const { asked, times, unknown } = await provePage(FILE, LINK);
    expect([times, unknown]).toEqual([[0, 0, 0, 0], []]);
    expect(asked.map(({ isBrowser }) => isBrowser)).toEqual([false, true, false, false]);
  });

  test('may differ for browsers where the host of a link adds to its page for them alone, which is told', async () => {
    const answer: Answer = ({ isBrowser }) => ({ body: isBrowser ? `${BYTES}<nav>Host</nav>` : BYTES });
    const { proof, unknown } = await provePage(answer, LINK);
    expect(proof?.match).toBe('extended');
    expect(unknown).toEqual(["what the additions by the link's host do: <nav>"]);
  });

  test.each<[string, Answer, object]>([
    ['that opens once', ({ nth }) => (nth === 1 ? FILE : GONE), { httpCode: 410 }],
    [
      'that shows browsers a page of its own',
      ({ isBrowser }) => ({ body: isBrowser ? `<title>Friendly Reminder</title>${MARKER}` : BYTES }),
      { message: expect.stringMatching(/answers browsers HTTP 200 with other content/) },
    ],
  ])('are not given by a link %s', async (_, answer, failure) => {
    const found = await provePage(answer, LINK);
    expect(found.failure).toMatchObject({ code: 'NOT_PROVEN', ...failure });
    // Its address is somebody else's.
    expect(found.failure?.hint).not.toContain('a new name');
  });

  const away = { status: 302, headers: { location: 'https://b.dev/' } };
  test.each<[string, readonly (Scripted | Error)[]]>([
    ['come from two hosts', [dated(NOON, BYTES), away]],
    ['are two pages with the marker', [dated(NOON), dated(NOON, `<!-- 2 -->${BYTES}`)]],
    ['are the file and a page with the marker', [dated(NOON, BYTES), dated(NOON)]],
  ])('prove nothing where they %s', async (_, turns) => {
    const answer: Answer = ({ nth }) => turns[(nth - 1) % turns.length];
    const hidden: PlacementParts = { on: 'K2', expect: { is: 'built' } };
    const { failure } = await provePage(answer, hidden, { progress: builtAt(NOON) });
    expect(failure).toMatchObject({ code: 'NOT_PROVEN', message: expect.stringMatching(/at other times/) });
    expect(failure?.hint).toMatch(/ answer differently: .*, or set `path:` to a new name$/);
  });

  test.each([
    [1, 2 + 8],
    [2, 4 + 16],
    [9, 18 + 32],
  ])('are twice as many after each wrong one, up to a limit: %i', async (wrong, requests) => {
    const answer: Answer = ({ nth }) => (nth % 2 === 0 && nth <= wrong * 2 ? NOT_FOUND : FILE);
    const { proof, times } = await provePage(answer, STORE);
    expect([proof?.match, times.length]).toEqual(['identical', requests]);
  });

  test('prove nothing where the deadline cuts them short after a wrong one', async () => {
    const { failure } = await provePage(
      ({ nth, seconds }) => (seconds < TIMEOUT / 1_000 && nth % 2 === 0 ? NOT_FOUND : FILE),
      STORE,
    );
    expect(failure).toMatchObject({ code: 'NOT_PROVEN' });
  });
});

describe('a body that has the marker in other bytes, where a build was made', () => {
  const COMMITTED = NOON + 1_000;
  const built = { progress: builtAt(COMMITTED) };
  /** The address is as it is without `?v=` too. */
  const rendered: PlacementParts = { on: 'K2', expect: { is: 'built' } };

  test.each<[string, Scripted]>([
    ['of the same second', dated(COMMITTED)],
    ['of later', dated(COMMITTED + 60_000)],
  ])('is proven at once by a page %s', async (_, answer) => {
    const { proof, elapsed } = await provePage(answer, rendered, built);
    expect([proof, elapsed]).toMatchObject([{ match: 'altered', markerCount: 1 }, 0]);
  });

  test.each<[string, Scripted, PlacementParts, Expected]>([
    ['the page is older than the commit', dated(COMMITTED - 1_000), rendered, built],
    ['the page has no date', ALTERED, rendered, built],
    ['the time of the commit is not known', dated(COMMITTED), rendered, { progress: builtAt() }],
    ['another page answers', dated(COMMITTED, 'Please read'), rendered, built],
    ['an old page answers', dated(COMMITTED, OLD), rendered, built],
    ['the host has no reason to change bytes', dated(COMMITTED), STORE, built],
    ['it is to be withdrawn', dated(COMMITTED), { on: 'K2' }, { gone: true, ...built }],
  ])('is not believed where %s, not even at the deadline', async (_, answer, placement, expected) => {
    const { failure, elapsed } = await provePage(answer, placement, expected);
    expect([failure, elapsed]).toMatchObject([{ code: 'NOT_PROVEN' }, TIMEOUT]);
  });

  test('must be the same without `?v=`', async () => {
    const proveOther = (plain: string, fresh: string = ALTERED.body) =>
      prove((asked) => dated(COMMITTED, asked.isFresh ? fresh : plain), {}, built);
    expect(await proveOther(ALTERED.body)).toMatchObject({ proof: { match: 'altered' }, unknown: [] });
    expect((await proveOther(`<!-- 2 -->${BYTES}`)).failure).toMatchObject({ code: 'NOT_PROVEN' });
    expect((await proveOther(ALTERED.body, BYTES)).failure).toMatchObject({ code: 'NOT_PROVEN' });
  });
});

describe('the address without ?v=', () => {
  const provePlain = (answer: Answer, alsoOf = /^$/) =>
    prove((asked, ports) => (asked.isFresh && !alsoOf.test(asked.url) ? FILE : answer(asked, ports)), {
      expect: { is: 'bytes', before: BEFORE },
    });

  test.each<[Record<string, string>, string]>([
    [{ 'cache-control': 'max-age=600' }, 'until 2026-01-02 03:15 UTC'],
    [{ 'cache-control': 'max-age=600', age: '545' }, 'until 2026-01-02 03:06 UTC'],
    [{ 'cache-control': 'max-age=31536000, immutable' }, 'for more than a day'],
    [{ 'cache-control': 'max-age=0' }, 'for an unknown time'],
    [{}, 'for an unknown time'],
  ])('may still be the copy from before; then another is proven, with a note: %j', async (headers, until) => {
    const { proof, unknown, asked, elapsed } = await provePlain(() => ({ body: OLD, headers }));
    expect([proof?.match, unknown, elapsed]).toEqual(['identical', [], 2 * INTERVAL]);
    const { url, note } = proof?.versioned ?? {};
    expect(note).toBe(
      `${until}, the URL without its part after the question mark may still show the previous version`,
    );
    // The new page is still behind it, on every node, and at that address as it is.
    expect(asked.filter(({ isFresh }) => isFresh)).toHaveLength(5 + AGREEING_ANSWERS.usual);
    expect(asked.slice(-AGREEING_ANSWERS.usual).map((one) => one.url)).toEqual(
      Array(AGREEING_ANSWERS.usual).fill(url?.href),
    );
  });

  test('is named by the latest end of all caches that have the copy from before', async () => {
    const ages = ['590', '0', '300', '599'];
    const { proof } = await provePlain(({ nth }) => {
      const headers = { 'cache-control': 'max-age=600', age: ages[nth % ages.length] ?? '' };
      return { body: OLD, headers };
    });
    expect(proof?.versioned?.note).toMatch(/^until 2026-01-02 03:15 UTC, /);
  });

  test('is not replaced by an address with ?v= that shows the copy from before', async () => {
    const { failure, proof } = await provePlain(() => ({ body: OLD }), /v=c0ffee/);
    expect([failure?.code, proof]).toEqual(['NOT_PROVEN', null]);
  });

  test('is waited for no longer than it is late', async () => {
    const { unknown, elapsed } = await provePlain(({ seconds }) => (seconds >= 5 ? FILE : { body: OLD }));
    expect([unknown, elapsed]).toEqual([[], 5_000]);
  });
});

describe('the raw address', () => {
  test.each<[string, Scripted, number, string]>([
    ['is not there', NOT_FOUND, 3, 'did not show the file yet'],
    ['has the marker alone', ALTERED, 3, 'did not show the file yet'],
    ['asks to sign in', LOGIN, 1, 'answers with a login page'],
  ])('that %s holds no delivery up, and is not handed over', async (_, answer, looks, unknown) => {
    const signIn = ({ url }: Asked) => (url.includes('/login') ? { body: 'Sign in' } : FILE);
    const proven = await prove((asked) => (isRaw(asked) ? answer : signIn(asked)), {
      expect: { file: await localFile(BYTES) },
      others: [rawCheck(RAW, await localFile(BYTES))],
    });
    expect(proven).toMatchObject({
      ...{ failure: null, proof: { rawUrl: null }, elapsed: (looks - 1) * INTERVAL },
      unknown: [`its source on GitHub ${unknown}, so it was not verified`],
    });
    expect(proven.asked.filter(isRaw)).toHaveLength(looks);
  });
});

describe('a host that nothing reaches', () => {
  const away = new DeliveryError('NO_NETWORK', "example.com can't be reached");

  test.each<[string, string, number, Answer, PlacementParts]>([
    ['is given up after a minute where it is that of a link', '', TIMEOUT / 4, () => away, LINK],
    [
      'is waited for where it has answered',
      ' in time',
      TIMEOUT,
      ({ nth }) => (nth === 1 ? { status: 503 } : away),
      LINK,
    ],
    ['is waited for where it is that of a placement', ' in time', TIMEOUT, () => away, {}],
  ])('%s', async (_, inTime, expected, answer, more) => {
    const { failure, elapsed } = await provePage(answer, more);
    expect(failure?.message).toMatch(`the URL was not verified${inTime}: ${away.message}`);
    expect(elapsed).toBe(expected);
  });
});

describe('verifying that nothing is there any more', () => {
  const withdraw = (answer: Answer | Scripted, progress?: Expected['progress']) =>
    provePage(answer, {}, { marker: '', gone: true, progress });

  test.each<[string, Scripted | Error]>([
    ['the file', FILE],
    ['an error of the host', { status: 503 }],
    ['no answer', RESET],
  ])('goes on after %s until nothing shows as often as it takes', async (_, before) => {
    const { proof, times, elapsed } = await withdraw(({ nth }) => (nth <= 2 ? before : GONE));
    expect(proof).toMatchObject({ match: 'gone', httpCode: 410, sha256: null, hosts: ['octo.github.io'] });
    expect([times.length, elapsed]).toEqual([2 + AGREEING_ANSWERS.usual, 2 * INTERVAL]);
  });

  test.each<[string, Scripted, string | null]>([
    ['another file of the branch', dated(NOON, 'theirs'), null],
    ['the previous content', dated(NOON, OLD), 'NOT_PROVEN'],
    ['a page that is older than the build', dated(NOON - 1_000, 'theirs'), 'NOT_PROVEN'],
    ['a page without a date', { body: 'theirs' }, 'NOT_PROVEN'],
  ])('where another file may have its address, counts %s as it should', async (_, answer, code) => {
    const withdrawn = { marker: '', gone: true, progress: builtAt(NOON) };
    const { failure, proof } = await provePage(answer, { expect: { is: 'replaced' } }, withdrawn);
    expect([failure?.code ?? null, proof?.match]).toEqual([code, code === null ? 'gone' : undefined]);
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

  test.each<[Scripted, Expected['progress'], object]>([
    [FILE, undefined, { code: 'NOT_PROVEN', httpCode: 200, message: /content, although it was removed/ }],
    [
      NOT_FOUND,
      async () => ({ finished: false, building: true, detail: 'building' }),
      { code: 'BUILD_TIMEOUT', step: 'wait' },
    ],
  ])('fails at the deadline where something shows, or a build may still show it', async (...row) => {
    const [answer, progress, { message = /./, ...error }] = row as [
      Scripted,
      undefined,
      { message?: RegExp },
    ];
    const { proof, failure, elapsed } = await withdraw(answer, progress);
    expect([proof, elapsed]).toEqual([null, TIMEOUT]);
    expect(failure).toMatchObject({ ...error, message: expect.stringMatching(message) });
  });
});

describe('waiting for the host', () => {
  const late: Answer = ({ nth }) => (nth < 3 ? NOT_FOUND : FILE);
  const refuse = () => Promise.reject(new Error('asked'));

  test.each<[string, Answer, NonNullable<Expected['progress']>, number, number]>([
    ['at the live bytes, whatever the build says', late, building, 2, 3],
    ['without asking the host when the bytes are live', () => FILE, refuse, 0, 1],
    ['when the host has finished, and leaves the rest to verification', late, builtAt(), 0, 3],
  ])('ends %s, and does not ask again for what it has seen', async (_, answer, progress, waits, looks) => {
    const { proof, took, times } = await provePage(answer, {}, { progress });
    expect([proof?.match, took.wait, times.length]).toEqual(['identical', waits * INTERVAL, looks]);
  });

  test.each<[string, Scripted | Error, Partial<HostProgress>, object]>([
    [
      'with the HTTP code, the build’s state and what to do',
      NOT_FOUND,
      { hint: 'look at Settings' },
      {
        httpCode: 404,
        message: 'the site did not show the file within 240 s: the URL answers HTTP 404; building',
        hint: 'look at Settings',
      },
    ],
    [
      'with what to do also where the host does not say it, and not on altered bytes',
      ALTERED,
      {},
      { httpCode: 200, hint: expect.stringContaining('run it again') },
    ],
    ['with the API’s code where the address gave none', RESET, { httpCode: 403 }, { httpCode: 403 }],
  ])('ends after 240 s %s', async (_, answer, more, failure) => {
    const progress = async () => ({ ...(await building()), ...more });
    const waited = await provePage(answer, {}, { progress });
    expect(waited.failure).toMatchObject({ code: 'BUILD_TIMEOUT', step: 'wait', ...failure });
    expect(waited.elapsed).toBe(TIMEOUT);
  });
});
