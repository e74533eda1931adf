import * as css from 'css-tree/tokenizer';
import { ident, string, url } from 'css-tree/utils';
import type { FoundAddress } from './addresses.ts';

/** Functions in which a plain string is an address. */
const ADDRESS_FUNCTIONS = new Set(['url', 'src', 'image', 'image-set', '-webkit-image-set']);

/** Tokens that end an at-rule, or the part of it that may have an address. */
const ENDS = new Set([css.Semicolon, css.LeftCurlyBracket, css.RightCurlyBracket]);

/**
 * Addresses in a style sheet, a declaration list or a single value. Tokens are read, not rules: which of them a
 * browser uses depends on the page and the screen, and a page is shown without any of them. Only `@namespace` has
 * addresses that are never fetched.
 *
 * @see https://drafts.csswg.org/css-syntax/#tokenization
 */
export function findCssReferences(text: string): FoundAddress[] {
  const found: FoundAddress[] = [];
  /** The open functions and parentheses, innermost last. */
  const functions: string[] = [];
  /** The current at-rule: `import` until its address is found. */
  let atRule = '';
  const nameAt = (start: number, end: number): string => ident.decode(text.slice(start, end)).toLowerCase();
  const add = (address: string, offset: number): void => {
    if (atRule === 'namespace') return;
    found.push({ offset, address, kind: atRule === 'import' ? 'style' : 'data', grade: 'content' });
    if (atRule === 'import') atRule = '';
  };
  const isAddress = (): boolean =>
    functions.length === 0 ? atRule === 'import' : ADDRESS_FUNCTIONS.has(functions.at(-1) ?? '');
  css.tokenize(text, (type, start, end) => {
    if (type === css.WhiteSpace || type === css.Comment) return;
    if (type === css.Url) add(url.decode(text.slice(start, end)), start);
    else if (type === css.String) {
      if (isAddress()) add(string.decode(text.slice(start, end)), start);
    } else if (type === css.Function) functions.push(nameAt(start, end - 1));
    else if (type === css.LeftParenthesis) functions.push('');
    else if (type === css.RightParenthesis) functions.pop();
    else if (type === css.AtKeyword) atRule = nameAt(start + 1, end);
    // Any other token in the place of the address makes the import invalid.
    else if (ENDS.has(type) || (atRule === 'import' && functions.length === 0)) atRule = '';
  });
  return found;
}
