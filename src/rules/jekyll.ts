/**
 * How Jekyll builds a site on GitHub Pages, with the plugins that it has there, as 3.10 and 4.3 did it when they were
 * run. A file with front matter is rendered; Markdown without it is rendered and copied; any other file is copied.
 *
 * @see https://jekyllrb.com/docs/front-matter/ and https://github.com/benbalter/jekyll-optional-front-matter
 */

interface JekyllOutput {
  readonly isCopied: boolean;
  /**
   * The path of the page into which it is rendered; `null` without one. That of a README is not named: it becomes the
   * index of its folder, but only where there is no other.
   */
  readonly page: string | null;
}

/** @param path in the site @param head the first 16 bytes of the file */
export function buildWithJekyll(path: string, head: string): JekyllOutput {
  if (isLeftOutByJekyll(path)) return { isCopied: false, page: null };
  const hasFrontMatter = FRONT_MATTER.test(head);
  const isRendered = hasFrontMatter || (MARKDOWN.test(path) && !NO_PAGE.test(path));
  return { isCopied: !hasFrontMatter, page: isRendered ? path.replace(MARKDOWN, '.html') : null };
}

/** Whether Jekyll leaves the path out of a site. @see https://jekyllrb.com/docs/configuration/options/ (exclude) */
export const isLeftOutByJekyll = (path: string): boolean =>
  EXCLUDED.test(path) || path.split('/').some((part) => /^[_.#~]|~$/u.test(part) && part !== '.htaccess');

/** What Jekyll excludes by default: names at the root, by their beginning, and folders below `vendor`. */
const EXCLUDED = /^(?:gemfiles|Gemfile|node_modules|vendor\/(?:bundle|cache|gems|ruby)\/)/;

const MARKDOWN_ENDINGS = ['md', 'markdown', 'mkdown', 'mkdn', 'mkd'];

export const MARKDOWN = new RegExp(`\\.(?:${MARKDOWN_ENDINGS.join('|')})$`, 'i');

/** The files that Jekyll shows at the address of a page, as far as their names tell; nothing for any other address. */
export const listRivals = (page: string): readonly string[] =>
  PAGE.test(page) ? [page, ...listSources(page).filter((one) => !NO_PAGE.test(one))] : [];

/** The Markdown of which Jekyll makes a page; some of it only if it has front matter. */
export const listSources = (page: string): readonly string[] =>
  PAGE.test(page) ? MARKDOWN_ENDINGS.map((ending) => page.replace(PAGE, `.${ending}`)) : [];

const PAGE = /\.html$/;

/** As `listRivals`, and the READMEs after them, of which Jekyll makes the index of a folder that has no other. */
export const listShown = (page: string): readonly string[] => [...listRivals(page), ...listReadmes(page)];

/** @see https://github.com/benbalter/jekyll-readme-index */
function listReadmes(page: string): readonly string[] {
  const folder = page.replace(/(^|\/)index\.html$/, '$1');
  const names = folder === page ? [] : ['README', 'readme', 'Readme'];
  return names.flatMap((name) => MARKDOWN_ENDINGS.map((ending) => `${folder}${name}.${ending}`));
}

/** The first line is three hyphens and white space; of much white space only the beginning is known. */
const FRONT_MATTER = /^---(?:[ \t\f\v\r]*\n|[ \t\f\v\r]{13})/;

/** Markdown that becomes no page of its own without front matter. */
const NO_PAGE =
  /(?:^|\/)(?:readme|licen[sc]e|copying|code_of_conduct|contributing|issue_template|pull_request_template)\.[^/.]+$/i;
