import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as core from '@actions/core';
import { composeReceipt } from '../delivery/receipt.ts';
import { composeDocument, describeOutcome, type Report, reportText } from '../delivery/report.ts';
import { toMessage } from '../errors.ts';
import type { Logger } from '../ports.ts';
import { systemClock } from '../system.ts';
import { escapeLogLine } from './log.ts';
import type { OutputName } from './output-texts.ts';
import { composeSummary } from './overview.ts';

/** Writes redacted reports to log, summary and outputs. @returns why the outputs failed, or `null` */
export async function writeOutputs(
  reports: readonly Report[],
  env: NodeJS.ProcessEnv,
  { warning }: Pick<Logger, 'warning'>,
): Promise<string | null> {
  const warnOf =
    (what: string) =>
    (thrown: unknown): string => {
      warning(`Could not write ${what} (the delivery is not affected): ${toMessage(thrown)}`);
      return '';
    };
  const ends = reports.filter(({ result }) => result !== 'not-ready').map(describeOutcome);
  const lines = [...joinReportTexts(reports).split('\n'), ...ends];
  for (const line of lines) core.info(escapeLogLine(line));
  const receipt = await writeReceipt(reports, env).catch(warnOf('the receipt'));
  if (env.GITHUB_STEP_SUMMARY) {
    const summary = core.summary.addRaw(composeSummary(reports));
    await summary.write().catch(warnOf('the job summary to the file of GITHUB_STEP_SUMMARY'));
  }
  try {
    for (const [name, value] of Object.entries(composeOutputs(reports, receipt))) core.setOutput(name, value);
    return null;
  } catch (thrown) {
    return `Could not write the outputs of this step to the file of GITHUB_OUTPUT, so no later step can read them (the report is in the log): ${toMessage(thrown)}`;
  }
}

/** Writes the receipt to a new file for later steps. @returns its path, or empty */
async function writeReceipt(reports: readonly Report[], { RUNNER_TEMP }: NodeJS.ProcessEnv): Promise<string> {
  const text = composeReceipt(reports, systemClock.date());
  if (text === null || !RUNNER_TEMP) return '';
  const path = join(await mkdtemp(join(RUNNER_TEMP, 'screen-delivery-')), 'receipt.json');
  await writeFile(path, text);
  return path;
}

const joinReportTexts = (reports: readonly Report[]): string => reports.map(reportText).join('\n\n');

/** The step's outputs, a line per file. `url` is empty unless every file passed every gate. */
export function composeOutputs(reports: readonly Report[], receipt = ''): Record<OutputName, string> {
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
