import type { LocalFile } from '../inspect.ts';
import type { SelfContained } from '../page/page-file.ts';

/** What a finding is about, the most important first. */
const FINDING_KINDS = [
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
  /** The path in the folder of the first place. */
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
  /** At how many places. */
  readonly count: number;
}

export interface FoundPlace extends Omit<SiteFinding, 'count' | 'text' | 'hint'> {
  /** Called where it is kept: a page may have very many. */
  readonly describe: () => Pick<SiteFinding, 'text' | 'hint'>;
  /** Findings with the same kind and key are one. */
  readonly key: string;
}

/** How many different findings of a kind are kept; the others are only counted. */
const MAX_GROUPS = 1_000;

/** Collects findings in bounded memory, the same ones as one. */
export class FindingCollector {
  readonly #findings = new Map<string, SiteFinding & { count: number }>();
  readonly #sizes = new Map<string, number>();

  add({ key, describe, ...finding }: FoundPlace): void {
    const { kind } = finding;
    const isNew = !this.#findings.has(`${kind}\n${key}`);
    const size = (this.#sizes.get(kind) ?? 0) + Number(isNew);
    this.#sizes.set(kind, size);
    const kept = isNew && size > MAX_GROUPS ? `${kind}\n…` : `${kind}\n${key}`;
    const known = this.#findings.get(kept);
    if (known === undefined) this.#findings.set(kept, { ...finding, ...describe(), count: 1 });
    else known.count += 1;
  }

  /** All findings in the order in which they were found. */
  list(): readonly SiteFinding[] {
    return [...this.#findings.values()];
  }
}

const MAX_LISTED = 10;

/**
 * Formats findings for a message, one line each: ten, with one of each kind, and how many more there are. Each hint is
 * said at its first finding only.
 *
 * @param said the hint that is told already
 */
export function formatSiteFindings(findings: readonly SiteFinding[], said?: string): readonly string[] {
  const sorted = FINDING_KINDS.flatMap((kind) => findings.filter((finding) => finding.kind === kind));
  const firsts = FINDING_KINDS.flatMap((kind) => findings.find((finding) => finding.kind === kind) ?? []);
  const others = sorted.filter((finding) => !firsts.includes(finding));
  const hidden = new Set(others.slice(Math.max(MAX_LISTED - firsts.length, 0)));
  const told = new Set([said]);
  const lines = sorted
    .filter((finding) => !hidden.has(finding))
    .map(({ file, line, text, hint, count }) => {
      const times = count > 1 ? `, at ${count} places` : '';
      const change = hint === undefined || told.has(hint) ? '' : ` (${hint})`;
      told.add(hint);
      return `${file} line ${line}: ${text}${times}${change}`;
    });
  return hidden.size === 0 ? lines : [...lines, `and ${hidden.size} more`];
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
