import * as core from '@actions/core';
import { getSharedResult, type Report, reportText } from '../delivery/report.ts';
import type { Logger } from '../ports.ts';
import type { OutputName } from '../request/inputs.ts';
import type { RunnerEnvironment } from './inputs.ts';
import { escapeLogLine } from './log.ts';
import { composeSummary } from './summary.ts';

/**
 * Writes the reports to the log, the job summary and the step's outputs. A summary that can't be written is only
 * a warning.
 *
 * @param reports without secrets: they can't be found any more once the text is escaped
 * @throws if the outputs can't be written.
 */
export async function writeOutputs(
  reports: readonly Report[],
  env: RunnerEnvironment,
  logger: Pick<Logger, 'warning'>,
): Promise<void> {
  for (const line of formatReports(reports).split('\n')) core.info(escapeLogLine(line));
  for (const [name, value] of Object.entries(composeOutputs(reports))) core.setOutput(name, value);
  if (!env.GITHUB_STEP_SUMMARY) return;
  try {
    await core.summary.addRaw(composeSummary(reports)).write();
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    logger.warning(`Could not write the job summary (the delivery is not affected): ${reason}`);
  }
}

const formatReports = (reports: readonly Report[]): string => reports.map(reportText).join('\n\n');

/** The step's outputs, one line for each file; `url` is empty unless every file passed every gate. */
export function composeOutputs(reports: readonly Report[]): Record<OutputName, string> {
  const result = getSharedResult(reports);
  const joinLines = (read: (report: Report) => string | number | null | undefined): string => {
    const lines = reports.map((report) => String(read(report) ?? ''));
    return lines.every((line) => line === '') ? '' : lines.join('\n');
  };
  return {
    url: result === 'ready' ? joinLines(({ url }) => url) : '',
    report: formatReports(reports),
    'report-json': JSON.stringify(reports),
    result,
    channel: joinLines(({ channel }) => channel),
    'raw-url': joinLines(({ rawUrl }) => rawUrl),
    'duplicate-url': reports
      .flatMap(({ duplicates }) => duplicates.flatMap(({ url }) => url ?? []))
      .join('\n'),
    'commit-sha': joinLines(({ commitSha }) => commitSha),
    sha256: joinLines(({ file }) => file?.sha256),
    size: joinLines(({ file }) => file?.size),
    files: String(reports.reduce((sum, { site, ready }) => sum + (ready ? (site?.count ?? 1) : 0), 0)),
  };
}
