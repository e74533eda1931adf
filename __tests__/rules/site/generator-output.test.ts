import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { inspect } from './sites.ts';

/**
 * Extracts of what real generators wrote: the names of all files, the tags of pages with addresses, and the rules of
 * style sheets with addresses.
 */
const OUTPUTS = new URL('outputs/', import.meta.url);

const readOutput = (name: string): Record<string, string> =>
  JSON.parse(readFileSync(new URL(`${name}.json`, OUTPUTS), 'utf8')) as Record<string, string>;

/** All scripts of these have `async`: what the pages show without them is unknown. */
const ASYNC = new Set(['gatsby-absolute', 'qwik-absolute', 'solidstart-absolute', 'vike-absolute']);

/** Built for the root of a host; what to set for each. */
const WRONG_BASE: Readonly<Record<string, string>> = {
  'astro-absolute': "made by Astro: set `base: '/repo/previews/pr-12/'`",
  'docusaurus-absolute': "made by Docusaurus: set `baseUrl: '/repo/previews/pr-12/'`",
  'gatsby-absolute': "made by Gatsby: set `pathPrefix: '/repo/previews/pr-12'` in gatsby-config",
  'qwik-absolute': 'set the base path of the generator to `/repo/previews/pr-12/`',
  'solidstart-absolute': 'set the base path of the generator to `/repo/previews/pr-12/`',
  'vike-absolute': 'set the base path of the generator to `/repo/previews/pr-12/`',
  'hugo-absolute': 'made by Hugo: set `baseURL` to the full address that ends in /repo/previews/pr-12/',
  'next-absolute': "made by Next.js: set `basePath: '/repo/previews/pr-12'`",
  'nuxt-absolute': "made by Nuxt: set `app: { baseURL: '/repo/previews/pr-12/' }`",
  'parcel-absolute': 'set the base path of the generator to `/repo/previews/pr-12/`',
  'pelican-absolute': 'made by Pelican: set `SITEURL` to the full address that ends in /repo/previews/pr-12',
  'rsbuild-absolute': 'set the base path of the generator to `/repo/previews/pr-12/`',
  'vite-absolute': 'set the base path of the generator to `/repo/previews/pr-12/`',
  'vitepress-absolute': "made by VitePress: set `base: '/repo/previews/pr-12/'`",
  'webpack-absolute': 'set the base path of the generator to `/repo/previews/pr-12/`',
};

/** Loads MathJax from another host, as its extension is configured, or a font. */
const OTHER_HOST = new Set(['sphinx-alabaster', 'sphinx-furo', 'sphinx-rtd', 'vitest-html']);

/** A report without an index is handed over by its own name. */
const entryOf = (files: Readonly<Record<string, string>>): string =>
  Object.hasOwn(files, 'index.html') ? 'index.html' : (Object.keys(files).find(isPage) ?? '');

const isPage = (path: string): boolean => path.endsWith('.html');

const names = readdirSync(OUTPUTS)
  .map((file) => file.replace(/\.json$/, ''))
  .sort();
const working = names.filter((name) => !Object.hasOwn(WRONG_BASE, name));

describe('the output of a real generator', () => {
  test.each(working)('is accepted in a folder of a project site: %s', async (name) => {
    const selfContained = OTHER_HOST.has(name) ? 'warn' : 'enforce';
    expect((await inspect(readOutput(name), { selfContained })).refusals).toEqual([]);
  });

  test.each([...OTHER_HOST])('is refused for what another host serves: %s', async (name) => {
    const { refusals } = await inspect(readOutput(name));
    expect(refusals.map(({ kind }) => kind)).toEqual(['host']);
  });

  test.each(Object.entries(WRONG_BASE))(
    'is refused, or its scripts are unknown, with one finding that names the setting: %s',
    async (name, setting) => {
      const { refusals, unknown } = await inspect(readOutput(name));
      const found = ASYNC.has(name) ? unknown : refusals;
      expect(found).toMatchObject([{ kind: 'base', hint: expect.stringContaining(setting) }]);
      if (ASYNC.has(name)) expect(refusals).toEqual([]);
    },
  );

  test('has a note that names what to change where no code has a wrong base: eleventy-style', async () => {
    const { notes } = await inspect(readOutput('eleventy-style'));
    const hint = 'other addresses lead into the folder: make this one relative to its file';
    expect(notes).toContainEqual(
      expect.objectContaining({ kind: 'base', hint: expect.stringContaining(hint) }),
    );
  });

  test.each([
    ['pdoc', 'm.html'],
    ['sveltekit-relative', /^_app\/immutable\/entry\/start\..*\.js$/],
  ])('has a note if a file is missing that its first page does not wait for: %s', async (name, missing) => {
    const files = readOutput(name);
    const others = Object.entries(files).filter(([path]) => path.match(missing)?.[0] !== path);
    expect(others).toHaveLength(Object.keys(files).length - 1);
    const { refusals, notes } = await inspect(Object.fromEntries(others));
    expect([refusals, notes.map(({ kind }) => kind)]).toEqual([[], expect.arrayContaining(['missing'])]);
  });

  test.each(Object.keys(WRONG_BASE).filter((name) => name.endsWith('-absolute')))(
    'is accepted at the root of a host, for which it was made: %s',
    async (name) => {
      const { refusals } = await inspect(readOutput(name), { sitePath: '/' });
      expect(refusals).toEqual([]);
    },
  );

  test.each([
    ['allure', /^app-.*\.js$/],
    ['angular-base', /^main-.*\.js$/],
    ['astro-base', /^_astro\/index.*\.js$/],
    ['c8', 'base.css'],
    ['c8-spa', 'bundle.js'],
    ['coverage-py', /^style.*\.css$/],
    ['docusaurus-base', /^assets\/js\/main\..*\.js$/],
    ['gatsby-base', /^webpack-runtime-.*\.js$/],
    ['jsdoc', 'scripts/linenumber.js'],
    ['ladle-relative', /^assets\/index-.*\.js$/],
    ['mkdocs-material-nofont', /^assets\/stylesheets\/main.*\.css$/],
    ['mochawesome', 'assets/app.js'],
    ['next-base', /^_next\/static\/chunks\/.*\.css$/],
    ['nuxt-base', /^_nuxt\/.*\.js$/],
    ['parcel-relative', /^pa.*\.js$/],
    ['pelican-relative', 'theme/css/main.css'],
    ['pydoctor', 'apidocs.css'],
    ['pytest-html', 'assets/style.css'],
    ['rsbuild-auto', /^static\/js\/lib-react.*\.js$/],
    ['sphinx-alabaster', '_static/alabaster.css'],
    ['sphinx-furo', '_static/styles/furo.css'],
    ['sphinx-rtd', '_static/js/theme.js'],
    ['storybook', 'sb-manager/globals-runtime.js'],
    ['typedoc', 'assets/main.js'],
    ['vite-legacy', /^assets\/index-(?!legacy).*\.js$/],
    ['vite-pwa', 'registerSW.js'],
    ['vite-relative', /^assets\/index-.*\.css$/],
    ['vitepress-base', /^assets\/app.*\.js$/],
    ['webpack-auto', /^main.*\.js$/],
  ])('is refused if a file that its first page loads is missing: %s without %s', async (name, missing) => {
    const files = readOutput(name);
    const removed = Object.keys(files).find((path) => path.match(missing)?.[0] === path) ?? '';
    expect(files).toHaveProperty([removed]);
    const { [removed]: _, ...others } = files;
    const { refusals, unknown } = await inspect(others, { entry: entryOf(files), selfContained: 'warn' });
    const fileName = removed.slice(removed.lastIndexOf('/') + 1);
    // All scripts of Gatsby have `async`.
    expect(name === 'gatsby-base' ? unknown : refusals).toContainEqual(
      expect.objectContaining({ kind: 'missing', text: expect.stringContaining(fileName) }),
    );
  });
});
