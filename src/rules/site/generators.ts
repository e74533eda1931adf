type Generator = readonly [name: string, base: string, embed?: string, trait?: RegExp];

/**
 * The beginning of the `<meta name="generator">`; what to set for a folder (`{base}` is its path with a slash at both
 * ends, `{bare}` lacks the last slash); the option that writes everything into one page; and what only this generator
 * leaves in a page, or in a path at the start of a line.
 */
const GENERATORS: readonly Generator[] = [
  ['Docusaurus', "`baseUrl: '{base}'` in docusaurus.config"],
  ['VitePress', "`base: '{base}'` in .vitepress/config"],
  ['VuePress', "`base: '{base}'` in the config of VuePress"],
  ['Astro', "`base: '{base}'` in astro.config", '', /\n_astro\//],
  ['Gatsby', "`pathPrefix: '{bare}'` in gatsby-config, and build with `--prefix-paths`"],
  ['Next.js', "`basePath: '{bare}'` in next.config", '', /\n_next\//],
  ['Nuxt', "`app: { baseURL: '{base}' }` in nuxt.config, or NUXT_APP_BASE_URL", '', /\n_nuxt\//],
  ['SvelteKit', "`kit.paths.base: '{bare}'` in svelte.config", '', /\n_app\/immutable\//],
  ['Hugo', '`baseURL` to the full URL that ends in {base}, or build with `hugo --baseURL`'],
  ['Jekyll', '`baseurl: "{bare}"` in _config.yml'],
  ['MkDocs', '`site_url` to the full URL that ends in {base}, in mkdocs.yml'],
  ['Quarto', '`site-url` to the full URL that ends in {base}, in _quarto.yml', '`embed-resources: true`'],
  ['Hexo', '`root: {base}` in _config.yml'],
  ['Pelican', '`SITEURL` to the full URL that ends in {bare}, or `RELATIVE_URLS = True`'],
  ['Eleventy', 'the base with `eleventy --pathprefix {base}` and the HTML base plugin'],
  ['Expo', "`experiments.baseUrl: '{bare}'` in app.json", '', /\n_expo\//],
  ['Rspress', "`base: '{base}'` in rspress.config"],
  ['Slidev', 'the base with `slidev build --base {base}`', '', /\nassets\/slidev\//],
  [
    'React Router',
    "`base: '{base}'` in vite.config and `basename: '{base}'` in react-router.config",
    '',
    /window\.__reactRouterContext/,
  ],
  [
    'Angular',
    'the base with `ng build --base-href {base}`, with its last slash',
    '',
    /main-[A-Z0-9]{8}\.js" type="module"/,
  ],
  ['Parcel', 'the base with `parcel build --public-url {base}`', '', /type=module src=\S+\.[0-9a-f]{8}\.js>/],
  // Other generators build on Vite, so it comes after them.
  ['Vite', 'the base with `vite build --base {base}`', '', /<script type="module" crossorigin src="/],
  ['pandoc', '', '`--embed-resources`'],
  ['pytest-html', '', '`--self-contained-html`', /\/pypi\/pytest-html"/],
  ['Altair', '', '`inline=True`', /a typo in your chart specification/],
  ['Plotly', '', '`include_plotlyjs=True`', /window\.PlotlyConfig = \{MathJaxConfig/],
  ['Bokeh', '', '`mode="inline"`', /cdn\.bokeh\.org\/bokeh\//],
  ['pyvis', '', "`cdn_resources='in_line'`", /vis-network\/[\d.]+\/dist\/dist\//],
  [
    'nbconvert',
    '',
    '`--HTMLExporter.require_js_url= --HTMLExporter.mathjax_url=` (formulas stay LaTeX)',
    /<body class="jp-Notebook"/,
  ],
];

/** The generator of a page. @param text the page's beginning @param paths the files of its folder */
export function findGenerator(text: string, paths: readonly string[]): Generator | undefined {
  const [meta = ''] = /<meta\b[^<>]{0,200}\bname=["']?generator\b[^<>]{0,200}>/i.exec(text) ?? [];
  const traces = `\n${paths.join('\n')}\n${text}`;
  return (
    GENERATORS.find(([name]) => new RegExp(`content=["']?${name}`, 'i').test(meta)) ??
    GENERATORS.find(([, , , trait]) => trait?.test(traces))
  );
}

const describeSetting = (setting: string, base: string): string =>
  setting.replaceAll('{base}', () => base).replace('{bare}', () => base.slice(0, -1));

/** What to change so that the URLs of a site lead into its folder. @param isRight whether some already do */
export function describeBase(generator: Generator | undefined, base: string, isRight: boolean): string {
  if (isRight) return `make it relative to its file, or begin it with \`${base}\`, as other URLs do`;
  const [name, setting = ''] = generator ?? [];
  return setting === ''
    ? `set the base path of the generator to \`${base}\`, or use URLs relative to the page (\`./assets/…\`)`
    : `${name} built the folder: set ${describeSetting(setting, base)}`;
}

/** What to set if a browser shows that the page was built for another URL; `null` at the root of a host. */
export function describeRouter(
  generator: Generator | undefined,
  sitePath: string,
  isRight: boolean,
): string | null {
  if (sitePath === '/') return null;
  if (isRight) return `the same path \`${sitePath}\` for its router and for URLs in its scripts too`;
  const setting = describeSetting(generator?.[1] || 'the base path of the build to `{base}`', sitePath);
  return `${setting}, and the same for its router and for URLs in its scripts`;
}

/** How the generator of a page writes everything into it. */
export const describeEmbedding = ([name, , option]: Generator): string | undefined =>
  option && `use ${option} of ${name}`;
