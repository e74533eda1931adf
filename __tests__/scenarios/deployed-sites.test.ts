import { describe, expect, test } from '@jest/globals';
import type { Report } from '../../src/delivery/report.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import { DeployedSite, type SiteFiles } from '../world/hosts/deployed-site.ts';
import type { TestRepository } from '../world/repository.ts';
import { expectRefused, setUpPlay } from './play.ts';

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

/** Proves a folder that others deployed. */
async function verify(site: DeployedSite, { local = SITE, inputs = {}, url = `${HOST}/` }: Given = {}) {
  play.world.host('site.deployed.dev', site.answer);
  repository ??= await play.repository();
  return play.deliver({
    repository,
    files: inFolder(local),
    inputs: { file: 'dist/', url, screen: 'off', ...inputs },
  });
}

/** What UNKNOWN says of the host. */
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

/** The site at a host that changes a page of it, or every one. */
const altered = (name: string, from: string | RegExp, to: string): DeployedSite =>
  new DeployedSite(SITE, { alter: (html, path) => (path.startsWith(name) ? html.replace(from, to) : html) });
/** The site at a host that names other types. */
const typed = (types: Readonly<Record<string, string>>): DeployedSite => new DeployedSite(SITE, { types });

describe('a folder that others deployed', () => {
  test.each<[string, string, string, string, Partial<RawInputs>]>([
    ['at the root of a host', '/', '/', '/', {}],
    ['in a folder of it', '/docs/', '/docs/', '/docs/', {}],
    ['in a folder whose address lacks its slash', '/docs/', '/docs', '/docs', {}],
    ['with the name of its entry', '/', '/index.html', '/index.html', {}],
    ['with another entry', '/', '/', '/about.html', { entry: 'about.html' }],
    ['with the name of another entry', '/', '/about.html', '/about.html', { entry: 'about.html' }],
    ['with the page of a folder as its entry', '/', '/', '/docs/', { entry: 'docs/index.html' }],
  ])('is proven file by file %s', async (_, below, given, expected, inputs) => {
    const local = builtFor(below);
    const site = new DeployedSite(local, { below });
    const { report } = await verify(site, { local, inputs, url: HOST + given });
    expect(report.notReady).toBeNull();
    expect(report).toMatchObject({ ready: true, url: HOST + expected, channel: 'K4' });
    expect(report.lines.TEST).toContain('bytes identical: yes; files identical: 6 of 6');
    const { entry = 'index.html' } = inputs;
    const others = Object.keys(SITE).filter((name) => name !== entry);
    const asked = site.asked.map((path) => decodeURI(path));
    expect(asked).toEqual(expect.arrayContaining([expected, ...others.map((name) => below + name)]));
  });

  test('is as little asked for in a dry run as its plan says', async () => {
    const site = new DeployedSite(SITE);
    const { report } = await verify(site, { inputs: { 'dry-run': 'true' } });
    expect(report.notReady).toMatchObject({ code: 'DRY_RUN' });
    expect(site.asked).toEqual([]);
  });

  test('is named file by file where the list says so, each at its own address', async () => {
    const site = new DeployedSite(SITE);
    const { reports } = await verify(site, {
      inputs: { file: 'dist/about.html\ndist/js/app.js\ndist/a.css' },
    });
    expect(reports.map(({ url }) => url)).toEqual(
      ['about.html', 'js/app.js', 'a.css'].map((name) => `${HOST}/${name}`),
    );
    site.nodes = [without('js/app.js')];
    const missing = await verify(site, {
      inputs: { file: 'dist/about.html\ndist/js/app.js', timeout: '20' },
    });
    expect(missing.reports.map(({ ready }) => ready)).toEqual([true, false]);
  });

  test('keeps its addresses where one of the list is refused before', async () => {
    const site = new DeployedSite(SITE);
    const file = 'dist/empty.html\ndist/about.html';
    const { reports } = await verify(site, { local: { ...SITE, 'empty.html': '' }, inputs: { file } });
    expect(reports.map(({ url }) => url)).toEqual([null, `${HOST}/about.html`]);
  });
});

describe('what hosts do with a site', () => {
  test.each<[string, DeployedSite, RegExp]>([
    ['clean addresses', new DeployedSite(SITE, { cleans: true }), /^whether the link still opens[^;]*$/],
    [
      'folders without their slash, but no relative references',
      new DeployedSite(SITE, { cleans: 'bare' }),
      /; where addresses lead that styles and scripts of the page make: the link's host answers in another folder/,
    ],
    ['compression', new DeployedSite(SITE, { compresses: true }), /^whether the link still opens[^;]*$/],
    [
      'a script in every page',
      altered('', '</body>', '<script src="/rum.js"></script></body>'),
      /what the link's host has added to 3 pages does: <script>$/,
    ],
    [
      'a banner on one page',
      altered('about.html', '<h1>', '<aside>Preview</aside><h1>'),
      /added to the page does: <aside>$/,
    ],
  ])('%s: ready, and told', async (_, site, unknown) => {
    const { report } = await verify(site);
    expect(report.notReady).toBeNull();
    expect(unknownOf(report)).toMatch(unknown);
  });

  test('a policy that may keep pages from working: ready, and told', async () => {
    const site = new DeployedSite(SITE, { policy: "sandbox; default-src 'none'; style-src 'self'" });
    const { report } = await verify(site);
    expect(report.notReady).toBeNull();
    expect(unknownOf(report)).toMatch(
      /; what the Content-Security-Policy of the link's host keeps from working on 3 pages$/,
    );
  });

  test('a page whose encoding neither it nor the host says: not ready, and as a part of another: ready', async () => {
    const local = { ...SITE, 'about.html': page('Über uns') };
    const site = new DeployedSite(local, { types: { 'about.html': 'text/html' } });
    expect((await verify(site, { local })).report.notReady).toBeNull();
    const given = { local, inputs: { entry: 'about.html', timeout: '9' } };
    expectRefused(await verify(site, given), 'verify', /in another encoding/);
    const said = page('Über uns').replace('<title>', '<meta charset="utf-8"><title>');
    const sayingSo = new DeployedSite(
      { ...SITE, 'about.html': said },
      { types: { 'about.html': 'text/html' } },
    );
    const right = { local: { ...SITE, 'about.html': said }, inputs: { entry: 'about.html' } };
    expect((await verify(sayingSo, right)).report.notReady).toBeNull();
  });

  test('files that it reads and does not serve: left out and named, hidden ones too', async () => {
    const control = { _redirects: '/x /y 301', _headers: '/*', CNAME: 'site.deployed.dev', '.nojekyll': '' };
    const site = new DeployedSite(SITE);
    const { report } = await verify(site, {
      local: { ...SITE, ...control, 'docs/CNAME': 'no control file' },
      inputs: { timeout: '9' },
    });
    expectRefused({ report, log: '' }, 'verify', /^1 of 6 files .*: docs\/CNAME \(HTTP 404\)$/);
    const ready = await verify(site, { local: { ...SITE, ...control } });
    expect(unknownOf(ready.report)).toMatch(/not asked for: CNAME, _headers, _redirects, \.nojekyll$/);
    expect(ready.report.lines.TEST).toContain('files identical: 6 of 9');
  });

  test.each<[string, DeployedSite, RegExp]>([
    ['a missing file', new DeployedSite(without('js/app.js')), /js\/app\.js \(HTTP 404\)/],
    [
      'the entry in place of a missing file',
      new DeployedSite(without('js/app.js', 'about.html'), { fallback: 'index.html' }),
      /^2 of 5 .*about\.html \(missing: HTTP 200 with the page of the site in its place\), js\/app\.js \(missing:/,
    ],
    [
      'another page in place of a missing one',
      new DeployedSite(without('about.html'), { fallback: 'docs/index.html' }),
      /about\.html \(missing: HTTP 200 with docs\/index\.html in its place\)/,
    ],
    [
      'a page in which a word is replaced',
      altered('', '<h1>Docs', '<h1>Dogs'),
      /docs\/index\.html \(HTTP 200 with other content\)/,
    ],
    [
      'a page that lacks its style sheet',
      altered('about.html', /<link[^>]*>/, ''),
      /about\.html \(HTTP 200 with other content\)/,
    ],
    [
      'a style sheet as plain text',
      typed({ 'a.css': 'text/plain' }),
      /a\.css \(HTTP 200 with the right content, but /,
    ],
    [
      'a script in another encoding',
      typed({ 'js/app.js': 'text/javascript; charset=windows-1251' }),
      /js\/app\.js \(HTTP 200 with the right content, but .* in another encoding/,
    ],
    [
      'a page to which it adds a base',
      altered('about.html', '<title>', '<base href="https://cdn.dev/"><title>'),
      /about\.html \(HTTP 200 with other content\)/,
    ],
    [
      'a page as a download',
      typed({ 'about.html': 'application/octet-stream' }),
      /about\.html \(HTTP 200 with the right content, but as a download/,
    ],
    [
      'one node of three that is stale',
      nodes(SITE, SITE, { ...SITE, 'a.css': 'old' }),
      /a\.css \(HTTP 200 with other/,
    ],
  ])('%s: not ready, and named', async (_, site, reason) => {
    expectRefused(await verify(site, { inputs: { timeout: '30' } }), 'verify', reason);
  });
});

describe('a folder that is not served as it is, but looks so', () => {
  const SHELL =
    '<!doctype html><html><head></head><body><div id="app"></div><script src="/js/app.js"></script></body></html>';
  const asFallback = { fallback: 'index.html' };
  const withScript = (html: string): string =>
    html.replace('</body>', '<script src="/rum.js"></script></body>');
  const to = (location: string) => ({ status: 302, headers: { location } });

  test.each<[string, SiteFiles, DeployedSite, RegExp]>([
    [
      'a blank page',
      { 'blank.html': '<html><body></body></html>' },
      new DeployedSite(SITE, asFallback),
      /^1 of 6 .*blank\.html \(missing/,
    ],
    ['an empty file', { 'ping.txt': '' }, new DeployedSite(SITE, asFallback), /ping\.txt \(.*HTTP 200/],
    [
      'a blank page, where the host has a page of its own for everything missing',
      { 'blank.html': '<html><body> </body></html>' },
      new DeployedSite({ ...SITE, oops: page('Oops') }, { fallback: 'oops', types: { oops: 'text/html' } }),
      /^1 of 6 .*blank\.html \(HTTP 200 with other content\)/,
    ],
    [
      'a page of which another one has everything, where the host adds a script to each',
      { 'index.html': SHELL.replace('<body>', '<body><p>Loading</p>'), 'admin.html': SHELL },
      new DeployedSite(
        { ...SITE, 'index.html': SHELL.replace('<body>', '<body><p>Loading</p>') },
        { ...asFallback, alter: withScript },
      ),
      /^1 of 6 .*admin\.html \(missing: HTTP 200 with the page of the site/,
    ],
    [
      'a page with a script that asks to sign in',
      {},
      altered('about.html', '<h1>', '<input type="password"><h1>'),
      /about\.html \(HTTP 200 with other content\)/,
    ],
    [
      'a page with relative references that ends in another folder',
      { 'docs/index.html': page('Docs', '<img src="x.png">') },
      new DeployedSite({ ...SITE, 'docs/index.html': page('Docs', '<img src="x.png">') }, { cleans: 'bare' }),
      /^1 of 5 .*docs\/index\.html \(HTTP 200 with the right content, but after a redirect/,
    ],
  ])('%s: not ready, and named', async (_, more, site, reason) => {
    const local = { ...SITE, ...more };
    expectRefused(
      await verify(site, { local, inputs: { timeout: '9', 'self-contained': 'off' } }),
      'verify',
      reason,
    );
  });

  test.each<[string, string, string, RegExp]>([
    [
      'to the same page in another place',
      '/docs/index.html',
      '/about.html',
      /docs\/index\.html \(HTTP 200 with the right content, but after a redirect/,
    ],
    [
      'to another host that has it',
      '/about.html',
      'https://copy.deployed.dev/about.html',
      /about\.html \(HTTP 200 with the right content, but after/,
    ],
    [
      'to another host and back',
      '/about.html',
      'https://copy.deployed.dev/back',
      /about\.html \(HTTP 200 with the right content, but after/,
    ],
    [
      'of the entry to another host that has it',
      '/',
      'https://copy.deployed.dev/',
      /the right content, but after a redirect/,
    ],
  ])('a redirect %s: not ready', async (_, path, location, reason) => {
    const local = { ...SITE, 'docs/index.html': SITE['about.html'] ?? '' };
    const site = new DeployedSite(local);
    play.world.host('copy.deployed.dev', (request) =>
      request.path === '/back' ? to(`${HOST}/about.html?`) : new DeployedSite(local).answer(request),
    );
    let isBack = false;
    site.before = (asked) => {
      isBack = asked === path && location.endsWith('back') && !isBack;
      return asked !== path || (location.endsWith('back') && !isBack) ? undefined : to(location);
    };
    expectRefused(await verify(site, { local, inputs: { timeout: '9' } }), 'verify', reason);
  });

  test('an entry without the slash of its folder, from which its references lead elsewhere: not ready', async () => {
    const local = {
      'js/app.js': 'start()',
      'index.html': '<!doctype html><title>x</title><script src="js/app.js"></script><p>Home</p>',
    };
    const site = new DeployedSite(local, { below: '/docs/' });
    const bare = { status: 200, headers: { 'content-type': 'text/html' }, body: local['index.html'] };
    site.before = (path) => (path === '/docs' ? bare : undefined);
    const given = { local, inputs: { timeout: '9', 'self-contained': 'off' } };
    expectRefused(
      await verify(site, { ...given, url: `${HOST}/docs` }),
      'verify',
      /in another folder than its references need/,
      { hint: /with the \/ of its folder at the end/ },
    );
    expect((await verify(site, { ...given, url: `${HOST}/docs/` })).report.notReady).toBeNull();
  });
});

describe('a host that is late', () => {
  const COUNT = 500;
  const large = (version: string, changed: number): SiteFiles => ({
    'index.html': page('Home'),
    'a.css': '',
    ...Object.fromEntries(
      Array.from({ length: COUNT - 2 }, (_, at) => [`f/${at}.txt`, `${at}${at < changed ? version : ''}`]),
    ),
  });

  test.each<[string, Partial<SiteFiles>, number]>([
    ['its entry too', { 'index.html': page('Old') }, 40],
    ['no page, but a few files', {}, 40],
    ['every file but its page', {}, COUNT],
  ])('with %s: ready in the end, and asked cheaply', async (_, old, changed) => {
    const now = large('new', changed);
    const site = new DeployedSite({ ...large('old', changed), ...old } as SiteFiles);
    const lateUntil = 330;
    site.before = () => {
      if (site.asked.length > COUNT + lateUntil || (old['index.html'] && site.asked.length > lateUntil))
        site.nodes = [now];
      return undefined;
    };
    const played = await verify(site, { local: now, inputs: { timeout: '1800' } });
    expect(played.report.notReady).toBeNull();
    expect(played.took).toBeGreaterThan(1_500_000);
    expect(site.asked.length).toBeLessThanOrEqual(3 * COUNT);
    const counts = Map.groupBy(site.asked, (path) => path);
    const often = [...counts.values()].filter((asked) => asked.length > 3);
    expect(often.map(([path]) => path)).toEqual(['/', ...(old['index.html'] ? [] : ['/f/0.txt'])]);
    expect(played.report.notes).toContain(
      'up to 1800 s were allowed for build and verification; the protocol has 240',
    );
  });

  test('says what is still old, and asks for all of it once more at the end', async () => {
    const now = large('new', 3);
    const site = new DeployedSite(large('old', 3));
    const arrive = [{ ...large('old', 3), 'f/0.txt': now['f/0.txt'] ?? '' }, now];
    site.before = () => {
      const next =
        site.asked.length > COUNT + 10 ? arrive[1] : site.asked.length > COUNT + 6 ? arrive[0] : undefined;
      if (next !== undefined) site.nodes = [next];
      return undefined;
    };
    const { report, log } = await verify(site, { local: now });
    expect(report.notReady).toBeNull();
    expect(log).toMatch(
      /3 of 499 files are not there yet: f\/0\.txt \(HTTP 200 with other content\), f\/1\.txt/,
    );
    expect(log).toMatch(/2 of 499 files are not there yet: f\/1\.txt/);
    expect(log).toMatch(/once more: 496 files/);
  });

  test('and takes back a file meanwhile: not ready', async () => {
    const now = large('new', 3);
    const site = new DeployedSite(large('old', 3));
    site.before = () => {
      if (site.asked.length > COUNT + 20) site.nodes = [{ ...now, 'f/400.txt': 'changed meanwhile' }];
      return undefined;
    };
    expectRefused(await verify(site, { local: now }), 'verify', /^1 of 496 .*f\/400\.txt/);
  });
});

describe('a wall before a deployment', () => {
  const vercel = { status: 302, headers: { location: 'https://vercel.com/sso-api?url=x&nonce=1' } };
  test.each<[string, object]>([
    ['HTTP 401', { status: 401, body: 'Authentication Required' }],
    ['HTTP 403', { status: 403, headers: { 'content-type': 'text/html' }, body: '<h1>Forbidden</h1>' }],
    ['a redirect to sign in', vercel],
    [
      'a redirect of Cloudflare Access',
      {
        status: 302,
        headers: { location: 'https://team.cloudflareaccess.com/cdn-cgi/access/login/site?kid=1' },
      },
    ],
  ])('%s: not ready at once, with what opens it', async (_, reply) => {
    const form = { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>Log in' };
    play.world.host('vercel.com', () => form);
    play.world.host('team.cloudflareaccess.com', () => form);
    const site = new DeployedSite(SITE);
    site.before = () => reply as { status: number };
    const played = await verify(site);
    expectRefused(played, 'verify', /HTTP \d+/, { hint: /Vercel \*Settings → Deployment Protection/ });
    expect(played.took).toBeLessThan(5_000);
    expect(site.asked).toHaveLength(1);
  });

  test('that its query alone opens: not ready, with what the other files are asked without', async () => {
    const site = new DeployedSite(SITE);
    site.before = (path) => (path === '/' ? undefined : { status: 403 });
    expectRefused(
      await verify(site, { url: `${HOST}/?sig=a1`, inputs: { timeout: '9' } }),
      'verify',
      /^5 of 5 files .*HTTP 403/,
      { hint: /without the query of the link/ },
    );
  });

  test('before one file alone: waited for, as S3 answers 403 for what is not there yet', async () => {
    const site = new DeployedSite(SITE);
    site.before = (path) => (path === '/js/app.js' && site.asked.length < 12 ? { status: 403 } : undefined);
    expect((await verify(site)).report.notReady).toBeNull();
  });
});

/** A host of several nodes. */
function nodes(...given: readonly SiteFiles[]): DeployedSite {
  const site = new DeployedSite(SITE);
  site.nodes = given;
  return site;
}
