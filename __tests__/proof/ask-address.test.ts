import { describe, expect, test } from '@jest/globals';
import { BIN_HOST, LINK_HOST, pageCheck } from '../../src/channels/host-rules.ts';
import { createLinkJudge } from '../../src/channels/link/judge-answer.ts';
import { DeliveryError } from '../../src/errors.ts';
import type { HttpRequest } from '../../src/ports.ts';
import { askAddress, createProofRun } from '../../src/proof/ask-address.ts';
import type { Check, ExpectedAnswer } from '../../src/proof/check.ts';
import { type ContentMatch, type ProbeResult, provesAlone } from '../../src/proof/probe-result.ts';
import { INTERVAL, PAGE, TIMEOUT } from '../delivery/builders.ts';
import { type Answer, BYTES, FILE, MARKER, openHost } from '../delivery/proving.ts';
import { localFile } from '../support/files.ts';
import { NOON, type Scripted, type Seen } from '../support/ports.ts';

const OLD = '<p>It works, an older page</p>';
const STAMP = NOON / 1000;

interface Stage {
  readonly address?: Partial<Check>;
  readonly expect?: Partial<ExpectedAnswer>;
  /** Whether this is a link, as always without a file. */
  readonly isLink?: boolean;
  readonly marker?: string | undefined;
  readonly withFile?: boolean;
  readonly gone?: boolean;
  readonly answer: Scripted | Error | Answer;
}

async function probing({ address, marker, withFile = true, gone = false, answer, ...stage }: Stage) {
  const file = withFile && !gone ? await localFile(BYTES) : undefined;
  const isLink = stage.isLink ?? (file === undefined && !gone);
  const is = gone ? 'gone' : file ? 'bytes' : 'marker';
  const judge = createLinkJudge(undefined);
  const expected: ExpectedAnswer = {
    is,
    file,
    marker,
    ...(isLink && { judge, display: 'none' }),
    ...stage.expect,
  };
  const { asked, ports } = openHost(answer);
  const check = createProofRun([], { interval: INTERVAL, timeout: TIMEOUT }, ports);
  const row = { ...pageCheck(PAGE, expected, isLink ? LINK_HOST : undefined), ...address };
  const probe = (seen?: ProbeResult) => askAddress(row, check, { asBrowser: false, nth: 0 }, seen);
  return { probe, asked, ports, check };
}

const matchOf = async (stage: Stage): Promise<ContentMatch> => (await (await probing(stage)).probe()).match;

const RELOADED = { body: BYTES, headers: { refresh: '0;/x' } };
const INNER = new DeliveryError('NOT_EXTERNAL', 'bins.octo.dev resolves to a private address');
const CONNECTION = new DeliveryError('CONNECTION', 'reset');
const ALONE = { marker: MARKER, withFile: false };
const GONE = { gone: true, withFile: false };
const LONG_STYLE = `<!doctype html><style>${'a{color:red}'.repeat(7_000)}</style>`;
const blobOf = async (bytes: string) => ({ sha: (await localFile(bytes)).blobSha, size: bytes.length });

describe('an answer', () => {
  test.each<[ContentMatch, Scripted | Error, Partial<Stage>]>([
    ['identical', FILE, {}],
    ['identical', FILE, { marker: 'not in it' }],
    ['altered', { body: `<!-- built -->${BYTES}` }, { marker: MARKER }],
    ['different', { body: `<!-- built -->${BYTES}` }, {}],
    ['different', { body: 'Please read' }, { marker: MARKER }],
    ['cut-short', { body: BYTES.slice(0, -1) }, {}],
    ['cut-short', { body: '' }, {}],
    ['marked', { body: `<!-- any -->${MARKER}` }, ALONE],
    ['unmarked', { body: 'another page' }, ALONE],
    ['absent', { status: 404, body: BYTES }, { marker: MARKER }],
    ['absent', { status: 204 }, { marker: MARKER }],
    ['gone', { status: 404 }, GONE],
    ['gone', { status: 410, body: 'taken away' }, GONE],
    ['served', FILE, GONE],
    ['absent', { status: 204 }, GONE],
    ['absent', CONNECTION, GONE],
    ['gate', RELOADED, {}],
    ['gate', RELOADED, ALONE],
    ['gate', { body: BYTES, headers: { refresh: '5, https://octo.dev/x' } }, {}],
    ['gate', { body: BYTES, headers: { refresh: ['5', '5, https://octo.dev/x'] } }, {}],
    ['gate', { body: BYTES, headers: { 'ngrok-error-code': 'ERR_NGROK_6024' } }, {}],
    ['gate', { body: BYTES, headers: { 'cf-mitigated': 'challenge' } }, {}],
    ['identical', { body: BYTES, headers: { refresh: '30' } }, {}],
    ['gate', { body: `<p>${MARKER}</p><form><input name=p type="password"></form>` }, ALONE],
    ['gate', { body: `<p>${MARKER}</p><meta http-equiv="refresh" content="0; url=/x">` }, ALONE],
    ['gate', { body: `${LONG_STYLE}<p>${MARKER}</p><input type=password>` }, ALONE],
    ['marked', { body: `<p>${MARKER}</p><textarea><input type="password"></textarea>` }, ALONE],
    ['no-text', { body: `{"error": "${MARKER}"}` }, ALONE],
    ['no-text', { body: `{"error": "${MARKER}"}`, headers: { 'content-type': 'application/json' } }, ALONE],
    ['marked', { body: MARKER, headers: { 'content-type': 'text/plain' } }, ALONE],
  ])('is %s for %j, with %j', async (match, answer, stage) => {
    await expect(matchOf({ answer, ...stage })).resolves.toBe(match);
  });

  test('with a 404 is fetched again each time, even if the host asks for a pause', async () => {
    const answer = { status: 404, headers: { 'retry-after': '60' } };
    const { probe, asked } = await probing({ answer, gone: true });
    for (let look = 0; look < 3; look += 1) await probe();
    expect(asked).toHaveLength(3);
  });

  type Headers = Record<string, string | string[]>;
  test.each<[Headers, ContentMatch, ContentMatch]>([
    [{}, 'identical', 'identical'],
    [{ 'content-type': 'text/html; charset=utf-8' }, 'identical', 'not-shown'],
    [{ 'content-disposition': 'inline; filename="page.html"' }, 'identical', 'identical'],
    [{ 'content-disposition': 'attachment' }, 'not-shown', 'not-shown'],
    [{ 'content-disposition': 'form-data; name="x"' }, 'not-shown', 'not-shown'],
    [{ 'content-disposition': ['inline', 'attachment'] }, 'not-shown', 'not-shown'],
    [{ 'content-disposition': ['inline; a=b', 'inline; a=c'] }, 'not-shown', 'not-shown'],
    [{ 'content-disposition': 'inline, attachment' }, 'not-shown', 'not-shown'],
    [{ 'content-disposition': 'inline-x; filename=a' }, 'not-shown', 'not-shown'],
    [{ 'content-type': 'text/' }, 'not-shown', 'identical'],
    [{ 'content-type': 'text/html; charset=iso-2022-kr' }, 'not-shown', 'not-shown'],
    [{ 'content-type': 'text/plain' }, 'not-shown', 'identical'],
    [{ 'content-type': 'application/octet-stream' }, 'not-shown', 'not-shown'],
    [{ 'content-type': 'binary/octet-stream; charset=binary' }, 'not-shown', 'not-shown'],
    [{ 'content-type': 'application/force-download' }, 'not-shown', 'not-shown'],
    [{ 'content-type': 'text/htmlx' }, 'not-shown', 'identical'],
    [{ 'content-type': 'text/html, text/plain' }, 'not-shown', 'identical'],
    [{ 'x-content-type-options': 'nosniff' }, 'not-shown', 'identical'],
    [{ 'content-type': 'application/xhtml+xml' }, 'not-shown', 'not-shown'],
    [{ 'content-type': 'image/png' }, 'not-shown', 'not-shown'],
    [{ 'content-type': 'application/json' }, 'not-shown', 'identical'],
    [{ 'content-type': 'text/html; charset=utf-16' }, 'not-shown', 'not-shown'],
  ])('with the headers %o is %s as a page, and %s as a file that is shown as it is', async (...row) => {
    const [headers, asPage, asItIs] = row;
    const answer = { body: BYTES, headers };
    const shownAs = (display: 'page' | 'plain' | 'viewer' | 'none') =>
      matchOf({
        answer,
        expect: { display },
        address: { url: display === 'page' ? PAGE : new URL('a.txt', PAGE) },
      });
    await expect(shownAs('page')).resolves.toBe(asPage);
    await expect(shownAs('plain')).resolves.toBe(asItIs);
    await expect(shownAs('viewer')).resolves.toBe(asItIs);
    await expect(shownAs('none')).resolves.toBe('identical');
    const built = { answer: { body: `<!-- built -->${BYTES}`, headers }, marker: MARKER };
    const altered = asPage === 'identical' ? 'altered' : asPage;
    await expect(matchOf({ ...built, expect: { display: 'page' } })).resolves.toBe(altered);
  });

  test.each([
    ['a.png', '\x89PNG\xff', 'text/plain image/jpeg application/octet-stream'],
    ['a.svg', '<svg/>', 'text/plain image/svg+xml '],
    ['a.md', '# A', 'text/html text/plain text/markdown'],
    ['a.txt', 'für', 'text/plain text/plain;charset=utf-8 application/octet-stream'],
    ['a.txt', 'für', 'text/plain;charset=utf8mb4 text/plain;charset=UTF8 text/x-log'],
    ['a.zip', 'PK', '- text/plain text/html'],
    ['a.html', '<p>für', 'text/html;charset=none text/html;charset=utf-8 text/html;charset=utf8'],
    ['a.html', `<p>${'x'.repeat(70_000)} für`, 'text/html text/html;charset=utf-8 text/html;charset=utf8'],
    ['a.html', '<p>for', 'application/xhtml+xml text/html text/html;charset=windows-1251'],
    ['a.xhtml', '<p/>', 'text/html application/xhtml+xml application/xhtml+xml;charset=utf-8'],
    ['a.html', '<meta charset=utf-8>für', 'text/html;charset=latin1 text/html text/html;charset=utf8mb4'],
  ])('of a link with %s, %j, is not shown with the first of the types %s', async (name, text, types) => {
    const bytes = Buffer.from(text, name === 'a.png' ? 'latin1' : 'utf8');
    const file = await localFile(bytes, name);
    const display = name.endsWith('html') ? { display: 'page' as const } : {};
    const matches = types.split(' ').map((type) => {
      const answer = { body: bytes, headers: { 'content-type': type } };
      return matchOf({ answer, isLink: true, expect: { file, ...display } });
    });
    const [first] = types.split(' ');
    await expect(Promise.all(matches)).resolves.toEqual([
      first === '-' ? 'identical' : 'not-shown',
      'identical',
      'identical',
    ]);
  });

  test('of a link is not shown if a browser reads it in another encoding, even with a marker alone', async () => {
    const body = `<p>${MARKER} für alle</p>`;
    const matchFor = (type: string) =>
      matchOf({
        ...ALONE,
        answer: { body, headers: { 'content-type': type } },
      });
    const readWrongly = [
      "text/html; charset='utf-8'",
      'text/html',
      'text/html; charset=latin1, text/html',
      'text/html; a=", charset=utf-8"',
    ];
    for (const type of [...readWrongly, 'application/xhtml+xml; charset=utf-8']) {
      await expect(matchFor(type)).resolves.toBe('not-shown');
    }
    for (const type of [
      'text/html; charset=utf-8',
      'text/plain, text/html; a="b, \\"c"; charset=utf-8, html',
    ]) {
      await expect(matchFor(type)).resolves.toBe('marked');
    }
  });

  test('is none where the file it is compared with can not be read any more', async () => {
    const prefixSha256 = () => Promise.reject(new Error('the disk is gone'));
    const file = Object.assign(await localFile(BYTES), { prefixSha256 });
    const { probe } = await probing({ expect: { file }, answer: { body: BYTES.slice(0, -1) } });
    await expect(probe()).rejects.toThrow('the disk is gone');
  });

  test('with the earlier content is `previous`, unless that is the file', async () => {
    const matchFor = async (body: string) =>
      matchOf({ answer: { body }, marker: MARKER, expect: { before: [await blobOf(body)] } });
    await expect(matchFor(OLD)).resolves.toBe('previous');
    await expect(matchFor(BYTES)).resolves.toBe('identical');
  });

  test.each([200, 401, 404])(
    'from a login page proves nothing, whatever its content (%i)',
    async (status) => {
      const location = 'https://git.octo.dev/login?return_to=x';
      const answer = ({ url }: Seen): Scripted =>
        url === PAGE.href ? { status: 302, headers: { location } } : { status, body: MARKER };
      for (const withFile of [true, false]) {
        await expect(matchOf({ answer, marker: MARKER, withFile })).resolves.toBe('login');
      }
    },
  );

  test('with a marker alone proves nothing if it comes from another host', async () => {
    const answer = ({ url }: Seen): Scripted =>
      url === PAGE.href ? { status: 302, headers: { location: 'https://b.dev/x' } } : { body: MARKER };
    await expect(matchOf({ answer, ...ALONE })).resolves.toBe('gate');
    await expect(matchOf({ answer, marker: MARKER })).resolves.toBe('altered');
  });
});

describe('a request', () => {
  test('carries a new ?v= each time, which no other run uses', async () => {
    const address = { addsVersion: true, url: new URL(`${PAGE.href}?a=1`) };
    const { probe, asked, ports } = await probing({ answer: { status: 404 }, address });
    await probe();
    await probe();
    await ports.clock.sleep(60_000);
    await probe();
    expect(asked.map(({ url }) => url)).toEqual([
      `${PAGE.href}?a=1&v=${STAMP}500000001`,
      `${PAGE.href}?a=1&v=${STAMP}500000002`,
      `${PAGE.href}?a=1&v=${STAMP + 60}500000003`,
    ]);
  });

  /** Shows the file only with the cookie of the first answer. */
  const withCookie =
    (status: number): Stage['answer'] =>
    ({ headers }) =>
      headers.cookie ? FILE : { status, headers: { location: PAGE.href, 'set-cookie': 'a=1' } };
  const WARNING: Stage['answer'] = ({ headers }) =>
    headers.cookie === 'verified=1'
      ? FILE
      : { body: 'Please read', headers: { 'set-cookie': ['verified=1; Path=/'] } };

  test.each<[string, Partial<Stage>]>([
    ['on any other host', {}],
    ['where there is no file to compare', { address: { host: BIN_HOST }, withFile: false, marker: MARKER }],
    ['that is an HTTP 401', { address: { host: BIN_HOST }, answer: withCookie(401) }],
    ['after a redirect', { answer: withCookie(302) }],
  ])('sends no cookie back to a page before the content %s', async (_, stage) => {
    const { probe, asked } = await probing({ answer: WARNING, ...stage });
    expect(provesAlone(await probe())).toBe(false);
    expect(asked.map(({ headers }) => headers.cookie).filter(Boolean)).toEqual([]);
  });

  test('ends at the deadline, which counts as an answer', async () => {
    const { probe, ports } = await probing({ answer: FILE });
    const bounds: number[] = [];
    ports.clock.timeout = ((ms: number) => bounds.push(ms) && AbortSignal.abort()) as never;
    await expect(probe()).resolves.toMatchObject({ match: 'absent', failure: { code: 'NOT_PROVEN' } });
    await ports.clock.sleep(239_900);
    await probe();
    expect(bounds).toEqual([expect.closeTo(60_000, -3.5), expect.closeTo(1_000, -3.5)]);
  });

  test.each<[string, Partial<Stage>, number]>([
    ['a small file', {}, 60_000],
    ['a link, whose length nobody knows', { withFile: false, marker: MARKER }, 240_000],
    ['what must be gone', { withFile: false, gone: true }, 60_000],
  ])('to %s has a time limit, so that a slow answer leaves time for another', async (_, stage, most) => {
    const { probe, ports } = await probing({ answer: FILE, ...stage });
    const bounds: number[] = [];
    ports.clock.timeout = ((ms: number) => bounds.push(ms) && new AbortController().signal) as never;
    await probe();
    expect(bounds).toEqual([expect.closeTo(most, -3.5)]);
  });

  test('ends with the reason when the delivery is stopped', async () => {
    const { probe, ports } = await probing({ answer: FILE });
    const reason = new Error('stopped');
    ports.stop.abort(reason);
    await expect(probe()).rejects.toBe(reason);
  });
});

describe('a marker that only the URL brings into the page', () => {
  const link = (body: string, marker: string, location?: string): Promise<ContentMatch> => {
    const url = new URL('https://a.dev/q/share-42?n=%C3%9Cbung%20eins');
    const away = location && { status: 302, headers: { location } };
    const answer: Answer = (one) =>
      away && one.url === url.href ? away : { body, headers: { 'content-type': 'text/html; charset=utf-8' } };
    return matchOf({ address: { url }, withFile: false, marker, answer });
  };

  test.each<readonly string[]>([
    ['a search page', 'Nothing found for share-42', 'share-42'],
    ['an error', '{"path":"/q/share-42"}', '"/q/share-42"'],
    ['a decoded query', 'Übung eins was not found', 'Übung eins'],
    ['an encoded address', '<a href="?to=https%3A%2F%2Fa.dev%2Fq%2Fshare-42">', 'a.dev%2Fq%2Fshare-42'],
    ['a title', 'Share 42 is loading', 'Share 42'],
    ['a redirect', 'report-7', 'report-7', 'https://b.dev/view/report-7'],
  ])('proves nothing: %s', async (...row) => {
    const [, body = '', marker = '', location] = row;
    await expect(link(body, marker, location)).resolves.toBe('echo');
    await expect(link(`The ${marker} is closed`, `${marker} is closed`)).resolves.toBe('marked');
  });
});

describe('a link with a file', () => {
  const [first, second] = BYTES.split('\n');

  test('is verified by a page with the whole file, and reports additions', async () => {
    const body = `<!doctype html><html><body><div>a <b>banner</b></div>${first}<script>let x = '<p>'</script>\n${second}</body></html>`;
    const result = await (await probing({ answer: { body }, isLink: true })).probe();
    expect([result.match, result.added]).toEqual(['extended', ['a doctype', '<div>', '<script>']]);
    expect(provesAlone(result)).toBe(true);
    const trimmed = await (await probing({ answer: { body: BYTES.trimEnd() }, isLink: true })).probe();
    expect(trimmed).toMatchObject({ match: 'extended', added: [] });
  });

  test.each<[string, Scripted]>([
    ['a page that lacks a part', { body: `${second}` }],
    ['a page that hides a part in a comment', { body: `<!-- ${BYTES} -->` }],
    ['a page that asks to sign in', { body: `${BYTES}<form><input type="password"></form>` }],
    ['a page that has the marker alone', { body: `<h1>Request access to</h1><b>${MARKER}</b>` }],
    ['what is no page', { body: `<div>${BYTES}</div>${BYTES}`, headers: { 'content-type': 'text/plain' } }],
  ])('is not verified by %s', async (_, answer) => {
    await expect(matchOf({ answer, isLink: true })).resolves.toBe('different');
    const withMarker = await matchOf({ answer, isLink: true, marker: MARKER });
    expect(['different', 'not-shown']).toContain(withMarker);
  });
});

test.each([
  ['a comment', `<!-- ${MARKER} -->`, 'echo'],
  ['a script', `<p>Sign in</p><script>window.__INITIAL__ = {"title": "${MARKER}"}</script>`, 'echo'],
  ['the title', `<title>${MARKER}</title><p>Loading…</p>`, 'echo'],
  ['the text', `<h1>${MARKER}</h1>`, 'marked'],
])('A marker in %s of a page, also behind much style, is %s.', async (_, markup, match) => {
  for (const style of ['', LONG_STYLE]) {
    const answer = { body: style + markup, headers: { 'content-type': 'text/html' } };
    await expect(matchOf({ answer, marker: MARKER, withFile: false })).resolves.toBe(match);
    // A site's build may turn the file's marker into a title.
    await expect(matchOf({ answer, marker: MARKER })).resolves.toBe('altered');
  }
});

describe('a further probe of a large file', () => {
  const LARGE = 'x'.repeat(3 * 1_048_576);
  /** The probe's result after the whole file was read once. */
  async function probeAgain(later: Scripted, first: Scripted = { body: LARGE }) {
    const expected = { file: await localFile(LARGE) };
    const { probe, asked } = await probing({
      expect: expected,
      answer: ({ nth }) => (nth === 1 ? first : later),
    });
    return { result: await probe(await probe()), asked };
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
    'reads the whole file if the host names another version: %o',
    async (headers) => {
      const first = { body: LARGE, headers: { etag: '"1"' } };
      const other = await probeAgain({ body: `${LARGE.slice(1)}y`, headers }, first);
      expect(other.result.match).toBe('different');
      const same = await probeAgain({ body: LARGE, headers }, first);
      expect([same.result.match, same.asked.length]).toEqual(['identical', 3]);
    },
  );
});

describe('a link from outside', () => {
  test('is refused as soon as a redirect leads into a network', async () => {
    const answer = { status: 302, headers: { location: 'https://printer.local/' } };
    const { probe, asked } = await probing({ answer, isLink: true });
    await expect(probe()).rejects.toMatchObject({ code: 'NOT_EXTERNAL' });
    expect(asked).toHaveLength(1);
  });

  test('is not fetched from inside this network if its name resolves to an internal address', async () => {
    const { probe, asked } = await probing({ answer: INNER, isLink: true });
    await expect(probe()).rejects.toBe(INNER);
    expect(asked).toHaveLength(1);
  });
});

describe('a URL on a host that the user named', () => {
  const at = (url: string, answer: Stage['answer'] = FILE) =>
    probing({ answer, address: { url: new URL(url) } });

  test.each([
    ['https://bins.corp/x', 'bins.corp is a host name of an internal network'],
    ['https://10.1.2.3/x', '10.1.2.3 is a private address'],
    ['https://bins/x', 'bins is a host name without a dot, which only a local network knows'],
    ['https://bins.octo.dev/x', ''],
  ])(
    'may be internal to a network, and the report says why it was not checked from outside: %s',
    async (url, why) => {
      const { probe, check } = await at(url);
      await expect(probe()).resolves.toMatchObject({ match: 'identical' });
      expect(check.internalReason).toBe(why);
    },
  );

  test('may redirect into an internal network', async () => {
    const { probe, check } = await at('https://bins.octo.dev/x', ({ nth }) =>
      nth === 1 ? { status: 302, headers: { location: 'https://storage.corp/y' } } : FILE,
    );
    await expect(probe()).resolves.toMatchObject({ match: 'identical' });
    expect(check.internalReason).toBe('storage.corp is a host name of an internal network');
  });

  test('is never on this machine', async () => {
    const { probe, asked } = await at('https://app.localhost/x');
    await expect(probe()).rejects.toMatchObject({ code: 'NOT_EXTERNAL' });
    expect(asked).toEqual([]);
  });

  test('is fetched once and publicly if a redirect leads to this machine', async () => {
    const { probe, asked, check } = await at('https://bins.octo.dev/x', ({ nth }) =>
      nth === 1 ? { status: 302, headers: { location: 'https://localhost/y' } } : FILE,
    );
    await expect(probe()).rejects.toMatchObject({ code: 'NOT_EXTERNAL' });
    expect([asked.length, check.publicOnly]).toEqual([1, true]);
  });

  test('that resolves to an internal address is fetched publicly first, and then from inside', async () => {
    const asked: boolean[] = [];
    const url = 'https://bins.octo.dev/x';
    const { probe, ports, check } = await at(url, ({ nth }) => (asked[nth - 1] || nth > 3 ? INNER : FILE));
    const { http } = ports;
    Object.assign(ports, {
      http: (request: HttpRequest) => {
        asked.push(request.publicOnly ?? false);
        return asked.length > 4 ? Promise.reject(new Error('asked again')) : http(request);
      },
    });
    await expect(probe()).resolves.toMatchObject({ match: 'identical' });
    await probe();
    await expect(probe()).rejects.toBe(INNER);
    expect(asked).toEqual([true, false, false, false]);
    expect(check.internalReason).toBe(INNER.message);
  });
});
