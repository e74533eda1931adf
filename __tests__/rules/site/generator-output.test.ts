import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { searchText } from '../page/search-page.ts';
import { inspect } from './sites.ts';

/** What real generators wrote: the names of all files, and the tags and style rules with addresses. */
const OUTPUTS = new URL('outputs/', import.meta.url);

const readOutput = (name: string): Record<string, string> =>
  JSON.parse(readFileSync(new URL(`${name}.json`, OUTPUTS), 'utf8')) as Record<string, string>;

/** The script of these has `async`: what the pages show without it is unknown. */
const ASYNC = new Set(['qwik-absolute', 'solidstart-absolute', 'vike-absolute']);

/** Built for the root of a host; what to set for each. */
const WRONG_BASE: Readonly<Record<string, string>> = {
  'astro-absolute': "Astro built the folder: set `base: '/repo/previews/pr-12/'`",
  'docusaurus-absolute': "Docusaurus built the folder: set `baseUrl: '/repo/previews/pr-12/'`",
  'gatsby-absolute': "Gatsby built the folder: set `pathPrefix: '/repo/previews/pr-12'` in gatsby-config",
  'qwik-absolute': 'set the base path of the generator to `/repo/previews/pr-12/`',
  'solidstart-absolute': 'set the base path of the generator to `/repo/previews/pr-12/`',
  'vike-absolute': 'set the base path of the generator to `/repo/previews/pr-12/`',
  'hugo-absolute': 'Hugo built the folder: set `baseURL` to the full URL that ends in /repo/previews/pr-12/',
  'next-absolute': "Next.js built the folder: set `basePath: '/repo/previews/pr-12'`",
  'nuxt-absolute': "Nuxt built the folder: set `app: { baseURL: '/repo/previews/pr-12/' }`",
  'parcel-absolute':
    'Parcel built the folder: set the base with `parcel build --public-url /repo/previews/pr-12/`',
  'pelican-absolute':
    'Pelican built the folder: set `SITEURL` to the full URL that ends in /repo/previews/pr-12',
  'rsbuild-absolute': 'set the base path of the generator to `/repo/previews/pr-12/`',
  'vite-absolute': 'Vite built the folder: set the base with `vite build --base /repo/previews/pr-12/`',
  'vitepress-absolute': "VitePress built the folder: set `base: '/repo/previews/pr-12/'`",
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

/** The files of an output that its first page loads as code. */
async function listCode(name: string): Promise<readonly string[]> {
  const files = readOutput(name);
  const root = 'https://octo.github.io/repo/previews/pr-12/';
  const { references, base } = await searchText(
    files[entryOf(files)] ?? '',
    undefined,
    root + entryOf(files),
  );
  return references
    .filter(({ grade }) => grade === 'code')
    .map(({ address }) => decodeURI(new URL(address, base).pathname.slice(new URL(root).pathname.length)))
    .filter((path) => Object.hasOwn(files, path));
}

const withCode = (await Promise.all(working.map(async (name) => [name, await listCode(name)] as const)))
  .filter(([, code]) => code.length > 0)
  .map(([name, code]) => [code.length, name, code] as const);

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

  test('is refused if its first page shows all its text, but gets none of its scripts: sveltekit', async () => {
    const files = readOutput('sveltekit-relative');
    const entry = (files['index.html'] ?? '').replaceAll('"./', '"/');
    const { refusals } = await inspect({ ...files, 'index.html': entry });
    const hint = expect.stringContaining("SvelteKit built the folder: set `kit.paths.base: '/repo");
    expect(refusals).toMatchObject([{ kind: 'base', hint, count: 14 }]);
  });

  test('has a note with a hint if no code has a wrong base: eleventy-style', async () => {
    const { notes } = await inspect(readOutput('eleventy-style'));
    const hint = 'make it relative to its file, or begin it with';
    expect(notes.find(({ kind }) => kind === 'base')?.hint).toContain(hint);
  });

  test.each([
    ['pdoc', 'm.html'],
    ['sveltekit-relative', /^_app\/immutable\/entry\/start\..*\.js$/],
  ])(
    'is accepted, but not silently, without a file that its first page does not wait for: %s',
    async (name, missing) => {
      const files = readOutput(name);
      const others = Object.entries(files).filter(([path]) => path.match(missing)?.[0] !== path);
      expect(others).toHaveLength(Object.keys(files).length - 1);
      const { refusals, unknown, notes } = await inspect(Object.fromEntries(others));
      expect(refusals).toEqual([]);
      expect([...unknown, ...notes].map(({ kind }) => kind)).toContain('missing');
    },
  );

  test.each(Object.keys(WRONG_BASE).filter((name) => name.endsWith('-absolute')))(
    'is accepted at the root of a host, for which it was made: %s',
    async (name) => expect((await inspect(readOutput(name), { sitePath: '/' })).refusals).toEqual([]),
  );

  test('has code on the first page of most', () => expect(withCode).toHaveLength(31));

  test.each(withCode)(
    'is refused without any of the %s files of code that its first page waits for: %s',
    async (_, name, code) => {
      const files = readOutput(name);
      for (const missing of code) {
        const { [missing]: _, ...others } = files;
        const { refusals } = await inspect(others, { entry: entryOf(files), selfContained: 'warn' });
        const text = expect.stringContaining(missing.slice(missing.lastIndexOf('/') + 1));
        expect(refusals).toContainEqual(expect.objectContaining({ kind: 'missing', text }));
      }
    },
  );
});
