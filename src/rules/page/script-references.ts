import * as css from 'css-tree/tokenizer';
import { ident, string, url } from 'css-tree/utils';
import { parse } from 'es-module-lexer/minimal/js';
import type { FoundAddress } from './addresses.ts';

/**
 * Addresses in a script: what a module imports statically, and, perhaps loaded later, the literal addresses of
 * `import()` and those with a host in other calls. Which code runs, and when, is not guessed. The bare name of a module
 * is an address only for an import map.
 */
export function findScriptReferences(code: string, isModule: boolean): FoundAddress[] {
  return [...findImports(code, isModule), ...findCalls(code)].sort((one, other) => one.offset - other.offset);
}

function findImports(code: string, isModule: boolean): FoundAddress[] {
  if (!/import|export/.test(code)) return [];
  return lexImports(code).flatMap(({ n: address, s: offset, d: call, a: attributes }): FoundAddress[] => {
    if (address === undefined) return [];
    const isStatic = call === -1;
    if (isStatic && !isModule) return [];
    const kind = isStatic && attributes !== -1 ? 'data' : 'module';
    return [{ offset, address, kind, grade: isStatic ? 'code' : 'later', isSpecifier: true }];
  });
}

/** What the lexer can't read, a browser can't run. */
function lexImports(code: string): ReturnType<typeof parse>[0] {
  try {
    return parse(code)[0];
  } catch {
    return [];
  }
}

/** A call or assignment that loads something, with an address that has a host, as far as it is written there. */
const CALL =
  /(?:\b(?:fetch|Request|Worker|SharedWorker|importScripts|EventSource|WebSocket|sendBeacon)\s*\(\s*|\.open\s*\(\s*["'`]\w+["'`]\s*,\s*|\.src\s*=\s*)["'`]((?:https?:|wss?:)?\/\/[^"'`\s\\$]+)/g;

function findCalls(code: string): FoundAddress[] {
  return Array.from(code.matchAll(CALL), (call): FoundAddress => {
    const [found, address = ''] = call;
    const offset = call.index + found.length - address.length;
    return { offset, address, kind: 'data', grade: 'later' };
  });
}

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
