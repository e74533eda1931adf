import { runCheck } from '../context.ts';
import { getDeliveryResult, type Report, refusalReport } from '../delivery/report.ts';
import { toDeliveryError } from '../errors.ts';
import { countFiles } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import type { CliCommand } from './args.ts';
import { findPatternFiles } from './find-files.ts';
import { printReports } from './print-reports.ts';
import { quietLogger } from './quiet-logger.ts';
import {
  createRequest,
  listGivenFlags,
  type RequestContext,
  readAndMaskCredentials,
  readRawInputs,
  readsStandardInput,
} from './request.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/**
 * Runs the checks of a delivery on every file, without any request to a host.
 *
 * @returns whether all files can be delivered
 */
export async function checkFiles(
  command: CliCommand,
  terminal: Terminal,
  ports: Ports,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const { token, secrets } = readAndMaskCredentials(command, env, terminal.logger);
  const raw = readRawInputs(command, env, { token, repository: command.flags.repository ?? '' });
  const contentStream = readsStandardInput(command) ? terminal.input() : undefined;
  const context = { sources: [null], secrets, contentStream, given: listGivenFlags(command) };
  const checked = await checkAll(raw, context, ports);
  return printReports(checked, command, terminal, (reports) => reports.map(formatCheckResult).join('\n'));
}

async function checkAll(
  raw: ReturnType<typeof readRawInputs>,
  context: RequestContext,
  ports: Ports,
): Promise<readonly Report[]> {
  try {
    const request = await createRequest(raw, context, ports);
    // The results say everything; the steps of the checks are not logged.
    return await runCheck(
      request,
      { ...ports, logger: quietLogger(ports.logger) },
      { findFiles: findPatternFiles },
    );
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    return [
      refusalReport(raw.file || raw.name || 'standard input', toDeliveryError(thrown).withStep('check')),
    ];
  }
}

function formatCheckResult(report: Report): string {
  const { file, site, unknown, notes, notReady } = report;
  if (getDeliveryResult(report) !== 'planned') {
    const hint = notReady?.hint ? `. To change: ${notReady.hint}` : '';
    return `${file?.path}: can't be delivered: ${notReady?.reason}${hint}`;
  }
  const folder = site === null ? '' : `${countFiles(site.count)}, entry ${site.entry}, `;
  return [
    `${file?.path}: can be delivered, ${folder}${file?.size} bytes, sha256 ${file?.sha256}`,
    ...notes.map((line) => `note: ${line}`),
    ...unknown.map((line) => `UNKNOWN: ${line}`),
  ].join('; ');
}
