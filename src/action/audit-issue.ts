import type { Report } from '../delivery/report.ts';
import type { IssueText } from '../github/api/sticky.ts';
import type { CommentMemory } from './comment-memory.ts';
import { formatInlineCode } from './markdown.ts';
import { type CommentContext, composeComment } from './overview.ts';

/** Whether an audit found out what is lost. */
export const isConclusive = (reports: readonly Report[]): boolean =>
  reports.every(({ ready }) => ready) ||
  reports.some((report) => report.verdict === 'lost' || isNothingFound(report));

/**
 * The issue of a conclusive audit. It stays open until every delivery in it is verified again.
 *
 * @param memory of our open issue
 */
export function composeAuditIssue(
  reports: readonly Report[],
  context: CommentContext,
  memory: CommentMemory,
): IssueText {
  const lost = reports.filter(({ verdict }) => verdict === 'lost').map(nameDelivery);
  const settled = new Set([...lost, ...reports.filter(isVerified).map(nameDelivery)]);
  const open = memory.lost.filter((name) => !settled.has(name));
  const lines = open.map((name) => `Not verified since this issue named it: ${formatInlineCode(name)}`);
  const byHand = 'If these were withdrawn or deleted on purpose, close this issue.';
  const problem =
    lost.length > 0
      ? `${lost.length} of ${reports.length} deliveries are lost or altered`
      : reports.some(isNothingFound)
        ? 'The audit found nothing that was delivered'
        : open.length > 0 && `Not verified again: ${open.length} of the deliveries named here`;
  return {
    title: problem || 'Every delivery named here is verified again',
    body: composeComment(
      reports,
      { ...context, lines: open.length === 0 ? [] : [byHand, ...lines] },
      { ...memory, lost: [...open, ...lost] },
    ),
    isOpen: problem !== false,
  };
}

/** A file that somebody changed is neither lost nor verified. */
const isVerified = ({ verdict }: Report): boolean => verdict === 'as-delivered' || verdict === 'withdrawn';

/** Everything may be lost, or older than the history that was read. */
const isNothingFound = ({ verdict, notReady }: Report): boolean =>
  verdict === undefined && notReady?.code === 'NOT_FOUND' && notReady.step === 'check';

const nameDelivery = ({ channel, file }: Report): string => `${channel} ${file?.path}`;
