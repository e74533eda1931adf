import { LINK_SUBJECT } from '../delivery/file-delivery.ts';
import type { Report } from '../delivery/report.ts';
import { REPORT_LINES, RESULTS } from '../protocol/words.ts';
import { addressLink, escapeMarkdown, inlineCode, table, tableRow } from './markdown.ts';

/** What has become of a file, as people are told. */
export type ReportState = 'ready' | 'withdrawn' | 'planned' | 'notReady';

/** The states, the one that asks for somebody's attention first. */
export const REPORT_STATES: Readonly<Record<ReportState, { readonly sign: string; readonly word: string }>> =
  {
    notReady: { sign: '❌', word: RESULTS.notReady },
    planned: { sign: '📝', word: 'dry run' },
    withdrawn: { sign: '🗑️', word: 'withdrawn' },
    ready: { sign: '✅', word: RESULTS.ready },
  };

export function reportStateOf({ ready, operation, notReady }: Report): ReportState {
  if (ready) return operation === 'withdraw' ? 'withdrawn' : 'ready';
  return notReady?.code === 'DRY_RUN' ? 'planned' : 'notReady';
}

/** Longest text of a single part of a report; each of its signs may take twelve times the room. */
const BRIEF = 1_000;

/** Facts that are told of one report, or of all together, at most. */
export const FACTS = 20;

/** Text from outside, as it is, and no longer than a person reads. */
export function shortText(text: string): string {
  // No sign takes more than two units.
  const signs = [...text.slice(0, 2 * BRIEF + 1)];
  return escapeMarkdown(signs.length > BRIEF ? `${signs.slice(0, BRIEF).join('')}…` : text);
}

/** The file as its user calls it. */
export const reportName = ({ file }: Report): string => shortText(file?.path ?? LINK_SUBJECT);

/** Why it is not ready, at which step, with which HTTP code; empty where it is. */
export function describeReason(report: Report): string {
  const { notReady } = report;
  if (notReady === null) return '';
  if (reportStateOf(report) === 'planned') return shortText(notReady.reason);
  const http = notReady.httpCode === null ? '' : `, HTTP ${notReady.httpCode}`;
  return `${shortText(notReady.reason)} (step \`${notReady.step}\`${http})`;
}

/** What to change; empty where nothing is known. */
export function describeHint({ notReady }: Report): string {
  const hint = notReady?.hint ?? '';
  return hint === '' ? '' : `**To change:** ${shortText(hint)}`;
}

/** What a person should know of the address, and all that is unknown: a kind and its text, in Markdown. */
export function listCaveats({ notes, unknown, ready }: Report): (readonly [kind: string, text: string])[] {
  const doubts = unknown.length === 0 && ready ? [ALL_VERIFIED] : unknown;
  return [
    ...notes.map((note) => ['Note', shortText(note)] as const),
    ...doubts.map((doubt) => ['UNKNOWN', shortText(doubt)] as const),
  ];
}

/** What UNKNOWN says where there is nothing. */
export const ALL_VERIFIED = 'nothing, everything was verified';

/** Further proven addresses and the caveats, as a list. */
export function listFacts(report: Report): string {
  const { rawUrl, duplicates } = report;
  const addresses = [
    ...(rawUrl === null ? [] : [['Raw', rawUrl] as const]),
    ...duplicates.flatMap(({ channel, url }) =>
      url === null ? [] : [[`Duplicate on ${channel}`, url] as const],
    ),
  ];
  const links = addresses.map(([kind, url]) => [kind, addressLink(url)] as const);
  const isGone = reportStateOf(report) === 'withdrawn';
  return formatList([...(isGone ? [] : links), ...listCaveats(report)]);
}

/** A list, cut where nobody would read on. */
export function formatList(facts: readonly (readonly [kind: string, text: string])[]): string {
  const items = facts.slice(0, FACTS).map(([kind, text]) => `- **${kind}:** ${text}`);
  const left = facts.length - items.length;
  return [...items, ...(left === 0 ? [] : [`- … and ${left} more in the report`])].join('\n');
}

/** The gates with their evidence. */
export function gatesTable(report: Report): string {
  const { gates, url } = report;
  if (gates.length === 0) return '';
  const isThere = reportStateOf(report) === 'ready';
  const rows = gates.map(({ name, passed, evidence }) => {
    const shown = isThere && evidence === url ? addressLink(evidence) : shortText(evidence);
    return tableRow([inlineCode(name), passed ? '✅' : '❌', shown]);
  });
  return table(['Gate', 'Passed', 'Evidence'], rows);
}

/** The report's lines, as the protocol writes them. @see protocol 4.7 */
export const linesList = ({ lines }: Report): string =>
  formatList(REPORT_LINES.map((line) => [line, shortText(lines[line]) || 'nothing'] as const));
