import type { SelfContained } from '../page/page-file.ts';
import type { SiteFinding } from './findings.ts';

export interface SiteFile {
  /** Bytes. */
  readonly size: number;
  read(): AsyncIterable<Buffer>;
}

/** The files of a site by their path in the folder: `/` between names, none at the start, not percent-encoded. */
export type SiteFiles = ReadonlyMap<string, SiteFile>;

export interface SiteOptions {
  /** The path of the page whose address is handed over. */
  readonly entry: string;
  /** Whether all that is below `sitePath` is delivered; a single page lies among files that are not known. */
  readonly isFolder: boolean;
  /** The URL path of the folder, percent-encoded, such as `/repo/previews/pr-12/`. */
  readonly sitePath: string;
  /** The site's scheme and host, such as `https://owner.github.io`; an address with it is an address of the site. */
  readonly origin?: string;
  /** What happens when a page loads something from another host while it opens. */
  readonly selfContained: SelfContained;
  readonly signal?: AbortSignal;
}

export interface SiteInspection {
  /** Why the site is not delivered; the most important first. */
  readonly refusals: readonly SiteFinding[];
  /** What may be wrong: what pages load at the start from elsewhere, or do not wait for, and what was not searched. */
  readonly unknown: readonly SiteFinding[];
  readonly notes: readonly SiteFinding[];
  /** Whether a page uses absolute addresses that lead into the folder, so that it works at this place only. */
  readonly hasAbsolute: boolean;
  /** What to set if a page was built for another place; `null` where none has a script. */
  readonly routerSetting: string | null;
}
