import { showInvisible } from '../plain-text.ts';

/** An invisible character that breaks references, such as `#` before a number. */
const SEPARATOR = '&#8203;';

/** For text that people copy, because an element adds no character. */
const COPYABLE_SEPARATOR = '<wbr>';

/**
 * Markdown and HTML show the text unchanged, in one line. GitHub searches the rendered text for mentions of people and
 * issues and for names of emoji, so entities alone don't prevent them: separators do.
 */
export const escapeMarkdown = (text: string): string => escapeWith(text, SEPARATOR);

function escapeWith(text: string, separator: string): string {
  return showInvisible(text.replace(/[\s\p{Cc}]+/gu, ' '))
    .replace(/[\\`*_{}[\]<>()#+!|~&$@-]/g, toEntity)
    .replace(/&#(?:35|64);/g, `$&${separator}`)
    .replace(/\bGH(?=&#45;\d)|:(?=[\w&#;]+:)/gi, `$&${separator}`)
    .replace(/:(?=\/\/)|(?<=\bwww)\./gi, toEntity);
}

const toEntity = (sign: string): string => `&#${sign.charCodeAt(0)};`;

export const formatInlineCode = (text: string): string =>
  `<code>${escapeWith(text, COPYABLE_SEPARATOR)}</code>`;

/** Code between backticks, or a URL without the punctuation after it. */
const CODE_OR_ADDRESS =
  /(?<![^\s(])`([^`\s](?:[^`]*[^`\s])?)`(?=[\s).,:;]|$)|\bhttps?:\/\/[^\s`]*[^\s`.,:;!?)\]'"]/g;

/** Formats a message of this tool, with its code and URLs. */
export function formatMessage(text: string): string {
  let formatted = '';
  let end = 0;
  for (const match of text.matchAll(CODE_OR_ADDRESS)) {
    formatted += escapeMarkdown(text.slice(end, match.index)) + formatInlineCode(match[1] ?? match[0]);
    end = match.index + match[0].length;
  }
  return formatted + escapeMarkdown(text.slice(end));
}

/** @param text Markdown @param address absolute URL */
export const formatLink = (text: string, address: string): string =>
  `[${text}](${formatAddressLink(address)})`;

export const formatAddressLink = (address: string): string => `<${escapeAddress(address)}>`;

/** Escapes a URL for a link or an attribute. @param address absolute URL */
export const escapeAddress = (address: string): string =>
  new URL(address).href.replace(/["<>\\|`]/g, encodeURIComponent).replaceAll('&', '&amp;');

export const formatTableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

export const formatTable = (head: readonly string[], rows: readonly string[]): string =>
  [formatTableRow(head), formatTableRow(head.map(() => '---')), ...rows].join('\n');

/** @param title HTML in one line */
export const formatFoldedSection = (title: string, content: string): string =>
  `<details><summary>${title}</summary>\n\n${content}\n\n</details>`;

export const joinBlocks = (parts: readonly string[]): string =>
  parts.filter((part) => part !== '').join('\n\n');
