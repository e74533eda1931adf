/**
 * Whether Jekyll leaves the path out of a site.
 *
 * @see https://jekyllrb.com/docs/structure/ and the exclusions of GitHub Pages
 */
export function isLeftOutByJekyll(path: string): boolean {
  const segments = path.split('/');
  const [top] = segments;
  return top === 'node_modules' || top === 'vendor' || segments.some((segment) => /^[_.#]|~$/u.test(segment));
}

/** File name endings that Jekyll renders as Markdown. */
export const MARKDOWN = /\.(md|markdown|mkdown|mkdn|mkd)$/i;

/**
 * Whether Jekyll may change a file: Markdown, and any file that begins with front matter. Every other file is
 * served unchanged.
 *
 * @param head the first bytes of the file
 * @see https://jekyllrb.com/docs/front-matter/
 */
export function mayBeRendered(path: string, head: string): boolean {
  return MARKDOWN.test(path) || head.startsWith('---');
}
