import type { FindingKind, SiteFinding } from './site-files.ts';

/** A finding at one place. */
export interface FoundPlace extends Omit<SiteFinding, 'count'> {
  /** Findings with the same kind and key are one. */
  readonly key: string;
}

/** How many different findings of a kind are kept; the others are only counted. */
const MAX_GROUPS = 1_000;

/** Collects findings in bounded memory, the same ones as one. */
export class FindingCollector {
  readonly #findings = new Map<string, SiteFinding & { count: number }>();
  readonly #sizes = new Map<FindingKind, number>();

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

/** How many findings are listed in full. */
const MAX_LISTED = 10;

/** The titles of the findings of each kind, after their number. */
const KIND_TITLES: Readonly<Record<FindingKind, string>> = {
  base: 'wrong base path',
  missing: 'missing files',
  host: 'loaded from another host',
  'bare-import': 'imports without an address',
  encoding: 'files that are not in UTF-8',
  'later-host': 'addresses of other hosts that may load later',
  'link-missing': 'links to missing pages',
  unchecked: 'addresses outside the folder, not checked',
  incomplete: 'files that were not searched completely',
};

/**
 * Formats findings for a message, one line each, grouped by kind: the first ten in full, with at least one of each
 * kind, and how many more there are.
 */
export function formatSiteFindings(findings: readonly SiteFinding[]): readonly string[] {
  const kinds = Object.keys(KIND_TITLES) as FindingKind[];
  const groups = kinds.map((kind) => findings.filter((finding) => finding.kind === kind));
  const firsts = groups.flatMap((group) => group.slice(0, 1));
  const others = groups.flatMap((group) => group.slice(1));
  const listed = new Set([...firsts, ...others.slice(0, Math.max(MAX_LISTED - firsts.length, 0))]);
  const lines = groups
    .flat()
    .filter((finding) => listed.has(finding))
    .map(formatSiteFinding);
  if (listed.size === findings.length) return lines;
  const counts = groups.flatMap((group, at) => {
    const { length } = group.filter((finding) => !listed.has(finding));
    return length === 0 ? [] : [`${length} ${KIND_TITLES[kinds[at] as FindingKind]}`];
  });
  return [...lines, `and ${findings.length - listed.size} more: ${counts.join(', ')}`];
}

function formatSiteFinding({ file, line, text, hint, count }: SiteFinding): string {
  const times = count > 1 ? `, at ${count} places` : '';
  return `${file} line ${line}: ${text}${times}${hint === undefined ? '' : ` (${hint})`}`;
}
