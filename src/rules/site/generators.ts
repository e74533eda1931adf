/** A program that writes sites, and how it is told where its output will be. */
type Generator = readonly [name: string, setting: string, folder?: string];

/**
 * With which name its `<meta name="generator">` begins; what to set, where `{base}` is the folder's path with a slash at
 * both ends and `{bare}` without the last one; and a folder that it alone leaves behind, if any: not one of a bundler,
 * on which others build, and not a common name.
 */
const GENERATORS: readonly Generator[] = [
  ['Docusaurus', "`baseUrl: '{base}'` in docusaurus.config"],
  ['VitePress', "`base: '{base}'` in .vitepress/config"],
  ['VuePress', "`base: '{base}'` in the config of VuePress"],
  ['Astro', "`base: '{base}'` in astro.config", '_astro/'],
  ['Gatsby', "`pathPrefix: '{bare}'` in gatsby-config, and build with `--prefix-paths`"],
  ['Next.js', "`basePath: '{bare}'` in next.config", '_next/'],
  ['Nuxt', "`app: { baseURL: '{base}' }` in nuxt.config, or NUXT_APP_BASE_URL", '_nuxt/'],
  ['SvelteKit', "`kit.paths.base: '{bare}'` in svelte.config", '_app/immutable/'],
  ['Hugo', '`baseURL` to the full address that ends in {base}, or build with `hugo --baseURL`'],
  ['Jekyll', '`baseurl: "{bare}"` in _config.yml'],
  ['MkDocs', '`site_url` to the full address that ends in {base}, in mkdocs.yml'],
  ['Quarto', '`site-url` to the full address that ends in {base}, in _quarto.yml'],
  ['Hexo', '`root: {base}` in _config.yml'],
  ['Pelican', '`SITEURL` to the full address that ends in {bare}, or `RELATIVE_URLS = True`'],
  ['Eleventy', "`pathPrefix: '{base}'`, with the HTML base plugin"],
  ['Expo', "`experiments.baseUrl: '{bare}'` in app.json", '_expo/'],
  ['Rspress', "`base: '{base}'` in rspress.config"],
  ['Slidev', 'the base with `slidev build --base {base}`', 'assets/slidev/'],
];

const describeSetting = ([, setting]: Generator, base: string): string =>
  setting.replace('{base}', () => base).replace('{bare}', () => base.slice(0, -1));

/** The generator that made a page, if the page names it or a folder of the site is its own. */
export function findGenerator(meta: string, paths: readonly string[]): Generator | undefined {
  const named = meta.toLowerCase();
  return (
    GENERATORS.find(([name]) => named.startsWith(name.toLowerCase())) ??
    GENERATORS.find(([, , folder]) => folder && paths.some((path) => path.startsWith(folder)))
  );
}

/**
 * What to change so that the addresses of a site lead into its folder.
 *
 * @param base the path of the folder, with a slash at both ends
 * @param isRight whether an absolute address of a page leads there
 */
export function describeBase(generator: Generator | undefined, base: string, isRight: boolean): string {
  if (isRight) {
    return `other addresses lead into the folder: make this one relative to its file, or let it begin with \`${base}\``;
  }
  return generator === undefined
    ? `use addresses relative to the page (\`./assets/…\`), or set the base path of the generator to \`${base}\``
    : `the folder was made by ${generator[0]}: set ${describeSetting(generator, base)}`;
}

/**
 * What to set if a browser sees that the page was built for another place; `null` at the root of a host.
 *
 * @param sitePath with a slash at both ends
 * @param isRight whether an absolute address of a page leads there
 */
export function describeRouter(
  generator: Generator | undefined,
  sitePath: string,
  isRight: boolean,
): string | null {
  if (sitePath === '/') return null;
  if (isRight) return `the same path \`${sitePath}\` for its router and for addresses in its scripts too`;
  const setting =
    generator === undefined
      ? `the base path of the build to \`${sitePath}\``
      : describeSetting(generator, sitePath);
  return `${setting}, and the same for its router and for addresses in its scripts`;
}

/** How everything gets into a single page. */
export const EMBEDDING =
  'write styles and scripts into the page and images as data: addresses (tools have an option for it: `embed-resources` of Quarto, `include_plotlyjs` of Plotly, `mode="inline"` of Bokeh)';
