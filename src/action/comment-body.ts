import type { Report } from '../delivery/report.ts';
import { COMMENTS } from '../protocol/limits.ts';
import { composeBatch } from './batch-markdown.ts';
import { addressLink, BREAK, blocks, foldedSection, inlineCode, link, takeWhileFits } from './markdown.ts';
import {
  describeHint,
  describeReason,
  linesList,
  listFacts,
  REPORT_STATES,
  reportName,
  reportStateOf,
} from './report-markdown.ts';

/** What the comment tells beside the reports. */
export interface CommentContext {
  /** An HTML comment, by which the comment is known again. */
  readonly marker: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The commit at the pull request's head; `null` where it is not known. */
  readonly headSha: string | null;
  /** The run, where its summary can be read; `null` where it is not known. */
  readonly run: string | null;
}

/** The comment's text: the link first, or all of them, the report folded below; never longer than the host takes. */
export function composeComment(reports: readonly Report[], occasion: CommentContext): string {
  const [only, ...others] = reports;
  if (only === undefined) return occasion.marker;
  return others.length === 0 ? single(only, occasion) : batch(reports, occasion);
}

function single(report: Report, occasion: CommentContext): string {
  const head = blocks([occasion.marker, ...outcome(report), footing(occasion)]);
  const pointer = elsewhere(occasion);
  const details = [listFacts, (one: Report) => foldedSection('Report', linesList(one))];
  const room = COMMENTS.body - head.length - pointer.length - 2 * BREAK;
  const shown = takeWhileFits(
    details,
    (write) => write(report),
    room,
    (text) => text.length,
  );
  return blocks([head, ...shown, shown.length < details.length ? pointer : '']);
}

/** An address that is not proven now is never a link, wherever it came from. */
function outcome(report: Report): string[] {
  const name = reportName(report);
  const state = reportStateOf(report);
  const { sign, word } = REPORT_STATES[state];
  if (state === 'ready' && report.url !== null) {
    return [`### ${sign} ${link(name, report.url)}`, addressLink(report.url)];
  }
  if (state === 'withdrawn') {
    const from = report.withdrawn === null ? '' : ` It was at ${inlineCode(report.withdrawn)}.`;
    return [`### ${sign} ${name}`, `The preview was withdrawn.${from}`];
  }
  return [
    `### ${sign} ${name}`,
    `**${word}** → ${describeReason(report)}`,
    describeHint(report),
    'An address that stood here before is not proven any more.',
  ];
}

function batch(reports: readonly Report[], occasion: CommentContext): string {
  return composeBatch(reports, {
    before: [occasion.marker],
    behind: [footing(occasion)],
    elsewhere: elsewhere(occasion),
    limit: COMMENTS.body,
    measure: (text) => text.length,
  });
}

const elsewhere = ({ run }: CommentContext): string =>
  run === null ? 'see the summary' : link('see the summary', run);

/** When this was told, and for which commit. */
function footing({ now, headSha, run }: CommentContext): string {
  const time = new Date(now).toISOString().slice(0, 16).replace('T', ' ');
  return [
    `${time} UTC`,
    ...(headSha === null ? [] : [`commit ${inlineCode(headSha.slice(0, 7))}`]),
    ...(run === null ? [] : [link('run', run)]),
  ].join(' · ');
}
