import { type ReportDocument, reportText, sortByResult } from '../delivery/report.ts';
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

/** An answer for a client that shows text alone: how it ended, and the first reports, what failed before the rest. */
export function formatAnswer({ authorization, result, url, reason, reports }: ToolAnswer): string {
  if (authorization !== undefined) {
    const { userCode, page, handle } = authorization;
    return [
      `authorization_required: show your human only this: open ${page} and enter the code ${userCode}.`,
      `Then call this tool again with authorization: ${handle}.`,
      'If they decline, do not insist.',
    ].join('\n');
  }
  const texts = sortByResult(reports)
    .slice(0, SITE.named)
    .map((report) => [reportText(report), ...report.notes.map((note) => `Note: ${note}`)].join('\n'));
  return [url || !reason.startsWith(`${result}: `) ? `${result}: ${url || reason}` : reason, ...texts].join(
    '\n\n',
  );
}
