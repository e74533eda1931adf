/** What Jekyll makes of a file by its name and beginning. */

/**
 * Whether Jekyll leaves the path out of a site.
 *
 * @see https://jekyllrb.com/docs/structure/ and Pages' own exclusions
 */
export function isLeftOutByJekyll(path: string): boolean {
  const segments = path.split('/');
  const [top] = segments;
  return top === 'node_modules' || top === 'vendor' || segments.some((segment) => /^[_.#]|~$/u.test(segment));
}

/** Endings that it renders as Markdown. */
export const MARKDOWN = /\.(md|markdown|mkdown|mkdn|mkd)$/i;

/**
 * Whether it may rightly change a file: Markdown, and whatever begins with front matter. Everything else
 * is served as it stands.
 *
 * @param head the file's first bytes
 * @see https://jekyllrb.com/docs/front-matter/
 */
export function mayBeRendered(path: string, head: string): boolean {
  return MARKDOWN.test(path) || head.startsWith('---');
}
