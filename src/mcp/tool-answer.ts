import {
  describeResult,
  formatReason,
  getDeliveryResult,
  nameSubject,
  type Report,
  type ReportDocument,
  sortByResult,
} from '../delivery/report.ts';
import { SITE } from '../protocol/limits.ts';
import type { PersonRequest } from './authorizations.ts';

/** What a tool answers, with what a person must do first. */
export interface ToolAnswer extends Omit<ReportDocument, 'result'> {
  readonly result: ReportDocument['result'] | 'authorization_required';
  /**
   * Only with the result `authorization_required`, for which a person must do something: show your human `page` and
   * `userCode` alone, then call the tool again with `authorization` set to `handle`.
   */
  readonly authorization?: PersonRequest;
}

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
  const lines = sortByResult(reports).slice(0, SITE.named).map(formatReport);
  const more = reports.length - lines.length;
  return [
    // One of many may be ready, and the answer is not.
    ...(result === 'not-ready' && reports.length > 1 ? [`Not ready: ${reason}`] : []),
    ...lines,
    ...(more > 0 ? [`and ${more} more, see reports`] : []),
  ].join('\n');
}

function formatReport(report: Report): string {
  const { url, lines, notReady, unknown, notes } = report;
  const result = getDeliveryResult(report);
  const texts = {
    ready: `Ready: ${url}`,
    withdrawn: capitalize(describeResult(report)),
    audited: capitalize(describeResult(report)),
    planned: `Planned, nothing was written: ${lines.CODE}`,
    'not-ready': `Not ready: ${nameSubject(report)}: ${notReady === null ? '' : formatReason(notReady)}`,
  };
  const further = [...unknown.map((line) => `UNKNOWN: ${line}`), ...notes.map((line) => `Note: ${line}`)];
  return [texts[result], ...further].join('\n');
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
