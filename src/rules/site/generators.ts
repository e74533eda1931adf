/** A generator of sites, and how it is told where its output will be. */
interface SiteGenerator {
  readonly name: string;
  /** What it writes into `<meta name="generator">`. */
  readonly meta?: RegExp;
  /** A path that only its output has. */
  readonly path?: RegExp;
  /** Whether other folders often have such a path, too. */
  readonly isCommon?: true;
  /** What to set. `base` has a slash at both ends. */
  readonly setting: (base: string) => string;
}

const withoutSlash = (base: string): string => base.slice(0, -1);

/** In the order in which they are looked for: what is built with another one comes before it. */
export const SITE_GENERATORS: readonly SiteGenerator[] = [
  {
    name: 'Docusaurus',
    meta: /^Docusaurus/,
    path: /^assets\/js\/runtime~main\.[0-9a-f]+\.js$/,
    setting: (base) => `\`baseUrl: '${base}'\` in docusaurus.config`,
  },
  {
    name: 'VitePress',
    meta: /^VitePress/,
    path: /^(?:vp-icons\.css|assets\/chunks\/VPLocalSearchBox\..*)$/,
    setting: (base) => `\`base: '${base}'\` in .vitepress/config`,
  },
  { name: 'VuePress', meta: /^VuePress/, setting: (base) => `\`base: '${base}'\` in the config of VuePress` },
  {
    name: 'Astro',
    meta: /^(?:Astro|Starlight)/,
    path: /^_astro\//,
    setting: (base) => `\`base: '${base}'\` in astro.config`,
  },
  {
    name: 'Gatsby',
    meta: /^Gatsby/,
    path: /^(?:page-data\/|webpack-runtime-[0-9a-f]+\.js$)/,
    setting: (base) =>
      `\`pathPrefix: '${withoutSlash(base)}'\` in gatsby-config, and build with \`--prefix-paths\``,
  },
  {
    name: 'Next.js',
    meta: /^Next\.js/,
    path: /^_next\//,
    setting: (base) => `\`basePath: '${withoutSlash(base)}'\` in next.config`,
  },
  {
    name: 'Nuxt',
    meta: /^Nuxt/,
    path: /^_nuxt\//,
    setting: (base) => `\`app: { baseURL: '${base}' }\` in nuxt.config, or NUXT_APP_BASE_URL`,
  },
  {
    name: 'SvelteKit',
    path: /^_app\/(?:immutable\/|version\.json$)/,
    setting: (base) => `\`kit.paths.base: '${withoutSlash(base)}'\` in svelte.config`,
  },
  {
    name: 'Hugo',
    meta: /^Hugo/,
    setting: (base) =>
      `\`baseURL\` to the full address that ends in ${base}, or build with \`hugo --baseURL\``,
  },
  {
    name: 'Jekyll',
    meta: /^Jekyll/,
    setting: (base) => `\`baseurl: "${withoutSlash(base)}"\` in _config.yml`,
  },
  {
    name: 'MkDocs',
    meta: /^(?:mkdocs|MkDocs|Zensical)/,
    path: /^search\/search_index\.js(?:on)?$/,
    setting: (base) => `\`site_url\` to the full address that ends in ${base}, in mkdocs.yml`,
  },
  {
    name: 'Sphinx',
    meta: /^Sphinx/,
    path: /^(?:objects\.inv|_static\/documentation_options\.js)$/,
    setting: () => '`html_baseurl`, and write addresses in templates with `pathto()`',
  },
  {
    name: 'Quarto',
    meta: /^quarto/i,
    path: /^site_libs\//,
    setting: (base) => `\`site-url\` to the full address that ends in ${base}, in _quarto.yml`,
  },
  { name: 'Hexo', meta: /^Hexo/, setting: (base) => `\`root: ${base}\` in _config.yml` },
  {
    name: 'Pelican',
    meta: /^Pelican/,
    setting: (base) =>
      `\`SITEURL\` to the full address that ends in ${withoutSlash(base)}, or \`RELATIVE_URLS = True\``,
  },
  {
    name: 'Eleventy',
    meta: /^Eleventy/,
    setting: (base) => `\`pathPrefix: '${base}'\`, with the HTML base plugin`,
  },
  {
    name: 'mdBook',
    path: /^(?:book\.js|mdbook-.*\.js)$/,
    setting: (base) => `\`site-url = "${base}"\` in book.toml`,
  },
  {
    name: 'Expo',
    path: /^_expo\//,
    setting: (base) => `\`experiments.baseUrl: '${withoutSlash(base)}'\` in app.json`,
  },
  {
    name: 'Storybook',
    path: /^(?:sb-manager|sb-addons|sb-preview)\//,
    setting: () =>
      "`base: './'` in `viteFinal`, or `output.publicPath: ''` in `webpackFinal`, of .storybook/main",
  },
  {
    name: 'Angular',
    meta: /^Angular/,
    path: /^(?:browser\/)?(?:polyfills(?:[.-]\w{8,20})?|main-[0-9A-Z]{8})\.js$/,
    setting: (base) => `the base with \`ng build --base-href ${base}\``,
  },
  { name: 'Rspress', meta: /^Rspress/, setting: (base) => `\`base: '${base}'\` in rspress.config` },
  {
    name: 'Rsbuild',
    path: /^static\/js\/(?:async\/|(?:lib-[\w-]+|index)\.[0-9a-f]{8,}\.js$)/,
    setting: (base) =>
      `\`server: { base: '${withoutSlash(base)}' }\` in rsbuild.config; without a router \`output: { assetPrefix: 'auto' }\` is enough`,
  },
  {
    name: 'Create React App',
    path: /^(?:asset-manifest\.json|static\/js\/main\.[0-9a-f]{8}\.js)$/,
    setting: (base) => `\`"homepage": "${base}"\` in package.json; without a router \`"."\` is enough`,
  },
  {
    name: 'Vue CLI',
    path: /^js\/chunk-vendors\.[0-9a-f]+\.js$/,
    setting: (base) => `\`publicPath: '${base}'\` in vue.config; without a router \`./\` is enough`,
  },
  {
    name: 'React Router',
    path: /^assets\/entry\.client-[\w-]{8}\.js$/,
    setting: (base) =>
      `\`base: '${base}'\` in vite.config and \`basename: '${base}'\` in react-router.config`,
  },
  {
    name: 'Slidev',
    path: /^assets\/slidev\//,
    setting: (base) => `the base with \`slidev build --base ${base}\``,
  },
  {
    name: 'Vite',
    path: /^(?:\.vite\/manifest\.json|assets\/[^/]+-[\w-]{8}\.(?:js|css))$/,
    setting: (base) =>
      `\`base: '${base}'\` in vite.config, or build with \`vite build --base=${base}\`; without a router \`./\` is enough`,
  },
  {
    name: 'esbuild',
    path: /(?:^|\/)[^/]+-[0-9A-Z]{8}\.(?:js|css|svg|woff2)$/,
    isCommon: true,
    setting: (base) => `\`publicPath\` to \`${base}\`, or leave it out`,
  },
  {
    name: 'webpack',
    path: /(?:^|\/)(?:main|runtime|vendors?|bundle|\d+)(?:[.~-][\w.-]+)?\.js(?:\.LICENSE\.txt)?$/,
    isCommon: true,
    setting: () => "`output.publicPath: 'auto'` in the config of webpack or Rspack",
  },
  {
    name: 'Parcel',
    path: /^[^/]+\.[0-9a-f]{8}\.(?:js|css)$/,
    isCommon: true,
    setting: () => 'the base with `parcel build --public-url ./`',
  },
];

/** The generator that made a site. */
export interface FoundGenerator extends Pick<SiteGenerator, 'name' | 'isCommon' | 'setting'> {
  /** Whether a page names it; else it is known by the names of files only, which others may have, too. */
  readonly isNamed: boolean;
}

/** The generator that made a site, as far as its output shows. */
export function findGenerator(meta: string, paths: Iterable<string>): FoundGenerator | null {
  const named = SITE_GENERATORS.find((generator) => generator.meta?.test(meta));
  if (named !== undefined) return { ...named, isNamed: true };
  let best = SITE_GENERATORS.length;
  for (const path of paths) {
    const at = SITE_GENERATORS.findIndex((generator) => generator.path?.test(path));
    if (at !== -1 && at < best) best = at;
  }
  const found = SITE_GENERATORS[best];
  return found === undefined ? null : { ...found, isNamed: false };
}
