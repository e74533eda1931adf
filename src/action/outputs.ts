import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as core from '@actions/core';
import { composeReceipt } from '../delivery/receipt.ts';
import { composeDocument, type FullReport, type Report, reportText } from '../delivery/report.ts';
import { toMessage } from '../errors.ts';
import type { Logger } from '../ports.ts';
import type { OutputName } from '../request/inputs.ts';
import { systemClock } from '../system.ts';
import { escapeLogLine } from './log.ts';
import { composeSummary } from './overview.ts';

/**
 * Writes the reports to the log, the job summary and the step's outputs, each whatever becomes of the others. A
 * summary that can't be written is only a warning.
 *
 * @param reports without secrets: they can't be found any more once the text is escaped
 * @returns why the outputs could not be written, which fails the step: later steps would read nothing
 */
export async function writeOutputs(
  reports: readonly FullReport[],
  env: NodeJS.ProcessEnv,
  logger: Pick<Logger, 'warning'>,
): Promise<string | null> {
  for (const line of joinReportTexts(reports).split('\n')) core.info(escapeLogLine(line));
  const failure = setOutputs(reports, await writeReceipt(reports, env, logger));
  if (!env.GITHUB_STEP_SUMMARY) return failure;
  try {
    await core.summary.addRaw(composeSummary(reports)).write();
  } catch (thrown) {
    const reason = toMessage(thrown);
    logger.warning(
      `Could not write the job summary to the file of GITHUB_STEP_SUMMARY (the delivery is not affected): ${reason}`,
    );
  }
  return failure;
}

/** Writes the receipt to a file of its own, for a later step. @returns its path; empty where there is none */
async function writeReceipt(
  reports: readonly FullReport[],
  { RUNNER_TEMP }: NodeJS.ProcessEnv,
  logger: Pick<Logger, 'warning'>,
): Promise<string> {
  const text = composeReceipt(reports, systemClock.now());
  if (text === null || !RUNNER_TEMP) return '';
  try {
    const path = join(await mkdtemp(join(RUNNER_TEMP, 'screen-delivery-')), 'receipt.json');
    await writeFile(path, text);
    return path;
  } catch (thrown) {
    logger.warning(`Could not write the receipt (the delivery is not affected): ${toMessage(thrown)}`);
    return '';
  }
}

function setOutputs(reports: readonly FullReport[], receipt: string): string | null {
  try {
    for (const [name, value] of Object.entries(composeOutputs(reports, receipt))) core.setOutput(name, value);
    return null;
  } catch (thrown) {
    const reason = toMessage(thrown);
    return `Could not write the outputs of this step to the file of GITHUB_OUTPUT, so no later step can read them (the report is in the log): ${reason}`;
  }
}

const joinReportTexts = (reports: readonly Report[]): string => reports.map(reportText).join('\n\n');

/** The step's outputs, one line for each file; `url` is empty unless every file passed every gate. */
export function composeOutputs(reports: readonly FullReport[], receipt = ''): Record<OutputName, string> {
  const document = composeDocument(reports);
  const joinLines = (read: (report: Report) => string | number | null | undefined): string => {
    const lines = reports.map((report) => String(read(report) ?? ''));
    return lines.every((line) => line === '') ? '' : lines.join('\n');
  };
  return {
    url: document.url,
    report: joinReportTexts(reports),
    'report-json': JSON.stringify(document),
    result: document.result,
    channel: joinLines(({ channel }) => channel),
    'raw-url': joinLines(({ rawUrl }) => rawUrl),
    'duplicate-url': reports
      .flatMap(({ duplicates }) => duplicates.flatMap(({ url }) => url ?? []))
      .join('\n'),
    'commit-sha': joinLines(({ commitSha }) => commitSha),
    sha256: joinLines(({ file }) => file?.sha256),
    size: joinLines(({ file }) => file?.size),
    files: String(reports.reduce((sum, { site, ready }) => sum + (ready ? (site?.count ?? 1) : 0), 0)),
    screen: joinLines(({ screen }) => screen?.verdict),
    receipt,
    'picture-url': joinLines(({ picture }) => picture?.url),
  };
}
