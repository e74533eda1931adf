type Generator = readonly [name: string, setting: string, folder?: string];

/**
 * The beginning of the `<meta name="generator">`; what to set (`{base}` is the folder's path with a slash at both ends,
 * `{bare}` lacks the last slash); and a folder that only this generator writes, if any.
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
  ['Hugo', '`baseURL` to the full URL that ends in {base}, or build with `hugo --baseURL`'],
  ['Jekyll', '`baseurl: "{bare}"` in _config.yml'],
  ['MkDocs', '`site_url` to the full URL that ends in {base}, in mkdocs.yml'],
  ['Quarto', '`site-url` to the full URL that ends in {base}, in _quarto.yml'],
  ['Hexo', '`root: {base}` in _config.yml'],
  ['Pelican', '`SITEURL` to the full URL that ends in {bare}, or `RELATIVE_URLS = True`'],
  ['Eleventy', "`pathPrefix: '{base}'`, with the HTML base plugin"],
  ['Expo', "`experiments.baseUrl: '{bare}'` in app.json", '_expo/'],
  ['Rspress', "`base: '{base}'` in rspress.config"],
  ['Slidev', 'the base with `slidev build --base {base}`', 'assets/slidev/'],
];

const describeSetting = ([, setting]: Generator, base: string): string =>
  setting.replace('{base}', () => base).replace('{bare}', () => base.slice(0, -1));

/** The generator of a page, by its name in the page or by a folder of the site. */
export function findGenerator(meta: string, paths: readonly string[]): Generator | undefined {
  const named = meta.toLowerCase();
  return (
    GENERATORS.find(([name]) => named.startsWith(name.toLowerCase())) ??
    GENERATORS.find(([, , folder]) => folder && paths.some((path) => path.startsWith(folder)))
  );
}

/** What to change so that the URLs of a site lead into its folder. @param isRight whether some already do */
export function describeBase(generator: Generator | undefined, base: string, isRight: boolean): string {
  if (isRight) {
    return `make it relative to its file, or begin it with \`${base}\`, as other URLs do`;
  }
  return generator === undefined
    ? `use URLs relative to the page (\`./assets/…\`), or set the base path of the generator to \`${base}\``
    : `${generator[0]} built the folder: set ${describeSetting(generator, base)}`;
}

/** What to set if a browser shows that the page was built for another URL; `null` at the root of a host. */
export function describeRouter(
  generator: Generator | undefined,
  sitePath: string,
  isRight: boolean,
): string | null {
  if (sitePath === '/') return null;
  if (isRight) return `the same path \`${sitePath}\` for its router and for URLs in its scripts too`;
  const setting =
    generator === undefined
      ? `the base path of the build to \`${sitePath}\``
      : describeSetting(generator, sitePath);
  return `${setting}, and the same for its router and for URLs in its scripts`;
}

export const EMBEDDING =
  'write styles and scripts into the page and images as data: URLs (tools have an option for this: `embed-resources` of Quarto, `include_plotlyjs` of Plotly, `mode="inline"` of Bokeh)';
