/**
 * Loads the rules that parse pages from a separate bundle, because a delivery without a page doesn't need them. The
 * import keeps its name: the sources, `lib/` and `dist/` each load their own file.
 */
export const loadPageRules = (): Promise<typeof import('./page-rules.ts')> =>
  import(/* webpackIgnore: true */ './page-rules.ts');
