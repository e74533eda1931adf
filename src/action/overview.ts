import { countOutcomes, nameSubject, type Report, sortByResult } from '../delivery/report.ts';
import { countFiles, formatTime, shorten } from '../plain-text.ts';
import { COMMENTS, SUMMARY, TEXT } from '../protocol/limits.ts';
import { OUTCOMES } from '../protocol/words.ts';
import { entryUrl, withoutVersion } from '../rules/naming.ts';
import { decodePercents } from '../rules/page/addresses.ts';
import { type CommentMemory, formatMemory, type ProvenLink, readMemory } from './comment-memory.ts';
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
  formatFacts,
  formatLinkedName,
  formatName,
  formatNoteFacts,
  formatOutcome,
  formatResult,
  formatUnknownFacts,
  formatVerdict,
  getSign,
  listDetails,
  MAX_FACTS,
  SIGNS,
} from './report-markdown.ts';

/** The job summary, below the runner's size limit. */
export const composeSummary = (reports: readonly Report[]): string =>
  `${composeOverview(reports, { elsewhere: 'see the log, or the `report-json` output', limit: SUMMARY })}\n`;

export interface CommentContext {
  /** The heading's first word, such as `Preview`. */
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The pull request's head commit; `null` if not known. */
  readonly headSha: string | null;
  /** The run's URL; `null` if not known. */
  readonly runUrl: string | null;
  /** Markdown before the reports. */
  readonly lines?: readonly string[];
}

/** The text of a comment or issue, below GitHub's size limit. */
export function composeComment(
  reports: readonly Report[],
  context: CommentContext,
  memory: CommentMemory,
): string {
  const { subject, runUrl, lines = [] } = context;
  const shown = new Set(reports.map(({ url }) => url));
  const earlierLines = memory.proven.filter(({ url }) => !shown.has(url)).map(formatLastProven);
  const elsewhere = runUrl === null ? 'see the summary' : formatLink('see the summary', runUrl);
  return composeOverview(
    reports,
    { elsewhere, limit: COMMENTS.body },
    {
      firstLine: formatMemory(memory),
      subject,
      earlierLines: [...lines, ...earlierLines],
      footer: composeFooter(context),
    },
  );
}

/** Marks the line that a run adds when it begins. */
const BEGUN = '<!-- begun -->';

/** The text with a line under its first link that says what the link shows; `null` without a verified link. */
export function composeBegunComment(body: string, memory: CommentMemory, headSha: string): string | null {
  const [link] = memory.proven;
  if (link === undefined) return null;
  const [, ...blocks] = body.split('\n\n').filter((block) => !block.startsWith(BEGUN));
  const address = formatAddressLink(link.url);
  const first = blocks.findIndex((block) => block.includes(address));
  const last = blocks[first + 1]?.startsWith(address) ? first + 1 : Math.max(first, 0);
  const shows = link.commit === null ? 'an earlier commit' : formatInlineCode(link.commit);
  const line = `${BEGUN}Delivering ${formatInlineCode(headSha.slice(0, 7))}; the link shows ${shows}.`;
  return joinBlocks([formatMemory(memory), ...blocks.toSpliced(last + 1, 0, line)]);
}

/** Links that are verified now, and earlier links that this run neither replaced nor withdrew. */
export function rememberLinks(
  reports: readonly Report[],
  { headSha, now }: CommentContext,
  earlierLinks: readonly ProvenLink[],
): readonly ProvenLink[] {
  const commit = headSha?.slice(0, 7) ?? null;
  const proven = reports.flatMap((report) =>
    report.url === null ? [] : { name: nameSubject(report), url: report.url, commit, time: now },
  );
  const done = reports.filter(({ url }) => url !== null);
  if (done.length === reports.length) return proven;
  const settled = new Set(done.map(nameSubject));
  const isWithdrawn = createWithdrawnTest(reports.flatMap(({ gone = [] }) => gone));
  return [...proven, ...earlierLinks.filter((link) => !settled.has(link.name) && !isWithdrawn(link))];
}

const formatLinkName = (name: string): string => escapeMarkdown(shorten(name, TEXT.message));

function formatLastProven({ name, url, commit, time }: ProvenLink): string {
  const at = commit === null ? '' : ` at ${formatInlineCode(commit)}`;
  return `Last verified${at}, ${formatTime(time)}: ${formatLink(formatLinkName(name), url)}`;
}

/** Compares URLs without `index.html`, `?v=` and percent signs, because GitHub writes `%2B` for `+`. */
export function createWithdrawnTest(removedUrls: readonly string[], removedFolders: readonly string[] = []) {
  const known = new Set(removedUrls.map(toKey));
  const folders = removedFolders.map(toKey);
  return ({ url }: ProvenLink): boolean =>
    known.has(toKey(url)) || folders.some((folder) => toKey(url).startsWith(folder));
}

const toKey = (address: string): string => decodePercents(entryUrl(new URL(withoutVersion(address))).href);

/** Removes withdrawn links from another step's comment. @returns `null` if the comment has none */
export function composeWithdrawnComment(
  body: string,
  isWithdrawn: (link: ProvenLink) => boolean,
  context: CommentContext,
): string | null {
  const memory = readMemory(body);
  const removed = memory?.proven.filter(isWithdrawn) ?? [];
  if (memory === null || removed.length === 0) return null;
  const proven = memory.proven.filter((link) => !isWithdrawn(link));
  return joinBlocks([
    formatMemory({ ...memory, proven }),
    `### ${formatVerdict(context.subject, 'withdrawn')}`,
    removed.map(({ name, url }) => `- ${formatLinkName(name)}: ${formatInlineCode(url)}`).join('\n'),
    ...(context.lines ?? []),
    proven.map(formatLastProven).join('\n'),
    composeFooter(context),
  ]);
}

function composeFooter({ now, headSha, runUrl }: CommentContext): string {
  const commit = headSha === null ? [] : [`commit ${formatInlineCode(headSha.slice(0, 7))}`];
  return [formatTime(now), ...commit, ...(runUrl === null ? [] : [formatLink('run', runUrl)])].join(' · ');
}

type TakeWhileFits = ReturnType<typeof takeWhileFits>;

/** Bytes reserved for headings and for the lines about omitted parts. */
const RESERVE = 2_048;

/**
 * Links come first, then everything else that fits.
 * @param elsewhere names the place of omitted parts
 * @param limit in bytes; GitHub counts characters, which are never more
 */
function composeOverview(
  reports: readonly Report[],
  { elsewhere, limit }: { readonly elsewhere: string; readonly limit: number },
  { firstLine = '', subject = '', earlierLines = [] as readonly string[], footer = '' } = {},
): string {
  const [only, ...others] = reports;
  const isSingle = only !== undefined && others.length === 0;
  const outcome = isSingle ? formatOutcome(only, subject) : [formatCounts(reports, subject)];
  const head = [firstLine, ...outcome];
  const take = takeWhileFits(limit - RESERVE - Buffer.byteLength(joinBlocks([...head, footer])));
  const last = take(earlierLines.slice(0, MAX_FACTS), (line) => line).join('\n');
  const body = isSingle ? composeSingle(only, take, elsewhere) : composeBatch(reports, take, elsewhere);
  return joinBlocks([...head, last, ...body, footer]);
}

/** @param room in bytes; each item counts with an empty line after it */
function takeWhileFits(room: number) {
  let remaining = room;
  return <T>(items: readonly T[], format: (item: T) => string): string[] => {
    const taken: string[] = [];
    for (const item of items) {
      const text = format(item);
      const size = Buffer.byteLength(text) + 2;
      if (size > remaining) break;
      remaining -= size;
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

/** A row per file, shared caveats, and folded reports, which are omitted first. */
function composeBatch(given: readonly Report[], take: TakeWhileFits, elsewhere: string): readonly string[] {
  const reports = sortByResult(given);
  const describeRest = ({ length }: readonly unknown[]): string =>
    length === reports.length ? '' : `… and ${reports.length - length} more: ${elsewhere}`;
  const rows = take(reports, (report) =>
    formatTableRow([getSign(report), formatLinkedName(report), formatResult(report)]),
  );
  const caveats = take([reports], formatSharedCaveats);
  const folded = take(reports, (report) =>
    formatFoldedSection(`${getSign(report)} ${formatName(report)}`, joinBlocks(listDetails(report, true))),
  );
  const details = joinBlocks([...folded, describeRest(folded)]);
  return [
    formatTable(['', 'File', 'Result'], rows),
    describeRest(rows),
    ...caveats,
    folded.length === 0 ? '' : formatFoldedSection('Details', details),
  ];
}

/** Such as `### Preview: ❌ 2 not ready, ✅ 28 ready`. */
function formatCounts(reports: readonly Report[], subject: string): string {
  const counts = [...countOutcomes(reports)].map(
    ([outcome, count]) => `${SIGNS[outcome]} ${count} ${OUTCOMES[outcome].toLowerCase()}`,
  );
  return `### ${subject === '' ? '' : `${subject}: `}${counts.join(', ')}`;
}

/** Each caveat once, notes first, with its file or the number of files. */
function formatSharedCaveats(reports: readonly Report[]): string {
  // The row shows what somebody changed.
  const noted = reports.filter(({ verdict }) => verdict !== 'changed');
  const all = [
    ...noted.flatMap((report) => formatNoteFacts(report).map((caveat) => ({ caveat, report }))),
    ...reports.flatMap((report) => formatUnknownFacts(report).map((caveat) => ({ caveat, report }))),
  ];
  const caveats = [...Map.groupBy(all, ({ caveat }) => caveat)].map(([caveat, [first, ...others]]) => {
    const count = others.length + 1;
    if (first === undefined || count === reports.length) return caveat;
    return `${caveat} (${count === 1 ? formatName(first.report) : countFiles(count)})`;
  });
  return formatFacts(caveats);
}
