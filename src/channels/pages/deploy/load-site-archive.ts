/**
 * Loads the code that reads and writes archives, which only a site that GitHub Actions deploys needs: a bundle of its
 * own beside the others. The import keeps its name: the sources, `lib/` and `dist/` each load their own.
 */
export const loadSiteArchive = (): Promise<typeof import('./site-archive.ts')> =>
  import(/* webpackIgnore: true */ './site-archive.ts');
