import type { Report } from '../delivery/report.ts';
import { SUMMARY } from '../protocol/limits.ts';
import { batchMarkdown } from './batch-markdown.ts';
import { timingsOf } from './chart.ts';
import { blocks, code, folded, link, shownAddress } from './markdown.ts';
import {
  brief,
  changeOf,
  factsOf,
  gatesOf,
  linesOf,
  nameOf,
  reasonOf,
  STATES,
  stateOf,
} from './report-markdown.ts';

/**
 * The job summary: the link first, or all of them; then the gates with their evidence, what is unknown, the
 * timings and the report. It stays below what the runner takes, however many files there are.
 */
export function summaryOf(reports: readonly Report[]): string {
  const [only, ...others] = reports;
  if (only === undefined) return '';
  return `${others.length === 0 ? single(only) : batch(reports)}\n`;
}

function single(report: Report): string {
  const isPlan = stateOf(report) === 'planned';
  return blocks([
    ...outcome(report),
    changeOf(report),
    isPlan ? `**Plan:** ${brief(report.lines.CODE)}` : gatesOf(report),
    factsOf(report),
    timingsOf([report]),
    folded('Report', linesOf(report)),
  ]);
}

function outcome(report: Report): string[] {
  const name = nameOf(report);
  const state = stateOf(report);
  const { sign, word } = STATES[state];
  if (state === 'ready' && report.url !== null) {
    return [`### ${sign} ${link(name, report.url)}`, `**${word}** → ${shownAddress(report.url)}`];
  }
  const what = report.withdrawn === null ? reasonOf(report) : code(report.withdrawn);
  return [`### ${sign} ${name}`, `**${word}**${what === '' ? '' : ` → ${what}`}`];
}

function batch(reports: readonly Report[]): string {
  return batchMarkdown(reports, {
    before: [],
    behind: [timingsOf(reports)],
    elsewhere: 'see the log, or the `report-json` output',
    limit: SUMMARY,
    measure: (text) => Buffer.byteLength(text),
  });
}
