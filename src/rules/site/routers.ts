import type { SiteGenerator } from './generators.ts';

/** What the pages of a site, and the scripts that they load at the start, show of a router in the browser. */
export interface RouterEvidence {
  /** A text may have a router. */
  isFound: boolean;
  /** A text names the path of the folder, as the base of a router. */
  isTold: boolean;
}

/** What a router needs that shows another content for each path: it reads the path, sets it, and sees it change. */
const ROUTER_WORDS = ['pushState', 'popstate', '.pathname'];

/** @param sitePath with a slash at both ends */
export function noteRouter(evidence: RouterEvidence, text: string, sitePath: string): void {
  evidence.isFound ||= ROUTER_WORDS.every((word) => text.includes(word));
  evidence.isTold ||= text.includes(sitePath.slice(0, -1));
}

/** What to set for a router of which no text names the folder; `null` where there is none. */
export function describeRouter(
  { isFound, isTold }: RouterEvidence,
  generator: SiteGenerator | null,
  sitePath: string,
): string | null {
  if (!isFound || isTold || sitePath === '/') return null;
  if (generator === null) return `the base path of the build and of its router to \`${sitePath}\``;
  return `${generator.setting(sitePath)}, and give the router the same base`;
}
