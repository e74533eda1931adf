import * as core from '@actions/core';
import { type Report, reportText } from '../delivery/report.ts';
import type { Redactor } from '../redact.ts';
import type { OutputName } from '../request/inputs.ts';
import type { Environment } from './inputs.ts';
import { escapeLogLine } from './log.ts';
import { composeSummary } from './summary.ts';

/** The reports without secrets; they go before anything is escaped. */
export function redactReports(reports: readonly Report[], { redact }: Redactor): readonly Report[] {
  return JSON.parse(redact(JSON.stringify(reports))) as readonly Report[];
}

/** Hands the reports over: the log, the step's outputs, the job summary. */
export async function writeOutputs(reports: readonly Report[], env: Environment): Promise<void> {
  for (const line of textOf(reports).split('\n')) core.info(escapeLogLine(line));
  for (const [name, value] of Object.entries(composeOutputs(reports))) core.setOutput(name, value);
  if (env.GITHUB_STEP_SUMMARY) await core.summary.addRaw(composeSummary(reports)).write();
}

const textOf = (reports: readonly Report[]): string => reports.map(reportText).join('\n\n');

/** The step's outputs, a line for each file; `url` is empty unless every gate of all of them is passed. */
export function composeOutputs(reports: readonly Report[]): Record<OutputName, string> {
  const ready = reports.every((report) => report.ready);
  const lines = (of: (report: Report) => string | number | null | undefined): string => {
    const each = reports.map((report) => String(of(report) ?? ''));
    return each.every((line) => line === '') ? '' : each.join('\n');
  };
  return {
    url: ready ? lines(({ url }) => url) : '',
    report: textOf(reports),
    'report-json': JSON.stringify(reports),
    result: ready ? 'ready' : 'not-ready',
    channel: lines(({ channel }) => channel),
    'raw-url': lines(({ rawUrl }) => rawUrl),
    'duplicate-url': reports
      .flatMap(({ duplicates }) => duplicates.flatMap(({ url }) => url ?? []))
      .join('\n'),
    'commit-sha': lines(({ commitSha }) => commitSha),
    sha256: lines(({ file }) => file?.sha256),
    size: lines(({ file }) => file?.size),
  };
}
