/**
 * Loads the code that converts files from a separate bundle, because few deliveries need it. The import keeps its name:
 * the sources, `lib/` and `dist/` each load their own file.
 */
export const loadConvert = (): Promise<typeof import('./convert.ts')> =>
  import(/* webpackIgnore: true */ './convert.ts');
