import type { DeliveryAnswer } from '../delivery/answer.ts';
import type { CheckResult } from '../delivery/check-results.ts';
import { formatReason } from '../delivery/failure-reason.ts';
import { LINK_SUBJECT } from '../delivery/file-delivery.ts';
import { getDeliveryResult, type Report } from '../delivery/report.ts';
import { SITE } from '../protocol/limits.ts';
import type { PersonRequest } from './authorizations.ts';

/** The answer of `deliver`, `verify` and `withdraw`. */
export interface ReportsAnswer extends Omit<DeliveryAnswer, 'result'> {
  readonly result: DeliveryAnswer['result'] | 'authorization_required';
  /** What a person must do before the call can go on; only with the result `authorization_required`. */
  readonly authorization?: PersonRequest;
}

/** The answer of `check`. */
export interface CheckAnswer {
  /** Whether all files can be delivered. */
  readonly deliverable: boolean;
  readonly files: readonly CheckResult[];
}

/** What a tool answers. */
export type ToolAnswer = ReportsAnswer | CheckAnswer;

/** Whether an answer says that what was asked for did not happen. */
export const isFailure = (answer: ToolAnswer): boolean =>
  'files' in answer ? !answer.deliverable : answer.result === 'not-ready';

/** An answer in a few lines, for a client that shows text alone. */
export function formatAnswer(answer: ToolAnswer): string {
  if ('files' in answer) return answer.files.map(formatCheck).join('\n');
  if (answer.authorization !== undefined) {
    const { userCode, page, handle } = answer.authorization;
    return [
      `authorization_required: show your human only this: open ${page} and enter the code ${userCode}.`,
      `Then call this tool again with authorization: ${handle}.`,
      'If they decline, do not insist: leave out `client-id`.',
    ].join('\n');
  }
  const lines = answer.reports.slice(0, SITE.named).map(formatReport);
  const more = answer.reports.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more, see reports`] : [])].join('\n');
}

function formatReport(report: Report): string {
  const { url, file, lines, notReady, unknown, notes } = report;
  const subject = file?.path ?? LINK_SUBJECT;
  const result = getDeliveryResult(report);
  const texts = {
    ready: `Ready: ${url}`,
    withdrawn: `Withdrawn: ${subject}`,
    planned: `Planned, nothing was written: ${lines.CODE}`,
    'not-ready': `Not ready: ${subject}: ${notReady === null ? '' : formatReason(notReady)}`,
  };
  const further = [...unknown.map((line) => `UNKNOWN: ${line}`), ...notes.map((line) => `Note: ${line}`)];
  return [texts[result], ...further].join('\n');
}

function formatCheck({ file, deliverable, size, reason, hint, unknown = [] }: CheckResult): string {
  if (!deliverable)
    return `${file} can't be delivered: ${reason}${hint === undefined ? '' : `. To change: ${hint}`}`;
  return [`${file} can be delivered, ${size} bytes`, ...unknown.map((line) => `UNKNOWN: ${line}`)].join('\n');
}
