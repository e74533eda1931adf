import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import {
  type ContentMatch,
  countMarker,
  isProof,
  type ProbeResult,
  type ProbeTarget,
  UrlProbe,
} from '../../src/delivery/url-probe.ts';
import { DeliveryError } from '../../src/errors.ts';
import type { SendHttp } from '../../src/ports.ts';
import { localFile } from '../support/files.ts';
import { FakeHttp, fakePorts, NOON, type Scripted, type Seen } from '../support/ports.ts';
import { PAGE } from './builders.ts';

const BYTES = '<p>It works</p>\n<p>really</p>\n';
const MARKER = 'It works';
const OLD = '<p>It works, an older page</p>';
const STAMP = NOON / 1000;

const ADDRESS: ProbeTarget = { url: PAGE, bypassCache: false, mustBeExternal: false };

interface Stage {
  readonly address?: Partial<ProbeTarget>;
  readonly marker?: string | undefined;
  readonly withFile?: boolean;
  readonly gone?: boolean;
  readonly answer: Scripted | Error | ((request: Seen, nth: number) => Scripted | Error | undefined);
}

async function probing({ address = {}, marker, withFile = true, gone = false, answer }: Stage) {
  const file = withFile ? await localFile(BYTES) : null;
  const host = new FakeHttp(typeof answer === 'function' ? answer : () => answer);
  const ports = fakePorts(host.http);
  const probe = new UrlProbe({ ...ADDRESS, ...address }, { file, marker, gone }, NOON + 240_000, ports);
  return { probe, host, ports };
}

const matchOf = async (stage: Stage): Promise<ContentMatch> =>
  (await (await probing(stage)).probe.probe()).match;
const sha256Of = async (bytes: string): Promise<string> => (await localFile(bytes)).sha256;

describe('a body', () => {
  test.each<[ContentMatch, string, Partial<Stage>]>([
    ['identical', BYTES, {}],
    ['identical', BYTES, { marker: MARKER }],
    ['identical', BYTES, { marker: 'not in it' }],
    ['altered', `<!-- built -->${BYTES}`, { marker: MARKER }],
    ['different', `<!-- built -->${BYTES}`, {}],
    ['different', 'Please read', { marker: MARKER }],
    ['cut-short', BYTES.slice(0, 15), { marker: MARKER }],
    ['cut-short', BYTES.slice(0, -1), {}],
    ['cut-short', '', {}],
    ['marked', `<!-- any -->${MARKER}`, { marker: MARKER, withFile: false }],
    ['different', 'another page', { marker: MARKER, withFile: false }],
  ])('is %s when it reads %j', async (match, body, stage) => {
    await expect(matchOf({ answer: { body }, ...stage })).resolves.toBe(match);
  });

  test('is the previous one although it holds the marker', async () => {
    const address = { previousSha256: await sha256Of(OLD) };
    await expect(matchOf({ answer: { body: OLD }, marker: MARKER, address })).resolves.toBe('previous');
  });

  test('is identical although the same bytes stood there before', async () => {
    const address = { previousSha256: await sha256Of(BYTES) };
    await expect(matchOf({ answer: { body: BYTES }, address })).resolves.toBe('identical');
  });

  test('that is longer than the file and begins like it is no beginning of it', async () => {
    await expect(matchOf({ answer: { body: `${BYTES}<script>` } })).resolves.toBe('different');
  });

  test.each([200, 401, 404])('of a login page proves nothing, whatever it holds (%i)', async (status) => {
    const answer = ({ url }: Seen): Scripted =>
      url === PAGE.href
        ? { status: 302, headers: { location: 'https://git.octo.dev/login?return_to=x' } }
        : { status, body: `<title>Sign in</title>${MARKER}` };
    for (const withFile of [true, false]) {
      await expect(matchOf({ answer, marker: MARKER, withFile })).resolves.toBe('login');
    }
  });

  test.each([404, 403, 500, 204])('of an HTTP %i is absent, whatever it holds', async (status) => {
    await expect(matchOf({ answer: { status, body: BYTES }, marker: MARKER })).resolves.toBe('absent');
  });

  test.each<[ContentMatch, boolean]>([
    ['identical', true],
    ['marked', true],
    ['gone', true],
    ['altered', false],
    ['previous', false],
    ['cut-short', false],
    ['different', false],
    ['login', false],
    ['absent', false],
  ])('that is %s proves the delivery: %s', (match, proven) => {
    expect(isProof({ match } as ProbeResult)).toBe(proven);
  });
});

describe('where nothing must be any more', () => {
  test.each<[ContentMatch, Scripted | Error]>([
    ['gone', { status: 404 }],
    ['gone', { status: 410, body: 'taken away' }],
    ['previous', { body: BYTES }],
    ['previous', { body: 'another page' }],
    ['absent', { status: 403 }],
    ['absent', { status: 500 }],
    ['absent', { status: 204 }],
    ['absent', new DeliveryError('CONNECTION', 'reset')],
  ])('it is %s where the address answers %o', async (match, answer) => {
    await expect(matchOf({ answer, gone: true, withFile: false })).resolves.toBe(match);
  });

  test.each([404, 410])('HTTP %i proves that, and nothing else', async (status) => {
    const { probe } = await probing({ answer: { status }, gone: true, withFile: false });
    expect(isProof(await probe.probe())).toBe(true);
    const { probe: delivering } = await probing({ answer: { status } });
    expect(isProof(await delivering.probe())).toBe(false);
  });
});

describe('the marker', () => {
  test('is counted in the body', async () => {
    const { probe } = await probing({ answer: { body: `${MARKER} ${MARKER}` }, marker: MARKER });
    expect(countMarker(await probe.probe(), { file: null, marker: MARKER })).toBe(2);
  });

  test('was found nowhere when there is no page', async () => {
    const { probe } = await probing({ answer: { status: 404 }, marker: MARKER });
    expect(countMarker(await probe.probe(), { file: null, marker: MARKER })).toBe(0);
    expect(countMarker(null, { file: null, marker: MARKER })).toBe(0);
  });

  test('has no count where none was given', async () => {
    const { probe } = await probing({ answer: { body: BYTES } });
    expect(countMarker(await probe.probe(), { file: null, marker: undefined })).toBeNull();
  });
});

describe('a look', () => {
  test('asks as anybody would, without a credential', async () => {
    const { probe, host } = await probing({ answer: { body: BYTES } });
    await probe.probe();
    expect(host.seen).toMatchObject([{ method: 'GET', url: PAGE.href }]);
    expect(Object.keys(host.seen[0]?.headers ?? {})).not.toContain('authorization');
  });

  test('carries a later ?v= each time, also within one second', async () => {
    const { probe, host, ports } = await probing({
      answer: { status: 404 },
      address: { bypassCache: true, url: new URL(`${PAGE.href}?a=1`) },
    });
    await probe.probe();
    await probe.probe();
    await ports.clock.sleep(60_000);
    await probe.probe();
    expect(host.seen.map(({ url }) => url)).toEqual([
      `${PAGE.href}?a=1&v=${STAMP}`,
      `${PAGE.href}?a=1&v=${STAMP + 1}`,
      `${PAGE.href}?a=1&v=${STAMP + 60}`,
    ]);
  });

  test('follows redirects and remembers the hosts, what it saw last and how often it looked', async () => {
    const storage = 'https://storage.dev/signed';
    const { probe } = await probing({
      answer: ({ url }) =>
        url === storage ? { body: BYTES } : { status: 302, headers: { location: storage } },
    });
    expect([probe.last, probe.attempts]).toEqual([null, 0]);
    const sight = await probe.probe();
    expect(sight).toMatchObject({ httpCode: 200, hosts: [PAGE.host, 'storage.dev'] });
    expect([probe.last, probe.attempts]).toEqual([sight, 1]);
  });

  test('brings the cookie of a warning page back, once, to the host that gave it', async () => {
    const { probe, host } = await probing({
      answer: ({ headers }) =>
        headers.cookie === 'verified=1'
          ? { body: BYTES }
          : { body: 'Please read', headers: { 'set-cookie': ['verified=1; Path=/'] } },
    });
    await expect(probe.probe()).resolves.toMatchObject({ match: 'identical' });
    expect([host.seen.length, probe.attempts]).toEqual([2, 1]);
  });

  test('does not ask again for a cookie that changes nothing', async () => {
    const { probe, host } = await probing({
      answer: { body: 'Please read', headers: { 'set-cookie': 'verified=1' } },
    });
    await probe.probe();
    await probe.probe();
    expect(host.seen.map(({ headers }) => headers.cookie)).toEqual([undefined, 'verified=1', 'verified=1']);
  });

  test('does not ask again for the cookie of a page that already is the file', async () => {
    const { probe, host } = await probing({ answer: { body: BYTES, headers: { 'set-cookie': 'a=1' } } });
    await probe.probe();
    expect(host.seen).toHaveLength(1);
  });

  test('of a host that breaks off is a sight like any other', async () => {
    const { probe } = await probing({ answer: { body: new Error('reset') } });
    await expect(probe.probe()).resolves.toMatchObject({
      match: 'absent',
      httpCode: null,
      fingerprint: null,
      failure: { code: 'CONNECTION' },
    });
  });

  test('of a host that can’t be reached is a sight like any other', async () => {
    const failure = new DeliveryError('NO_NETWORK', 'unplugged');
    const { probe } = await probing({ answer: failure });
    await expect(probe.probe()).resolves.toMatchObject({ match: 'absent', failure });
  });

  test('keeps the HTTP code of a chain that leads nowhere', async () => {
    const { probe } = await probing({ answer: { status: 302, headers: { location: 'http://a.dev/' } } });
    await expect(probe.probe()).resolves.toMatchObject({ match: 'absent', httpCode: 302 });
  });

  test('of our own mistake is none', async () => {
    const { probe } = await probing({ answer: new TypeError('ours') });
    await expect(probe.probe()).rejects.toThrow('ours');
  });

  test('is broken off at the deadline, which is a sight too', async () => {
    const { probe, ports } = await probing({ answer: { body: BYTES } });
    const bounds: number[] = [];
    ports.clock.timeout = ((ms: number) => bounds.push(ms) && AbortSignal.abort()) as never;
    await expect(probe.probe()).resolves.toMatchObject({
      match: 'absent',
      failure: { code: 'NOT_PROVEN' },
    });
    await ports.clock.sleep(239_900);
    await probe.probe();
    expect(bounds).toEqual([expect.closeTo(60_000, -1), 1_000]);
  });

  test.each<[string, Partial<Stage>, number]>([
    ['a small file', {}, 60_000],
    ['a link, whose length nobody knows', { withFile: false, marker: MARKER }, 240_000],
    ['what must be gone', { withFile: false, gone: true }, 60_000],
  ])('at %s may take so long, so that a dripping answer leaves time for another', async (_, stage, most) => {
    const { probe, ports } = await probing({ answer: { body: BYTES }, ...stage });
    const bounds: number[] = [];
    ports.clock.timeout = ((ms: number) => bounds.push(ms) && new AbortController().signal) as never;
    await probe.probe();
    expect(bounds).toEqual([expect.closeTo(most, -1)]);
  });

  test('ends with the reason when the delivery is stopped', async () => {
    const { probe, ports } = await probing({ answer: { body: BYTES } });
    const reason = new Error('stopped');
    ports.stop.abort(reason);
    await expect(probe.probe()).rejects.toBe(reason);
  });
});

describe('a link from outside', () => {
  const address = { mustBeExternal: true };

  test.each(['https://169.254.169.254/latest', 'https://localhost/x', 'https://printer.local/'])(
    'is refused as soon as a hop leads to %s',
    async (location) => {
      const { probe, host } = await probing({ answer: { status: 302, headers: { location } }, address });
      await expect(probe.probe()).rejects.toMatchObject({ code: 'NOT_EXTERNAL' });
      expect(host.seen).toHaveLength(1);
    },
  );

  test('may lead over public hosts', async () => {
    await expect(matchOf({ answer: { body: BYTES }, address })).resolves.toBe('identical');
  });
});

describe('an address on a host that the user named', () => {
  const at = (url: string, answer: Stage['answer'] = { body: BYTES }) =>
    probing({ answer, address: { url: new URL(url) } });

  test.each([
    ['https://bins.corp/x', 'bins.corp is a host name of an internal network'],
    ['https://10.1.2.3/x', '10.1.2.3 is a private address'],
    ['https://bins/x', 'bins is a single-label host that only a local network knows'],
    ['https://bins.octo.dev/x', ''],
  ])('may be a network’s own, and then it is told why nobody looked from elsewhere: %s', async (url, why) => {
    const { probe } = await at(url);
    await expect(probe.probe()).resolves.toMatchObject({ match: 'identical' });
    expect(probe.internalReason).toBe(why);
  });

  test('may lead to a network’s own', async () => {
    const { probe } = await at('https://bins.octo.dev/x', (_, nth) =>
      nth === 1 ? { status: 302, headers: { location: 'https://storage.corp/y' } } : { body: BYTES },
    );
    await expect(probe.probe()).resolves.toMatchObject({ match: 'identical' });
    expect(probe.internalReason).toBe('storage.corp is a host name of an internal network');
  });

  test.each([
    'https://localhost:8443/x',
    'https://app.localhost/x',
    'https://127.0.0.1/x',
    'https://[::1]/x',
  ])('is never this very machine: %s', async (url) => {
    const { probe, host } = await at(url);
    await expect(probe.probe()).rejects.toMatchObject({ code: 'NOT_EXTERNAL' });
    expect(host.seen).toEqual([]);
  });

  test('that resolves to an inner address is asked as anybody outside would first', async () => {
    const asked: boolean[] = [];
    const http: SendHttp = async ({ publicOnly = false }) => {
      asked.push(publicOnly);
      if (publicOnly) throw new DeliveryError('NOT_EXTERNAL', 'bins.octo.dev resolves to a private address');
      return { status: 200, headers: {}, body: Readable.from([Buffer.from(BYTES)]) };
    };
    const file = await localFile(BYTES);
    const address = { ...ADDRESS, url: new URL('https://bins.octo.dev/x') };
    const probe = new UrlProbe(address, { file, marker: undefined }, NOON + 240_000, fakePorts(http));
    await expect(probe.probe()).resolves.toMatchObject({ match: 'identical' });
    await probe.probe();
    expect(asked).toEqual([true, false, false]);
    expect(probe.internalReason).toBe('bins.octo.dev resolves to a private address');
  });
});
