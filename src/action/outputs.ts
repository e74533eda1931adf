import * as core from '@actions/core';
import type { OutputName } from '../delivery/inputs.ts';
import { type Report, reportText } from '../delivery/report.ts';
import type { Redactor } from '../redact.ts';
import type { Environment } from './inputs.ts';
import { plainLine } from './log.ts';
import { summaryOf } from './summary.ts';

/** Hands the report over: the log, the step's outputs, the job summary. Secrets go before anything is escaped. */
export async function handOver(report: Report, env: Environment, { redact }: Redactor): Promise<void> {
  const clean = JSON.parse(redact(JSON.stringify(report))) as Report;
  for (const line of reportText(clean).split('\n')) core.info(plainLine(line));
  for (const [name, value] of Object.entries(outputsOf(clean))) core.setOutput(name, value);
  if (env.GITHUB_STEP_SUMMARY) await core.summary.addRaw(summaryOf(clean)).write();
}

/** The step's outputs; `url` is empty unless every gate is passed. */
export function outputsOf(report: Report): Record<OutputName, string> {
  return {
    url: report.url ?? '',
    report: reportText(report),
    'report-json': JSON.stringify([report]),
    result: report.ready ? 'ready' : 'not-ready',
    channel: report.channel ?? '',
    'raw-url': report.rawUrl ?? '',
    'duplicate-url': report.duplicates.flatMap(({ url }) => url ?? []).join('\n'),
    'commit-sha': report.commitSha ?? '',
    sha256: report.file?.sha256 ?? '',
    size: String(report.file?.size ?? ''),
  };
}
