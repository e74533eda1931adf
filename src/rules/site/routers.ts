import type { SiteGenerator } from './generators.ts';

/** What the pages of a site, and the scripts that they load at the start, say of its place. */
export interface RouterEvidence {
  /** A page has a script, which may depend on the page's path; whether it does, a browser sees. */
  isFound: boolean;
  /** A text names the path of the folder. */
  isTold: boolean;
}

/** @param sitePath with a slash at both ends */
export function noteRouter(evidence: RouterEvidence, text: string, sitePath: string): void {
  evidence.isFound ||= /<script\b/i.test(text);
  evidence.isTold ||= text.includes(sitePath.slice(0, -1));
}

/** What to set if the page shows something else at the root of a host; `null` where it can't, or is told its place. */
export function describeRouter(
  { isFound, isTold }: RouterEvidence,
  generator: SiteGenerator | null,
  sitePath: string,
): string | null {
  if (!isFound || isTold || sitePath === '/') return null;
  const setting = generator?.setting(sitePath) ?? `the base path of the build to \`${sitePath}\``;
  return `${setting}, and the same for its router and for addresses in its scripts`;
}
