import { type Report, sortByResult } from '../delivery/report.ts';
import { countFiles, formatTime } from '../plain-text.ts';
import { COMMENTS, SUMMARY } from '../protocol/limits.ts';
import { decodePercents } from '../rules/page/addresses.ts';
import {
  formatAddressLink,
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
  getSign,
  listCaveats,
  listDetails,
  MAX_FACTS,
  SIGNS,
} from './report-markdown.ts';

/** The job summary, below the runner's limit however many files there are. */
export const composeSummary = (reports: readonly Report[]): string =>
  `${composeOverview(reports, { elsewhere: 'see the log, or the `report-json` output', limit: SUMMARY })}\n`;

/** What a comment or an issue has around the reports. */
export interface CommentContext {
  /** An HTML comment by which it is recognized later. */
  readonly marker: string;
  /** What the heading begins with. */
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The commit at the pull request's head; `null` if not known. */
  readonly headSha: string | null;
  /** The address of the run, which shows the summary; `null` if not known. */
  readonly runUrl: string | null;
  /** What comes before the reports, in Markdown. */
  readonly lines?: readonly string[];
}

/** The text of a comment or an issue, never longer than GitHub accepts. @param earlier our comment as it is, or empty */
export function composeComment(reports: readonly Report[], context: CommentContext, earlier = ''): string {
  const { marker, title, runUrl, lines = [] } = context;
  return composeOverview(reports, {
    marker,
    title,
    earlier: [...lines, ...reports.flatMap((report) => listLastProven(report, earlier))],
    footer: composeFooter(context),
    elsewhere: runUrl === null ? 'see the summary' : formatLink('see the summary', runUrl),
    limit: COMMENTS.body,
  });
}

const LAST_PROVEN = '- Last proven';

/** A link of a comment: its text in Markdown, and the address between `<` and `>`. */
const LINK = /\[([^[\]]*)\]\((<[^<>]*>)\)/g;

/** The link that our comment has to what is not ready now, with the commit that it was proven for. */
function listLastProven(report: Report, comment: string): string[] {
  const name = formatName(report);
  const lines = report.notReady === null ? [] : comment.split('\n');
  const line = lines.find((one) => one.includes(`[${name}](<`)) ?? '';
  if (line === '' || line.startsWith(LAST_PROVEN)) return line === '' ? [] : [line];
  const [link] = [...line.matchAll(LINK)].find(([, text]) => text === name) ?? [];
  const [commit = ''] = / commit <code>\w+<\/code>/.exec(lines.at(-1) ?? '') ?? [];
  return [`${LAST_PROVEN}${commit.replace('commit', 'at')}: ${link}`];
}

/** The comment of another step without links to what is gone; `null` where it has none to that. */
export function composeWithdrawnComment(
  body: string,
  gone: readonly string[],
  context: CommentContext,
): string | null {
  // The address of a folder's page is that of the folder, and GitHub writes `%2B` where others write `+`.
  const toKey = (link: string): string =>
    decodePercents(link.replace(/\?v=\w+>$/, '>').replace(/\/index\.html>$/, '/>'));
  const known = new Set(gone.map((address) => toKey(formatAddressLink(address))));
  // Those to the run are about what was.
  const links = [...body.matchAll(LINK)].filter(([link]) => !link.includes('/actions/runs/'));
  const lines = links.map(([link, text, address = '']) =>
    known.has(toKey(address))
      ? `- ${text}: ${formatInlineCode(address.slice(1, -1).replaceAll('&amp;', '&'))}`
      : `${LAST_PROVEN}: ${link}`,
  );
  if (lines.every((line) => line.startsWith(LAST_PROVEN))) return null;
  const { sign, word } = SIGNS.withdrawn;
  const [marker = ''] = body.split('\n', 1);
  return joinBlocks([
    marker,
    `### ${context.title}${sign} ${word}`,
    lines.join('\n'),
    composeFooter(context),
  ]);
}

function composeFooter({ now, headSha, runUrl }: CommentContext): string {
  const commit = headSha === null ? [] : [`commit ${formatInlineCode(headSha.slice(0, 7))}`];
  return [formatTime(now), ...commit, ...(runUrl === null ? [] : [formatLink('run', runUrl)])].join(' · ');
}

interface OverviewFrame {
  /** Where to find what is left out. */
  readonly elsewhere: string;
  /** Bytes. GitHub counts the characters of a comment, which are never more. */
  readonly limit: number;
  readonly marker?: string;
  readonly title?: string;
  /** What was proven earlier, a line each. */
  readonly earlier?: readonly string[];
  readonly footer?: string;
}

type TakeWhileFits = <T>(items: readonly T[], format: (item: T) => string) => string[];

/** Room for headings, and for saying what was left out, in bytes. */
const RESERVE = 2_048;

/** The link first, or all of them; then everything else, as far as there is room for it. */
function composeOverview(
  reports: readonly Report[],
  { elsewhere, limit, marker = '', title = '', earlier = [], footer = '' }: OverviewFrame,
): string {
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
export function takeWhileFits(room: number): TakeWhileFits {
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

/** A row for each file, the caveats of all, and their reports folded, which are left out first. */
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
    formatTable(['', 'File', 'Proof, or why not'], rows),
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
    // Its row says what somebody changed.
    listCaveats(report.verdict === 'changed' ? { ...report, notes: [] } : report).map((caveat) => ({
      caveat,
      name: formatName(report),
    })),
  );
  const caveats = [...Map.groupBy(all, ({ caveat }) => caveat)].map(([caveat, same]) => {
    if (same.length === reports.length) return caveat;
    return `${caveat} (${same.length === 1 ? same[0]?.name : countFiles(same.length)})`;
  });
  const isUnknown = (caveat: string): boolean => caveat.startsWith('- **UNKNOWN');
  return formatFacts([...caveats.filter((one) => !isUnknown(one)), ...caveats.filter(isUnknown)]);
}
