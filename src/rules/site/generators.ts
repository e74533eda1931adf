interface Generator {
  /** The beginning of the `<meta name="generator">`. */
  readonly name: string;
  /** What to set for a folder. `{base}` is its path with a slash at both ends; `{bare}` lacks the last slash. */
  readonly base?: string;
  /** The option that writes everything into one page. */
  readonly embed?: string;
  /** What only this generator leaves in a page, or in a path at the start of a line. */
  readonly trait?: RegExp;
}

const GENERATORS: readonly Generator[] = [
  { name: 'Docusaurus', base: "`baseUrl: '{base}'` in docusaurus.config" },
  { name: 'VitePress', base: "`base: '{base}'` in .vitepress/config" },
  { name: 'VuePress', base: "`base: '{base}'` in the config of VuePress" },
  { name: 'Astro', base: "`base: '{base}'` in astro.config", trait: /\n_astro\// },
  { name: 'Gatsby', base: "`pathPrefix: '{bare}'` in gatsby-config, and build with `--prefix-paths`" },
  { name: 'Next.js', base: "`basePath: '{bare}'` in next.config", trait: /\n_next\// },
  {
    name: 'Nuxt',
    base: "`app: { baseURL: '{base}' }` in nuxt.config, or NUXT_APP_BASE_URL",
    trait: /\n_nuxt\//,
  },
  { name: 'SvelteKit', base: "`kit.paths.base: '{bare}'` in svelte.config", trait: /\n_app\/immutable\// },
  { name: 'Hugo', base: '`baseURL` to the full URL that ends in {base}, or build with `hugo --baseURL`' },
  { name: 'Jekyll', base: '`baseurl: "{bare}"` in _config.yml' },
  { name: 'MkDocs', base: '`site_url` to the full URL that ends in {base}, in mkdocs.yml' },
  {
    name: 'Quarto',
    base: '`site-url` to the full URL that ends in {base}, in _quarto.yml',
    embed: '`embed-resources: true`',
  },
  { name: 'Hexo', base: '`root: {base}` in _config.yml' },
  { name: 'Pelican', base: '`SITEURL` to the full URL that ends in {bare}, or `RELATIVE_URLS = True`' },
  { name: 'Eleventy', base: 'the base with `eleventy --pathprefix {base}` and the HTML base plugin' },
  { name: 'Expo', base: "`experiments.baseUrl: '{bare}'` in app.json", trait: /\n_expo\// },
  { name: 'Rspress', base: "`base: '{base}'` in rspress.config" },
  { name: 'Slidev', base: 'the base with `slidev build --base {base}`', trait: /\nassets\/slidev\// },
  {
    name: 'React Router',
    base: "`base: '{base}'` in vite.config and `basename: '{base}'` in react-router.config",
    trait: /window\.__reactRouterContext/,
  },
  {
    name: 'Angular',
    base: 'the base with `ng build --base-href {base}`, with its last slash',
    trait: /main-[A-Z0-9]{8}\.js" type="module"/,
  },
  {
    name: 'Parcel',
    base: 'the base with `parcel build --public-url {base}`',
    trait: /type=module src=\S+\.[0-9a-f]{8}\.js>/,
  },
  // Other generators build on Vite, so it comes after them.
  {
    name: 'Vite',
    base: 'the base with `vite build --base {base}`',
    trait: /<script type="module" crossorigin src="/,
  },
  { name: 'pandoc', embed: '`--embed-resources`' },
  { name: 'pytest-html', embed: '`--self-contained-html`', trait: /\/pypi\/pytest-html"/ },
  { name: 'Altair', embed: '`inline=True`', trait: /a typo in your chart specification/ },
  { name: 'Plotly', embed: '`include_plotlyjs=True`', trait: /window\.PlotlyConfig = \{MathJaxConfig/ },
  { name: 'Bokeh', embed: '`mode="inline"`', trait: /cdn\.bokeh\.org\/bokeh\// },
  { name: 'pyvis', embed: "`cdn_resources='in_line'`", trait: /vis-network\/[\d.]+\/dist\/dist\// },
  {
    name: 'nbconvert',
    embed: '`--HTMLExporter.require_js_url= --HTMLExporter.mathjax_url=` (formulas stay LaTeX)',
    trait: /<body class="jp-Notebook"/,
  },
];

/** The generator of a page. @param text the page's beginning @param paths the files of its folder */
export function findGenerator(text: string, paths: readonly string[]): Generator | undefined {
  const [meta = ''] = /<meta\b[^<>]{0,200}\bname=["']?generator\b[^<>]{0,200}>/i.exec(text) ?? [];
  const traces = `\n${paths.join('\n')}\n${text}`;
  return (
    GENERATORS.find(({ name }) => new RegExp(`content=["']?${name}`, 'i').test(meta)) ??
    GENERATORS.find(({ trait }) => trait?.test(traces))
  );
}

const describeSetting = (setting: string, base: string): string =>
  setting.replaceAll('{base}', () => base).replace('{bare}', () => base.slice(0, -1));

/** What to change so that the URLs of a site lead into its folder. @param isRight whether some already do */
export function describeBase(generator: Generator | undefined, base: string, isRight: boolean): string {
  if (isRight) return `make it relative to its file, or begin it with \`${base}\`, as other URLs do`;
  const { name, base: setting } = generator ?? {};
  return setting === undefined
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
  if (isRight) return `the same path \`${sitePath}\` also in the router and in URLs in scripts`;
  const setting = describeSetting(generator?.base ?? 'the base path of the build to `{base}`', sitePath);
  return `${setting}, also in the router and in URLs in scripts`;
}

/** How the generator of a page writes everything into it. */
export const describeEmbedding = ({ name, embed }: Generator): string | undefined =>
  embed && `use ${embed} of ${name}`;
