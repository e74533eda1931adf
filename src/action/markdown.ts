import { showInvisible } from '../plain-text.ts';

/** An invisible character between a sign and what it would refer to. */
const SEPARATOR = '&#8203;';

/** The same for text that people copy: an element that adds no character. GitHub keeps it. */
const COPYABLE_SEPARATOR = '<wbr>';

/**
 * Text that Markdown and HTML show unchanged, in one line. GitHub searches the rendered text for references to people and
 * issues, where an entity is a plain character again: only a separator prevents them.
 */
export const escapeMarkdown = (text: string): string => escapeWith(text, SEPARATOR);

function escapeWith(text: string, separator: string): string {
  return showInvisible(text.replace(/[\s\p{Cc}]+/gu, ' '))
    .replace(/[\\`*_{}[\]<>()#+!|~&$@-]/g, toEntity)
    .replace(/&#(?:35|64);/g, `$&${separator}`)
    .replace(/\bGH(?=&#45;\d)/gi, `$&${separator}`)
    .replace(/:(?=\/\/)|(?<=\bwww)\./gi, toEntity);
}

const toEntity = (sign: string): string => `&#${sign.charCodeAt(0)};`;

export const formatInlineCode = (text: string): string =>
  `<code>${escapeWith(text, COPYABLE_SEPARATOR)}</code>`;

/** A span of code between backticks, or an address without the punctuation behind it. */
const CODE_OR_ADDRESS =
  /(?<![^\s(])`([^`\s](?:[^`]*[^`\s])?)`(?=[\s).,:;]|$)|\bhttps?:\/\/[^\s`]*[^\s`.,:;!?)\]'"]/g;

/** A message of this tool as Markdown, in which only code and addresses are more than text. */
export function formatMessage(text: string): string {
  let formatted = '';
  let end = 0;
  for (const match of text.matchAll(CODE_OR_ADDRESS)) {
    formatted += escapeMarkdown(text.slice(end, match.index)) + formatInlineCode(match[1] ?? match[0]);
    end = match.index + match[0].length;
  }
  return formatted + escapeMarkdown(text.slice(end));
}

/** A link. @param text Markdown @param address absolute URL */
export const formatLink = (text: string, address: string): string =>
  `[${text}](${formatAddressLink(address)})`;

/** A link whose text is its address. @param address absolute URL */
export const formatAddressLink = (address: string): string => `<${escapeAddress(address)}>`;

/** An address that ends neither a link nor an attribute, and in which no entity begins. @param address absolute URL */
export const escapeAddress = (address: string): string =>
  new URL(address).href.replace(/["<>\\|`]/g, encodeURIComponent).replaceAll('&', '&amp;');

export const formatTableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

export const formatTable = (head: readonly string[], rows: readonly string[]): string =>
  [formatTableRow(head), formatTableRow(head.map(() => '---')), ...rows].join('\n');

/** A section that is closed until the reader opens it. @param title HTML in one line */
export const formatFoldedSection = (title: string, content: string): string =>
  `<details><summary>${title}</summary>\n\n${content}\n\n</details>`;

export const joinBlocks = (parts: readonly string[]): string =>
  parts.filter((part) => part !== '').join('\n\n');
