import type { SelfContained } from '../page/page-file.ts';

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
  /** The URL path that the folder will have, percent-encoded, such as `/repo/previews/pr-12/`. */
  readonly sitePath: string;
  /** The URL path of the whole Pages site, percent-encoded, such as `/repo/` or `/`. */
  readonly rootPath: string;
  /** The site's scheme and host, such as `https://owner.github.io`; an address with it is an address of the site. */
  readonly origin?: string;
  /** What happens when a page loads something from another host while it opens. */
  readonly selfContained: SelfContained;
  readonly signal?: AbortSignal;
}

/** What a finding is about, the most important first. Only the first five can be refusals; each can be a note, too. */
export const FINDING_KINDS = [
  'base',
  'missing',
  'host',
  'bare-import',
  /** A text in another encoding than the one that Pages declares. */
  'encoding',
  'later-host',
  /** A link to a page that is missing. */
  'link-missing',
  /** On the site, outside of the folder. */
  'unchecked',
  /** A file that was not searched completely. */
  'incomplete',
] as const;

export type FindingKind = (typeof FINDING_KINDS)[number];

/** One finding; the same one at several places is counted. */
export interface SiteFinding {
  readonly kind: FindingKind;
  /** The path in the folder of the first place. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** One plain clause without file and line. */
  readonly text: string;
  readonly hint: string | undefined;
  /**
   * Of code on the site outside of the folder: its path from the site's root, by which the host can be asked, and how
   * many folders above this one its address leads.
   */
  readonly outside?: { readonly path: string; readonly levels: number };
  /** At how many places. */
  readonly count: number;
}

export interface SiteInspection {
  /** Why the site is not delivered; the most important first. */
  readonly refusals: readonly SiteFinding[];
  readonly notes: readonly SiteFinding[];
  /** Whether a page uses absolute addresses that lead into the folder, so that it works at this place only. */
  readonly hasAbsolute: boolean;
  /** What to set if a page was built for another place; `null` where none has a script. */
  readonly routerSetting: string | null;
}
