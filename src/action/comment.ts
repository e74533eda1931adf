import type { Report } from '../delivery/report.ts';
import { COMMENTS } from '../protocol/limits.ts';
import { formatAddressLink, formatInlineCode, formatLink, joinBlocks } from './markdown.ts';
import { composeFooter, composeOverview, type FooterFacts } from './overview.ts';
import { formatName, SIGNS } from './report-markdown.ts';

export interface CommentContext extends FooterFacts {
  /** An HTML comment by which the comment is recognized later. */
  readonly marker: string;
  /** What the heading begins with. */
  readonly title: string;
}

/** The text of a comment or an issue, never longer than GitHub accepts. @param earlier our comment as it is, or empty */
export function composeComment(reports: readonly Report[], context: CommentContext, earlier = ''): string {
  const { marker, title, runUrl } = context;
  return composeOverview(reports, {
    marker,
    title,
    earlier: reports.flatMap((report) => listLastProven(report, earlier)),
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
  const links = [...body.matchAll(LINK)].map(([link, text = '', address = '']) => ({
    link,
    text,
    address,
    isGone: known.has(withoutIndex(address)),
  }));
  const lost = links.filter(({ isGone }) => isGone);
  if (lost.length === 0) return null;
  // Those to the run are about what was.
  const left = links.filter(({ isGone, address }) => !isGone && !address.includes('/actions/runs/'));
  const { sign, word } = SIGNS.withdrawn;
  const [marker = ''] = body.split('\n', 1);
  return joinBlocks([
    marker,
    `### ${context.title}${sign} ${lost.length === 1 ? lost[0]?.text : `${lost.length} previews`}`,
    `**${word}**`,
    [
      ...lost.map(({ text, address }) => `- ${text}: ${formatInlineCode(address.slice(1, -1))}`),
      ...left.map(({ link }) => `${LAST_PROVEN}: ${link}`),
    ].join('\n'),
    composeFooter(context),
  ]);
}
