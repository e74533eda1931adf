/** What a finding is about, the most important first. */
export const FINDING_KINDS = [
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

export interface FoundPlace extends Omit<SiteFinding, 'count'> {
  /** Findings with the same kind and key are one. */
  readonly key: string;
}

/** How many different findings of a kind are kept; the others are only counted. */
const MAX_GROUPS = 1_000;

/** Collects findings in bounded memory, the same ones as one. */
export class FindingCollector {
  readonly #findings = new Map<string, SiteFinding & { count: number }>();
  readonly #sizes = new Map<string, number>();

  add({ key, ...finding }: FoundPlace): void {
    const { kind } = finding;
    const isNew = !this.#findings.has(`${kind}\n${key}`);
    const size = (this.#sizes.get(kind) ?? 0) + Number(isNew);
    this.#sizes.set(kind, size);
    const kept = isNew && size > MAX_GROUPS ? `${kind}\n…` : `${kind}\n${key}`;
    const known = this.#findings.get(kept);
    if (known === undefined) this.#findings.set(kept, { ...finding, count: 1 });
    else known.count += 1;
  }

  /** All findings in the order in which they were found. */
  list(): readonly SiteFinding[] {
    return [...this.#findings.values()];
  }
}

const MAX_LISTED = 10;

/** Formats findings for a message, one line each: ten, with one of each kind, and how many more there are. */
export function formatSiteFindings(findings: readonly SiteFinding[]): readonly string[] {
  const sorted = FINDING_KINDS.flatMap((kind) => findings.filter((finding) => finding.kind === kind));
  const firsts = FINDING_KINDS.flatMap((kind) => findings.find((finding) => finding.kind === kind) ?? []);
  const others = sorted.filter((finding) => !firsts.includes(finding));
  const hidden = new Set(others.slice(Math.max(MAX_LISTED - firsts.length, 0)));
  const lines = sorted.filter((finding) => !hidden.has(finding)).map(formatSiteFinding);
  return hidden.size === 0 ? lines : [...lines, `and ${hidden.size} more`];
}

function formatSiteFinding({ file, line, text, hint, count }: SiteFinding): string {
  const times = count > 1 ? `, at ${count} places` : '';
  return `${file} line ${line}: ${text}${times}${hint === undefined ? '' : ` (${hint})`}`;
}
