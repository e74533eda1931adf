import { LINK_SUBJECT } from '../delivery/file-delivery.ts';
import { getDeliveryResult, type Report } from '../delivery/report.ts';
import { SECOND } from '../protocol/limits.ts';
import {
  GATE_TITLES,
  REMOVAL_GATE_TITLES,
  REPORT_LINES,
  RESULT_TITLES,
  RESULTS,
  STEPS,
} from '../protocol/words.ts';
import {
  escapeMarkdown,
  formatAddressLink,
  formatInlineCode,
  formatMessage,
  formatTable,
  formatTableRow,
} from './markdown.ts';
import { listSiteFacts } from './site-markdown.ts';

/** The result of one file, as the summary and the comment show it. */
export type ReportState = 'ready' | 'withdrawn' | 'planned' | 'notReady';

/** The states, the one that needs attention first. */
export const REPORT_STATES: Readonly<Record<ReportState, { readonly sign: string; readonly word: string }>> =
  {
    notReady: { sign: '❌', word: `${RESULT_TITLES.notReady} · ${RESULTS.notReady}` },
    planned: { sign: '📝', word: 'Dry run' },
    withdrawn: { sign: '🗑️', word: 'Withdrawn' },
    ready: { sign: '✅', word: `${RESULT_TITLES.ready} · ${RESULTS.ready}` },
  };

export function getReportState(report: Report): ReportState {
  const result = getDeliveryResult(report);
  return result === 'not-ready' ? 'notReady' : result;
}

/** Longest text of one part of a report, in characters; each may take twelve times the room in Markdown. */
const MAX_TEXT = 1_000;

/** Facts that are listed of one report, or of all together, at most. */
export const MAX_FACTS = 20;

/** A message, cut to what a person reads. */
export const formatShortText = (text: string): string => formatMessage(cutText(text));

function cutText(text: string): string {
  // No character takes more than two units.
  const characters = [...text.slice(0, 2 * MAX_TEXT + 1)];
  return characters.length > MAX_TEXT ? `${characters.slice(0, MAX_TEXT).join('')}…` : text;
}

/** The file as the user wrote it. */
export const formatReportName = ({ file }: Report): string =>
  escapeMarkdown(cutText(file?.path ?? LINK_SUBJECT));

/** Why it is not ready, at which step, with which HTTP code; empty if it is ready. */
export function describeReason(report: Report): string {
  const { notReady } = report;
  if (notReady === null) return '';
  if (getReportState(report) === 'planned') return formatShortText(notReady.reason);
  const http = notReady.httpCode === null ? '' : `, HTTP ${notReady.httpCode}`;
  return `${formatShortText(notReady.findings?.about ?? notReady.reason)} (step ${formatInlineCode(notReady.step)}${http})`;
}

/** What was found, where that is more than one thing, as a list. */
export const listFindings = ({ notReady }: Report): string =>
  (notReady?.findings?.lines ?? []).map((line) => `- ${formatShortText(line)}`).join('\n');

/** What to change, or to do after a dry run; empty if not known. */
export function describeHint(report: Report): string {
  const hint = report.notReady?.hint ?? '';
  const title = getReportState(report) === 'planned' ? 'Next' : 'To change';
  return hint === '' ? '' : `**${title}:** ${formatShortText(hint)}`;
}

/** What UNKNOWN says if it is empty. */
export const ALL_VERIFIED = 'nothing, everything was verified';

/** The notes on the address, and everything that is unknown: a kind and its text, in Markdown. */
export function listCaveats({ notes, unknown, ready }: Report): (readonly [kind: string, text: string])[] {
  const unverified = unknown.length === 0 && ready ? [ALL_VERIFIED] : unknown;
  return [
    ...notes.map((note) => ['Note', formatShortText(note)] as const),
    ...unverified.map((text) => ['UNKNOWN', formatShortText(text)] as const),
  ];
}

/** What a site has and what changed of it, further proven addresses and the caveats, as a list. */
export function listFacts(report: Report): string {
  const { rawUrl, duplicates, site } = report;
  // Of a site one address is handed over; the raw one of its page alone shows nothing of it.
  const addresses = [
    ...(rawUrl === null || site !== null ? [] : [['Raw', rawUrl] as const]),
    ...duplicates.flatMap(({ channel, url }) =>
      url === null ? [] : [[`Duplicate on ${channel}`, url] as const],
    ),
  ];
  const links = addresses.map(([kind, url]) => [kind, formatAddressLink(url)] as const);
  const isGone = getReportState(report) === 'withdrawn';
  return formatList([...listSiteFacts(report), ...(isGone ? [] : links), ...listCaveats(report)]);
}

/** A list, cut to what a person reads. */
export function formatList(facts: readonly (readonly [kind: string, text: string])[]): string {
  const items = facts.slice(0, MAX_FACTS).map(([kind, text]) => `- **${kind}:** ${text}`);
  const left = facts.length - items.length;
  return [...items, ...(left === 0 ? [] : [`- … and ${left} more in the report`])].join('\n');
}

/** The gates with their evidence, as a table. */
export function formatGates(report: Report): string {
  const { gates, url, operation } = report;
  const titles = operation === 'withdraw' ? REMOVAL_GATE_TITLES : GATE_TITLES;
  if (gates.length === 0) return '';
  const isReady = getReportState(report) === 'ready';
  const rows = gates.map(({ name, passed, evidence }) => {
    const shown = isReady && evidence === url ? formatAddressLink(evidence) : formatShortText(evidence);
    return formatTableRow([`${titles[name]} · ${formatInlineCode(name)}`, passed ? '✅' : '❌', shown]);
  });
  return formatTable(['Gate', 'Passed', 'Evidence'], rows);
}

/** The lines of the report, in the protocol's words. @see protocol 4.7 */
export const formatReportLines = ({ lines }: Report): string =>
  formatList(REPORT_LINES.map((line) => [line, formatShortText(lines[line]) || 'nothing'] as const));

/** How long each step took, such as `Took: place 1.2 s, wait 21.4 s`; of several files the longest time. */
export function formatTimings(reports: readonly Report[]): string {
  const times = STEPS.flatMap((step) => {
    const longest = Math.max(0, ...reports.map(({ took }) => took[step] ?? 0));
    return longest === 0 ? [] : [`${step} ${(longest / SECOND).toFixed(1)} s`];
  });
  if (times.length === 0) return '';
  return `Took${reports.length === 1 ? '' : ' (longest file)'}: ${times.join(', ')}`;
}
