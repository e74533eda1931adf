import type { SiteGenerator } from './generators.ts';

/**
 * What to change so that the addresses of a site lead into its folder.
 *
 * @param base the path of the folder, with a slash at both ends
 * @param isRight whether an absolute address of a page leads there
 */
export function describeBase(generator: SiteGenerator | null, base: string, isRight: boolean): string {
  if (isRight) {
    return `other addresses lead into the folder: make this one relative to its file, or let it begin with \`${base}\``;
  }
  return generator === null
    ? `use addresses relative to the page (\`./assets/…\`), or set the base path of the generator to \`${base}\``
    : `the folder was made by ${generator.name}: set ${generator.setting(base)}`;
}
