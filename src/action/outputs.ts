import * as core from '@actions/core';
import { getSharedResult, type Report, reportText } from '../delivery/report.ts';
import type { Redactor } from '../redact.ts';
import type { OutputName } from '../request/inputs.ts';
import type { RunnerEnvironment } from './inputs.ts';
import { escapeLogLine } from './log.ts';
import { composeSummary } from './summary.ts';

/** The reports without secrets: removed before anything is escaped, which would hide them. */
export function redactReports(reports: readonly Report[], { redact }: Redactor): readonly Report[] {
  return JSON.parse(redact(JSON.stringify(reports))) as readonly Report[];
}

/** Writes the reports to the log, the step's outputs and the job summary. */
export async function writeOutputs(reports: readonly Report[], env: RunnerEnvironment): Promise<void> {
  for (const line of formatReports(reports).split('\n')) core.info(escapeLogLine(line));
  for (const [name, value] of Object.entries(composeOutputs(reports))) core.setOutput(name, value);
  if (env.GITHUB_STEP_SUMMARY) await core.summary.addRaw(composeSummary(reports)).write();
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
  };
}
