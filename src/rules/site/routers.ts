import type { SiteGenerator } from './generators.ts';

/**
 * What to set if a browser sees that the page was built for another place.
 *
 * @param hasScript whether a page has a script, which may depend on the page's path
 * @param sitePath with a slash at both ends
 * @returns `null` where the page can't depend on its place
 */
export function describeRouter(
  hasScript: boolean,
  generator: SiteGenerator | null,
  sitePath: string,
): string | null {
  if (!hasScript || sitePath === '/') return null;
  const setting = generator?.setting(sitePath) ?? `the base path of the build to \`${sitePath}\``;
  return `${setting}, and the same for its router and for addresses in its scripts`;
}
