import { firstFew } from '../../plain-text.ts';
import type { LocalFile } from '../inspect.ts';
import type { SelfContained } from '../page/page-file.ts';

/** What a finding is about, the most important first. */
const FINDING_KINDS = [
  /** A file that ends too early. */
  'cut',
  /** The text of a page instead of a page. */
  'source',
  /** An address that would lead to a file if the site had another base path. */
  'base',
  'missing',
  'bare-import',
  /** A text in another encoding than the one that Pages declares. */
  'encoding',
  /** The machine that made the page. */
  'machine',
  /** Another host, at the start. */
  'host',
  /** On the host of the site, but no part of this delivery. */
  'outside',
  'later-host',
  /** A link to a page that is missing. */
  'link-missing',
  /** A file that was not searched completely. */
  'incomplete',
] as const;

/** One finding; the same one at several places is counted. */
export interface SiteFinding {
  readonly kind: (typeof FINDING_KINDS)[number];
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** One plain clause without file and line. */
  readonly text: string;
  readonly hint?: string | undefined;
  /** How many folders above the site's own one a relative address leads. */
  readonly levels?: number | undefined;
  /** Of code that is no part of the delivery: where its host can be asked for it. */
  readonly url?: string | undefined;
  /** Of a wrong base: the address on its host, decoded, without the slash at its start. */
  readonly path?: string;
  readonly count: number;
}

export type FindingText = Pick<SiteFinding, 'text' | 'hint' | 'levels' | 'url' | 'path'>;

/** How many different findings are kept; the others are only counted, by their kind. */
const MAX_GROUPS = 1_000;

/** Collects findings in bounded memory, the same ones as one. */
export class FindingCollector {
  readonly #findings = new Map<string, SiteFinding & { count: number }>();

  /** Adds a finding, once for each kind and key. @param describe called if it is kept: a page may have very many */
  add(
    kind: SiteFinding['kind'],
    key: string,
    { file, line }: Pick<SiteFinding, 'file' | 'line'>,
    describe: () => FindingText,
  ): void {
    const own = `${kind}\n${key}`;
    const isKept = this.#findings.has(own) || this.#findings.size < MAX_GROUPS;
    const kept = isKept ? own : `${kind}\n…`;
    const known = this.#findings.get(kept);
    if (known === undefined) this.#findings.set(kept, { kind, file, line, ...describe(), count: 1 });
    else known.count += 1;
  }

  list(): readonly SiteFinding[] {
    return [...this.#findings.values()];
  }
}

/**
 * Formats findings for a message, one line each: the first of each kind, others, and how many more there are. Each hint
 * is said at its first finding only.
 *
 * @param said the hint that is told already
 */
export function formatSiteFindings(findings: readonly SiteFinding[], said?: string): readonly string[] {
  const sorted = FINDING_KINDS.flatMap((kind) => findings.filter((finding) => finding.kind === kind));
  const isFirst = ({ kind }: SiteFinding, at: number): boolean => sorted[at - 1]?.kind !== kind;
  const others = sorted.filter((finding, at) => !isFirst(finding, at));
  const told = new Set([said]);
  const lines = [...sorted.filter(isFirst), ...others].map(({ file, line, text, hint, count }) => {
    const times = count > 1 ? `, at ${count} places` : '';
    const change = hint === undefined || told.has(hint) ? '' : ` (${hint})`;
    told.add(hint);
    return `${file} line ${line}: ${text}${times}${change}`;
  });
  return firstFew(lines);
}

/** The files of a site by their path in the folder: `/` between names, none at the start, not percent-encoded. */
export type SiteFiles = ReadonlyMap<string, Pick<LocalFile, 'size' | 'pieces'>>;

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
