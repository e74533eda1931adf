import type { Report } from '../delivery/report.ts';
import { SUMMARY } from '../protocol/limits.ts';
import { composeBatch } from './batch-markdown.ts';
import { timingsOf } from './chart.ts';
import { addressLink, blocks, foldedSection, inlineCode, link } from './markdown.ts';
import {
  describeHint,
  describeReason,
  gatesTable,
  linesList,
  listFacts,
  REPORT_STATES,
  reportName,
  reportStateOf,
  shortText,
} from './report-markdown.ts';

/**
 * The job summary: the link first, or all of them; then the gates with their evidence, what is unknown, the
 * timings and the report. It stays below what the runner takes, however many files there are.
 */
export function composeSummary(reports: readonly Report[]): string {
  const [only, ...others] = reports;
  if (only === undefined) return '';
  return `${others.length === 0 ? single(only) : batch(reports)}\n`;
}

function single(report: Report): string {
  const isPlan = reportStateOf(report) === 'planned';
  return blocks([
    ...outcome(report),
    describeHint(report),
    isPlan ? `**Plan:** ${shortText(report.lines.CODE)}` : gatesTable(report),
    listFacts(report),
    timingsOf([report]),
    foldedSection('Report', linesList(report)),
  ]);
}

function outcome(report: Report): string[] {
  const name = reportName(report);
  const state = reportStateOf(report);
  const { sign, word } = REPORT_STATES[state];
  if (state === 'ready' && report.url !== null) {
    return [`### ${sign} ${link(name, report.url)}`, `**${word}** → ${addressLink(report.url)}`];
  }
  const what = report.withdrawn === null ? describeReason(report) : inlineCode(report.withdrawn);
  return [`### ${sign} ${name}`, `**${word}**${what === '' ? '' : ` → ${what}`}`];
}

function batch(reports: readonly Report[]): string {
  return composeBatch(reports, {
    before: [],
    behind: [timingsOf(reports)],
    elsewhere: 'see the log, or the `report-json` output',
    limit: SUMMARY,
    measure: (text) => Buffer.byteLength(text),
  });
}
