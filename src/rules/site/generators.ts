/** A generator of sites, and how it is told where its output will be. */
interface SiteGenerator {
  readonly name: string;
  /** What it writes into `<meta name="generator">`. */
  readonly meta?: RegExp;
  /** A path that it alone leaves behind: not a bundler, on which others build, and not a common name. */
  readonly path?: RegExp;
  /** What to set: `{base}` is the folder's path with a slash at both ends, `{bare}` without the last one. */
  readonly setting: string;
}

const GENERATORS: readonly SiteGenerator[] = [
  { name: 'Docusaurus', meta: /^Docusaurus/, setting: "`baseUrl: '{base}'` in docusaurus.config" },
  { name: 'VitePress', meta: /^VitePress/, setting: "`base: '{base}'` in .vitepress/config" },
  { name: 'VuePress', meta: /^VuePress/, setting: "`base: '{base}'` in the config of VuePress" },
  {
    name: 'Astro',
    meta: /^(?:Astro|Starlight)/,
    path: /^_astro\//,
    setting: "`base: '{base}'` in astro.config",
  },
  {
    name: 'Gatsby',
    meta: /^Gatsby/,
    setting: "`pathPrefix: '{bare}'` in gatsby-config, and build with `--prefix-paths`",
  },
  { name: 'Next.js', meta: /^Next\.js/, path: /^_next\//, setting: "`basePath: '{bare}'` in next.config" },
  {
    name: 'Nuxt',
    meta: /^Nuxt/,
    path: /^_nuxt\//,
    setting: "`app: { baseURL: '{base}' }` in nuxt.config, or NUXT_APP_BASE_URL",
  },
  {
    name: 'SvelteKit',
    path: /^_app\/immutable\//,
    setting: "`kit.paths.base: '{bare}'` in svelte.config",
  },
  {
    name: 'Hugo',
    meta: /^Hugo/,
    setting: '`baseURL` to the full address that ends in {base}, or build with `hugo --baseURL`',
  },
  { name: 'Jekyll', meta: /^Jekyll/, setting: '`baseurl: "{bare}"` in _config.yml' },
  {
    name: 'MkDocs',
    meta: /^mkdocs/i,
    setting: '`site_url` to the full address that ends in {base}, in mkdocs.yml',
  },
  {
    name: 'Quarto',
    meta: /^quarto/i,
    setting: '`site-url` to the full address that ends in {base}, in _quarto.yml',
  },
  { name: 'Hexo', meta: /^Hexo/, setting: '`root: {base}` in _config.yml' },
  {
    name: 'Pelican',
    meta: /^Pelican/,
    setting: '`SITEURL` to the full address that ends in {bare}, or `RELATIVE_URLS = True`',
  },
  { name: 'Eleventy', meta: /^Eleventy/, setting: "`pathPrefix: '{base}'`, with the HTML base plugin" },
  { name: 'Expo', path: /^_expo\//, setting: "`experiments.baseUrl: '{bare}'` in app.json" },
  { name: 'Rspress', meta: /^Rspress/, setting: "`base: '{base}'` in rspress.config" },
  { name: 'Slidev', path: /^assets\/slidev\//, setting: 'the base with `slidev build --base {base}`' },
];

const describeSetting = ({ setting }: SiteGenerator, base: string): string =>
  setting.replace('{base}', () => base).replace('{bare}', () => base.slice(0, -1));

/** The generator that made a page, if the page names it or a path of the site is its own. */
export function findGenerator(meta: string, paths: readonly string[]): SiteGenerator | null {
  const named = GENERATORS.find((generator) => generator.meta?.test(meta));
  return named ?? GENERATORS.find(({ path }) => path && paths.some((one) => path.test(one))) ?? null;
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
