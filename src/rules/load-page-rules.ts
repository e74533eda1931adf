/**
 * Loads the rules that parse pages: a bundle of its own, which a delivery without a page does not read. The import keeps
 * its name: the sources, `lib/` and `dist/` each load their own.
 */
export const loadPageRules = (): Promise<typeof import('./page-rules.ts')> =>
  import(/* webpackIgnore: true */ './page-rules.ts');
