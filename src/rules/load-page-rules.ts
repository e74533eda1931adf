/**
 * Loads the rules that parse pages, style sheets and scripts. With their parsers they are a bundle of its own beside
 * the others, so that a delivery without a page does not even read them. The import keeps its name: the sources,
 * `lib/` and `dist/` each load their own.
 */
export const loadPageRules = (): Promise<typeof import('./page-rules.ts')> =>
  import(/* webpackIgnore: true */ './page-rules.ts');
