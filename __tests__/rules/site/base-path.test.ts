import { describe, expect, test } from '@jest/globals';
import { inspect } from './sites.ts';

type Files = Readonly<Record<string, string>>;

const PAGE = '<script src=/a.js></script><link rel=stylesheet href=/a.css>';
/** What a page of this generator names, and files by which it is known. */
const made = (generator: string, ...paths: readonly string[]): Files => ({
  'index.html': `${generator && `<meta name=generator content="${generator}">`}${PAGE}`,
  'a.js': '',
  'a.css': '',
  ...Object.fromEntries(paths.map((path) => [path, ''])),
});

/** The hint of the one finding about the base path. */
async function hintOf(files: Files): Promise<string | undefined> {
  const { refusals } = await inspect(files);
  expect(refusals.map(({ kind }) => kind)).toEqual(['base']);
  return refusals[0]?.hint;
}

describe('a folder that was built for another base path', () => {
  // Names and files of real output.
  test.each<[string, string, Files]>([
    ['Docusaurus', "baseUrl: '/repo/previews/pr-12/'", made('Docusaurus v3.10.2')],
    ['VitePress', "base: '/repo/previews/pr-12/'", made('VitePress v1.6.4')],
    ['Astro', "base: '/repo/previews/pr-12/'` in astro.config", made('Astro v7.3.5')],
    ['Hexo', 'root: /repo/previews/pr-12/', made('Hexo 8.1.2')],
    ['Eleventy', "pathPrefix: '/repo/previews/pr-12/'", made('Eleventy v3.1.8')],
    [
      'Rspress',
      "base: '/repo/previews/pr-12/'` in rspress.config",
      made('Rspress v2.0.22', 'static/js/index.0c1d2e3f4a.js'),
    ],
    ['Hugo', 'hugo --baseURL', made('Hugo 0.152.2')],
    ['Pelican', 'ends in /repo/previews/pr-12, or `RELATIVE_URLS = True`', made('Pelican')],
  ])('is refused with the setting of the generator that a page names: %s', async (name, setting, files) => {
    const hint = await hintOf(files);
    expect(hint).toContain(`the folder was made by ${name}: set `);
    expect(hint).toContain(setting);
  });

  test.each<[string, string, Files]>([
    ['Astro', "base: '/repo/previews/pr-12/'` in astro.config", made('', '_astro/pic.CHuDQKg6.svg')],
    ['Next.js', "basePath: '/repo/previews/pr-12'` in next.config", made('', '_next/static/chunks/1my.css')],
    ['Nuxt', 'NUXT_APP_BASE_URL', made('', '_nuxt/BviKd377.js')],
    [
      'React Router',
      "base: '/repo/previews/pr-12/'` in vite.config and `basename: '/repo/previews/pr-12/'` in react-router.config",
      made('', 'assets/entry.client-CPw-tkM8.js', 'assets/manifest-0cfd00c1.js'),
    ],
    [
      'Vite',
      "base: '/repo/previews/pr-12/'` in vite.config, or build with `vite build --base=/repo/previews/pr-12/`; without a router `./` is enough",
      made('', 'assets/index-DOHkgWaZ.js'),
    ],
    ['Slidev', 'slidev build --base /repo/previews/pr-12/', made('', 'assets/slidev/shortcuts-DlL240M5.js')],
    ['Angular', 'ng build --base-href /repo/previews/pr-12/', made('', 'main-HS5SINXE.js')],
    [
      'Rsbuild',
      "server: { base: '/repo/previews/pr-12' }` in rsbuild.config; without a router `output: { assetPrefix: 'auto' }`",
      made('', 'static/js/index.d24a6ee7d5.js', 'static/js/lib-react.d0b2681622.js'),
    ],
    [
      'Rsbuild',
      "assetPrefix: 'auto'",
      made('', 'static/js/async/372.3c2f6a81.js', 'static/js/main.0c1d2e3f.js'),
    ],
    [
      'Create React App',
      '"homepage": "/repo/previews/pr-12/"` in package.json; without a router `"."`',
      made('', 'static/js/main.0c1d2e3f.js', 'asset-manifest.json'),
    ],
    ['webpack', 'in the config of webpack or Rspack', made('', 'main.72224d9380efb4c9.js')],
  ])(
    'is refused with the setting of the generator that its files look like: %s',
    async (name, setting, files) => {
      const hint = await hintOf(files);
      expect(hint).toContain(`the folder looks like the output of ${name}: set `);
      expect(hint).toContain(setting);
      expect(hint?.endsWith('; or use addresses relative to the page')).toBe(name === 'webpack');
    },
  );

  test('is refused with the base to set at the root of a host, too', async () => {
    const files = {
      'index.html': '<script src=/repo/assets/a.js></script><link rel=stylesheet href=/repo/assets/b.css>',
      'assets/a.js': '',
      'assets/b.css': '',
    };
    const { refusals } = await inspect(files, { sitePath: '/', rootPath: '/' });
    expect(refusals).toMatchObject([
      {
        kind: 'base',
        text: 'script /repo/assets/a.js is missing, and the folder has assets/a.js',
        hint: expect.stringContaining('set the base path of the generator to `/`'),
        count: 2,
      },
    ]);
  });

  test.each<[string, Files]>([
    ['a file of a folder that is there', { 'index.html': '<img src=/a/b.png>', 'a/c.png': '', 'b.png': '' }],
    ['a relative address', { 'index.html': '<img src=a/b.png>', 'b.png': '' }],
  ])('is not what refuses %s', async (_, files) => {
    const { refusals } = await inspect(files, { sitePath: '/', rootPath: '/' });
    expect(refusals).toMatchObject([{ kind: 'missing' }]);
  });

  test('is refused with the setting where the page was written by hand, and its scripts were built', async () => {
    const files = {
      'index.html': '<link rel=stylesheet href=main.css><script type=module src=main.js></script>',
      'main.js': 'import "/static/chunk-CMEQNVMX.js";import("/static/lazy-GC6K3D6E.js")',
      'main.css': 'body{background:url(/static/big-LEX6WT7H.svg)}',
      ...Object.fromEntries(
        ['chunk-CMEQNVMX.js', 'lazy-GC6K3D6E.js', 'big-LEX6WT7H.svg'].map((path) => [path, '']),
      ),
    };
    expect(await hintOf(files)).toBe(
      'the folder looks like the output of esbuild: set `publicPath` to `/repo/previews/pr-12/`, or leave it out; or use addresses relative to the page',
    );
  });

  test('is refused with the base to set where no generator is known', async () => {
    expect(await hintOf(made(''))).toBe(
      'use addresses relative to the page (`./assets/…`), or set the base path of the generator to `/repo/previews/pr-12/`',
    );
  });
});

describe('a folder with the right base path, and an address that its generator left as it was', () => {
  const next = { '_next/a.js': '', 'logo.svg': '' };
  const rightScript = '<script src=/repo/previews/pr-12/_next/a.js></script>';
  test.each<[string, string, Files]>([
    ['an image', 'Next.js', { ...next, 'index.html': `${rightScript}<img src=/logo.svg>` }],
    [
      'a script',
      'Next.js',
      { ...next, 'index.html': `${rightScript}<script src=/x.js></script>`, 'x.js': '' },
    ],
    [
      'an address of a style sheet',
      'Eleventy',
      {
        'index.html':
          '<meta name=generator content="Eleventy v3.1.8"><link rel=stylesheet href=/repo/previews/pr-12/css/a.css>',
        'css/a.css': 'body { background: url(/css/pic.svg) }',
        'css/pic.svg': '<svg/>',
      },
    ],
    [
      'an image beside relative scripts',
      'Vite',
      {
        'index.html': '<script type=module src=./assets/index-DVK3TMMF.js></script><img src=/logo.svg>',
        'assets/index-DVK3TMMF.js': '',
        'logo.svg': '<svg/>',
      },
    ],
    [
      'an image beside a base',
      'Angular',
      {
        'index.html':
          '<base href=/repo/previews/pr-12/><script src=main-HS5SINXE.js></script><img src=/logo.svg>',
        'main-HS5SINXE.js': '',
        'logo.svg': '<svg/>',
      },
    ],
  ])('is refused without naming the setting again: %s', async (_, name, files) => {
    expect(await hintOf(files)).toBe(
      `other addresses lead into the folder, so ${name} has copied this one as it was written: make it relative to its file, or let it begin with \`/repo/previews/pr-12/\``,
    );
  });

  test('is refused without a generator, too', async () => {
    const files = { 'index.html': '<script src=a.js></script><img src=/b.png>', 'a.js': '', 'b.png': '' };
    expect(await hintOf(files)).toBe(
      'other addresses lead into the folder: make it relative to its file, or let it begin with `/repo/previews/pr-12/`',
    );
  });

  test('is refused without a generator that is only guessed from a common name', async () => {
    const files = {
      'index.html': '<script src=main.js></script><img src=/b.png>',
      'main.js': '',
      'b.png': '',
    };
    expect(await hintOf(files)).not.toContain('webpack');
  });

  test('is not taken for set if only an image leads into the folder', async () => {
    const page = '<meta name=generator content="Hexo 8.1.2"><script src=/a.js></script><img src=b.png>';
    const hint = await hintOf({ 'index.html': page, 'a.js': '', 'b.png': '' });
    expect(hint).toContain('made by Hexo: set ');
  });
});

describe('a folder that was built for another host', () => {
  const origin = 'https://octo.github.io';
  const page = (host: string): Files => ({
    // As Hugo writes it with the `baseURL` of a new site.
    'index.html': `<link rel=stylesheet href=${host}/css/a.css><script src=${host}/js/a.js></script>`,
    'css/a.css': '',
    'js/a.js': '',
  });

  test.each([
    ['https://example.org', 'another host'],
    ['https://example.org/docs', 'another host'],
    ['http://localhost:1313', 'the machine that made it'],
  ])('is refused with one finding that says what to build it for: %s', async (host, place) => {
    const { refusals } = await inspect(page(host), { origin });
    expect(refusals).toMatchObject([
      {
        kind: 'host',
        text: `link ${host}/css/a.css is loaded from ${place}`,
        hint: 'the folder has css/a.css: use its relative address, or build the site for https://octo.github.io/repo/previews/pr-12/',
        count: 2,
      },
    ]);
  });

  test.each([
    ['https://a.example/b/c.js', 'deliver a copy of it in the folder, or set `self-contained: warn`'],
    // `self-contained: warn` does not help here.
    ['http://localhost/b/c.js', 'deliver a copy of it in the folder'],
  ])('is not what refuses a page for what it needs of others: %s', async (address, hint) => {
    const files = { 'index.html': `<script src=${address}></script>`, 'a.js': '' };
    expect((await inspect(files, { origin })).refusals).toMatchObject([{ kind: 'host', hint }]);
  });
});
