import { type ReportDocument, reportText, sortByResult } from '../delivery/report.ts';
import { SITE } from '../protocol/limits.ts';
import type { PersonRequest } from './authorizations.ts';

/** What a tool answers, with what a person must do first. */
export interface ToolAnswer extends Omit<ReportDocument, 'result'> {
  readonly result: ReportDocument['result'] | 'authorization_required';
  /** What to tell your human, in one or two sentences. */
  readonly say: string;
  /** A person must act: show them `page` and `userCode` alone, then call again with `authorization` set to `handle`. */
  readonly authorization?: PersonRequest;
}

/** One or two sentences for a human who knows nothing of channels and gates. */
export function sayToHuman(
  { result, url, reason, hint }: ReportDocument,
  required: PersonRequest | undefined,
): string {
  if (required !== undefined) {
    return `Open ${required.page} and enter the code ${required.userCode}, so that I may publish in your repository.`;
  }
  const texts = {
    ready: `It is ready, and I have checked that it opens: ${url.replaceAll('\n', ' and ')}`,
    withdrawn: 'It is removed, and I have checked that its link no longer shows it.',
    audited: `I have checked everything again: ${reason}.`,
    planned: 'I have checked it, and nothing is wrong. Nothing was published.',
    'not-ready': `There is no link to give you: ${reason}.${hint === '' ? '' : ` To change that: ${hint}.`}`,
  };
  return texts[result];
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
