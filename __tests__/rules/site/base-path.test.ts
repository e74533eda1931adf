import { describe, expect, test } from '@jest/globals';
import { type Files, inspect, site, verdictOf } from './sites.ts';

const PAGE = '<script src=/a.js></script><link rel=stylesheet href=/a.css>';
/** A page that names this generator, or files that identify it. */
const made = (generator: string, ...paths: readonly string[]): Files =>
  site(`${generator && `<meta name=generator content="${generator}">`}${PAGE}`, 'a.js', 'a.css', ...paths);

/** The hint of the one finding about the base path. */
async function hintOf(files: Files): Promise<string | undefined> {
  const { refusals, unknown } = await inspect(files);
  const found = [...refusals, ...unknown];
  expect(found.map(({ kind }) => kind)).toEqual(['base']);
  return found[0]?.hint;
}

describe('a folder that was built for another base path', () => {
  // Names and files of real output; of further generators in `generator-output.test.ts`.
  test.each<[string, string, Files]>([
    ['Hexo', 'root: /repo/previews/pr-12/', made('Hexo 8.1.2')],
    ['Eleventy', 'eleventy --pathprefix /repo/previews/pr-12/` and the HTML base', made('Eleventy v3.1.8')],
    ['Rspress', "base: '/repo/previews/pr-12/'` in rspress.config", made('Rspress v2.0.22')],
    ['Astro', "base: '/repo/previews/pr-12/'` in astro.config", made('', '_astro/pic.CHuDQKg6.svg')],
    ['SvelteKit', "kit.paths.base: '/repo/previews/pr-12'", made('', '_app/immutable/entry/app.fFUGcMIk.js')],
    [
      'React Router',
      "basename: '/repo/previews/pr-12/'` in react-router.config",
      site(`<script>window.__reactRouterContext = {}</script>${PAGE}`, 'a.js', 'a.css'),
    ],
    ['Slidev', 'slidev build --base /repo/previews/pr-12/', made('', 'assets/slidev/shortcuts-DlL240M5.js')],
  ])(
    'is refused with the setting of the generator that a page or a file names: %s',
    async (name, setting, files) => {
      const hint = await hintOf(files);
      expect(hint).toContain(`${name} built the folder: set `);
      expect(hint).toContain(setting);
    },
  );

  test('is refused without the name of the generator that made only another page', async () => {
    const docs = 'docs/index.html: <meta name=generator content="mkdocs-1.6.1"><p>Docs</p>';
    expect(await hintOf(made('', docs))).toMatch(/^set the base path of the generator /);
  });

  test.each([
    ['Vite, and what builds on it, such as SolidStart', 'assets/index-DOHkgWaZ.js'],
    ['webpack, Flet and rustdoc', 'main.72224d9380efb4c9.js'],
  ])('is refused without a name if several generators write such files: %s', async (_, path) => {
    expect(await hintOf(made('', path))).toMatch(
      /^set the base path of the generator to `.*\/pr-12\/`, or use URLs relative to the page /,
    );
  });

  test('is told to be built first if it is the source of a build', async () => {
    const vite = '<link rel=icon href=/vite.svg><script type="module" src="/src/main.tsx"></script>';
    const { refusals } = await inspect(site(vite, 'src/main.tsx', 'vite.svg'));
    expect(refusals).toMatchObject([{ kind: 'missing', hint: 'deliver the output of the build' }]);
  });

  test('is refused with the base to set at the root of a host, too', async () => {
    const page = '<script src=/repo/assets/a.js></script><link rel=stylesheet href=/repo/assets/b.css>';
    const files = site(page, 'assets/a.js', 'assets/b.css');
    const { refusals } = await inspect(files, { sitePath: '/' });
    const text = 'script /repo/assets/a.js is missing, but the folder has assets/a.js';
    const hint = expect.stringContaining('set the base path of the generator to `/`');
    expect(refusals).toMatchObject([{ kind: 'base', text, hint, count: 2 }]);
  });

  test.each<[string, Files]>([
    ['a file of a folder that is there', site('<script src=/a/b.js></script>', 'a/c.js', 'b.js')],
    ['a relative address', site('<script src=a/b.js></script>', 'b.js')],
  ])('does not refuse %s', async (_, files) => {
    const { refusals } = await inspect(files, { sitePath: '/' });
    expect(refusals).toMatchObject([{ kind: 'missing' }]);
  });

  test.each(['/', '/repo/previews/pr-12'])('was built by Angular with the base %s', async (base) => {
    const page = `<base href="${base}"><app-root></app-root><script src="main-TKX5FEAQ.js" type="module"></script>`;
    const setting = 'set the base with `ng build --base-href /repo/previews/pr-12/`, with its last slash';
    expect(await hintOf(site(page, 'main-TKX5FEAQ.js'))).toBe(`Angular built the folder: ${setting}`);
  });

  test('must change the base of its page at the root of a host, too', async () => {
    const page = '<base href=/app/><script src=a.js></script>';
    const { refusals } = await inspect(site(page, 'a.js'), { sitePath: '/' });
    expect(refusals).toMatchObject([{ kind: 'base', hint: 'begin the `<base href>` of the page with `/`' }]);
  });

  test('must change the base of its page if its relative addresses lead out', async () => {
    // As Flutter, Flet and Angular write it.
    const page = '<base href="/"><script src="flutter_bootstrap.js" async></script>';
    const hint = 'begin the `<base href>` of the page with `/repo/previews/pr-12/`';
    expect(await hintOf(site(page, 'flutter_bootstrap.js'))).toBe(hint);
  });
});

describe('a folder with the right base path, and an address that its generator left as it was', () => {
  const code = '<script src=/repo/previews/pr-12/_next/a.js></script>';
  const hint = 'make it relative to its file, or begin it with `/repo/previews/pr-12/`, as other URLs do';

  test('is refused without naming the setting again', async () => {
    const files = site(`${code}<script src=/x.js></script>`, '_next/a.js', 'x.js');
    expect(await hintOf(files)).toBe(hint);
  });

  test('is unknown if it is only an image', async () => {
    const page = '<base href=/repo/previews/pr-12/><script src=_next/a.js></script><img src=/x.js>';
    const { refusals, unknown } = await inspect(site(page, '_next/a.js', 'x.js'));
    expect([refusals, unknown]).toMatchObject([[], [{ kind: 'base', hint }]]);
  });

  test('is not assumed if only a relative address leads into the folder', async () => {
    const page = '<meta name=generator content="Hexo 8.1.2"><script src=/a.js></script><img src=b.png>';
    expect(await hintOf(site(page, 'a.js', 'b.png'))).toContain('Hexo built the folder: set ');
  });
});

describe('a folder whose entry has its styles in itself', () => {
  const NAV = '<a href=/>Home</a><a href=/about/>About</a><a href=/blog/>Blog</a>';
  const IMAGE = '<img src=/_astro/pic.CHuDQKg6.svg>';
  const START =
    '<script>Promise.all([import("/_app/immutable/a.js"), import("/_app/immutable/b.js")])</script>';
  const files = (page: string): Files =>
    site(page, 'about/index.html', 'blog/index.html', '_astro/pic.CHuDQKg6.svg', 'c.js', 'd.html', 'd.css');
  const kit = (page: string): Files => ({
    ...site(page, 'about.html', 'c.js'),
    '_app/immutable/a.js': '',
    '_app/immutable/b.js': '',
  });

  test.each<[string, string, Files]>([
    ['all its links lead out', 'refused base', files(NAV)],
    [
      'all its links lead out, and its code does not',
      'refused base',
      files(`<script src=c.js></script>${NAV}`),
    ],
    ['its image and all its links lead out', 'refused base', files(IMAGE + NAV)],
    ['all its scripts lead out, which only run later', 'refused base', kit(START)],
    ['its preloads, scripts and link lead out', 'refused base', kit(`<a href=/about>About</a>${START}`)],
    ['one link leads into the folder', 'unknown base', files(`${NAV}<a href=d.html>d</a>`)],
    ['its only link leads out', 'unknown base', files('<a href=/d>d</a><a href=/d.html>d</a>')],
    ['only its image leads out', 'unknown base', files(IMAGE)],
    ['one script leads into the folder', 'note base', kit(`${START}<script src=c.js></script>`)],
    [
      'its links lead home and to an API',
      '',
      files('<a href=/>Home</a><a href=/repo/>Up</a><a href=/api/a>A</a>'),
    ],
    ['its links lead to other pages of the host', '', files('<a href=/x/>x</a><a href=/y/>y</a>')],
    ['the links of another page lead out', 'note base', { ...files('<p>'), 'e.html': NAV }],
  ])('is judged if %s: %s', async (_, verdict, given) => {
    expect(verdictOf(await inspect(given))).toBe(verdict);
  });

  test('is refused with one finding that names the setting and counts all of them', async () => {
    const { refusals } = await inspect(files(`<link rel=icon href=/c.js>${IMAGE}${NAV}`));
    const hint = expect.stringContaining('Astro built the folder: set `base:');
    expect(refusals).toMatchObject([{ kind: 'base', hint, count: 4 }]);
  });
});

describe('a folder that was built for another host', () => {
  const origin = 'https://octo.github.io';
  // As Hugo writes it with the `baseURL` of a new site.
  const page = (host: string): Files =>
    site(`<link rel=stylesheet href=${host}/c/a.css><script src=${host}/b.js></script>`, 'c/a.css', 'b.js');

  test.each([
    ['https://example.org', 'host', 'another host'],
    ['https://example.org/docs', 'host', 'another host'],
    ['http://localhost:1313', 'machine', 'the machine that built it'],
  ])('is refused with one finding that names the right URL: %s', async (host, kind, place) => {
    const { refusals } = await inspect(page(host), { origin });
    const text = `link ${host}/c/a.css is loaded from ${place}`;
    const hint = `the folder has c/a.css: use its relative URL, or build the site for ${origin}/repo/previews/pr-12/`;
    expect(refusals).toMatchObject([{ kind, text, hint, count: 2 }]);
  });

  test.each([
    'https://a.example/b/c.js',
    // Every folder has an index.
    'https://a.example/',
    'http://localhost/b/c.js',
  ])('does not refuse a page for resources of other hosts: %s', async (address) => {
    const files = site(`<script src=${address}></script>`, 'a.js');
    const hint = 'deliver a copy of it in the folder';
    expect((await inspect(files, { origin })).refusals).toMatchObject([{ hint }]);
  });
});

test('a page with a script has what to set if a browser sees something else at the root of a host', async () => {
  const settingOf = async (files: Files, options = {}) => (await inspect(files, options)).routerSetting;
  const spa = site('<script type=module src=./assets/index-B0.js></script>', 'assets/index-B0.js: start(a)');
  const rest = 'also in the router and in URLs in scripts';
  expect(await settingOf(spa)).toBe(`the base path of the build to \`/repo/previews/pr-12/\`, ${rest}`);
  const slides = await settingOf({ ...spa, 'assets/slidev/shortcuts-DlL240M5.js': '' });
  expect(slides).toBe(`the base with \`slidev build --base /repo/previews/pr-12/\`, ${rest}`);
  const right = site('<script src=/repo/previews/pr-12/a.js></script>', 'a.js');
  expect(await settingOf(right)).toMatch(/^the same path `\/repo\/previews\/pr-12\/` also in the router/);
  expect(await settingOf(spa, { sitePath: '/' })).toBeNull();
  expect(await settingOf(site('<a href=a.js>code</a>', 'a.js'))).toBeNull();
});
