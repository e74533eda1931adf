import type { Report } from '../delivery/report.ts';
import { SUMMARY } from '../protocol/limits.ts';
import { composeBatch } from './batch-markdown.ts';
import {
  formatAddressLink,
  formatFoldedSection,
  formatInlineCode,
  formatLink,
  joinBlocks,
} from './markdown.ts';
import { formatPicture } from './picture-markdown.ts';
import {
  describeHint,
  describeReason,
  formatGates,
  formatReportLines,
  formatReportName,
  formatShortText,
  formatTimings,
  getReportState,
  listFacts,
  listFindings,
  REPORT_STATES,
} from './report-markdown.ts';
import { formatChangedFiles } from './site-markdown.ts';

/**
 * The job summary: the link first, or all of them; then what was delivered and what is unknown; folded, the
 * changed files of a site, the gates with their evidence, the report and the timings. It stays below the runner's
 * limit, however many files there are.
 */
export function composeSummary(reports: readonly Report[]): string {
  const [only, ...others] = reports;
  if (only === undefined) return '';
  return `${others.length === 0 ? composeSingleSummary(only) : composeBatchSummary(reports)}\n`;
}

function composeSingleSummary(report: Report): string {
  const isPlan = getReportState(report) === 'planned';
  return joinBlocks([
    ...composeResult(report),
    listFindings(report),
    formatPicture(report),
    describeHint(report),
    isPlan ? `**Plan:** ${formatShortText(report.lines.CODE)}` : '',
    listFacts(report),
    formatChangedFiles(report),
    formatFoldedSection(
      'Report',
      joinBlocks([isPlan ? '' : formatGates(report), formatReportLines(report), formatTimings([report])]),
    ),
  ]);
}

function composeResult(report: Report): string[] {
  const name = formatReportName(report);
  const state = getReportState(report);
  const { sign, word } = REPORT_STATES[state];
  if (state === 'ready' && report.url !== null) {
    return [`### ${sign} ${formatLink(name, report.url)}`, `**${word}** → ${formatAddressLink(report.url)}`];
  }
  const detail = report.withdrawn === null ? describeReason(report) : formatInlineCode(report.withdrawn);
  return [`### ${sign} ${name}`, `**${word}**${detail === '' ? '' : ` → ${detail}`}`];
}

function composeBatchSummary(reports: readonly Report[]): string {
  return composeBatch(reports, {
    before: [],
    after: [formatTimings(reports)],
    elsewhere: 'see the log, or the `report-json` output',
    limit: SUMMARY,
    measure: (text) => Buffer.byteLength(text),
  });
}
