import { formatChangeCounts } from '../channels/site-changes.ts';
import {
  copyLabel,
  gateTitles,
  listNotes,
  nameSubject,
  outcomeOf,
  type Report,
  type SiteReport,
  unknownLabel,
} from '../delivery/report.ts';
import { formatShare } from '../delivery/screen/screen-report.ts';
import { countFiles, formatSeconds, formatSize, shorten } from '../plain-text.ts';
import { OUTCOMES, type Outcome, REPORT_LINES, type ReportLine } from '../protocol/words.ts';
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

export const SIGNS: Readonly<Record<Outcome, string>> = {
  'not-ready': '❌',
  planned: '📝',
  withdrawn: '🗑️',
  'in-part': '🗑️',
  absent: '✅',
  audited: '✅',
  changed: '✏️',
  ready: '✅',
};

/** Most characters; each may take twelve in Markdown. */
const MOST = { text: 1_000, name: 200 } as const;

/** Most facts in a list, and most changed files that are named. */
export const MAX_FACTS = 20;

const formatFact = (kind: string, text: string): string => `- **${kind}:** ${text}`;

const formatText = (text: string): string => formatMessage(shorten(text, MOST.text));

export const getSign = (report: Report): string => SIGNS[outcomeOf(report)];

export const formatName = (report: Report): string => escapeMarkdown(shorten(nameSubject(report), MOST.text));

export const formatLinkedName = (report: Report): string =>
  report.url === null ? formatName(report) : formatLink(formatName(report), report.url);

/** Such as `✅ Preview ready`. @param subject such as `Preview`, or empty */
export const formatVerdict = (subject: string, outcome: Outcome): string =>
  `${SIGNS[outcome]} ${subject === '' ? OUTCOMES[outcome] : `${subject} ${OUTCOMES[outcome].toLowerCase()}`}`;

/** A heading with the link; below it the URL, or the reason and what to change. */
export function formatOutcome(report: Report, subject: string): string[] {
  const { url, urlNote, withdrawn, notReady } = report;
  const note = urlNote === undefined ? '' : `<br>${formatText(urlNote)}`;
  const removed = withdrawn === null ? '' : formatInlineCode(withdrawn);
  return [
    `### ${formatVerdict(subject, outcomeOf(report))}: ${formatLinkedName(report)}`,
    url === null ? removed || describeReason(report) : formatAddressLink(url) + note,
    (notReady?.findings?.lines ?? []).map((line) => `- ${formatText(line)}`).join('\n'),
    describeHint(report),
  ];
}

/** Everything but the outcome, the most important first. @param isRow whether a table has the rest */
export function listDetails(report: Report, isRow = false): string[] {
  const { ready, site, took } = report;
  const details = [formatChangedFiles(report), formatGates(report), formatReportLines(report, REPORT_LINES)];
  return [
    formatPicture(report),
    isRow || !report.planned?.next ? '' : `**Plan:** ${formatText(report.lines.CODE)}`,
    isRow || !ready || site === null ? '' : `${formatProof(site, took)}.`,
    formatChangedPages(report),
    formatFacts([
      ...listOwnFacts(report),
      ...(isRow ? [] : [...formatNoteFacts(report), ...formatUnknownFacts(report)]),
    ]),
    formatComparedPictures(report),
    isRow ? formatReportLines(report, ['CODE', 'TEST']) : formatFoldedSection('Details', joinBlocks(details)),
  ].filter((block) => block !== '');
}

function describeReason({ notReady, planned }: Report): string {
  if (notReady === null) return formatText(planned?.reason ?? '');
  const { reason, findings, step, httpCode } = notReady;
  const http = httpCode === null ? '' : `, HTTP ${httpCode}`;
  return `${formatText(findings?.about ?? reason)} (step ${formatInlineCode(step)}${http})`;
}

function describeHint({ notReady, planned }: Report): string {
  if (planned?.next) return `**Next:** ${formatText(planned.next)}`;
  return notReady?.hint ? `**To fix:** ${formatText(notReady.hint)}` : '';
}

export const formatNoteFacts = (report: Report): string[] =>
  listNotes(report).map((text) => formatFact('Note', formatText(text)));

export const formatUnknownFacts = (report: Report): string[] =>
  report.unknown.map((text) => formatFact(unknownLabel(report), formatText(text)));

function listOwnFacts({ rawUrl, duplicates, site, result }: Report): string[] {
  if (result === 'withdrawn') return [];
  // The raw URL of a folder's page alone shows nothing.
  const raw = site === null && rawUrl !== null ? [formatFact('Raw', formatAddressLink(rawUrl))] : [];
  return [
    ...raw,
    ...duplicates.flatMap(({ channel, url }) =>
      url === null ? [] : formatFact(copyLabel(channel), formatAddressLink(url)),
    ),
  ];
}

export function formatFacts(facts: readonly string[]): string {
  const omitted = facts.length - MAX_FACTS;
  return [
    ...facts.slice(0, MAX_FACTS),
    ...(omitted > 0 ? [`- … and ${omitted} more in the report`] : []),
  ].join('\n');
}

/** The outcome in one line, for a table. */
export function formatResult(report: Report): string {
  const { ready, result, verdict, notes, urlNote, site, took } = report;
  if (!ready) {
    return [describeReason(report), describeHint(report)].filter((part) => part !== '').join('. ');
  }
  if (verdict === 'changed') return notes.map(formatText).join('; ');
  const done = result === 'withdrawn' ? 'Removed' : site === null ? 'Verified' : formatProof(site, took);
  return [done, urlNote === undefined ? [] : formatText(urlNote)].flat().join('; ');
}

/** Such as `Verified: 4 files, 30 bytes, in 3.5 s; no changes since the last delivery`. */
function formatProof(site: SiteReport, took: Report['took']): string {
  const time = Object.values(took).reduce((sum, part) => sum + part, 0);
  const whole = site.servedSize === null ? '' : `; the whole Pages site has ${formatSize(site.servedSize)}`;
  const files = `${countFiles(site.count)}, ${formatSize(site.size)}, in ${formatSeconds(time)}`;
  return `Verified: ${files}; ${describeChanges(site)}${whole}`;
}

function describeChanges({ count, changeCounts: counts }: SiteReport): string {
  if (counts === null) return 'changes unknown';
  const changes = formatChangeCounts(counts);
  if (changes === '') return 'no changes since the last delivery';
  if (counts.added === count && counts.removed === 0) return 'all files are new';
  const unchanged = count - counts.added - counts.changed;
  return `${changes}${unchanged === 0 ? '' : `, ${unchanged} unchanged`} since the last delivery`;
}

const CHANGES = { added: 'Added', changed: 'Changed', removed: 'Removed' } as const;

function formatChangedFiles({ ready, site }: Report): string {
  const { changes = null, changeCounts = null } = site ?? {};
  if (!ready || changes === null || changeCounts === null) return '';
  const facts = (['added', 'changed', 'removed'] as const).flatMap((kind) => {
    const names = changes[kind].slice(0, MAX_FACTS).map((path) => escapeMarkdown(shorten(path, MOST.name)));
    const more = changeCounts[kind] - names.length;
    const text = `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    return names.length === 0 ? [] : formatFact(CHANGES[kind], text);
  });
  return formatFacts(facts);
}

/** A row for each page that differs from another folder's. A note has all counts. */
function formatChangedPages({ changedPages = [] }: Report): string {
  if (changedPages.length === 0) return '';
  const rows = changedPages.slice(0, MAX_FACTS).map(({ path, title, url, kind }) => {
    const name = escapeMarkdown(shorten(title, MOST.name));
    const place = title === path ? '' : `<br>${formatInlineCode(shorten(path, MOST.name))}`;
    return formatTableRow([(url === null ? name : formatLink(name, url)) + place, kind]);
  });
  const more = changedPages.length - rows.length;
  return joinBlocks([
    formatTable(['Page', 'Change'], rows),
    more > 0 ? `… and ${more} more pages in the report` : '',
  ]);
}

/** @param alternative plain text @param link where a click leads */
const formatImage = (source: string, alternative: string, link: string, width = 360): string => {
  const alt = escapeMarkdown(shorten(alternative, MOST.name)).replaceAll('"', '&quot;');
  return `<a href="${escapeAddress(link)}"><img width="${width}" alt="${alt}" src="${escapeAddress(source)}"></a>`;
};

/** The first changed pages, as the other folder shows them and as they are. A URL with a credential was withheld. */
function formatComparedPictures({ changedPages = [] }: Report): string {
  const rows = changedPages.flatMap(({ title, url, pictures }) => {
    if (!url || !pictures?.beforeUrl || !pictures.url) return [];
    const images = [pictures.beforeUrl, pictures.url].map((source) => formatImage(source, title, source));
    const name = escapeMarkdown(shorten(title, MOST.name));
    return [formatTableRow([name, formatLink(name, url)]), formatTableRow(images)];
  });
  const table = formatTable(['Compared folder', 'This delivery'], rows);
  return rows.length === 0 ? '' : formatFoldedSection('Pictures of changed pages', table);
}

function formatPicture({ picture, url }: Report): string {
  // A URL with a credential was withheld.
  if (url === null || !picture?.url) return '';
  const { beforeUrl, changed, sha256, alternative } = picture;
  const isBeside = changed !== null && beforeUrl !== null;
  // GitHub caches pictures by URL.
  const toSource = (address: string): string => withVersion(address, sha256.slice(0, 16)).href;
  const after = formatImage(toSource(picture.url), alternative, url, isBeside ? 360 : 480);
  if (!isBeside) {
    const comparison = changed === null ? '' : 'The page looks the same as before.';
    return joinBlocks([`<table><tr><td>${after}</td></tr></table>`, comparison]);
  }
  const before = formatImage(toSource(beforeUrl), `${alternative}, before`, url);
  const head = `<tr><th>Before</th><th>After: ${formatShare(changed)} of the picture changed</th></tr>`;
  return `<table>${head}<tr><td>${before}</td><td>${after}</td></tr></table>`;
}

/** A table of the gates with their evidence. The reason replaces it if the report is not ready. */
function formatGates(report: Report): string {
  const isUntried = report.gates.some(({ passed }) => !passed);
  if (!report.ready || isUntried || report.verdict === 'changed') return '';
  const titles = gateTitles(report);
  const rows = report.gates.map(({ name, evidence }) => {
    const shown = evidence === report.url ? formatAddressLink(evidence) : formatText(evidence);
    return formatTableRow([`✅ ${titles[name]}`, shown]);
  });
  return formatTable(['Step', 'Evidence'], rows);
}

/** The lines of the report, in the protocol's words. @see protocol 4.7 */
const formatReportLines = ({ lines }: Report, shown: readonly ReportLine[]): string =>
  formatFacts(shown.flatMap((line) => (lines[line] === '' ? [] : formatFact(line, formatText(lines[line])))));
