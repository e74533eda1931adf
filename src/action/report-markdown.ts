import { formatChangeCounts } from '../channels/site-changes.ts';
import { nameSubject, type Report, type SiteReport } from '../delivery/report.ts';
import { formatShare } from '../delivery/screen/screen-report.ts';
import { countFiles, formatSeconds, shorten } from '../plain-text.ts';
import { MEGABYTE } from '../protocol/limits.ts';
import {
  GATE_TITLES,
  REMOVAL_GATE_TITLES,
  REPORT_LINES,
  RESULT_TITLES,
  RESULTS,
  type ReportLine,
} from '../protocol/words.ts';
import { withVersion } from '../rules/naming.ts';
import {
  escapeAddress,
  escapeMarkdown,
  formatAddressLink,
  formatFoldedSection,
  formatInlineCode,
  formatLink,
  formatMessage,
  formatTable,
  formatTableRow,
  joinBlocks,
} from './markdown.ts';

/** The blocks that summary and comment are made of. Each is Markdown; one that has nothing to say is empty. */

export const SIGNS = {
  'not-ready': { sign: '❌', word: `${RESULT_TITLES.notReady} · ${RESULTS.notReady}` },
  planned: { sign: '📝', word: 'Dry run' },
  withdrawn: { sign: '🗑️', word: 'Withdrawn' },
  absent: { sign: '✅', word: 'Nothing to withdraw' },
  audited: { sign: '✅', word: `As delivered · ${RESULTS.ready}` },
  changed: { sign: '✏️', word: 'Changed since' },
  ready: { sign: '✅', word: `${RESULT_TITLES.ready} · ${RESULTS.ready}` },
} as const;

/** Longest texts, in characters; each may take twelve times the room in Markdown. */
const MOST = { text: 1_000, name: 200 } as const;

/** Facts that are listed of one report, or of all together, and changed files that are named, at most. */
export const MAX_FACTS = 20;

const formatFact = (kind: string, text: string): string => `- **${kind}:** ${text}`;

const formatText = (text: string): string => formatMessage(shorten(text, MOST.text));

export function getSign(report: Report) {
  const { result, wasAbsent, verdict } = report;
  if (wasAbsent) return SIGNS.absent;
  const isOther = verdict === 'changed' || verdict === 'withdrawn';
  return SIGNS[result === 'audited' && isOther ? verdict : result];
}

export const formatName = (report: Report): string => escapeMarkdown(shorten(nameSubject(report), MOST.text));

/** The name, as a link to what is proven: a report has no other address. */
export const formatLinkedName = (report: Report): string =>
  report.url === null ? formatName(report) : formatLink(formatName(report), report.url);

/** A heading with the link, and below it how the delivery ended. @param title what the heading begins with */
export function formatOutcome(report: Report, title: string): string[] {
  const { sign, word } = getSign(report);
  const { url, urlNote, withdrawn } = report;
  const note = urlNote === undefined ? '' : ` (${formatText(urlNote)})`;
  const gone = withdrawn === null ? '' : formatInlineCode(withdrawn);
  const detail = url === null ? gone || describeReason(report) : formatAddressLink(url) + note;
  return [`### ${title}${sign} ${formatLinkedName(report)}`, `**${word}**${detail && ` → ${detail}`}`];
}

/** All about a report but how it ended, what matters most first. @param isRow whether a table and a list say the rest */
export function listDetails(report: Report, isRow = false): string[] {
  return [
    (report.notReady?.findings?.lines ?? []).map((line) => `- ${formatText(line)}`).join('\n'),
    formatPicture(report),
    isRow ? '' : describeHint(report),
    isRow || report.planned === null ? '' : `**Plan:** ${formatText(report.lines.CODE)}`,
    formatFacts([
      ...listOwnFacts(report),
      ...(isRow ? [] : [...formatNoteFacts(report), ...formatUnknownFacts(report)]),
    ]),
    formatChangedFiles(report),
    isRow
      ? formatReportLines(report, ['CODE', 'TEST'])
      : formatFoldedSection(
          'Report',
          joinBlocks([formatGates(report), formatReportLines(report, REPORT_LINES)]),
        ),
  ].filter((block) => block !== '');
}

function describeReason({ notReady, planned }: Report): string {
  if (notReady === null) return formatText(planned?.reason ?? '');
  const { reason, findings, step, httpCode } = notReady;
  const http = httpCode === null ? '' : `, HTTP ${httpCode}`;
  return `${formatText(findings?.about ?? reason)} (step ${formatInlineCode(step)}${http})`;
}

function describeHint({ notReady, planned }: Report): string {
  if (planned !== null) return `**Next:** ${formatText(planned.next)}`;
  return notReady?.hint ? `**To change:** ${formatText(notReady.hint)}` : '';
}

/** The note of the address is beside it. */
export const formatNoteFacts = ({ notes, urlNote }: Report): string[] =>
  notes.filter((text) => text !== urlNote).map((text) => formatFact('Note', formatText(text)));

export const formatUnknownFacts = ({ unknown }: Report): string[] =>
  unknown.map((text) => formatFact('UNKNOWN', formatText(text)));

function listOwnFacts(report: Report): string[] {
  const { ready, rawUrl, duplicates, site, took } = report;
  const facts: string[] = [];
  if (site !== null && ready) {
    const time = Object.values(took).reduce((sum, part) => sum + part, 0);
    const inTotal =
      site.servedSize === null ? '' : `; the whole Pages site has ${formatSize(site.servedSize)}`;
    const text = `${formatCount(site)}, all fetched back and identical, in ${formatSeconds(time)}${inTotal}`;
    facts.push(formatFact('Site', text), formatFact('Changes', describeChanges(site)));
  }
  if (report.result === 'withdrawn') return facts;
  // Of a site one address is handed over; the raw one of its page alone shows nothing of it.
  if (site === null && rawUrl !== null) facts.push(formatFact('Raw', formatAddressLink(rawUrl)));
  for (const { channel, url } of duplicates) {
    if (url !== null) facts.push(formatFact(`Duplicate on ${channel}`, formatAddressLink(url)));
  }
  return facts;
}

export function formatFacts(facts: readonly string[]): string {
  const left = facts.length - MAX_FACTS;
  return [...facts.slice(0, MAX_FACTS), ...(left > 0 ? [`- … and ${left} more in the report`] : [])].join(
    '\n',
  );
}

export function formatProof(report: Report): string {
  const { site, ready, gates, urlNote } = report;
  if (!ready) {
    return [describeReason(report), describeHint(report)].filter((part) => part !== '').join('. ');
  }
  if (report.verdict === 'changed') return report.notes.map(formatText).join('; ');
  const evidence = gates.find(({ name }) => name === 'G3_VERIFY_200_и_маркер')?.evidence ?? '';
  const proof =
    site !== null && ready
      ? `${formatCount(site)}, all identical; ${describeChanges(site)}`
      : formatText(evidence);
  return urlNote === undefined ? proof : `${proof}; ${formatText(urlNote)}`;
}

const formatCount = ({ count, size }: SiteReport): string => `${countFiles(count)}, ${formatSize(size)}`;

function describeChanges({ count, changeCounts: counts }: SiteReport): string {
  if (counts === null) return 'not known';
  const changes = formatChangeCounts(counts);
  if (changes === '') return 'none since the last delivery';
  if (counts.added === count && counts.removed === 0) return 'all files are new';
  return `${changes}, ${count - counts.added - counts.changed} unchanged since the last delivery`;
}

function formatChangedFiles({ ready, site }: Report): string {
  const { changes = null, changeCounts = null } = site ?? {};
  if (!ready || changes === null || changeCounts === null) return '';
  const facts = (['added', 'changed', 'removed'] as const).flatMap((kind) => {
    const names = changes[kind].slice(0, MAX_FACTS).map((path) => escapeMarkdown(shorten(path, MOST.name)));
    const more = changeCounts[kind] - names.length;
    const text = `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    return names.length === 0 ? [] : formatFact(kind, text);
  });
  return facts.length === 0 ? '' : formatFoldedSection('Changed files', formatFacts(facts));
}

/** Such as `63 bytes`, `244.1 KB` or `9.3 MB`. @param size bytes */
function formatSize(size: number): string {
  if (size < 1_024) return `${size} bytes`;
  return size < MEGABYTE ? `${(size / 1_024).toFixed(1)} KB` : `${(size / MEGABYTE).toFixed(1)} MB`;
}

function formatPicture({ picture, url }: Report): string {
  // An address with a credential was withheld.
  if (url === null || !picture?.url) return '';
  const { beforeUrl, changed, sha256 } = picture;
  const alternative = shorten(picture.alternative, MOST.name);
  const isBeside = changed !== null && beforeUrl !== null;
  const formatImage = (text: string, address: string): string => {
    // GitHub keeps copies of pictures: the same address with other bytes would show the old one.
    const versioned = withVersion(address, sha256.slice(0, 16));
    const alt = escapeMarkdown(text).replaceAll('"', '&quot;');
    return `<a href="${escapeAddress(url)}"><img width="${isBeside ? 360 : 480}" alt="${alt}" src="${escapeAddress(versioned.href)}"></a>`;
  };
  const before = isBeside ? [formatImage(`${alternative}, before`, beforeUrl)] : [];
  const cells = [...before, formatImage(alternative, picture.url)].map((cell) => `<td>${cell}</td>`);
  const frame = `<table><tr>${cells.join('')}</tr></table>`;
  if (changed === null) return frame;
  const comparison = isBeside
    ? `Before and after: ${formatShare(changed)} of the picture changed.`
    : 'The page looks the same as before.';
  return joinBlocks([frame, comparison]);
}

/** The gates with their evidence, as a table; of what is not ready the reason says it all. */
function formatGates(report: Report): string {
  if (!report.ready || report.verdict === 'changed') return '';
  const titles = report.result === 'withdrawn' ? REMOVAL_GATE_TITLES : GATE_TITLES;
  const rows = report.gates.map(({ name, evidence }) => {
    const shown = evidence === report.url ? formatAddressLink(evidence) : formatText(evidence);
    return formatTableRow([`✅ ${titles[name]} · ${formatInlineCode(name)}`, shown]);
  });
  return formatTable(['Gate', 'Evidence'], rows);
}

/** The lines of the report, in the protocol's words. @see protocol 4.7 */
const formatReportLines = ({ lines }: Report, shown: readonly ReportLine[]): string =>
  formatFacts(shown.flatMap((line) => (lines[line] === '' ? [] : formatFact(line, formatText(lines[line])))));
