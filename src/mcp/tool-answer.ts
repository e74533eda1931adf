import { type ReportDocument, reportText, sortByResult } from '../delivery/report.ts';
import { firstFew } from '../plain-text.ts';
import { SITE } from '../protocol/limits.ts';
import type { PersonRequest } from './authorizations.ts';

/** What a tool answers, with what a person must do first. */
export interface ToolAnswer extends Omit<ReportDocument, 'result'> {
  readonly result: ReportDocument['result'] | 'authorization_required';
  readonly say: string;
  /** What a person must do before the call goes on. */
  readonly authorization?: PersonRequest;
}

/** At most three sentences for a human who knows nothing of channels and gates. */
export function sayToHuman(
  { result, url, reason, hint, reports }: ReportDocument,
  required: PersonRequest | undefined,
): string {
  if (required !== undefined) {
    return `Open ${required.page} and enter the code ${required.userCode}, so that I may publish in your repository.`;
  }
  const verbs = [...new Set(reports.map(({ verb = 'opens' }) => verb))].join(' or ');
  const notes = formatNotes('Please note', new Set(reports.flatMap((report) => report.notes)));
  const unknown = formatNotes('Not certain', new Set(reports.flatMap((report) => report.unknown)));
  const texts = {
    ready: `It is ready, and I have checked that it ${verbs}: ${url.replaceAll('\n', ' and ')}${notes}${unknown}`,
    withdrawn: reports.every(({ wasAbsent }) => wasAbsent)
      ? `Nothing was there, so nothing was removed: ${[...new Set(reports.map(({ withdrawn }) => withdrawn))].join(' and ')}`
      : `It is removed, and I have checked that its link no longer shows it.${unknown}`,
    audited: `I have checked everything again: ${reason}.`,
    planned: `I have checked it, and nothing is wrong. Nothing was published.${notes}${unknown}`,
    'not-ready': `${FAILURES[reports[0]?.operation ?? 'deliver']}: ${reason}.${hint === '' ? '' : ` To fix it: ${hint}.`}`,
  };
  return texts[result];
}

/** A sentence on a line of its own, so that no full stop follows an address. */
const formatNotes = (about: string, lines: ReadonlySet<string>): string =>
  lines.size === 0 ? '' : `\n${about}: ${firstFew([...lines]).join('; ')}.`;

const FAILURES = {
  deliver: 'There is no link to give you',
  withdraw: "I can't say that it is removed",
  audit: "I can't say that everything is as it was delivered",
} as const;

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
  return [`${result}: ${url || reason}`, ...texts].join('\n\n');
}
