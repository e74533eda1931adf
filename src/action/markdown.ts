/** Stands between a sign and what it would refer to; it takes no room. */
const APART = '&#8203;';

/**
 * Text that Markdown and HTML show as it is, in one line: no markup, no formula, no address that turns into
 * a link by itself, and no name, issue or pull request that is told of it. The host looks for references in
 * what is shown, where an entity is a plain sign again: only something in between keeps them apart.
 */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/[\\`*_{}[\]<>()#+!|~&$@-]/g, entity)
    .replace(/&#(?:35|64);/g, `$&${APART}`)
    .replace(/\bGH(?=&#45;\d)/gi, `$&${APART}`)
    .replace(/:(?=\/\/)|(?<=\bwww)\./gi, entity);
}

const entity = (sign: string): string => `&#${sign.charCodeAt(0)};`;

/** Text in a typewriter's letters, where the host looks for no references. */
export const inlineCode = (text: string): string => `<code>${escapeMarkdown(text)}</code>`;

/** A link. @param text Markdown @param address absolute */
export const link = (text: string, address: string): string => `[${text}](${addressLink(address)})`;

/** An address as a link that shows itself. @param address absolute */
export const addressLink = (address: string): string =>
  `<${new URL(address).href.replace(/[<>\\|`]/g, encodeURIComponent).replace(/&(?=#?\w+;)/g, '&amp;')}>`;

/** A row of a table; the cells are Markdown in one line. */
export const tableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** A table of rows. */
export const table = (head: readonly string[], rows: readonly string[]): string =>
  [tableRow(head), tableRow(head.map(() => '---')), ...rows].join('\n');

/** What a reader unfolds. @param title HTML in one line */
export const foldedSection = (title: string, content: string): string =>
  `<details><summary>${title}</summary>\n\n${content}\n\n</details>`;

/** Signs between two blocks. */
export const BREAK = 2;

/** Blocks, an empty line between them; those without content leave none. */
export const blocks = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n');

/** As many of the first items as there is room for, written out with an empty line after each. */
export function takeWhileFits<T>(
  items: readonly T[],
  write: (item: T) => string,
  room: number,
  measure: (text: string) => number,
): string[] {
  const written: string[] = [];
  let left = room;
  for (const item of items) {
    const text = write(item);
    left -= measure(text) + BREAK;
    if (left < 0) break;
    written.push(text);
  }
  return written;
}
