/**
 * Whether a site's build may rightly change a file: Markdown, and whatever begins with front matter.
 * Everything else is served as it stands.
 *
 * @param head the file's first bytes
 * @see https://jekyllrb.com/docs/front-matter/
 */
export function mayBeRendered(path: string, head: string): boolean {
  return /\.(md|markdown|mkdown|mkdn|mkd)$/i.test(path) || head.startsWith('---');
}
