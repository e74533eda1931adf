/**
 * How Jekyll 3.10 and 4.3 build a site with the plugins of GitHub Pages: a file with front matter is rendered, Markdown
 * without it is rendered and copied, and any other file is copied.
 *
 * @see https://jekyllrb.com/docs/front-matter/ and https://github.com/benbalter/jekyll-optional-front-matter
 */

/**
 * @param path in the site @param head the first 16 bytes of the file
 * @returns the rendered page's path or `null`; also for a README, which becomes an index only if there is no other
 */
export function buildWithJekyll(path: string, head: string) {
  if (isLeftOutByJekyll(path)) return { isCopied: false, page: null };
  const hasFrontMatter = FRONT_MATTER.test(head);
  const isRendered = hasFrontMatter || (MARKDOWN.test(path) && !NO_PAGE.test(path));
  return { isCopied: !hasFrontMatter, page: isRendered ? path.replace(MARKDOWN, '.html') : null };
}

/** Whether Jekyll only copies the file. A README may become a page if its folder has no other index. */
export const isOnlyCopied = (path: string, head: string): boolean =>
  buildWithJekyll(path, head).isCopied && !MARKDOWN.test(path);

/** Whether Jekyll excludes the path. @see https://jekyllrb.com/docs/configuration/options/ (exclude) */
export const isLeftOutByJekyll = (path: string): boolean =>
  EXCLUDED.test(path) || path.split('/').some((part) => /^[_.#~]|~$/u.test(part) && part !== '.htaccess');

const EXCLUDED = /^(?:gemfiles|Gemfile|node_modules|vendor\/(?:bundle|cache|gems|ruby)\/)/;

const MARKDOWN_ENDINGS = ['md', 'markdown', 'mkdown', 'mkdn', 'mkd'];

export const MARKDOWN = new RegExp(`\\.(?:${MARKDOWN_ENDINGS.join('|')})$`, 'i');

/** Files that Jekyll may show at this page's URL; empty if the path isn't a page. */
export const listRivals = (page: string): readonly string[] =>
  PAGE.test(page) ? [page, ...listSources(page).filter((source) => !NO_PAGE.test(source))] : [];

/** The Markdown files that Jekyll may render into this page; some only if they have front matter. */
export const listSources = (page: string): readonly string[] =>
  PAGE.test(page) ? MARKDOWN_ENDINGS.map((ending) => page.replace(PAGE, `.${ending}`)) : [];

const PAGE = /\.html$/;

/** `listRivals`, then the READMEs that Jekyll uses if a folder lacks an index. */
export const listShown = (page: string): readonly string[] => [...listRivals(page), ...listReadmes(page)];

/** @see https://github.com/benbalter/jekyll-readme-index */
function listReadmes(page: string): readonly string[] {
  const folder = page.replace(/(^|\/)index\.html$/, '$1');
  const names = folder === page ? [] : ['README', 'readme', 'Readme'];
  return names.flatMap((name) => MARKDOWN_ENDINGS.map((ending) => `${folder}${name}.${ending}`));
}

/** A first line of three hyphens and white space, as far as the first 16 bytes show it. */
const FRONT_MATTER = /^---(?:[ \t\f\v\r]*\n|[ \t\f\v\r]{13})/;

/** Markdown that Jekyll renders only if it has front matter. */
const NO_PAGE =
  /(?:^|\/)(?:readme|licen[sc]e|copying|code_of_conduct|contributing|issue_template|pull_request_template)\.[^/.]+$/i;
