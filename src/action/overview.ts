import { type Report, sortByResult } from '../delivery/report.ts';
import { countFiles } from '../plain-text.ts';
import { SUMMARY } from '../protocol/limits.ts';
import {
  formatFoldedSection,
  formatInlineCode,
  formatLink,
  formatTable,
  formatTableRow,
  joinBlocks,
} from './markdown.ts';
import {
  formatFacts,
  formatLinkedName,
  formatName,
  formatOutcome,
  formatProof,
  formatTimings,
  getSign,
  listCaveats,
  listDetails,
  MAX_FACTS,
} from './report-markdown.ts';

/** What a summary, a comment or an issue has around the reports, and the room that there is. */
interface OverviewFrame {
  readonly marker?: string;
  readonly title?: string;
  /** What was proven earlier, a line each. */
  readonly earlier?: readonly string[];
  readonly footer: string;
  /** Where to find what is left out. */
  readonly elsewhere: string;
  /** Bytes. GitHub counts the characters of a comment, which are never more. */
  readonly limit: number;
}

/** The job summary, below the runner's limit however many files there are. */
export const composeSummary = (reports: readonly Report[]): string =>
  `${composeOverview(reports, {
    footer: formatTimings(reports),
    elsewhere: 'see the log, or the `report-json` output',
    limit: SUMMARY,
  })}\n`;

/** When a comment or an issue was written, for which commit, and by which run. */
export interface FooterFacts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The commit at the pull request's head; `null` if not known. */
  readonly headSha: string | null;
  /** The address of the run, which shows the summary; `null` if not known. */
  readonly runUrl: string | null;
}

export function composeFooter({ now, headSha, runUrl }: FooterFacts): string {
  const time = new Date(now).toISOString().slice(0, 16).replace('T', ' ');
  const commit = headSha === null ? [] : [`commit ${formatInlineCode(headSha.slice(0, 7))}`];
  return [`${time} UTC`, ...commit, ...(runUrl === null ? [] : [formatLink('run', runUrl)])].join(' · ');
}

type TakeWhileFits = <T>(items: readonly T[], format: (item: T) => string) => string[];

/** Room for headings, and for saying what was left out, in bytes. */
const RESERVE = 2_048;

/** The link first, or all of them; then everything else, as far as there is room for it. */
export function composeOverview(reports: readonly Report[], frame: OverviewFrame): string {
  const { marker = '', title = '', earlier = [], footer, elsewhere, limit } = frame;
  const [only, ...others] = reports;
  const isSingle = only !== undefined && others.length === 0;
  const outcome = isSingle ? formatOutcome(only, title) : [`### ${title}${formatCounts(reports)}`];
  const head = [marker, ...outcome];
  const take = takeWhileFits(limit - RESERVE - Buffer.byteLength(joinBlocks([...head, footer])));
  const last = take(earlier.slice(0, MAX_FACTS), (line) => line).join('\n');
  const body = isSingle ? composeSingle(only, take, elsewhere) : composeBatch(reports, take, elsewhere);
  return joinBlocks([...head, last, ...body, footer]);
}

/** @param room bytes; an empty line is counted after each item */
function takeWhileFits(room: number): TakeWhileFits {
  let left = room;
  return (items, format) => {
    const taken: string[] = [];
    for (const item of items) {
      const text = format(item);
      const size = Buffer.byteLength(text) + 2;
      if (size > left) break;
      left -= size;
      taken.push(text);
    }
    return taken;
  };
}

function composeSingle(report: Report, take: TakeWhileFits, elsewhere: string): readonly string[] {
  const details = listDetails(report);
  const shown = take(details, (block) => block);
  return shown.length === details.length ? shown : [...shown, elsewhere];
}

/**
 * Several files: a row for each with its link, the caveats of all, and their reports folded. What doesn't fit is
 * left out, the reports before the rows, and the text says so.
 */
function composeBatch(given: readonly Report[], take: TakeWhileFits, elsewhere: string): readonly string[] {
  const reports = sortByResult(given);
  const describeRest = ({ length }: readonly unknown[]): string =>
    length === reports.length ? '' : `… and ${reports.length - length} more: ${elsewhere}`;
  const rows = take(reports, (report) =>
    formatTableRow([getSign(report).sign, formatLinkedName(report), formatProof(report)]),
  );
  const caveats = take([reports], formatSharedCaveats);
  const folded = take(reports, (report) =>
    formatFoldedSection(
      `${getSign(report).sign} ${formatName(report)}`,
      joinBlocks(listDetails(report, true)),
    ),
  );
  const details = joinBlocks([...folded, describeRest(folded)]);
  return [
    formatTable(['', 'File', 'Proof, or the reason why it is not ready'], rows),
    describeRest(rows),
    ...caveats,
    folded.length === 0 ? '' : formatFoldedSection('Reports', details),
  ];
}

/** Such as `❌ 2 Not ready · НЕ ГОТОВО, ✅ 28 Ready · ГОТОВО`. */
function formatCounts(reports: readonly Report[]): string {
  const signs = sortByResult(reports).map(getSign);
  return [...new Set(signs)]
    .map((one) => `${one.sign} ${signs.filter((other) => other === one).length} ${one.word}`)
    .join(', ');
}

/** Each caveat once, notes first, with the file it is about or the number of files. */
function formatSharedCaveats(reports: readonly Report[]): string {
  const all = reports.flatMap((report) =>
    listCaveats(report).map((caveat) => ({ caveat, name: formatName(report) })),
  );
  const caveats = [...Map.groupBy(all, ({ caveat }) => caveat)].map(([caveat, same]) => {
    if (same.length === reports.length) return caveat;
    return `${caveat} (${same.length === 1 ? same[0]?.name : countFiles(same.length)})`;
  });
  const isUnknown = (caveat: string): boolean => caveat.startsWith('- **UNKNOWN');
  return formatFacts([...caveats.filter((one) => !isUnknown(one)), ...caveats.filter(isUnknown)]);
}
