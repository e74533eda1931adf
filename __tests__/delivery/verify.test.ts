import { describe, expect, test } from '@jest/globals';
import type { HostProgress, Placement } from '../../src/channels/channel.ts';
import { newPlacementCheck, pageAddress } from '../../src/delivery/addresses.ts';
import type { ProbeResult } from '../../src/delivery/probe-result.ts';
import { prove } from '../../src/delivery/prove.ts';
import { waitForAddress } from '../../src/delivery/publish-through-channel.ts';
import type { UrlProbe } from '../../src/delivery/url-probe.ts';
import { provePage, verifyPlacement } from '../../src/delivery/verify.ts';
import { DeliveryError } from '../../src/errors.ts';
import { AGREEING_PROBES, LATER_PROBE } from '../../src/protocol/limits.ts';
import { shaOf } from '../channels/pages/site/memory-branch.ts';
import { localFile } from '../support/files.ts';
import { FakeHttp, fakePorts, NOON, type Scripted } from '../support/ports.ts';
import { INTERVAL, placementWith, TIMEOUT } from './builders.ts';

const BYTES = '<p>It works</p>\n<p>really</p>\n';
const MARKER = 'It works';
const ALTERED = { body: `<!-- built -->${BYTES}` };
/** The fingerprint of other bytes. */
const OTHER = { size: 5, sha256: 'ab'.repeat(32), counts: [1] };
const LOOKS = TIMEOUT / INTERVAL + 1;

type Answer = (nth: number, seconds: number) => Scripted | Error;

/** An address that answers by how often, and how many seconds after the placing, it is asked. */
async function stage(
  answer: Answer,
  more: Partial<Placement> = {},
  marker: string | null = MARKER,
  gone = false,
  builtAt?: number,
) {
  const file = await localFile(BYTES);
  const host: FakeHttp = new FakeHttp((_, nth) => answer(nth, (ports.clock.now() - NOON) / 1000));
  const ports = fakePorts(host.http);
  const placement = placementWith({ earlier: [{ sha: shaOf('old'), size: 3 }], ...more });
  const limits = { interval: INTERVAL, timeout: TIMEOUT, begun: NOON, deadline: NOON + TIMEOUT };
  const expected = { file: gone ? null : file, marker: marker ?? undefined, gone };
  const check = newPlacementCheck(placement, expected, limits.deadline, ports);
  const { probe } = check;
  return {
    file,
    host,
    ports,
    probe,
    expected,
    elapsed: () => ports.clock.now() - NOON,
    check,
    verifying: () => provePage(check, pageAddress({ ...check, builtAt }), limits, ports),
    waiting: (ask: () => Promise<HostProgress>) => waitForAddress(check, ask, limits, ports),
    placement,
    limits,
  };
}

const building = async (): Promise<HostProgress> => ({
  finished: false,
  detail: 'build of our commit: building',
});
const built = async (): Promise<HostProgress> => ({ finished: true, detail: 'build of our commit: built' });

describe('a refusal that the channel can explain', () => {
  const refusals = ['ban', 'approval'].map((word) => ({
    ...{ httpCodes: [403], text: new RegExp(word) },
    ...{ hint: `what helps against ${word}`, isFinal: word === 'ban' },
  }));

  test.each([
    ['ends the wait at once where waiting can not help', 'ban', '', 1],
    ['is waited out until the deadline where it may pass', 'approval', ' in time', LOOKS],
  ])('%s', async (_, word, time, looks) => {
    const headers = { 'content-type': 'text/plain' };
    const { host, verifying } = await stage(() => ({ status: 403, headers, body: word }), { refusals });
    await expect(verifying()).rejects.toMatchObject({
      ...{ code: 'NOT_PROVEN', httpCode: 403, hint: `what helps against ${word}` },
      message: `the address was not proven${time}: the address answers HTTP 403: ${word}`,
    });
    expect(host.seen).toHaveLength(looks);
  });
});

describe('verifying', () => {
  test('asks a host that limits requests again only after the time in Retry-After', async () => {
    const asked: number[] = [];
    const { host, verifying } = await stage((nth, seconds) => {
      asked.push(seconds);
      return nth === 1 ? { status: 429, headers: { 'retry-after': '61' } } : { body: BYTES };
    });
    await expect(verifying()).resolves.toMatchObject({ match: 'identical' });
    expect(host.seen).toHaveLength(2);
    expect(asked).toEqual([0, 65]);
  });

  test('names the limits of a site whose host limits requests until the end', async () => {
    const { host, verifying } = await stage(() => ({ status: 429, headers: { 'retry-after': '3600' } }));
    await expect(verifying()).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      httpCode: 429,
      hint: expect.stringMatching(/10 builds an hour, 100 GB a month and 1 GB/),
    });
    expect(host.seen).toHaveLength(1);
  });

  test('does not ask again for what the wait has already seen', async () => {
    const { host, probe, verifying } = await stage(() => ({ body: BYTES }));
    await probe.probe();
    await verifying();
    expect(host.seen).toHaveLength(1);
  });

  test('asks again when what the wait has seen proves nothing', async () => {
    const { host, probe, verifying } = await stage((nth) => (nth === 1 ? ALTERED : { body: BYTES }));
    await probe.probe();
    await expect(verifying()).resolves.toMatchObject({ match: 'identical' });
    expect(host.seen).toHaveLength(2);
  });

  test.each<[string, Scripted | Error]>([
    ['a 404', { status: 404 }],
    ['the page before', { body: 'old' }],
    ['a beginning', { body: BYTES.slice(0, 9) }],
    ['a warning page', { body: 'Please read' }],
    ['altered bytes that hold the marker', ALTERED],
    ['a broken connection', new DeliveryError('CONNECTION', 'reset')],
  ])('goes on after %s until the file shows', async (_, before) => {
    const { host, verifying, elapsed } = await stage((nth) => (nth <= 3 ? before : { body: BYTES }));
    await expect(verifying()).resolves.toMatchObject({ match: 'identical' });
    expect(host.seen).toHaveLength(4);
    expect(elapsed()).toBe(3 * INTERVAL);
  });

  test.each<[string, Scripted | Error, number | undefined, RegExp, RegExp]>([
    ['nothing', { status: 404 }, 404, /answers HTTP 404$/, /public/],
    ['the page before', { body: 'old' }, 200, /the content from before$/, /cache.*`path:`/],
    ['a beginning', { body: BYTES.slice(0, 9) }, 200, /only the beginning/, /incompletely/],
    ['something else', { body: 'Please read' }, 200, /other content/, /plain text of it/],
    [
      'silence',
      new DeliveryError('CONNECTION', 'reset', { hint: 'plug it in' }),
      undefined,
      /: reset$/,
      /plug it in/,
    ],
  ])('fails at the deadline when the address still shows %s', async (_, answer, httpCode, message, hint) => {
    const { host, verifying, elapsed } = await stage(() => answer);
    await expect(verifying()).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      httpCode,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
    expect([host.seen.length, elapsed()]).toEqual([LOOKS, TIMEOUT]);
  });

  test('keeps why there was no answer as the cause, and shows no address', async () => {
    const reset = new DeliveryError('CONNECTION', 'reset');
    const { verifying } = await stage(() => reset);
    const message = expect.not.stringContaining('https://');
    await expect(verifying()).rejects.toMatchObject({ cause: reset, message });
  });

  test('writes down what it saw, once, with the seconds that had gone by', async () => {
    const { ports, verifying } = await stage((nth) => (nth < 3 ? { status: 404 } : { body: BYTES }));
    await verifying();
    expect(ports.logger.lines).toEqual([
      '0 s: the address answers HTTP 404',
      'the address answers HTTP 200 with the file, byte for byte',
    ]);
  });

  test('stops at once when the delivery is stopped', async () => {
    const reason = new Error('stopped');
    const { host, ports, verifying } = await stage((nth) => {
      if (nth === 2) ports.stop.abort(reason);
      return { status: 404 };
    });
    await expect(verifying()).rejects.toBe(reason);
    expect(host.seen).toHaveLength(2);
  });
});

describe('answers in a row', () => {
  const bin = { bypassCache: false, hostMayChangeBytes: false };

  test('are four where no cache is got past, at once', async () => {
    const { host, verifying, elapsed } = await stage(() => ({ body: BYTES }), bin);
    await expect(verifying()).resolves.toMatchObject({ match: 'identical' });
    expect(host.seen).toHaveLength(4);
    expect(elapsed()).toBe(0);
  });

  test('are four of a link from outside, the second one some seconds later', async () => {
    const { host, verifying, elapsed } = await stage(() => ({ body: BYTES }), {
      ...bin,
      mustBeExternal: true,
    });
    await expect(verifying()).resolves.toMatchObject({});
    expect(host.seen).toHaveLength(4);
    expect(elapsed()).toBe(5_000);
  });

  test.each([
    ['that opens once', (nth: number) => nth === 1],
    ['that opens for four seconds', (_: number, seconds: number) => seconds < 4],
  ])('are not given by a link %s', async (_, opens) => {
    const answer: Answer = (nth, seconds) => (opens(nth, seconds) ? { body: BYTES } : { status: 410 });
    const { verifying } = await stage(answer, { ...bin, mustBeExternal: true });
    await expect(verifying()).rejects.toMatchObject({ code: 'NOT_PROVEN', httpCode: 410 });
  });

  test('are not given by a link that shows browsers a page of its own', async () => {
    const { host, verifying } = await stage(() => ({ body: BYTES }), { ...bin, mustBeExternal: true });
    await verifying();
    const browsers = host.seen.filter(({ headers }) => headers['user-agent']?.startsWith('Mozilla/5.0 '));
    expect(browsers.map(({ headers }) => headers.accept)).toEqual([expect.stringMatching(/^text\/html,/)]);
    const isBrowser = (nth: number): boolean =>
      shy.host.seen[nth - 1]?.headers['user-agent']?.startsWith('Mozilla/') ?? false;
    const shy = await stage(
      (nth) => ({ body: isBrowser(nth) ? `<title>Friendly Reminder</title>${MARKER}` : BYTES }),
      { ...bin, mustBeExternal: true },
    );
    await expect(shy.verifying()).rejects.toMatchObject({
      message: expect.stringMatching(/answers browsers HTTP 200 with other content/),
    });
  });

  test.each([2, 3, 4])('are not given where one of %i nodes that take turns is wrong', async (nodes) => {
    for (let wrong = 0; wrong < nodes; wrong += 1) {
      const answer: Answer = (nth) => (nth % nodes === wrong ? { status: 404 } : { body: BYTES });
      const { verifying } = await stage(answer, bin);
      await expect(verifying()).rejects.toMatchObject({ code: 'NOT_PROVEN' });
    }
  });

  test.each<[string, Partial<ProbeResult>, Partial<ProbeResult>]>([
    ['come from two hosts', { hosts: ['a.dev'] }, { hosts: ['b.dev'] }],
    ['are two pages with the marker', { match: 'altered' }, { match: 'altered', fingerprint: OTHER }],
    ['are the file and a page with the marker', {}, { match: 'altered' }],
  ])('prove nothing where they %s', async (_, first, second) => {
    const { limits, ports } = await stage(() => ({ body: BYTES }));
    const usual = { match: 'identical', hosts: ['a.dev'], httpCode: 200, lastModified: NOON } as const;
    const answers = [second, first, second].map((one) => ({ ...usual, ...one }) as ProbeResult);
    const probe = { probe: async () => answers.shift() } as unknown as UrlProbe;
    const known = { ...usual, ...first } as ProbeResult;
    const address = { path: null, probe, answers: 4, known, wanted: { built: { at: 0 } } };
    const now = { ...limits, deadline: NOON };
    await expect(prove([address], { which: '', gone: false }, now, ports)).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      message: expect.stringContaining('and at other times'),
    });
    expect(answers).toHaveLength(2);
  });

  test.each([
    [1, 2 + 8],
    [2, 4 + 16],
    [9, 18 + 32],
  ])('are twice as many after each wrong one, up to a limit: %i', async (wrong, requests) => {
    const answer: Answer = (nth) => (nth % 2 === 0 && nth <= wrong * 2 ? { status: 404 } : { body: BYTES });
    const { host, verifying } = await stage(answer, bin);
    await expect(verifying()).resolves.toMatchObject({});
    expect(host.seen.length).toBe(requests);
  });

  test('prove nothing where the deadline cuts them short after a wrong one', async () => {
    const answer: Answer = (nth, seconds) =>
      seconds < TIMEOUT / 1_000 && nth % 2 === 0 ? { status: 404 } : { body: BYTES };
    const { verifying } = await stage(answer, bin);
    await expect(verifying()).rejects.toMatchObject({ code: 'NOT_PROVEN' });
  });
});

describe('a body that has the marker in other bytes, where a build was made', () => {
  const COMMITTED = NOON + 1_000;
  const dated = (at: number, body = ALTERED.body): Scripted => ({
    body,
    headers: { 'last-modified': new Date(at).toUTCString() },
  });

  test.each<[string, Scripted]>([
    ['of the same second', dated(COMMITTED)],
    ['of later', dated(COMMITTED + 60_000)],
  ])('is proven at once by a page %s', async (_, answer) => {
    const { verifying, elapsed } = await stage(() => answer, {}, MARKER, false, COMMITTED);
    await expect(verifying()).resolves.toMatchObject({ match: 'altered', fingerprint: { counts: [1] } });
    expect(elapsed()).toBe(0);
  });

  test.each<[string, Scripted, number | undefined]>([
    ['the page is older than the commit', dated(COMMITTED - 1_000), COMMITTED],
    ['the page has no date', ALTERED, COMMITTED],
    ['the time of the commit is not known', dated(COMMITTED), undefined],
    ['another page answers', dated(COMMITTED, 'Please read'), COMMITTED],
    ['an old page answers', dated(COMMITTED, 'old'), COMMITTED],
  ])('is not believed where %s, not even at the deadline', async (_, answer, builtAt) => {
    const { verifying, elapsed } = await stage(() => answer, {}, MARKER, false, builtAt);
    await expect(verifying()).rejects.toMatchObject({ code: 'NOT_PROVEN' });
    expect(elapsed()).toBe(TIMEOUT);
  });

  test('is not believed where the host has no reason to change bytes', async () => {
    const exact = { hostMayChangeBytes: false };
    const { verifying } = await stage(() => dated(COMMITTED), exact, MARKER, false, COMMITTED);
    await expect(verifying()).rejects.toMatchObject({ code: 'NOT_PROVEN' });
  });

  test('does not prove that a file is withdrawn', async () => {
    const { verifying } = await stage(() => dated(COMMITTED), {}, MARKER, true, COMMITTED);
    await expect(verifying()).rejects.toMatchObject({ code: 'NOT_PROVEN' });
  });
});

describe('a body that has the marker in other bytes than the file', () => {
  test('is not believed from K1 without a word of the host', async () => {
    const { verifying } = await stage(() => ALTERED);
    await expect(verifying()).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      httpCode: 200,
      message: expect.stringContaining('the marker, but other bytes than the file'),
      hint: expect.stringContaining('.nojekyll'),
    });
  });

  test.each([MARKER, null])(
    'is believed of a link where the host only added to the file (%s)',
    async (marker) => {
      const { verifying, elapsed } = await stage(
        () => ALTERED,
        { bypassCache: false, mustBeExternal: true },
        marker,
      );
      await expect(verifying()).resolves.toMatchObject({ match: 'extended' });
      expect(elapsed()).toBe(LATER_PROBE);
    },
  );
});

test.each([
  [`${BYTES}<script>1</script>`, "what the link's host has added to the page does: <script>"],
  [BYTES.replace('\n', ''), 'changed spaces or line breaks, which count in preformatted text'],
])('UNKNOWN says of a link what its host has changed: %s', async (body, said) => {
  const { check, limits, ports } = await stage(() => ({ body }), {
    bypassCache: false,
    mustBeExternal: true,
  });
  const { unknown } = await verifyPlacement(check, limits, ports);
  expect(unknown[0]).toMatch(said);
});

describe('a host that nothing reaches', () => {
  const unknown = new DeliveryError('NO_NETWORK', "example.com can't be reached");
  const link = { bypassCache: false, mustBeExternal: true };

  test('is given up after a quarter of the time where it is that of a link', async () => {
    const { verifying, elapsed } = await stage(() => unknown, link);
    await expect(verifying()).rejects.toMatchObject({
      message: `the address was not proven, because nothing answered for ${TIMEOUT / 4_000} s: ${unknown.message}`,
    });
    expect(elapsed()).toBe(TIMEOUT / 4);
  });

  test.each<[string, Answer, Partial<Placement>]>([
    ['has answered', (nth) => (nth === 1 ? { status: 503 } : unknown), link],
    ['is that of a placement', () => unknown, {}],
  ])('is waited for where it %s', async (_, answer, more) => {
    const { verifying, elapsed } = await stage(answer, more);
    await expect(verifying()).rejects.toThrow('the address was not proven in time');
    expect(elapsed()).toBe(TIMEOUT);
  });
});

describe('a login page', () => {
  const LOGIN = (nth: number): Scripted =>
    nth % 2 === 1 ? { status: 302, headers: { location: '/login' } } : { body: `Sign in: ${MARKER}` };
  const refusal = {
    code: 'NOT_EXTERNAL',
    httpCode: 200,
    message: expect.stringMatching(/^the address answers HTTP 200 with a login page: .* private mode/),
    hint: expect.stringContaining('Public Pages'),
  };

  test('is no proof although it holds the marker, and nobody waits for it to become one', async () => {
    const { verifying, elapsed } = await stage(LOGIN, { hostMayChangeBytes: true });
    await expect(verifying()).rejects.toMatchObject(refusal);
    expect(elapsed()).toBe(0);
  });

  test('ends the wait for the build at once', async () => {
    const { waiting, elapsed } = await stage(LOGIN);
    await expect(waiting(building)).rejects.toMatchObject(refusal);
    expect(elapsed()).toBe(0);
  });
});

describe('verifying that nothing is there any more', () => {
  const withdrawing = (answer: Answer) => stage(answer, {}, null, true);

  test('is done when nothing is there as often as it takes', async () => {
    const { host, verifying, elapsed } = await withdrawing(() => ({ status: 404 }));
    await expect(verifying()).resolves.toMatchObject({
      httpCode: 404,
      fingerprint: null,
      match: 'gone',
      hosts: ['octo.github.io'],
    });
    expect(host.seen).toHaveLength(AGREEING_PROBES.usual);
    expect(elapsed()).toBe(0);
  });

  test.each<[string, Scripted | Error]>([
    ['the file', { body: BYTES }],
    ['an error of the host', { status: 503 }],
    ['no answer', new DeliveryError('CONNECTION', 'reset')],
  ])('goes on after %s until nothing shows', async (_, before) => {
    const { host, verifying, elapsed } = await withdrawing((nth) => (nth <= 2 ? before : { status: 410 }));
    await expect(verifying()).resolves.toMatchObject({ match: 'gone', httpCode: 410 });
    expect(host.seen).toHaveLength(2 + AGREEING_PROBES.usual);
    expect(elapsed()).toBe(2 * INTERVAL);
  });

  test.each<[string, HostProgress, number]>([
    ['waits while the host still builds', { finished: false, building: true, detail: 'building' }, 1],
    ['does not wait where nobody says so', { finished: false, building: false, detail: 'denied' }, 0],
  ])('%s: anything may answer a 404', async (_, first, waits) => {
    let asked = 0;
    const { waiting, elapsed } = await withdrawing(() => ({ status: 404 }));
    await waiting(async () => (asked++ === 0 ? first : { finished: true, detail: 'built' }));
    expect(elapsed()).toBe(waits * INTERVAL);
  });

  test('fails at the deadline when the address still shows something', async () => {
    const { verifying, elapsed } = await withdrawing(() => ({ body: BYTES }));
    await expect(verifying()).rejects.toMatchObject({
      code: 'NOT_PROVEN',
      httpCode: 200,
      message: expect.stringContaining('some content: there should be none'),
    });
    expect(elapsed()).toBe(TIMEOUT);
  });

  test('is waited for until the address shows nothing', async () => {
    const { waiting, elapsed } = await withdrawing((nth) => (nth < 3 ? { body: BYTES } : { status: 404 }));
    await waiting(building);
    expect(elapsed()).toBe(2 * INTERVAL);
  });
});

describe('waiting for the host', () => {
  const nothing: Answer = () => ({ status: 404 });
  const late: Answer = (nth) => (nth < 3 ? { status: 404 } : { body: BYTES });
  const errored = new DeliveryError('BUILD_ERRORED', 'bad front matter');

  test.each<[string, Answer, () => Promise<HostProgress>, number]>([
    ['at the live bytes, whatever the build says', late, building, 2],
    [
      'without asking the host when the bytes are live',
      () => ({ body: BYTES }),
      () => Promise.reject(new Error('asked')),
      0,
    ],
    ['when the host has finished, and leaves the rest to verification', nothing, built, 0],
  ])('ends %s', async (_, answer, ask, waits) => {
    const { waiting, elapsed } = await stage(answer);
    await waiting(ask);
    expect(elapsed()).toBe(waits * INTERVAL);
  });

  test('ends at once with a build that is errored', async () => {
    const { waiting, elapsed } = await stage(nothing);
    await expect(waiting(() => Promise.reject(errored))).rejects.toBe(errored);
    expect(elapsed()).toBe(0);
  });

  test.each<[string, Scripted | Error, Partial<HostProgress>, object]>([
    [
      'with the HTTP code, the build’s state and what to do',
      { status: 404 },
      { hint: 'look at Settings' },
      {
        httpCode: 404,
        message:
          'the site did not show the file within 240 s: the address answers HTTP 404; build of our commit: building',
        hint: 'look at Settings',
      },
    ],
    [
      'with what to do also where the host does not say it, and not on altered bytes',
      ALTERED,
      {},
      { httpCode: 200, hint: expect.stringContaining('try again') },
    ],
    [
      'with the API’s code where the address gave none',
      new DeliveryError('CONNECTION', 'reset'),
      { httpCode: 403 },
      { httpCode: 403 },
    ],
  ])('ends after 240 s %s', async (_, answer, progress, failure) => {
    const { waiting, elapsed } = await stage(() => answer);
    const waited = waiting(async () => ({ ...(await building()), ...progress }));
    await expect(waited).rejects.toMatchObject({ code: 'BUILD_TIMEOUT', ...failure });
    expect(elapsed()).toBe(TIMEOUT);
  });
});
