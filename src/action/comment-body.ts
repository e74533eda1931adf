import type { Report } from '../delivery/report.ts';
import { COMMENTS } from '../protocol/limits.ts';
import { composeBatch } from './batch-markdown.ts';
import {
  BREAK,
  formatAddressLink,
  formatFoldedSection,
  formatInlineCode,
  formatLink,
  joinBlocks,
  takeWhileFits,
} from './markdown.ts';
import { formatPicture } from './picture-markdown.ts';
import {
  describeHint,
  describeReason,
  formatReportLines,
  formatReportName,
  getReportState,
  listFacts,
  listFindings,
  REPORT_STATES,
} from './report-markdown.ts';
import { formatChangedFiles } from './site-markdown.ts';

/** What the comment says beside the reports. */
export interface CommentContext {
  /** An HTML comment by which the comment is recognized later. */
  readonly marker: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The commit at the pull request's head; `null` if not known. */
  readonly headSha: string | null;
  /** The address of the run, which shows the summary; `null` if not known. */
  readonly runUrl: string | null;
}

/** The comment's text: the link first, or all of them, the reports folded below; never longer than GitHub accepts. */
export function composeComment(reports: readonly Report[], context: CommentContext): string {
  const [only, ...others] = reports;
  if (only === undefined) return context.marker;
  return others.length === 0 ? composeSingleComment(only, context) : composeBatchComment(reports, context);
}

function composeSingleComment(report: Report, context: CommentContext): string {
  const [heading = '', result = '', ...advice] = composeOutcome(report);
  const before = joinBlocks([context.marker, heading, result]);
  const after = joinBlocks([...advice, composeFooter(context)]);
  const pointer = describeElsewhere(context);
  const findings = listFindings(report);
  const details = [
    formatPicture(report),
    listFacts(report),
    formatChangedFiles(report),
    formatFoldedSection('Report', formatReportLines(report)),
  ].filter((part) => part !== '');
  const room = COMMENTS.body - before.length - after.length - pointer.length - 3 * BREAK;
  const shown = takeWhileFits(
    [findings, ...details],
    (text) => text,
    room,
    (text) => text.length,
  );
  const isCut = shown.length <= details.length;
  return joinBlocks([before, shown[0] ?? '', after, ...shown.slice(1), isCut ? pointer : '']);
}

/** An address that is not proven now is never a link, wherever it came from. */
function composeOutcome(report: Report): string[] {
  const name = formatReportName(report);
  const state = getReportState(report);
  const { sign, word } = REPORT_STATES[state];
  if (state === 'ready' && report.url !== null) {
    return [`### ${sign} ${formatLink(name, report.url)}`, `**${word}** → ${formatAddressLink(report.url)}`];
  }
  if (state === 'withdrawn') {
    const from = report.withdrawn === null ? '' : ` It was at ${formatInlineCode(report.withdrawn)}.`;
    return [`### ${sign} ${name}`, `**${word}:** the preview was removed.${from}`];
  }
  return [
    `### ${sign} ${name}`,
    `**${word}** → ${describeReason(report)}`,
    describeHint(report),
    'The address of an earlier delivery, if there was one, is no longer proven.',
  ];
}

function composeBatchComment(reports: readonly Report[], context: CommentContext): string {
  return composeBatch(reports, {
    before: [context.marker],
    after: [composeFooter(context)],
    elsewhere: describeElsewhere(context),
    limit: COMMENTS.body,
    measure: (text) => text.length,
  });
}

const describeElsewhere = ({ runUrl }: CommentContext): string =>
  runUrl === null ? 'see the summary' : formatLink('see the summary', runUrl);

/** When this was written, and for which commit. */
export function composeFooter({ now, headSha, runUrl }: CommentContext): string {
  const time = new Date(now).toISOString().slice(0, 16).replace('T', ' ');
  return [
    `${time} UTC`,
    ...(headSha === null ? [] : [`commit ${formatInlineCode(headSha.slice(0, 7))}`]),
    ...(runUrl === null ? [] : [formatLink('run', runUrl)]),
  ].join(' · ');
}
