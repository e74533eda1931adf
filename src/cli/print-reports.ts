import { redactReport } from '../delivery/redact-report.ts';
import type { Report } from '../delivery/report.ts';
import { composeDocument } from '../delivery/report-document.ts';
import { wordReport } from '../delivery/word-report.ts';
import type { CliCommand } from './args.ts';
import { formatQrCode } from './qr-code.ts';
import { CLI_WORDING, type Terminal } from './terminal.ts';

/**
 * Prints reports as text or as JSON, in the words of the command line and without secrets.
 *
 * @param format the reports as text
 * @returns whether nothing failed
 */
export async function printReports(
  created: readonly Report[],
  { json, qr }: Pick<CliCommand, 'json' | 'qr'>,
  terminal: Terminal,
  format: (reports: readonly Report[]) => string,
): Promise<boolean> {
  const reports = created.map((report) => redactReport(wordReport(report, CLI_WORDING), terminal.redactor));
  const document = composeDocument(reports);
  if (json) terminal.printJson(document);
  else terminal.print(format(reports));
  // Block characters are of use to eyes alone.
  if (qr && !json && terminal.isInteractive()) {
    const code = await formatQrCode(document);
    if (code !== '') terminal.print(code);
  }
  return document.result !== 'not-ready';
}
