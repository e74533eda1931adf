import type { Report } from '../delivery/report.ts';
import type { IssueText } from '../github/api/sticky.ts';
import { parseJson } from '../plain-text.ts';
import { COMMENTS } from '../protocol/limits.ts';
import { formatInlineCode } from './markdown.ts';
import { type CommentContext, composeComment, takeWhileFits } from './overview.ts';

/** Whether an audit came to a verdict, or to none because nothing is left to judge. */
export const isConclusive = (reports: readonly Report[]): boolean =>
  reports.every(({ ready }) => ready) || reports.some((one) => one.verdict === 'lost' || isNothingFound(one));

/**
 * The issue of a conclusive audit. It stays open until every delivery that it names is verified again.
 *
 * @param earlier the body of our open issue, or empty
 */
export function composeAuditIssue(
  reports: readonly Report[],
  context: CommentContext,
  earlier: string,
): IssueText {
  const lost = reports.filter(({ verdict }) => verdict === 'lost').map(nameDelivery);
  const settled = new Set([...lost, ...reports.filter(isVerified).map(nameDelivery)]);
  const open = readNamed(earlier).filter((name) => !settled.has(name));
  const named = formatNamed([...open, ...lost]);
  const lines = open.map((name) => `- Not verified since this issue named it: ${formatInlineCode(name)}`);
  const byHand = 'If these were withdrawn or deleted on purpose, close this issue by hand.';
  const problem =
    lost.length > 0
      ? `${lost.length} of ${reports.length} deliveries are lost or altered`
      : reports.some(isNothingFound)
        ? 'The audit found nothing that was delivered'
        : open.length > 0 && `Not verified again: ${open.length} of the deliveries named here`;
  return {
    title: problem || 'Every delivery named here is verified again',
    body: composeComment(reports, {
      ...context,
      marker: [context.marker, ...named].join('\n'),
      lines: open.length === 0 ? [] : [byHand, ...lines],
    }),
    isOpen: problem !== false,
  };
}

/** What somebody changed is no loss, and not verified either. */
const isVerified = ({ verdict }: Report): boolean => verdict === 'as-delivered' || verdict === 'withdrawn';

/** All of it may be lost, or older than what was read. */
const isNothingFound = ({ verdict, notReady }: Report): boolean =>
  verdict === undefined && notReady?.code === 'NOT_FOUND' && notReady.step === 'check';

const nameDelivery = ({ channel, file }: Report): string => `${channel} ${file?.path}`;

const NAMED = /^<!-- named: (\[.*\]) -->\r?$/m;

function readNamed(body: string): readonly string[] {
  const named = parseJson(NAMED.exec(body)?.[1] ?? '');
  return Array.isArray(named) ? named.filter((name) => typeof name === 'string') : [];
}

/** Data that nobody sees. What there is no room for is never verified again: then a person closes the issue. */
function formatNamed(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const taken = takeWhileFits(COMMENTS.named)(names, (name) => JSON.stringify(name));
  const left = names.length - taken.length;
  const listed = left === 0 ? taken : [...taken, JSON.stringify(`${left} more`)];
  // Nothing in it ends the HTML comment.
  const json = listed.join().replace(/[<>-]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
  return [`<!-- named: [${json}] -->`];
}
