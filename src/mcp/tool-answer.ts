import { type ReportDocument, reportText, sortByResult } from '../delivery/report.ts';
import { firstFew } from '../plain-text.ts';
import { SITE } from '../protocol/limits.ts';
import type { PersonRequest } from './authorizations.ts';

export interface ToolAnswer extends Omit<ReportDocument, 'result'> {
  readonly result: ReportDocument['result'] | 'authorization_required';
  readonly say: string;
  /** What a person must do before the call continues. */
  readonly authorization?: PersonRequest;
}

/** At most three sentences for a human who doesn't know channels and gates. */
export function sayToHuman(
  { result, url, reason, hint, reports }: ReportDocument,
  required: PersonRequest | undefined,
): string {
  if (required !== undefined) {
    return `Please open ${required.page} and enter the code ${required.userCode}, so that I can publish in your repository.`;
  }
  const verbs = [...new Set(reports.map(({ verb = 'opens' }) => verb))].join(' or ');
  const notes = formatNotes('Please note', new Set(reports.flatMap((report) => report.notes)));
  const unknown = formatNotes('Not certain', new Set(reports.flatMap((report) => report.unknown)));
  const texts = {
    ready: `It is ready, and I verified that it ${verbs}: ${url.replaceAll('\n', ' and ')}${notes}${unknown}`,
    withdrawn: reports.every(({ wasAbsent }) => wasAbsent)
      ? `There was nothing to remove: ${[...new Set(reports.map(({ withdrawn }) => withdrawn))].join(' and ')}`
      : `It is removed, and I verified that its link no longer shows it.${unknown}`,
    audited: `I checked everything again: ${reason}.`,
    planned: `I checked it and found no problem. Nothing was published.${notes}${unknown}`,
    'not-ready': `${FAILURES[reports[0]?.operation ?? 'deliver']}: ${reason}.${hint === '' ? '' : ` To fix it: ${hint}.`}`,
  };
  return texts[result];
}

/** Starts a new line, so that no period follows a URL. */
const formatNotes = (about: string, lines: ReadonlySet<string>): string =>
  lines.size === 0 ? '' : `\n${about}: ${firstFew([...lines]).join('; ')}.`;

const FAILURES = {
  deliver: 'There is no link to give you',
  withdraw: "I couldn't verify that it is removed",
  audit: "I couldn't verify that everything is as it was delivered",
} as const;

/** The answer as text: the result and the first reports, failures first. */
export function formatAnswer({ authorization, result, url, reason, reports }: ToolAnswer): string {
  if (authorization !== undefined) {
    const { userCode, page, handle } = authorization;
    return [
      `authorization_required: show your human only this: open ${page} and enter the code ${userCode}.`,
      `Then call this tool again with authorization: ${handle}.`,
      'If they decline, do not ask again.',
    ].join('\n');
  }
  const texts = sortByResult(reports)
    .slice(0, SITE.named)
    .map((report) => [reportText(report), ...report.notes.map((note) => `Note: ${note}`)].join('\n'));
  return [`${result}: ${url || reason}`, ...texts].join('\n\n');
}
