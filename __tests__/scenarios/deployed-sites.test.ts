import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Report } from '../../src/delivery/report.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import { DeployedSite, type SiteFiles } from '../world/hosts/deployed-site.ts';
import type { TestRepository } from '../world/repository.ts';
import type { HostRequest } from '../world/server/messages.ts';
import { proven, refused, setUpPlay } from './play.ts';

const play = setUpPlay();
let repository: TestRepository;
const HOST = 'https://site.deployed.dev';
const page = (title: string, more = '') =>
  `<!doctype html><html lang="en"><head><title>${title}</title><link rel="stylesheet" href="/a.css"></head><body><h1>${title}</h1>${more}</body></html>`;
const SITE: SiteFiles = {
  'index.html': page('Home'),
  'about.html': page('About'),
  'docs/index.html': page('Docs'),
  'a.css': 'h1 { color: navy }',
  'js/app.js': 'console.log("für alle")',
  'Bild ü.png': Buffer.from('89504e470d0a1a0a', 'hex'),
};
const inFolder = (files: SiteFiles) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`dist/${path}`, content]));

interface Given {
  readonly local?: SiteFiles;
  readonly inputs?: Partial<RawInputs>;
  readonly url?: string;
}

/** Verifies a folder that another tool deployed. */
async function verify(site: DeployedSite, { local = SITE, inputs = {}, url = `${HOST}/` }: Given = {}) {
  play.world.host('site.deployed.dev', site.answer);
  repository ??= await play.repository();
  return play.deliver({
    repository,
    files: inFolder(local),
    inputs: { file: 'dist/', url, screen: 'off', ...inputs },
  });
}

/** The host's entry in UNKNOWN. */
const unknownOf = ({ unknown }: Report): string =>
  unknown.filter((line) => !line.includes('browser')).join('; ');

/** The same site, built for a folder of the host. */
const builtFor = (below: string): SiteFiles =>
  Object.fromEntries(
    Object.entries(SITE).map(([path, content]) => [
      path,
      typeof content === 'string' ? content.replace('/a.css', `${below}a.css`) : content,
    ]),
  );

const without = (...names: readonly string[]): SiteFiles =>
  Object.fromEntries(Object.entries(SITE).filter(([name]) => !names.includes(name)));

/** A host as `DeployedSite` plays it, with its differences from the folder. */
interface Host extends NonNullable<ConstructorParameters<typeof DeployedSite>[1]> {
  readonly files?: SiteFiles;
  readonly nodes?: readonly SiteFiles[];
}
function serve({ files = SITE, nodes = [files], ...habits }: Host = {}): DeployedSite {
  const site = new DeployedSite(files, habits);
  site.nodes = nodes;
  return site;
}
/** A host that changes a page, or every one. */
const alters = (name: string, from: string | RegExp, to: string): Host => ({
  alter: (html, path) => (path.startsWith(name) ? html.replace(from, to) : html),
});

describe('a folder that another tool deployed', () => {
  test.each<[string, string, string, string, Partial<RawInputs>]>([
    ['at the root of a host', '/', '/', '/', {}],
    ['in a folder of it', '/docs/', '/docs/', '/docs/', {}],
    ['in a folder whose address lacks its slash', '/docs/', '/docs', '/docs', {}],
    ['with its entry in the URL', '/', '/index.html', '/index.html', {}],
    ['with another entry', '/', '/', '/about.html', { entry: 'about.html' }],
    ['with another entry in the URL', '/', '/about.html', '/about.html', { entry: 'about.html' }],
    ["with a subfolder's page as its entry", '/', '/', '/docs/', { entry: 'docs/index.html' }],
  ])('is verified file by file %s', async (_, below, given, expected, inputs) => {
    const local = builtFor(below);
    const site = serve({ files: local, below });
    const { report } = await proven(verify(site, { local, inputs, url: HOST + given }));
    expect(report).toMatchObject({ url: HOST + expected, channel: 'K4' });
    expect(report.lines.TEST).toContain('bytes identical: yes; files identical: 6 of 6');
    const others = Object.keys(SITE).filter((name) => name !== (inputs.entry ?? 'index.html'));
    const asked = site.asked.map((path) => decodeURI(path));
    expect(asked).toEqual(expect.arrayContaining([expected, ...others.map((name) => below + name)]));
  });

  test.each<[string, Host, string]>([
    ['accepts no other spelling', { otherNames: 'unknown' }, '@home;v=1.html'],
    ['redirects other spellings', { otherNames: 'redirected', cleans: true }, '@home;v=1.html'],
    ['redirects other spellings, and got such a URL', { otherNames: 'redirected' }, '%40home%3Bv%3D1.html'],
  ])('is requested with names as browsers write them, if its host %s', async (_, host, given) => {
    const names = "a:b/c.js @local.js a+b.js a,b.js $a&b.js ~a!b'c*d(e).js 100%.js a[b].js я=.js".split(' ');
    const local = {
      '@home;v=1.html': page(
        'Home',
        names.map((name) => `<script src="./${encodeURI(name)}"></script>`).join(''),
      ),
      'a.css': '',
      ...Object.fromEntries(names.map((name) => [name, `"${name}"`])),
    };
    const inputs = { entry: '@home;v=1.html' };
    const { report } = await proven(
      verify(serve({ files: local, ...host }), { local, inputs, url: `${HOST}/${given}` }),
    );
    expect(report).toMatchObject({ url: `${HOST}/${given}` });
    expect(report.lines.TEST).toContain('files identical: 11 of 11');
  });

  test('is requested as given, and its other files without a query, because the host may refuse `?v=`', async () => {
    const { requests } = await proven(verify(serve(), { url: `${HOST}/?sig=a1` }));
    const asked = requests.filter((one) => one.includes(HOST)).map((one) => one.replace(`GET ${HOST}`, ''));
    expect(new Set(asked.filter((one) => one.includes('?')))).toEqual(new Set(['/?sig=a1']));
    expect(new Set(asked).size).toBe(6);
  });

  test('gets only the requests of its plan in a dry run', async () => {
    const site = serve();
    const { report } = await verify(site, { inputs: { 'dry-run': 'true' } });
    expect(report.result).toBe('planned');
    expect(site.asked).toEqual([]);
  });

  test('may be given as a list of files, each with its own URL', async () => {
    const list = async (site: DeployedSite, file: string, local = SITE) => {
      const { reports } = await verify(site, { local, inputs: { file, timeout: '20' } });
      return reports.map(({ url }) => url);
    };
    const urls = ['about.html', 'js/app.js', 'a.css'].map((name) => `${HOST}/${name}`);
    expect(await list(serve(), 'dist/about.html\ndist/js/app.js\ndist/a.css')).toEqual(urls);
    const lacking = serve({ files: without('js/app.js') });
    expect(await list(lacking, 'dist/about.html\ndist/js/app.js')).toEqual([urls[0], null]);
    const refusedBefore = { ...SITE, 'empty.html': '' };
    expect(await list(serve(), 'dist/empty.html\ndist/about.html', refusedBefore)).toEqual([null, urls[0]]);
  });
});

describe('what hosts change in a site', () => {
  const PLAIN = /^whether the link still opens[^;]*$/;
  test.each<[string, Host, RegExp]>([
    ['clean URLs', { cleans: true }, PLAIN],
    [
      'folders without their slash, but no relative references',
      { cleans: 'bare' },
      /; where URLs built by styles and scripts lead: the link's host serves the page from another folder/,
    ],
    ['compression', { compresses: true }, PLAIN],
    [
      'a script in every page',
      alters('', '</body>', '<script src="/rum.js"></script></body>'),
      /what the additions by the link's host do: <script>$/,
    ],
    [
      'a banner',
      alters('about.html', '<h1>', '<aside>!</aside><h1>'),
      /additions by the link's host do: <aside>$/,
    ],
    [
      'a policy that may keep pages from working',
      { policy: "sandbox; default-src 'none'; style-src 'self'" },
      /; what the Content-Security-Policy of the link's host blocks$/,
    ],
  ])('%s: ready, and reported', async (_, host, unknown) => {
    const { report } = await proven(verify(serve(host)));
    expect(unknownOf(report)).toMatch(unknown);
  });

  test('an answer for browsers only: ready, because a folder is requested as a browser does', async () => {
    const site = serve();
    const answer = (request: HostRequest) =>
      /Mozilla/.test(String(request.headers['user-agent'])) ? site.answer(request) : { status: 403 };
    await proven(verify(Object.assign(serve(), { answer })));
  });

  test('an addition to a page: the receipt has what each URL answered', async () => {
    const { report } = await proven(verify(serve(alters('about.html', '<h1>', '<aside>!</aside><h1>'))));
    const digests = new Map((report.proven ?? []).map(({ url, sha256 }) => [url, sha256]));
    const answered = { ...SITE, 'about.html': page('About').replace('<h1>', '<aside>!</aside><h1>') };
    for (const path of ['about.html', 'a.css']) {
      const digest = createHash('sha256')
        .update((answered as SiteFiles)[path] ?? '')
        .digest('hex');
      expect([path, digests.get(`${HOST}/${path}`)]).toEqual([path, digest]);
    }
    expect(digests.size).toBe(6);
  });

  test('a page without a stated encoding: not ready, but ready as part of another page', async () => {
    const put = (about: string, inputs: Partial<RawInputs> = {}) => {
      const local = { ...SITE, 'about.html': about };
      const site = serve({ files: local, types: { 'about.html': 'text/html' } });
      return verify(site, { local, inputs: { timeout: '9', ...inputs } });
    };
    const entry = 'about.html';
    const silent = page('Über uns');
    await proven(put(silent));
    await refused(put(silent, { entry }), /^verify.*: .*another type or encoding/);
    await proven(put(silent.replace('<title>', '<meta charset="utf-8"><title>'), { entry }));
  });

  test('files that the host reads but does not serve: left out and named, also hidden ones', async () => {
    const control = { _redirects: '/x /y 301', _headers: '/*', CNAME: 'site.deployed.dev', '.nojekyll': '' };
    const local = { ...SITE, ...control };
    const { report } = await proven(verify(serve(), { local }));
    expect(unknownOf(report)).toMatch(/not fetched: CNAME, _headers, _redirects, \.nojekyll$/);
    expect(report.lines.TEST).toContain('files identical: 6 of 9');
    const more = { ...local, 'docs/CNAME': 'no control file' };
    const says = /^verify.*: 1 of 7 files .*: docs\/CNAME \(HTTP 404\) → /;
    await refused(verify(serve(), { local: more, inputs: { timeout: '9' } }), says);
  });

  const asFallback = { fallback: 'index.html' };
  const SHELL =
    '<!doctype html><html><head></head><body><div id="app"></div><script src="/js/app.js"></script></body></html>';
  const LOADING = SHELL.replace('<body>', '<body><p>Loading</p>');
  const RELATIVE = { 'docs/index.html': page('Docs', '<img src="x.png">') };
  const BLANK = '<html><body></body></html>';
  const [BYTES, CYRILLIC] = ['application/octet-stream', 'text/javascript; charset=windows-1251'];
  const OTHER = String.raw`\(HTTP 200 with other content\)`;
  const RIGHT = String.raw`\(HTTP 200 with the right content, but`;
  test.each<[string, SiteFiles, Host, string]>([
    ['a missing file', {}, { files: without('js/app.js') }, String.raw`: 1 of 6 .*js/app\.js \(HTTP 404\)`],
    [
      'the entry instead of a missing file',
      {},
      { files: without('js/app.js', 'about.html'), ...asFallback },
      `: 2 of 6 .*about\\.html ${OTHER}, js/app\\.js ${OTHER}`,
    ],
    [
      'another page instead of a missing page',
      {},
      { files: without('about.html'), fallback: 'docs/index.html' },
      `about\\.html ${OTHER}`,
    ],
    ['a style sheet as plain text', {}, { types: { 'a.css': 'text/plain' } }, `a\\.css ${RIGHT} `],
    ['another encoding', {}, { types: { 'js/app.js': CYRILLIC } }, `js/app\\.js ${RIGHT} .* encoding`],
    [
      'an added base',
      {},
      alters('about.html', '<title>', '<base href="https://cdn.dev/"><title>'),
      `about\\.html ${OTHER}`,
    ],
    ['a page as a download', {}, { types: { 'about.html': BYTES } }, `about\\.html ${RIGHT} its headers`],
    ['a stale node of three', {}, { nodes: [SITE, SITE, { ...SITE, 'a.css': 'old' }] }, `a\\.css ${OTHER}`],
    ['the entry for a blank page', { 'blank.html': BLANK }, asFallback, `: 1 of 7 .*blank.html ${OTHER}`],
    ['the entry for an empty file', { 'ping.txt': '' }, asFallback, String.raw`ping\.txt \(.*HTTP 200`],
    [
      'one outdated node of three',
      {},
      { nodes: [SITE, SITE, { ...SITE, 'a.css': 'old' }] },
      `a\\.css ${OTHER}`,
    ],
    [
      'the entry instead of a blank page',
      { 'blank.html': BLANK },
      asFallback,
      `: 1 of 7 .*blank.html ${OTHER}`,
    ],
    [
      'the entry instead of an empty file',
      { 'ping.txt': '' },
      asFallback,
      String.raw`ping\.txt \(.*HTTP 200`,
    ],
    [
      "the host's 404 page instead of a blank page",
      { 'blank.html': '<html><body> </body></html>' },
      { files: { ...SITE, oops: page('Oops') }, fallback: 'oops', types: { oops: 'text/html' } },
      `: 1 of 7 .*blank\\.html ${OTHER}`,
    ],
    [
      'a page whose whole content another page has, with an added script',
      { 'index.html': LOADING, 'admin.html': SHELL },
      {
        ...alters('', '</body>', '<script src="/rum.js"></script></body>'),
        files: { ...SITE, 'index.html': LOADING },
        ...asFallback,
      },
      `: 1 of 7 .*admin\\.html ${OTHER}`,
    ],
    [
      'a page with relative references that ends in another folder',
      RELATIVE,
      { files: { ...SITE, ...RELATIVE }, cleans: 'bare' },
      `: 1 of 6 .*docs/index\\.html ${RIGHT} redirected`,
    ],
  ])('%s: not ready, and the file is named', async (_, more, host, says) => {
    const given = { local: { ...SITE, ...more }, inputs: { timeout: '30', 'self-contained': 'off' } };
    await refused(verify(serve(host), given), new RegExp(`^verify.*${says}`));
  });
});

describe('a link with only a marker', () => {
  const MARK = 'Quarterly report';
  const HTML = 'text/html; charset=utf-8';
  const check = (body: string, type = HTML, more: object = {}) => {
    const answer = { status: 200, body, headers: { 'content-type': type, ...more } };
    play.world.host('site.deployed.dev', () => answer);
    return play.deliver({ inputs: { url: `${HOST}/r/7`, marker: MARK, timeout: '9' } });
  };

  test.each<[string, string, object, string]>([
    ['a page', HTML, {}, 'shows the marker'],
    ['a page to be saved', HTML, { 'content-disposition': 'attachment' }, 'downloads a file with the marker'],
    ['a text', 'text/plain; charset=utf-8', {}, 'shows the marker'],
  ])('that shows the marker in %s is ready, and nothing more is claimed', async (_, type, more, verb) => {
    const { report } = await proven(check(page(MARK), type, more));
    const claim = `the given link ${verb} at ${HOST}/r/7`;
    expect(report.lines.CLAIM).toMatch(claim);
    expect(report.lines.UNKNOWN).toContain('no file was given, so only the expected text was checked');
  });

  test.each([
    [
      'leads to another host',
      { status: 302, headers: { location: 'https://copy.deployed.dev/' } },
      /answers HTTP 200 after a redirect to copy\.deployed\.dev, perhaps with a sign-in page/,
    ],
    [
      'opens only once',
      { status: 404 },
      /HTTP 404, and at other times the marker → .*or use a link that opens more than once/,
    ],
  ])('that %s is not ready, and the reason names that', async (_, next, says) => {
    const shown = { status: 200, body: page(MARK), headers: { 'content-type': HTML } };
    const answers = says.source.includes('404') ? [shown] : [];
    play.world.host('copy.deployed.dev', () => shown);
    play.world.host('site.deployed.dev', () => ({ headers: {}, ...(answers.pop() ?? next) }));
    await refused(play.deliver({ inputs: { url: `${HOST}/r/7`, marker: MARK, timeout: '9' } }), says);
  });

  test('to a file that a browser saves is reported as a download', async () => {
    play.world.host('site.deployed.dev', new DeployedSite({ 'a.zip': 'PK 1' }).answer);
    const given = { files: { 'a.zip': 'PK 1' }, inputs: { file: 'a.zip', url: `${HOST}/a.zip` } };
    const { report } = await proven(play.deliver(given));
    expect(report.lines.CLAIM).toContain(`a.zip downloads without signing in at ${HOST}/a.zip`);
  });
});

describe('a folder that only seems to be served unchanged', () => {
  const COPY = 'https://copy.deployed.dev';
  const AFTER = 'HTTP 200 with the right content, but redirected';
  test.each<[string, string, string, string]>([
    ['to the same page at another path', '/docs/index.html', '/about.html', `docs/index\\.html \\(${AFTER}`],
    ['to another host with the folder', '/about.html', `${COPY}/about.html`, `about\\.html \\(${AFTER}`],
    ['to another host and back', '/about.html', `${COPY}/back`, `about\\.html \\(${AFTER}`],
    ['of the entry to another host that has it', '/', COPY, 'the right content, but redirected'],
  ])('a redirect %s: not ready', async (_, path, location, says) => {
    const to = (address: string) => ({ status: 302, headers: { location: address } });
    const local = { ...SITE, 'docs/index.html': SITE['about.html'] ?? '' };
    const site = serve({ files: local });
    play.world.host('copy.deployed.dev', (request) =>
      request.path === '/back' ? to(`${HOST}/about.html?`) : serve({ files: local }).answer(request),
    );
    let isBack = false;
    site.before = (asked) => {
      isBack = asked === path && location.endsWith('back') && !isBack;
      return asked !== path || (location.endsWith('back') && !isBack) ? undefined : to(location);
    };
    await refused(verify(site, { local, inputs: { timeout: '9' } }), new RegExp(`^verify.*: .*${says}`));
  });

  test("an entry whose references break because the folder's slash is missing: not ready", async () => {
    const entry = '<!doctype html><title>x</title><script src="js/app.js"></script><p>Home</p>';
    const local = { 'js/app.js': 'start()', 'index.html': entry };
    const site = serve({ files: local, below: '/docs/' });
    const bare = { status: 200, headers: { 'content-type': 'text/html' }, body: entry };
    site.before = (path) => (path === '/docs' ? bare : undefined);
    const given = { local, inputs: { timeout: '9', 'self-contained': 'off' } };
    await refused(
      verify(site, { ...given, url: `${HOST}/docs` }),
      /^verify.*: .*in another folder than its links need.* → .*ending in the \/ of its folder/,
    );
    await proven(verify(site, { ...given, url: `${HOST}/docs/` }));
  });
});

describe('a host that updates late', () => {
  const COUNT = 500;
  const large = (version: string, changed: number): SiteFiles => ({
    'index.html': page('Home'),
    'a.css': '',
    ...Object.fromEntries(
      Array.from({ length: COUNT - 2 }, (_, at) => [`f/${at}.txt`, `${at}${at < changed ? version : ''}`]),
    ),
  });
  /** A host that changes its files after this many requests. */
  const changing = (old: SiteFiles, ...later: readonly (readonly [number, SiteFiles])[]): DeployedSite => {
    const site = serve({ files: old });
    site.before = () => {
      const [, files] = later.findLast(([after]) => site.asked.length > after) ?? [];
      if (files !== undefined) site.nodes = [files];
      return undefined;
    };
    return site;
  };

  test.each<[string, Partial<SiteFiles>, number]>([
    ['its entry as well', { 'index.html': page('Old') }, 40],
    ['a few files, but no page', {}, 40],
    ['every file but its page', {}, COUNT],
  ])('with %s: ready in the end, with few requests', async (_, old, changed) => {
    const now = large('new', changed);
    const isEntryLate = old['index.html'] !== undefined;
    const before = { ...large('old', changed), ...old } as SiteFiles;
    const site = changing(before, [isEntryLate ? 330 : COUNT + 330, now]);
    const played = await proven(verify(site, { local: now, inputs: { timeout: '1800' } }));
    expect(played.took).toBeGreaterThan(1_500_000);
    expect(site.asked.length).toBeLessThanOrEqual(3 * COUNT);
    const counts = Map.groupBy(site.asked, (path) => path);
    const often = [...counts.values()].filter((asked) => asked.length > 3);
    expect(often.map(([path]) => path)).toEqual(['/', ...(isEntryLate ? [] : ['/f/0.txt'])]);
    const note = "the timeout was 1800 s; the protocol's is 240 s";
    expect(played.report.notes).toContain(note);
  });

  test('is reported with its old files, and checked once more completely at the end', async () => {
    const [old, now] = [large('old', 3), large('new', 3)];
    const site = changing(old, [COUNT + 6, { ...old, 'f/0.txt': now['f/0.txt'] ?? '' }], [COUNT + 13, now]);
    const { log } = await proven(verify(site, { local: now }));
    const other = String.raw`\(HTTP 200 with other content\)`;
    expect(log).toMatch(new RegExp(`3 of 500 files .*: f/0\\.txt ${other}, f/1\\.txt`));
    expect(log).toMatch(/2 of 500 files .*: f\/1\.txt/);
    expect(log).toMatch(/checking 496 files again/);
  });

  test('and then loses a file again: not ready', async () => {
    const now = large('new', 3);
    const site = changing(large('old', 3), [COUNT + 20, { ...now, 'f/400.txt': 'changed meanwhile' }]);
    await refused(verify(site, { local: now }), /^verify.*: 1 of 500 .*f\/400\.txt/);
  });
});

test.each<[string, readonly string[]]>([
  ['lacks its files', []],
  ['has an older page', ['index.html']],
  ['has an older file', ['js/app.js']],
])('a host whose second node %s: not ready', async (_, older) => {
  const old =
    older.length === 0 ? {} : { ...SITE, ...Object.fromEntries(older.map((name) => [name, 'older'])) };
  const site = serve({ nodes: [SITE, old as SiteFiles], balancesConnections: true });
  await refused(verify(site), /^verify(?: \d+)?: .*(?:not verified|do not show)/);
});

describe('a wall before a deployment', () => {
  const to = (location: string): object => ({ status: 302, headers: { location } });
  test.each<[string, object]>([
    ['HTTP 401', { status: 401, body: 'Authentication Required' }],
    ['HTTP 403', { status: 403, headers: { 'content-type': 'text/html' }, body: '<h1>Forbidden</h1>' }],
    ['a redirect to sign in', to('https://vercel.com/sso-api?url=x&nonce=1')],
    ['Cloudflare Access', to('https://team.cloudflareaccess.com/cdn-cgi/access/login/site?kid=1')],
  ])('%s: not ready at once, and the message says what opens it', async (_, reply) => {
    const form = { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>Log in' };
    for (const host of ['vercel.com', 'team.cloudflareaccess.com']) play.world.host(host, () => form);
    const site = serve();
    site.before = () => reply as { status: number };
    const says = /^verify.*: .*HTTP \d+.* → .*Vercel: \*Settings → Deployment Protection/;
    const { took } = await refused(verify(site), says);
    expect(took).toBeLessThan(5_000);
    expect(site.asked).toHaveLength(1);
  });

  test('that only a query opens: not ready, because other files are requested without that query', async () => {
    const site = serve();
    site.before = (path) => (path === '/' ? undefined : { status: 403 });
    const says = /^verify.*: 5 of 6 files .*HTTP 403.* → .*without the query of the link/;
    await refused(verify(site, { url: `${HOST}/?sig=a1`, inputs: { timeout: '9' } }), says);
  });

  test('before one file only: waited for, because S3 answers 403 for a missing file', async () => {
    const site = serve();
    site.before = (path) => (path === '/js/app.js' && site.asked.length < 12 ? { status: 403 } : undefined);
    await proven(verify(site));
  });
});
