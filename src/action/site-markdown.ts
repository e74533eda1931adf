import { formatChangeCounts } from '../channels/site-changes.ts';
import type { Report } from '../delivery/report.ts';
import { MEGABYTE, SECOND } from '../protocol/limits.ts';
import { escapeMarkdown, formatFoldedSection } from './markdown.ts';

/** Changed files of one kind that are named, and the longest name, in characters. */
const MAX_NAMES = 20;
const MAX_NAME = 200;

/** Counts, size and time of a proven site, and what changed since the last delivery, as facts; none of a file. */
export function listSiteFacts({
  ready,
  site,
  took,
}: Report): readonly (readonly [kind: string, text: string])[] {
  if (site === null || !ready) return [];
  const time = Object.values(took).reduce((sum, part) => sum + part, 0);
  const inTotal = site.servedSize === null ? '' : `; the whole Pages site has ${formatSize(site.servedSize)}`;
  const size = `${formatCount(site.count)}, ${formatSize(site.size)}`;
  return [
    ['Site', `${size}, all fetched back and identical, in ${(time / SECOND).toFixed(1)} s${inTotal}`],
    ['Changes', describeChanges(site)],
  ];
}

/** A site in one cell of a table, such as `12 files, 211.5 KB, all identical; 12 added`. */
export function describeSite(site: NonNullable<Report['site']>): string {
  return `${formatCount(site.count)}, ${formatSize(site.size)}, all identical; ${describeChanges(site)}`;
}

type SiteCounts = Pick<NonNullable<Report['site']>, 'count' | 'changeCounts'>;

function describeChanges({ count, changeCounts: counts }: SiteCounts): string {
  if (counts === null) return 'not known';
  const changes = formatChangeCounts(counts);
  if (changes === '') return 'none since the last delivery';
  const unchanged = count - counts.added - counts.changed;
  if (unchanged === 0 && counts.changed + counts.removed === 0) return 'all files are new';
  return `${changes}, ${unchanged} unchanged since the last delivery`;
}

/** The names of the changed files, folded; empty where nothing changed. */
export function formatChangedFiles({ ready, site }: Report): string {
  if (!ready || site?.changes == null || site.changeCounts === null) return '';
  const { changes, changeCounts: counts } = site;
  const lines = (['added', 'changed', 'removed'] as const).flatMap((kind) => {
    const total = counts[kind];
    if (total === 0) return [];
    const names = changes[kind].slice(0, MAX_NAMES).map((path) => escapeMarkdown(cutName(path)));
    const more = total > names.length ? ` and ${total - names.length} more` : '';
    return [`- **${kind}:** ${names.join(', ')}${more}`];
  });
  return lines.length === 0 ? '' : formatFoldedSection('Changed files', lines.join('\n'));
}

const cutName = (path: string): string => {
  const characters = [...path];
  return characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME).join('')}…` : path;
};

const formatCount = (count: number): string => `${count} file${count === 1 ? '' : 's'}`;

/** Such as `63 bytes`, `244.1 KB` or `9.3 MB`. @param size bytes */
function formatSize(size: number): string {
  if (size < 1_024) return `${size} bytes`;
  return size < MEGABYTE ? `${(size / 1_024).toFixed(1)} KB` : `${(size / MEGABYTE).toFixed(1)} MB`;
}
