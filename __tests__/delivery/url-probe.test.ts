import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import type { Address } from '../../src/delivery/addresses.ts';
import { countMarker } from '../../src/delivery/describe-probe.ts';
import { type ContentMatch, isProof } from '../../src/delivery/probe-result.ts';
import { newProbeSession, UrlProbe } from '../../src/delivery/url-probe.ts';
import { DeliveryError } from '../../src/errors.ts';
import type { SendHttp } from '../../src/ports.ts';
import { localFile } from '../support/files.ts';
import { FakeHttp, fakePorts, NOON, type Scripted, type Seen } from '../support/ports.ts';
import { INTERVAL, PAGE, TIMEOUT } from './builders.ts';

const BYTES = '<p>It works</p>\n<p>really</p>\n';
const MARKER = 'It works';
const OLD = '<p>It works, an older page</p>';
const STAMP = NOON / 1000;

const ADDRESS = { path: null, url: PAGE, marker: undefined, answers: 1 };
const LIMITS = { interval: INTERVAL, timeout: TIMEOUT, begun: NOON, deadline: NOON + TIMEOUT };

interface Stage {
  readonly address?: Partial<Address>;
  readonly marker?: string | undefined;
  readonly withFile?: boolean;
  readonly gone?: boolean;
  readonly answer: Scripted | Error | ((request: Seen, nth: number) => Scripted | Error | undefined);
}

async function probing({ address = {}, marker, withFile = true, gone = false, answer }: Stage) {
  const file = withFile ? await localFile(BYTES) : null;
  const host = new FakeHttp(typeof answer === 'function' ? answer : () => answer);
  const ports = fakePorts(host.http);
  const session = newProbeSession(LIMITS, ports);
  const probe = new UrlProbe({ ...ADDRESS, file, marker, gone, ...address }, session);
  return { probe, host, ports, session };
}

const matchOf = async (stage: Stage): Promise<ContentMatch> =>
  (await (await probing(stage)).probe.probe()).match;
const blobOf = async (bytes: string) => ({ sha: (await localFile(bytes)).blobSha, size: bytes.length });

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

  test.each<[Record<string, string>, boolean]>([
    [{ refresh: '0; url=/login' }, true],
    [{ refresh: '0;/login' }, true],
    [{ refresh: '5, https://octo.dev/x' }, true],
    [{ refresh: "0 ; 'https://octo.dev'" }, true],
    [{ 'ngrok-error-code': 'ERR_NGROK_6024' }, true],
    [{ 'cf-mitigated': 'challenge' }, true],
    [{ refresh: '30' }, false],
  ])('with the header %o leads a browser elsewhere: %s', async (headers, isGate) => {
    for (const stage of [{}, { marker: MARKER, withFile: false }]) {
      const match = await matchOf({ answer: { body: BYTES, headers }, ...stage });
      expect(match === 'gate').toBe(isGate);
    }
  });

  test('of a 404 is asked for again each time, whatever its host says of a pause', async () => {
    const answer = { status: 404, headers: { 'retry-after': '60' } };
    const { probe, host } = await probing({ answer, gone: true });
    for (let look = 0; look < 3; look += 1) await probe.probe();
    expect(host.seen).toHaveLength(3);
  });

  test.each<[Record<string, string>, ContentMatch]>([
    [{ 'content-type': 'text/html; charset=utf-8' }, 'identical'],
    [{ 'content-type': 'Application/XHTML+XML' }, 'identical'],
    [{ 'content-disposition': 'inline; filename="page.html"' }, 'identical'],
    [{}, 'identical'],
    [{ 'content-disposition': 'attachment' }, 'not-shown'],
    [{ 'content-disposition': 'form-data; name="x"', 'content-type': 'text/html' }, 'not-shown'],
    [{ 'content-type': 'text/plain' }, 'not-shown'],
    [{ 'content-type': 'application/octet-stream' }, 'not-shown'],
    [{ 'content-type': 'text/htmlx' }, 'not-shown'],
    [{ 'content-type': 'text/html, text/plain' }, 'not-shown'],
    [{ 'x-content-type-options': 'nosniff' }, 'not-shown'],
    [{ 'content-type': 'text/html; charset=utf-16' }, 'not-shown'],
  ])('of a page with the headers %o is %s; of another file it is identical', async (headers, match) => {
    const answer = { body: BYTES, headers };
    await expect(matchOf({ answer, address: { display: 'page' } })).resolves.toBe(match);
    await expect(matchOf({ answer })).resolves.toBe('identical');
    const built = { body: `<!-- built -->${BYTES}`, headers };
    const altered = match === 'identical' ? 'altered' : match;
    await expect(matchOf({ answer: built, marker: MARKER, address: { display: 'page' } })).resolves.toBe(
      altered,
    );
  });

  test('of a link that a browser reads in another encoding is not shown, where only its marker is known too', async () => {
    const body = `<p>${MARKER} für alle</p>`;
    const address = { isLink: true };
    const stage = { address, marker: MARKER, withFile: false };
    const matchFor = (type: string) =>
      matchOf({ answer: { body, headers: { 'content-type': type } }, ...stage });
    await expect(matchFor('text/html')).resolves.toBe('not-shown');
    await expect(matchFor('text/html; charset=utf-8')).resolves.toBe('marked');
  });

  test.each<[Record<string, string>, ContentMatch]>([
    [{ 'content-type': 'image/svg+xml' }, 'identical'],
    [{ 'content-type': 'text/plain' }, 'identical'],
    [{ 'content-disposition': 'inline; filename="a.svg"' }, 'identical'],
    [{}, 'identical'],
    [{ 'content-disposition': 'attachment' }, 'not-shown'],
    [{ 'content-type': 'application/octet-stream' }, 'not-shown'],
    [{ 'content-type': 'binary/octet-stream; charset=binary' }, 'not-shown'],
    [{ 'content-type': 'application/force-download' }, 'not-shown'],
  ])('of a file that is shown as it is, with the headers %o, is %s', async (headers, match) => {
    const answer = { body: BYTES, headers };
    await expect(matchOf({ answer, address: { display: 'plain' } })).resolves.toBe(match);
    await expect(matchOf({ answer, address: { display: 'viewer' } })).resolves.toBe(match);
    await expect(matchOf({ answer, address: { display: 'none' } })).resolves.toBe('identical');
  });

  test('is the previous one although it holds the marker', async () => {
    const address = { earlier: [await blobOf(OLD)] };
    await expect(matchOf({ answer: { body: OLD }, marker: MARKER, address })).resolves.toBe('previous');
  });

  test('is identical although the same bytes stood there before', async () => {
    const address = { earlier: [await blobOf(BYTES)] };
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
});

describe('where nothing must be any more', () => {
  test.each<[ContentMatch, Scripted | Error]>([
    ['gone', { status: 404 }],
    ['gone', { status: 410, body: 'taken away' }],
    ['served', { body: BYTES }],
    ['served', { body: 'another page' }],
    ['absent', { status: 403 }],
    ['absent', { status: 500 }],
    ['absent', { status: 204 }],
    ['absent', new DeliveryError('CONNECTION', 'reset')],
  ])('it is %s where the address answers %o', async (match, answer) => {
    await expect(matchOf({ answer, gone: true, withFile: false })).resolves.toBe(match);
  });
});

test.each<[Partial<Stage>, number | null]>([
  [{ answer: { body: `${MARKER} ${MARKER}` }, marker: MARKER }, 2],
  [{ answer: { status: 404 }, marker: MARKER }, 0],
  [{ answer: { body: BYTES } }, null],
])('The marker is counted in %o: %s.', async (stage, count) => {
  const { probe } = await probing({ answer: {}, ...stage });
  expect(countMarker(await probe.probe(), { file: null, marker: stage.marker })).toBe(count);
});

describe('a look', () => {
  test('carries another ?v= each time, which no other run has', async () => {
    const { probe, host, ports } = await probing({
      answer: { status: 404 },
      address: { bypassCache: true, url: new URL(`${PAGE.href}?a=1`) },
    });
    await probe.probe();
    await probe.probe();
    await ports.clock.sleep(60_000);
    await probe.probe();
    expect(host.seen.map(({ url }) => url)).toEqual([
      `${PAGE.href}?a=1&v=${STAMP}500000001`,
      `${PAGE.href}?a=1&v=${STAMP}500000002`,
      `${PAGE.href}?a=1&v=${STAMP + 60}500000003`,
    ]);
  });

  test('follows redirects and remembers the hosts and what it saw last', async () => {
    const storage = 'https://storage.dev/signed';
    const { probe } = await probing({
      answer: ({ url }) =>
        url === storage ? { body: BYTES } : { status: 302, headers: { location: storage } },
    });
    expect(probe.last).toBeNull();
    const sight = await probe.probe();
    expect(sight).toMatchObject({ httpCode: 200, hosts: [PAGE.host, 'storage.dev'] });
    expect(probe.last).toBe(sight);
  });

  const WARNING: Stage['answer'] = ({ headers }) =>
    headers.cookie === 'verified=1'
      ? { body: BYTES }
      : { body: 'Please read', headers: { 'set-cookie': ['verified=1; Path=/'] } };

  test('leaves the known warning page of the file-bin, each time as somebody new', async () => {
    const { probe, host } = await probing({ address: { isInBin: true }, answer: WARNING });
    await expect(probe.probe()).resolves.toMatchObject({ match: 'identical' });
    await probe.probe();
    expect(host.seen.map(({ headers }) => headers.cookie)).toEqual([
      undefined,
      'verified=1',
      undefined,
      'verified=1',
    ]);
  });

  test.each<[string, Partial<Stage>]>([
    ['on any other host', {}],
    ['where there is no file to compare', { address: { isInBin: true }, withFile: false, marker: MARKER }],
    [
      'that is an HTTP 401',
      {
        address: { isInBin: true },
        answer: ({ headers }) =>
          headers.cookie === 'verified=1'
            ? { body: BYTES }
            : { status: 401, headers: { 'set-cookie': 'verified=1' } },
      },
    ],
    [
      'after a redirect',
      {
        answer: ({ headers }) =>
          headers.cookie === 'a=1'
            ? { body: BYTES }
            : { status: 302, headers: { location: PAGE.href, 'set-cookie': 'a=1' } },
      },
    ],
  ])('brings no cookie back to a page before the content %s', async (_, stage) => {
    const { probe, host } = await probing({ answer: WARNING, ...stage });
    expect(isProof(await probe.probe())).toBe(false);
    expect(host.seen.map(({ headers }) => headers.cookie).filter(Boolean)).toEqual([]);
  });

  test('asks the file-bin no third time for a cookie that changes nothing', async () => {
    const { probe, host } = await probing({
      address: { isInBin: true },
      answer: { body: 'Please read', headers: { 'set-cookie': 'verified=1' } },
    });
    await probe.probe();
    expect(host.seen.map(({ headers }) => headers.cookie)).toEqual([undefined, 'verified=1']);
  });

  test.each<[string, Scripted | Error, object]>([
    ['breaks off', { body: new Error('reset') }, { httpCode: null, failure: { code: 'CONNECTION' } }],
    [
      'can’t be reached',
      new DeliveryError('NO_NETWORK', 'unplugged'),
      { httpCode: null, failure: { code: 'NO_NETWORK' } },
    ],
    ['leads nowhere', { status: 302, headers: { location: 'http://a.dev/' } }, { httpCode: 302 }],
  ])('of a host that %s is a sight like any other', async (_, answer, sight) => {
    const { probe } = await probing({ answer });
    await expect(probe.probe()).resolves.toMatchObject({ match: 'absent', fingerprint: null, ...sight });
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
    expect(bounds).toEqual([expect.closeTo(60_000, -3.5), expect.closeTo(1_000, -3.5)]);
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
    expect(bounds).toEqual([expect.closeTo(most, -3.5)]);
  });

  test('ends with the reason when the delivery is stopped', async () => {
    const { probe, ports } = await probing({ answer: { body: BYTES } });
    const reason = new Error('stopped');
    ports.stop.abort(reason);
    await expect(probe.probe()).rejects.toBe(reason);
  });
});

describe('a marker that only the address brings into the page', () => {
  const link = (href: string, body: string, marker: string, location?: string): Promise<ContentMatch> =>
    matchOf({
      address: { url: new URL(href) },
      withFile: false,
      marker,
      answer: ({ url }) =>
        location !== undefined && url === href ? { status: 302, headers: { location } } : { body },
    });
  const HREF = 'https://a.dev/q/share-42?n=%C3%9Cbung%20eins';

  test.each([
    ['a search page', 'Nothing found for share-42', 'share-42'],
    ['an error', '{"path":"/q/share-42"}', '"/q/share-42"'],
    ['a decoded query', 'Übung eins was not found', 'Übung eins'],
    ['an encoded address', '<a href="?to=https%3A%2F%2Fa.dev%2Fq%2Fshare-42">', 'a.dev%2Fq%2Fshare-42'],
    ['a title', 'Share 42 is loading', 'Share 42'],
  ])('proves nothing: %s', async (_, body, marker) => {
    await expect(link(HREF, body, marker)).resolves.toBe('echo');
  });

  test('proves nothing where the address of a redirect brings it', async () => {
    const target = 'https://b.dev/view/report-7';
    await expect(link(HREF, 'report-7', 'report-7', target)).resolves.toBe('echo');
  });

  test('is none where the content has more of it than the address', async () => {
    await expect(link(HREF, 'The share-42 is closed', 'share-42 is closed')).resolves.toBe('marked');
  });
});

describe('a link with a marker alone', () => {
  const page = (body: string): string => `<title>Report</title><p>${MARKER}</p>${body}`;
  const matchOfLink = (body: string): Promise<ContentMatch> =>
    matchOf({ answer: { body }, marker: MARKER, withFile: false, address: { isLink: true } });

  test.each([
    page('<form><input name=p type="password"></form>'),
    page('<meta http-equiv="refresh" content="0; url=/x">'),
    `<style>${'a{color:red}'.repeat(7_000)}</style>${page('<input type=password>')}`,
  ])('is no proof where the page asks to sign in or leads elsewhere', async (body) => {
    await expect(matchOfLink(body)).resolves.toBe('gate');
  });

  test.each([
    page('<!-- <input type=password> -->'),
    page('<textarea><input type="password"></textarea><script>"<meta http-equiv=refresh>"</script>'),
    `{"message": "${MARKER}"}`,
    MARKER,
  ])('is proven by the marker in anything else: %s', async (body) => {
    await expect(matchOfLink(body)).resolves.toBe('marked');
  });

  test('is no proof where it leads to another host', async () => {
    const answer = ({ url }: Seen): Scripted =>
      url === PAGE.href ? { status: 302, headers: { location: 'https://b.dev/x' } } : { body: MARKER };
    await expect(matchOf({ answer, marker: MARKER, withFile: false })).resolves.toBe('gate');
    await expect(matchOf({ answer, marker: MARKER })).resolves.toBe('altered');
  });
});

describe('a link with a file', () => {
  const address = { isLink: true };
  const [first, second] = BYTES.split('\n');

  test('is proven by a page that has all of the file, and says what was added', async () => {
    const body = `<!doctype html><html><body><div>a <b>banner</b></div>${first}<script>let x = '<p>'</script>\n${second}</body></html>`;
    const { probe } = await probing({ answer: { body }, address });
    const result = await probe.probe();
    expect(result).toMatchObject({ match: 'extended' });
    expect(result.added).toEqual(['a doctype', '<div>', '<script>']);
    expect(isProof(result)).toBe(true);
  });

  test.each([
    ['lacks a part', `${second}`],
    ['has them in another order', `${second}${first}`],
    ['changes a part', BYTES.replace('works', 'breaks')],
    ['hides a part in an element that is open', `<div hidden>${BYTES}</div>`],
    ['hides a part in a comment', `<!-- ${BYTES} -->`],
    ['has it in a text area', `<textarea>${BYTES}</textarea>`],
    ['asks to sign in', `${BYTES}<form><input type="password"></form>`],
    ['leads elsewhere', `<meta http-equiv="refresh" content="0;/x">${BYTES}`],
    ['has the marker alone', `<h1>Request access to</h1><b>${MARKER}</b>`],
  ])('is not proven by a page that %s', async (_, body) => {
    await expect(matchOf({ answer: { body }, address })).resolves.toBe('different');
    await expect(matchOf({ answer: { body }, address, marker: MARKER })).resolves.toBe('different');
  });

  test('is proven by a page without the space at its end, which is told', async () => {
    const { probe } = await probing({ answer: { body: BYTES.trimEnd() }, address });
    await expect(probe.probe()).resolves.toMatchObject({ match: 'extended', added: [] });
  });

  test('is not proven by additions to what is no page', async () => {
    const answer = { body: `<div>${BYTES}</div>${BYTES}`, headers: { 'content-type': 'text/plain' } };
    await expect(matchOf({ answer, address })).resolves.toBe('different');
  });
});

test.each([
  ['a comment', `<!-- ${MARKER} -->`, 'echo'],
  ['what no browser shows', `<noscript>${MARKER}</noscript>`, 'echo'],
  ['the title', `<title>${MARKER}</title><p>Loading…</p>`, 'echo'],
  ['the metadata', `<meta property="og:title" content="${MARKER}"><div id="app"></div>`, 'echo'],
  ['the text', `<h1>${MARKER}</h1>`, 'marked'],
])('A marker in %s of a page, also behind much style, is %s.', async (_, markup, match) => {
  for (const style of ['', `<!doctype html><style>${'a{color:red}'.repeat(7_000)}</style>`]) {
    const answer = { body: style + markup, headers: { 'content-type': 'text/html' } };
    await expect(matchOf({ answer, marker: MARKER, withFile: false })).resolves.toBe(match);
    // A site's build may well turn the marker of a file into a title.
    await expect(matchOf({ answer, marker: MARKER })).resolves.toBe('altered');
  }
});

describe('a further probe of a large file', () => {
  const LARGE = 'x'.repeat(3 * 1_048_576);
  /** What the probe shows after the file was seen as a whole. */
  async function probeAgain(later: Scripted, first: Scripted = { body: LARGE }) {
    const file = await localFile(LARGE);
    const host = new FakeHttp((_, nth) => (nth === 1 ? first : later));
    const probe = new UrlProbe({ ...ADDRESS, file }, newProbeSession(LIMITS, fakePorts(host.http)));
    await probe.probe();
    return { result: await probe.probe('part'), host };
  }

  test.each<[string, Scripted, ContentMatch]>([
    ['the beginning', { body: LARGE }, 'identical'],
    ['the announced length', { body: LARGE, headers: { 'content-length': '7' } }, 'different'],
    ['another beginning', { body: `y${LARGE.slice(1)}` }, 'different'],
    ['too little', { body: LARGE.slice(0, 9) }, 'different'],
    ['no page', { status: 404 }, 'absent'],
  ])('compares %s', async (_, answer, match) => {
    const { result } = await probeAgain(answer);
    expect(result.match).toBe(match);
    expect(result.fingerprint?.size ?? 0).toBeLessThanOrEqual(262_144);
  });

  test.each([{ etag: '"2"' }, { etag: '"1"', 'last-modified': 'Fri, 02 Jan 2026 03:04:05 GMT' }])(
    'reads all of what the host calls another version: %o',
    async (headers) => {
      const first = { body: LARGE, headers: { etag: '"1"' } };
      const other = await probeAgain({ body: `${LARGE.slice(1)}y`, headers }, first);
      expect(other.result.match).toBe('different');
      const same = await probeAgain({ body: LARGE, headers }, first);
      expect([same.result.match, same.host.seen.length]).toEqual(['identical', 3]);
    },
  );
});

describe('a link from outside', () => {
  const address = { isLink: true };

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
    const { probe, session } = await at(url);
    await expect(probe.probe()).resolves.toMatchObject({ match: 'identical' });
    expect(session.internalReason).toBe(why);
  });

  test('may lead to a network’s own', async () => {
    const { probe, session } = await at('https://bins.octo.dev/x', (_, nth) =>
      nth === 1 ? { status: 302, headers: { location: 'https://storage.corp/y' } } : { body: BYTES },
    );
    await expect(probe.probe()).resolves.toMatchObject({ match: 'identical' });
    expect(session.internalReason).toBe('storage.corp is a host name of an internal network');
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

  test('is not asked again where a redirect leads to this machine', async () => {
    const { probe, host } = await at('https://bins.octo.dev/x', (_, nth) =>
      nth === 1 ? { status: 302, headers: { location: 'https://localhost/y' } } : { body: BYTES },
    );
    await expect(probe.probe()).rejects.toMatchObject({ code: 'NOT_EXTERNAL' });
    expect(host.seen).toHaveLength(1);
  });

  test('that resolves to an inner address is asked as anybody outside would first', async () => {
    const asked: boolean[] = [];
    const http: SendHttp = async ({ publicOnly = false }) => {
      asked.push(publicOnly);
      if (publicOnly) throw new DeliveryError('NOT_EXTERNAL', 'bins.octo.dev resolves to a private address');
      return { status: 200, headers: {}, body: Readable.from([Buffer.from(BYTES)]) };
    };
    const file = await localFile(BYTES);
    const session = newProbeSession(LIMITS, fakePorts(http));
    const probe = new UrlProbe({ ...ADDRESS, file, url: new URL('https://bins.octo.dev/x') }, session);
    await expect(probe.probe()).resolves.toMatchObject({ match: 'identical' });
    await probe.probe();
    expect(asked).toEqual([true, false, false]);
    expect(session.internalReason).toBe('bins.octo.dev resolves to a private address');
  });
});
