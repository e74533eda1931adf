import * as css from 'css-tree/tokenizer';
import { ident, string, url } from 'css-tree/utils';
import type { FoundAddress } from './addresses.ts';

/** Functions in which a plain string is an address. */
const ADDRESS_FUNCTIONS = new Set(['url', 'src', 'image', 'image-set', '-webkit-image-set']);

interface CssState {
  readonly found: FoundAddress[];
  /** The open functions and parentheses, innermost last. */
  readonly functions: string[];
  /** The current at-rule: `import` until its address is found, or `namespace`, whose addresses are not fetched. */
  atRule: string;
}

/**
 * Addresses that a style sheet, a declaration list or a single value would fetch.
 *
 * Tokens are checked, not rules: a rule that is invalid for one browser may be valid for another, so an address
 * counts anywhere, also in an `@import` in the wrong place. Only `@namespace` contains addresses without
 * fetching them.
 *
 * @see https://drafts.csswg.org/css-syntax/#tokenization
 */
export function findCssReferences(text: string): FoundAddress[] {
  const source = decodeUrlNames(text);
  const state: CssState = { found: [], functions: [], atRule: '' };
  css.tokenize(source, (type, start, end) => {
    if (type !== css.WhiteSpace && type !== css.Comment) {
      readCssToken(state, type, source.slice(start, end), start);
    }
  });
  return state.found;
}

function readCssToken(state: CssState, type: number, token: string, offset: number): void {
  const { functions } = state;
  if (type === css.Url) addAddress(state, url.decode(token), offset);
  else if (type === css.String) {
    const isAddress =
      functions.length === 0 ? state.atRule === 'import' : ADDRESS_FUNCTIONS.has(functions.at(-1) ?? '');
    if (isAddress) addAddress(state, string.decode(token), offset);
  } else if (type === css.Function) functions.push(ident.decode(token.slice(0, -1)).toLowerCase());
  else if (type === css.LeftParenthesis) functions.push('');
  else if (type === css.RightParenthesis) functions.pop();
  else if (type === css.AtKeyword) state.atRule = ident.decode(token.slice(1)).toLowerCase();
  else if (type === css.Semicolon || type === css.LeftCurlyBracket) state.atRule = '';
  // Any other token in the place of the address makes the import invalid.
  else if (state.atRule === 'import') state.atRule = '';
}

function addAddress(state: CssState, address: string, offset: number): void {
  const { atRule, found } = state;
  if (atRule !== 'namespace') found.push({ offset, address, kind: atRule === 'import' ? 'style' : 'data' });
  if (atRule === 'import') state.atRule = '';
}

/**
 * An unquoted `url(` has its own syntax, which css-tree recognizes only by its plain name. An escaped name, such
 * as `\75rl(`, is replaced by the plain one, padded so that all offsets stay the same.
 */
function decodeUrlNames(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPED_URL, (name) => (name.includes('\\') ? 'url('.padStart(name.length) : name));
}

/** Matches a letter as it is, with a backslash before it, or as a hexadecimal escape in upper or lower case. */
const letterPattern = (plain: string, upper: string, lower: string): string =>
  `(?:\\\\?${plain}|\\\\0{0,4}(?:${upper}|${lower})(?:\\r\\n|[ \\t\\r\\n\\f])?)`;

/** `url(` in any notation, if it is a whole name and not the end of a longer one. */
const ESCAPED_URL = new RegExp(
  `(?=[u\\\\])(?<![\\w@#\\\\-]|[^\\0-\\x7f]|\\\\[0-9a-f]{1,6}\\s)${letterPattern('u', '55', '75')}${letterPattern('r', '52', '72')}${letterPattern('l', '4c', '6c')}\\(`,
  'gi',
);
