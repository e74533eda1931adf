import * as css from 'css-tree/tokenizer';
import { ident, string, url } from 'css-tree/utils';
import type { FoundAddress } from './addresses.ts';

/** Functions in which a plain string is an address. */
const TAKES_ADDRESS = new Set(['url', 'src', 'image', 'image-set', '-webkit-image-set']);

/**
 * Addresses that a style sheet, a declaration list or a single value would fetch.
 *
 * It looks at tokens, not at rules: what is broken for one browser may be whole for another, so an address
 * counts wherever it stands, an `@import` in the wrong place too. Only `@namespace` names without fetching.
 *
 * @see https://drafts.csswg.org/css-syntax/#tokenization
 */
export function cssReferences(text: string): FoundAddress[] {
  const source = plainUrls(text);
  const found: FoundAddress[] = [];
  /** The functions and parentheses we are within, innermost last. */
  const within: string[] = [];
  /** The at-rule whose address we wait for, or whose addresses mean nothing. */
  let rule = '';
  const see = (offset: number, address: string): void => {
    if (rule !== 'namespace') found.push({ offset, address, kind: rule === 'import' ? 'style' : 'data' });
    if (rule === 'import') rule = '';
  };
  css.tokenize(source, (type, start, end) => {
    const written = (): string => source.slice(start, end);
    if (type === css.WhiteSpace || type === css.Comment) return;
    if (type === css.Url) return see(start, url.decode(written()));
    if (type === css.String) {
      const addressed = within.length === 0 ? rule === 'import' : TAKES_ADDRESS.has(within.at(-1) ?? '');
      if (addressed) see(start, string.decode(written()));
    } else if (type === css.Function) {
      within.push(ident.decode(written().slice(0, -1)).toLowerCase());
    } else if (type === css.LeftParenthesis) {
      within.push('');
    } else if (type === css.RightParenthesis) {
      within.pop();
    } else if (type === css.AtKeyword) {
      rule = ident.decode(written().slice(1)).toLowerCase();
    } else if (type === css.Semicolon || type === css.LeftCurlyBracket) {
      rule = '';
    } else if (rule === 'import') {
      // Anything else where the address should stand makes the import void.
      rule = '';
    }
  });
  return found;
}

/**
 * Unquoted `url(` has its own syntax, which css-tree knows only by its plain name: an escaped one, such as
 * `\75rl(`, is written out, padded so that every offset stays.
 */
function plainUrls(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPED_URL, (name) => (name.includes('\\') ? 'url('.padStart(name.length) : name));
}

/** A letter as it is, with a backslash before it, or by its number in upper or lower case. */
const letter = (plain: string, upper: string, lower: string): string =>
  `(?:\\\\?${plain}|\\\\0{0,4}(?:${upper}|${lower})(?:\\r\\n|[ \\t\\r\\n\\f])?)`;

/** `url(` in any notation, where it is a whole name and not the end of a longer one. */
const ESCAPED_URL = new RegExp(
  `(?=[u\\\\])(?<![\\w@#\\\\-]|[^\\0-\\x7f]|\\\\[0-9a-f]{1,6}\\s)${letter('u', '55', '75')}${letter('r', '52', '72')}${letter('l', '4c', '6c')}\\(`,
  'gi',
);
