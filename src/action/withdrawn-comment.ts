import { type CommentContext, composeFooter } from './comment-body.ts';
import { formatAddressLink, formatInlineCode, joinBlocks } from './markdown.ts';
import { REPORT_STATES } from './report-markdown.ts';

/** A link of a comment: its text in Markdown, and the address between `<` and `>`. */
const LINK = /\[([^[\]]*)\]\((<[^<>]*>)\)/g;

/** The links of a comment that lead to its run. */
const isRunLink = (text: string, address: string): boolean =>
  (text === 'run' || text === 'see the summary') && address.includes('/actions/runs/');

/**
 * The comment of another step, where it links to something that is gone by now: it says so, and links to it no more.
 *
 * @param gone addresses that a withdrawal has proven to be gone
 * @returns `null` where the comment links to nothing of it
 */
export function composeWithdrawnComment(
  body: string,
  gone: readonly string[],
  context: Omit<CommentContext, 'marker'>,
): string | null {
  const isGone = createGoneTest(gone);
  const links = [...body.matchAll(LINK)].flatMap(([, text = '', address = '']) =>
    isRunLink(text, address) ? [] : [{ text, address }],
  );
  const lost = links.filter(({ address }) => isGone(address));
  if (lost.length === 0) return null;
  const [marker = ''] = body.split('\n', 1);
  const { sign, word } = REPORT_STATES.withdrawn;
  const names = lost.map(({ text, address }) => `${text}: ${formatInlineCode(address.slice(1, -1))}`);
  const notice = [
    `### ${sign} ${lost.length === 1 ? lost[0]?.text : `${lost.length} previews`}`,
    `**${word}:** ${lost.length === 1 ? 'the preview was' : 'these previews were'} removed.`,
    names.map((name) => `- ${name}`).join('\n'),
  ];
  if (lost.length === links.length)
    return joinBlocks([marker, ...notice, composeFooter({ ...context, marker })]);
  return joinBlocks([marker, ...notice, unlink(body.slice(marker.length).trimStart(), isGone)]);
}

/** The address of a folder's page is that of the folder. */
function createGoneTest(gone: readonly string[]): (address: string) => boolean {
  const withoutIndex = (address: string): string => address.replace(/\/index\.html>$/, '/>');
  const known = new Set(gone.map((address) => withoutIndex(formatAddressLink(address))));
  return (address) => known.has(withoutIndex(address));
}

/** The rest of a comment about several files, without their reports, which say that each of them opens. */
function unlink(rest: string, isGone: (address: string) => boolean): string {
  const { ready, withdrawn } = REPORT_STATES;
  const [shown = ''] = rest.split('\n\n<details><summary>Reports</summary>');
  return shown
    .split('\n')
    .map((line) => {
      const changed = line.replace(LINK, (link, text, address) => (isGone(address) ? text : link));
      return changed === line ? line : changed.replace(`| ${ready.sign} |`, `| ${withdrawn.sign} |`);
    })
    .join('\n');
}
