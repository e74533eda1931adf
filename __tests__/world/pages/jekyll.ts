import { isTextFile } from '../media-types.ts';

const EXCLUDED_START = /^[_.#]/;
const EXCLUDED_FOLDERS = new Set(['node_modules', 'vendor']);
const FRONT_MATTER = /^---[ \t]*\r?\n(?:[\s\S]*?\r?\n)?---[ \t]*(?:\r?\n|$)/;

/** Whether Jekyll keeps a file out of the site. */
export function isExcluded(path: string): boolean {
  const parts = path.split('/');
  return (
    parts.some((part) => EXCLUDED_START.test(part) || part.endsWith('~')) ||
    EXCLUDED_FOLDERS.has(parts[0] as string)
  );
}

/** The address that a file gets in a site built by Jekyll. */
export function getBuiltPath(path: string): string {
  return path.replace(/\.(md|markdown)$/, '.html');
}

/** Whether Jekyll may change a file's bytes; the others are copied. */
export function mayBeTransformed(path: string): boolean {
  return isTextFile(path);
}

/** Renders a file like Jekyll: Markdown becomes a page, front matter is removed, the rest stays. */
export function renderFile(path: string, source: Buffer): Buffer {
  const isMarkdown = getBuiltPath(path) !== path;
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
