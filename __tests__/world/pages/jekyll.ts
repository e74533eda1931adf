import { isTextFile } from '../media-types.ts';

const EXCLUDED_START = /^[_.#~]/;
const EXCLUDED_STARTS = ['gemfiles', 'Gemfile', 'node_modules'];
const EXCLUDED_FOLDERS = ['vendor/bundle/', 'vendor/cache/', 'vendor/gems/', 'vendor/ruby/'];
const INCLUDED = '.htaccess';
const FRONT_MATTER_START = /^---[ \t\r\f\v]*\n/;
const FRONT_MATTER = /^---[ \t\r\f\v]*\n(?:[\s\S]*?\r?\n)?---[ \t]*(?:\r?\n|$)/;
const MARKDOWN = /\.(?:md|markdown|mkdown|mkdn|mkd)$/i;

/** Names of Markdown without front matter that the plugin `jekyll-optional-front-matter` does not render. */
const NOT_RENDERED = new Set(
  'README LICENSE LICENCE COPYING CODE_OF_CONDUCT CONTRIBUTING ISSUE_TEMPLATE PULL_REQUEST_TEMPLATE'.split(
    ' ',
  ),
);

/** Whether Jekyll keeps a file out of the site. */
export function isExcluded(path: string): boolean {
  const parts = path.split('/');
  return (
    parts.some((part) => part !== INCLUDED && (EXCLUDED_START.test(part) || part.endsWith('~'))) ||
    [...EXCLUDED_STARTS, ...EXCLUDED_FOLDERS].some((start) => path.startsWith(start))
  );
}

/** The URLs of a file in a site built by Jekyll, each with whether its bytes may change. */
export function listBuiltPaths(path: string, read: () => Buffer): readonly (readonly [string, boolean])[] {
  if (!MARKDOWN.test(path)) return [[path, isTextFile(path)]];
  const page = path.replace(MARKDOWN, '.html');
  if (FRONT_MATTER_START.test(read().toString('latin1', 0, 1024))) return [[page, true]];
  const name = path.replace(/.*\//s, '').replace(MARKDOWN, '').toUpperCase();
  const copy = [path, false] as const;
  return NOT_RENDERED.has(name) ? [copy] : [copy, [page, true]];
}

/** The URL of a README that becomes its folder's missing index (`jekyll-readme-index`). */
export const getReadmeIndex = (path: string): string | null =>
  MARKDOWN.test(path) && /(?:^|\/)readme\.[^/.]*$/i.test(path) ? path.replace(/[^/]*$/, 'index.html') : null;

/** Renders a file like Jekyll: Markdown becomes a page, front matter is removed, the rest stays. */
export function renderFile(path: string, source: Buffer): Buffer {
  const isMarkdown = MARKDOWN.test(path);
  const frontMatter = FRONT_MATTER.exec(source.subarray(0, 64 * 1024).toString())?.[0];
  if (!isMarkdown && frontMatter === undefined) return source;
  const content = source.subarray(Buffer.byteLength(frontMatter ?? ''));
  if (!isMarkdown) return content;
  return Buffer.from(`<!DOCTYPE html>\n<html lang="en-US">
  <head><meta charset="UTF-8"><meta name="generator" content="Jekyll v3.10.0" /></head>
  <body><div class="container-lg markdown-body">${renderParagraphs(content.toString())}</div></body>\n</html>\n`);
}

/** Not a Markdown processor: only changes the file's bytes. */
function renderParagraphs(markdown: string): string {
  const blocks = markdown.trim().split(/\n{2,}/);
  return blocks
    .map((block) => (block.startsWith('# ') ? `<h1>${block.slice(2)}</h1>` : `<p>${block}</p>`))
    .join('\n');
}
