import { redactReport } from '../delivery/redact-report.ts';
import type { Report } from '../delivery/report.ts';
import { composeDocument, type ReportDocument } from '../delivery/report-document.ts';
import { wordReport } from '../delivery/word-report.ts';
import type { CliCommand } from './args.ts';
import { formatQrCode } from './qr-code.ts';
import { type Terminal, wordForCommand } from './terminal.ts';

/**
 * Prints reports as text or as JSON, in the words of the command line and without secrets.
 *
 * @param format the reports as text
 * @returns whether nothing failed
 */
export async function printReports(
  created: readonly Report[],
  { name, json, qr }: Pick<CliCommand, 'name' | 'json' | 'qr'>,
  terminal: Terminal,
  format: (reports: readonly Report[]) => string,
): Promise<boolean> {
  const word = wordForCommand(name);
  const reports = created.map((report) => redactReport(wordReport(report, word), terminal.redactor));
  const document = composeDocument(reports);
  if (json) terminal.printJson(document);
  else terminal.print(format(reports));
  if (qr) await printQrCode(document, json, terminal);
  return document.result !== 'not-ready';
}

/** Block characters are of use to eyes alone. */
async function printQrCode(document: ReportDocument, json: boolean, terminal: Terminal): Promise<void> {
  const isSeen = !json && terminal.isInteractive();
  const code = await formatQrCode(document);
  if (isSeen && code !== '') terminal.print(code);
  else if (isSeen) terminal.logger.warning('no QR code is shown: there is not exactly one proven address');
  else terminal.logger.warning('no QR code is shown: stdout is not the text of a terminal');
}
