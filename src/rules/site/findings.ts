import { firstFew } from '../../plain-text.ts';
import type { LocalFile } from '../inspect.ts';
import type { SelfContained } from '../page/page-file.ts';

/** What a finding is about, the most important first. */
const FINDING_KINDS = [
  'cut',
  'broken',
  /** The text of a page instead of a page. */
  'source',
  'base',
  'missing',
  'bare-import',
  'encoding',
  'machine',
  /** On another host, without encryption. */
  'insecure',
  'host',
  /** On the host of the site, but not part of this delivery. */
  'outside',
  'later-host',
  'link-missing',
  'incomplete',
] as const;

export interface SiteFinding {
  readonly kind: (typeof FINDING_KINDS)[number];
  /** Empty for the only file. */
  readonly file: string;
  /** 0 if the text names it, or a file has no lines. */
  readonly line: number;
  readonly text: string;
  readonly hint?: string | undefined;
  /** How many folders above the site's folder a relative address leads. */
  readonly levels?: number | undefined;
  /** URL of code that is not part of the delivery, to request it from its host. */
  readonly url?: string | undefined;
  /** For a wrong base: the decoded path of the address, without its first slash. */
  readonly path?: string;
  /** URL of what is missing, as a browser's view names it. */
  readonly missing?: string;
  readonly count: number;
}

export type FindingText = Pick<SiteFinding, 'text' | 'hint' | 'levels' | 'url' | 'path' | 'missing'>;

/** Findings that are kept. Others are only counted, by their kind. */
const MAX_GROUPS = 1_000;

/** Collects and groups findings in bounded memory. */
export class FindingCollector {
  readonly #findings = new Map<string, SiteFinding & { count: number }>();

  /** Adds a finding, or counts it if its kind and key are known. @param describe called only for a new finding */
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

  /** Moves the findings of a kind to another collector. */
  moveTo(other: FindingCollector, kind: SiteFinding['kind']): void {
    for (const [key, finding] of this.#findings) {
      if (finding.kind !== kind || !this.#findings.delete(key)) continue;
      const known = other.#findings.get(key);
      other.#findings.set(key, { ...finding, ...known, count: finding.count + (known?.count ?? 0) });
    }
  }

  list(): readonly SiteFinding[] {
    return [...this.#findings.values()];
  }
}

/** Formats findings, one line each, the first of each kind first. @param knownHint a hint that the message already has */
export function formatSiteFindings(findings: readonly SiteFinding[], knownHint?: string): readonly string[] {
  const sorted = FINDING_KINDS.flatMap((kind) => findings.filter((finding) => finding.kind === kind));
  const isFirst = ({ kind }: SiteFinding, at: number): boolean => sorted[at - 1]?.kind !== kind;
  const others = sorted.filter((finding, at) => !isFirst(finding, at));
  const hints = new Set([knownHint]);
  const lines = [...sorted.filter(isFirst), ...others].map(({ file, line, text, hint, count }) => {
    const times = count > 1 ? `, ${count} times` : '';
    const change = hint === undefined || hints.has(hint) ? '' : ` (${hint})`;
    hints.add(hint);
    const place = [file, line > 0 ? `line ${line}` : ''].filter((part) => part !== '').join(' ');
    return `${place === '' ? '' : `${place}: `}${text}${times}${change}`;
  });
  return firstFew(lines);
}

/** The files of a site by their path in the folder, separated by `/`, not percent-encoded. */
export type SiteFiles = ReadonlyMap<string, Pick<LocalFile, 'size' | 'pieces'>>;

export interface SiteOptions {
  readonly entry: string;
  /** Whether everything below `sitePath` is delivered. A single page has unknown files around it. */
  readonly isFolder: boolean;
  /** The URL path of the folder, percent-encoded, such as `/repo/previews/pr-12/`. */
  readonly sitePath: string;
  readonly origin?: string;
  readonly selfContained: SelfContained;
  readonly signal?: AbortSignal;
}

export interface SiteInspection {
  readonly refusals: readonly SiteFinding[];
  /** What could not be checked: other hosts, `async` scripts, and files that were not searched. */
  readonly unknown: readonly SiteFinding[];
  readonly notes: readonly SiteFinding[];
  /** Whether absolute addresses lead into the folder, so that the site works only at this URL. */
  readonly hasAbsolute: boolean;
  /** What to set if a browser shows that the page was built for another URL; `null` without scripts. */
  readonly routerSetting: string | null;
}
