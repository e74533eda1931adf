import { formatReason } from '../delivery/failure-reason.ts';
import { LINK_SUBJECT } from '../delivery/file-delivery.ts';
import { getDeliveryResult, type Report } from '../delivery/report.ts';
import { describeWithdrawal, type ReportDocument } from '../delivery/report-document.ts';
import { SITE } from '../protocol/limits.ts';
import type { PersonRequest } from './authorizations.ts';

/** What a tool answers: the JSON of every interface, and what a person must do first. */
export interface ToolAnswer extends Omit<ReportDocument, 'result'> {
  readonly result: ReportDocument['result'] | 'authorization_required';
  /** What a person must do before the call can go on; only with the result `authorization_required`. */
  readonly authorization?: PersonRequest;
}

/** Whether an answer says that what was asked for did not happen. */
export const isFailure = ({ result }: ToolAnswer): boolean => result === 'not-ready';

/** An answer in a few lines, for a client that shows text alone. What failed comes first. */
export function formatAnswer(answer: ToolAnswer): string {
  if (answer.authorization !== undefined) {
    const { userCode, page, handle } = answer.authorization;
    return [
      `authorization_required: show your human only this: open ${page} and enter the code ${userCode}.`,
      `Then call this tool again with authorization: ${handle}.`,
      'If they decline, do not insist.',
    ].join('\n');
  }
  const { result, reason, reports } = answer;
  const failed = reports.filter((report) => getDeliveryResult(report) === 'not-ready');
  const sorted = [...failed, ...reports.filter((report) => !failed.includes(report))];
  const lines = sorted.slice(0, SITE.named).map(formatReport);
  const more = reports.length - lines.length;
  return [
    // One of many may be ready, and the answer is not.
    ...(result === 'not-ready' && reports.length > 1 ? [`Not ready: ${reason}`] : []),
    ...lines,
    ...(more > 0 ? [`and ${more} more, see reports`] : []),
  ].join('\n');
}

function formatReport(report: Report): string {
  const { url, file, lines, notReady, unknown, notes } = report;
  const subject = file?.path ?? LINK_SUBJECT;
  const result = getDeliveryResult(report);
  const texts = {
    ready: `Ready: ${url}`,
    withdrawn: capitalize(describeWithdrawal(report)),
    planned: `Planned, nothing was written: ${lines.CODE}`,
    'not-ready': `Not ready: ${subject}: ${notReady === null ? '' : formatReason(notReady)}`,
  };
  const further = [...unknown.map((line) => `UNKNOWN: ${line}`), ...notes.map((line) => `Note: ${line}`)];
  return [texts[result], ...further].join('\n');
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
