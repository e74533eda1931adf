interface SiteGenerator {
  readonly name: string;
  /** How it is told where its output will be; see `GENERATORS`. */
  readonly setting: string;
}

/**
 * What a generator writes into `<meta name="generator">`, or a path that it alone leaves behind: not a bundler, on which
 * others build, and not a common name. And what to set: `{base}` is the folder's path with a slash at both ends, `{bare}`
 * without the last one.
 */
const GENERATORS: readonly (readonly [
  name: string,
  meta: RegExp | null,
  path: RegExp | null,
  setting: string,
])[] = [
  ['Docusaurus', /^Docusaurus/, null, "`baseUrl: '{base}'` in docusaurus.config"],
  ['VitePress', /^VitePress/, null, "`base: '{base}'` in .vitepress/config"],
  ['VuePress', /^VuePress/, null, "`base: '{base}'` in the config of VuePress"],
  ['Astro', /^(?:Astro|Starlight)/, /^_astro\//, "`base: '{base}'` in astro.config"],
  ['Gatsby', /^Gatsby/, null, "`pathPrefix: '{bare}'` in gatsby-config, and build with `--prefix-paths`"],
  ['Next.js', /^Next\.js/, /^_next\//, "`basePath: '{bare}'` in next.config"],
  ['Nuxt', /^Nuxt/, /^_nuxt\//, "`app: { baseURL: '{base}' }` in nuxt.config, or NUXT_APP_BASE_URL"],
  ['SvelteKit', null, /^_app\/immutable\//, "`kit.paths.base: '{bare}'` in svelte.config"],
  [
    'Hugo',
    /^Hugo/,
    null,
    '`baseURL` to the full address that ends in {base}, or build with `hugo --baseURL`',
  ],
  ['Jekyll', /^Jekyll/, null, '`baseurl: "{bare}"` in _config.yml'],
  ['MkDocs', /^mkdocs/i, null, '`site_url` to the full address that ends in {base}, in mkdocs.yml'],
  ['Quarto', /^quarto/i, null, '`site-url` to the full address that ends in {base}, in _quarto.yml'],
  ['Hexo', /^Hexo/, null, '`root: {base}` in _config.yml'],
  [
    'Pelican',
    /^Pelican/,
    null,
    '`SITEURL` to the full address that ends in {bare}, or `RELATIVE_URLS = True`',
  ],
  ['Eleventy', /^Eleventy/, null, "`pathPrefix: '{base}'`, with the HTML base plugin"],
  ['Expo', null, /^_expo\//, "`experiments.baseUrl: '{bare}'` in app.json"],
  ['Rspress', /^Rspress/, null, "`base: '{base}'` in rspress.config"],
  ['Slidev', null, /^assets\/slidev\//, 'the base with `slidev build --base {base}`'],
];

const describeSetting = ({ setting }: SiteGenerator, base: string): string =>
  setting.replace('{base}', () => base).replace('{bare}', () => base.slice(0, -1));

/** The generator that made a page, if the page names it or a path of the site is its own. */
export function findGenerator(meta: string, paths: readonly string[]): SiteGenerator | null {
  const [name, , , setting] =
    GENERATORS.find(([, named]) => named?.test(meta)) ??
    GENERATORS.find(([, , path]) => path && paths.some((one) => path.test(one))) ??
    [];
  return name === undefined || setting === undefined ? null : { name, setting };
}

/**
 * What to change so that the addresses of a site lead into its folder.
 *
 * @param base the path of the folder, with a slash at both ends
 * @param isRight whether an absolute address of a page leads there
 */
export function describeBase(generator: SiteGenerator | null, base: string, isRight: boolean): string {
  if (isRight) {
    return `other addresses lead into the folder: make this one relative to its file, or let it begin with \`${base}\``;
  }
  return generator === null
    ? `use addresses relative to the page (\`./assets/…\`), or set the base path of the generator to \`${base}\``
    : `the folder was made by ${generator.name}: set ${describeSetting(generator, base)}`;
}

/**
 * What to set if a browser sees that the page was built for another place.
 *
 * @param hasScript whether a page has a script, which may depend on the page's path
 * @param sitePath with a slash at both ends
 * @returns `null` where the page can't depend on its place
 */
export function describeRouter(
  hasScript: boolean,
  generator: SiteGenerator | null,
  sitePath: string,
): string | null {
  if (!hasScript || sitePath === '/') return null;
  const setting =
    generator === null
      ? `the base path of the build to \`${sitePath}\``
      : describeSetting(generator, sitePath);
  return `${setting}, and the same for its router and for addresses in its scripts`;
}
