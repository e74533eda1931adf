import { LINK_SUBJECT } from '../delivery/file-delivery.ts';
import { type DeliveryResult, getDeliveryResult, type Report, reportText } from '../delivery/report.ts';
import { countFiles } from '../plain-text.ts';

import { TEXT } from '../protocol/limits.ts';

/** Rows of the table; what failed comes first. */
const LONGEST_TABLE = 30;

const ORDER: readonly DeliveryResult[] = ['not-ready', 'planned', 'withdrawn', 'ready'];

/** The reports; of several files, or of a folder, a short table follows. */
export function formatReports(reports: readonly Report[]): string {
  const texts = reports.map(reportText).join('\n\n');
  const isOneFile = reports.length === 1 && reports[0]?.site === null;
  return isOneFile ? texts : `${texts}\n\n${formatReportTable(reports)}`;
}

/** A row for each file: how it ended, its name, and its address or the reason why it has none. */
export function formatReportTable(reports: readonly Report[]): string {
  const sorted = reports.toSorted((one, other) => getRank(one) - getRank(other));
  const rows = sorted.slice(0, LONGEST_TABLE).map(listCells);
  const widths = [0, 1].map((column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const lines = rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const more = sorted.length - rows.length;
  return [...lines, ...(more === 0 ? [] : [`… and ${more} more, see their reports`])].join('\n');
}

const getRank = (report: Report): number => ORDER.indexOf(getDeliveryResult(report));

function listCells(report: Report): readonly [string, string, string] {
  const { file, site, url, notReady } = report;
  const result = getDeliveryResult(report);
  const size = site === null ? '' : ` (${countFiles(site.count)})`;
  const reason = result === 'not-ready' ? (notReady?.reason ?? '') : '';
  const detail = url ?? (reason.length > TEXT.message ? `${reason.slice(0, TEXT.message)}…` : reason);
  return [result, `${file?.path ?? LINK_SUBJECT}${size}`, detail];
}
