import { getDeliveryResult, type Report } from '../delivery/report.ts';
import { rewriteOwnComments, updateStickyComment } from '../github/api/pull-requests.ts';
import type { Ports } from '../ports.ts';
import { COMMENTS } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import { type Announce, type Announcement, markerOf } from './announcement.ts';
import { escapeMarkdown, formatAddressLink, formatInlineCode, formatLink, joinBlocks } from './markdown.ts';
import { composeFooter, composeOverview, type FooterFacts } from './overview.ts';
import { formatName, SIGNS } from './report-markdown.ts';

/**
 * Keeps one comment on the pull request that the run is about. It is created once something is proven, and from
 * then on each run updates it, whatever the result. Steps with the same path (or else the same files, or the same
 * link) share a comment. What a withdrawal has removed, other steps may have delivered: their comments must not link
 * to it any more.
 */
export async function beginComment(
  { request: { path, fileLines, url }, run, pull, connect }: Announcement,
  ports: Ports,
): Promise<Announce> {
  const { logger, clock } = ports;
  return async (reports) => {
    if (pull === null) {
      logger.info('No comment: the run is not about a pull request');
      return;
    }
    const { number, headSha } = pull;
    const marker = markerOf(path ?? (fileLines.join('\n') || (url?.href ?? '')));
    const context = { marker, number, headSha, now: clock.now(), runUrl: run.url };
    const compose = (earlier: string): string => composeComment(reports, context, earlier);
    const mayCreate = reports.some((report) => getDeliveryResult(report) === 'ready');
    const github = connect();
    const result = await updateStickyComment(github, { number, marker, compose, mayCreate }, ports);
    logger.info(`Comment on pull request ${number}: ${result}`);
    const gone = reports.flatMap((report) => report.gone ?? []);
    if (gone.length === 0) return;
    const rewrite = (body: string): string | null =>
      body.startsWith(marker) ? null : composeWithdrawnComment(body, gone, context);
    const changed = await rewriteOwnComments(github, number, `<!-- ${TOOL.name}:`, rewrite);
    if (changed > 0) logger.info(`Comments of other steps that say now what is gone: ${changed}`);
  };
}

export interface CommentContext extends FooterFacts {
  /** An HTML comment by which the comment is recognized later. */
  readonly marker: string;
  readonly number: number;
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

const formatTitle = ({ number }: CommentContext): string => `Preview of ${escapeMarkdown(`#${number}`)}: `;

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
function composeWithdrawnComment(
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
    `### ${formatTitle(context)}${sign} ${lost.length === 1 ? lost[0]?.text : `${lost.length} previews`}`,
    `**${word}**`,
    [
      ...lost.map(({ text, address }) => `- ${text}: ${formatInlineCode(address.slice(1, -1))}`),
      ...left.map(({ link }) => `${LAST_PROVEN}: ${link}`),
    ].join('\n'),
    composeFooter(context),
  ]);
}
