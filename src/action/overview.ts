import { type Report, sortByResult } from '../delivery/report.ts';
import { countFiles } from '../plain-text.ts';
import { COMMENTS, SUMMARY } from '../protocol/limits.ts';
import {
  escapeMarkdown,
  formatAddressLink,
  formatFoldedSection,
  formatInlineCode,
  formatLink,
  formatTable,
  formatTableRow,
  joinBlocks,
} from './markdown.ts';
import {
  type Fact,
  formatFacts,
  formatLinkedName,
  formatName,
  formatOutcome,
  formatProof,
  formatTimings,
  getSign,
  listCaveats,
  listDetails,
  listRowDetails,
  MAX_FACTS,
  SIGNS,
} from './report-markdown.ts';

/** What a summary or a comment has around the reports, and the room that there is. */
interface OverviewFrame {
  readonly marker?: string;
  /** What the heading begins with. */
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

/** What the comment says beside the reports. */
export interface CommentContext {
  /** An HTML comment by which the comment is recognized later. */
  readonly marker: string;
  /** The pull request's number. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The commit at the pull request's head; `null` if not known. */
  readonly headSha: string | null;
  /** The address of the run, which shows the summary; `null` if not known. */
  readonly runUrl: string | null;
}

/** The comment's text, never longer than GitHub accepts. @param earlier our comment as it is, or empty */
export function composeComment(reports: readonly Report[], context: CommentContext, earlier = ''): string {
  const { marker, runUrl } = context;
  return composeOverview(reports, {
    marker,
    title: formatTitle(context),
    earlier: reports.flatMap((report) => listLastProven(report, earlier)),
    footer: composeFooter(context),
    elsewhere: runUrl === null ? 'see the summary' : formatLink('see the summary', runUrl),
    limit: COMMENTS.body,
  });
}

const formatTitle = ({ number }: Pick<CommentContext, 'number'>): string =>
  `Preview of ${escapeMarkdown(`#${number}`)}: `;

const LAST_PROVEN = '- Last proven';

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

/** When this was written, and for which commit. */
export function composeFooter({
  now,
  headSha,
  runUrl,
}: Pick<CommentContext, 'now' | 'headSha' | 'runUrl'>): string {
  const time = new Date(now).toISOString().slice(0, 16).replace('T', ' ');
  return [
    `${time} UTC`,
    ...(headSha === null ? [] : [`commit ${formatInlineCode(headSha.slice(0, 7))}`]),
    ...(runUrl === null ? [] : [formatLink('run', runUrl)]),
  ].join(' · ');
}

/** Formats the first items as long as there is room for them. */
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
  const rows = take(reports, formatRow);
  const table = formatTable(['', 'File', 'Proof, or the reason why it is not ready'], rows);
  const caveats = take([reports], formatSharedCaveats);
  const folded = take(reports, (report) =>
    formatFoldedSection(`${getSign(report).sign} ${formatName(report)}`, joinBlocks(listRowDetails(report))),
  );
  const details = joinBlocks([...folded, describeRest(folded)]);
  return [
    table,
    describeRest(rows),
    ...caveats,
    folded.length === 0 ? '' : formatFoldedSection('Reports', details),
  ];
}

/** Such as `❌ 2 Not ready · НЕ ГОТОВО, ✅ 28 Ready · ГОТОВО`. */
function formatCounts(reports: readonly Report[]): string {
  const signs = sortByResult(reports).map(getSign);
  const counts = [...new Set(signs)].map((one) => ({
    ...one,
    count: signs.filter((other) => other === one),
  }));
  return counts.map(({ sign, word, count }) => `${sign} ${count.length} ${word}`).join(', ');
}

/** A file's row: how it ended, its name with the link, and how it was proven or why it has no link. */
const formatRow = (report: Report): string =>
  formatTableRow([getSign(report).sign, formatLinkedName(report), formatProof(report)]);

/** Each caveat once, notes first, with the file it is about or the number of files. */
function formatSharedCaveats(reports: readonly Report[]): string {
  const shared = new Map<string, { readonly fact: Fact; readonly names: string[] }>();
  for (const report of reports) {
    for (const fact of listCaveats(report)) {
      const caveat = shared.get(fact.join(' ')) ?? { fact, names: [] };
      caveat.names.push(formatName(report));
      shared.set(fact.join(' '), caveat);
    }
  }
  const caveats = [...shared.values()].flatMap(({ fact: [kind, text], names }): Fact[] => {
    if (names.length === reports.length) return [[kind, text]];
    return [[kind, `${text} (${names.length === 1 ? names[0] : countFiles(names.length)})`]];
  });
  return formatFacts(caveats.toSorted(([one], [other]) => Number(one !== 'Note') - Number(other !== 'Note')));
}

/** A link of a comment: its text in Markdown, and the address between `<` and `>`. */
const LINK = /\[([^[\]]*)\]\((<[^<>]*>)\)/g;

/** The links of a comment that lead to its run. */
const isRunLink = (text: string, address: string): boolean =>
  (text === 'run' || text === 'see the summary') && address.includes('/actions/runs/');

/** The reports of a comment about several files, which say that each of them opens. */
const REPORTS = /\n\n<details><summary>Reports<\/summary>.*<\/details>/s;

/**
 * The comment of another step, where it links to something that is gone by now: it says so, and links to it no more.
 *
 * @param gone addresses that a withdrawal has proven to be gone
 * @returns `null` where the comment links to nothing of it
 */
export function composeWithdrawnComment(
  body: string,
  gone: readonly string[],
  context: CommentContext,
): string | null {
  // The address of a folder's page is that of the folder.
  const withoutIndex = (address: string): string => address.replace(/\/index\.html>$/, '/>');
  const known = new Set(gone.map((address) => withoutIndex(formatAddressLink(address))));
  const isGone = (address: string): boolean => known.has(withoutIndex(address));

  const links = [...body.matchAll(LINK)].flatMap(([, text = '', address = '']) =>
    isRunLink(text, address) ? [] : [{ text, address }],
  );
  const lost = links.filter(({ address }) => isGone(address));
  if (lost.length === 0) return null;
  const { sign, word } = SIGNS.withdrawn;
  const [marker = ''] = body.split('\n', 1);
  const unlink = (line: string): string => {
    const changed = line.replace(LINK, (link, text, address) => (isGone(address) ? text : link));
    return changed === line ? line : changed.replace(`| ${SIGNS.ready.sign} |`, `| ${sign} |`);
  };
  const rest = body.slice(marker.length).trimStart().replace(REPORTS, '');
  return joinBlocks([
    marker,
    `### ${formatTitle(context)}${sign} ${lost.length === 1 ? lost[0]?.text : `${lost.length} previews`}`,
    `**${word}**`,
    lost.map(({ text, address }) => `- ${text}: ${formatInlineCode(address.slice(1, -1))}`).join('\n'),
    lost.length === links.length ? composeFooter(context) : rest.split('\n').map(unlink).join('\n'),
  ]);
}
