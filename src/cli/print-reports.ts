import { writeFile } from 'node:fs/promises';
import { composeReceipt } from '../delivery/receipt.ts';
import {
  composeDocument,
  describeOutcome,
  nameSubject,
  type Report,
  type ReportDocument,
  reportText,
  sortByResult,
} from '../delivery/report.ts';
import { toMessage } from '../errors.ts';
import { countFiles, shorten } from '../plain-text.ts';
import { TEXT } from '../protocol/limits.ts';
import { RESULT_TITLES } from '../protocol/words.ts';
import { systemClock } from '../system.ts';
import type { CliCommand } from './args.ts';
import type { Terminal } from './terminal.ts';

/** Prints reports as text or as JSON. @param reports without secrets @returns whether nothing failed */
export async function printReports(
  reports: readonly Report[],
  { name, json, qr, quiet, receipt }: Pick<CliCommand, 'name' | 'json' | 'qr' | 'quiet' | 'receipt'>,
  terminal: Terminal,
): Promise<boolean> {
  const document = composeDocument(reports);
  const isGood = document.result !== 'not-ready';
  if (json) terminal.printJson(document);
  else terminal.print(name === 'check' ? reports.map(formatCheck).join('\n') : formatReports(reports));
  if (qr) await printQrCode(document, json, terminal);
  const isWritten = receipt === undefined || (await writeReceipt(reports, receipt, terminal));
  if (!json && !quiet && name !== 'check') terminal.printOutcome(formatEnding(reports), isGood);
  return isGood && isWritten;
}

/** @returns whether the receipt is there, or there is nothing that it could say */
async function writeReceipt(
  reports: readonly Report[],
  path: string,
  { logger }: Pick<Terminal, 'logger'>,
): Promise<boolean> {
  const text = composeReceipt(reports, systemClock.date());
  if (text === null) {
    logger.warning(`no receipt was written to ${path}: only what is ready gets one`);
    return true;
  }
  try {
    await writeFile(path, text);
    return true;
  } catch (thrown) {
    logger.warning(`the receipt could not be written (the delivery is not affected): ${toMessage(thrown)}`);
    return false;
  }
}

export function formatEnding(reports: readonly Report[]): string {
  const [only, ...others] = reports;
  if (only !== undefined && others.length === 0) return describeOutcome(only);
  const failed = reports.filter(({ result }) => result === 'not-ready').length;
  return failed === 0
    ? `${countFiles(reports.length)}, nothing failed`
    : `${RESULT_TITLES.notReady}: ${failed} of ${countFiles(reports.length)}`;
}

/** The proven address as a QR code, whose block characters are of use to eyes alone. */
async function printQrCode({ url }: ReportDocument, json: boolean, terminal: Terminal): Promise<void> {
  if (json || !terminal.isInteractive()) {
    terminal.logger.warning('no QR code is shown: stdout is not the text of a terminal');
  } else if (url === '' || url.includes('\n')) {
    terminal.logger.warning('no QR code is shown: there is not exactly one proven address');
  } else {
    const { renderUnicodeCompact } = await import(/* webpackMode: "eager" */ 'uqr');
    // A phone needs the white border around it.
    terminal.print(renderUnicodeCompact(url, { border: 2 }));
  }
}

/** Rows of the table; what failed comes first. */
const LONGEST_TABLE = 30;

export function formatReports(reports: readonly Report[]): string {
  const texts = reports.map(formatReport).join('\n\n');
  const isOneFile = reports.length === 1 && reports[0]?.site === null;
  return isOneFile ? texts : `${texts}\n\n${formatReportTable(reports)}`;
}

function formatReport(report: Report): string {
  const { ready, claimedNotes = [] } = report;
  const notes = report.notes.filter((note) => ready && !claimedNotes.includes(note));
  return [reportText(report), ...notes.map((note) => `note: ${note}`)].join('\n');
}

/** A row for each file: how it ended, its name, and its address or the reason why it has none. */
export function formatReportTable(reports: readonly Report[]): string {
  const rows = sortByResult(reports).slice(0, LONGEST_TABLE).map(listCells);
  const [first = 0, second = 0] = [0, 1].map((nth) =>
    Math.max(...rows.map((cells) => cells[nth]?.length ?? 0)),
  );
  const lines = rows.map(([end, name, about]) =>
    `${end.padEnd(first)}  ${name.padEnd(second)}  ${about}`.trimEnd(),
  );
  const more = reports.length - rows.length;
  return [...lines, ...(more === 0 ? [] : [`… and ${more} more, see their reports`])].join('\n');
}

function listCells(report: Report): readonly [string, string, string] {
  const { result, site, url, notReady, verdict } = report;
  const size = site === null ? '' : ` (${countFiles(site.count)})`;
  const end = result === 'audited' && verdict ? verdict : result;
  return [end, `${nameSubject(report)}${size}`, url ?? shorten(notReady?.reason ?? '', TEXT.message)];
}

function formatCheck(report: Report): string {
  const { file, site, unknown, notes, notReady } = report;
  if (report.planned === null) {
    const hint = notReady?.hint ? `. To change: ${notReady.hint}` : '';
    return `${file?.path}: can't be delivered: ${notReady?.reason}${hint}`;
  }
  const folder = site === null ? '' : `${countFiles(site.count)}, entry ${site.entry}, `;
  return [
    `${file?.path}: can be delivered, ${folder}${file?.size} bytes, sha256 ${file?.sha256}`,
    ...unknown.map((line) => `UNKNOWN: ${line}`),
    ...notes.map((line) => `note: ${line}`),
  ].join('; ');
}
