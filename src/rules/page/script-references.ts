import * as css from 'css-tree/tokenizer';
import { ident, string, url } from 'css-tree/utils';
import { parse } from 'es-module-lexer/minimal/js';
import type { AddAddress } from './addresses.ts';

/**
 * What a module imports statically, and, perhaps loaded later, literal addresses of `import()`. A browser sees the rest.
 */
export function findScriptReferences(code: string, isModule: boolean, add: AddAddress): void {
  if (!/import|export/.test(code)) return;
  for (let start = 0; start < code.length; ) {
    const { end, imports } = lexPiece(code, start);
    for (const { n: address, s: at, d: call, a: attributes } of imports) {
      const isStatic = call === -1;
      if (address === undefined || (isStatic && !isModule)) continue;
      const kind = isStatic && attributes !== -1 ? 'data' : 'module';
      add({ offset: start + at, address, kind, grade: isStatic ? 'code' : 'later', isSpecifier: true });
    }
    start = end;
  }
}

type Imports = ReturnType<typeof parse>[0];

/** How much of a script is read at once, in characters: the lexer takes twelve bytes for each. */
const PIECE = 2 ** 16;

/** Stands after a piece: the lexer finds it only if a statement may begin there. */
const PROBE = '\nimport "\\0"';

/** The imports from a position on, up to a line in which a statement begins, or to the end. */
function lexPiece(code: string, start: number): { readonly end: number; readonly imports: Imports } {
  for (let length = PIECE; start + length < code.length; length *= 2) {
    const end = code.lastIndexOf('\n', start + length);
    const imports = end > start ? lexImports(code.slice(start, end) + PROBE) : [];
    if (imports.at(-1)?.n === '\0') return { end, imports: imports.slice(0, -1) };
  }
  return { end: code.length, imports: lexImports(code.slice(start)) };
}

/** What the lexer can't read, a browser can't run. */
function lexImports(code: string): Imports {
  try {
    return parse(code)[0];
  } catch {
    return [];
  }
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
export function findCssReferences(text: string, add: AddAddress): void {
  const functions: string[] = [];
  /** The current at-rule: `import` until its address is found. */
  let atRule = '';
  const nameAt = (start: number, end: number): string => ident.decode(text.slice(start, end)).toLowerCase();
  const addAt = (offset: number, address: string): void => {
    if (atRule === 'namespace') return;
    add({ offset, address, kind: atRule === 'import' ? 'style' : 'data', grade: 'content' });
    if (atRule === 'import') atRule = '';
  };
  const isAddress = (): boolean =>
    functions.length === 0 ? atRule === 'import' : ADDRESS_FUNCTIONS.has(functions.at(-1) ?? '');
  css.tokenize(text, (type, start, end) => {
    if (type === css.WhiteSpace || type === css.Comment) return;
    if (type === css.Url) addAt(start, url.decode(text.slice(start, end)));
    else if (type === css.String) {
      if (isAddress()) addAt(start, string.decode(text.slice(start, end)));
    } else if (type === css.Function) functions.push(nameAt(start, end - 1));
    else if (type === css.LeftParenthesis) functions.push('');
    else if (type === css.RightParenthesis) functions.pop();
    else if (type === css.AtKeyword) atRule = nameAt(start + 1, end);
    // Any other token in the place of the address makes the import invalid.
    else if (ENDS.has(type) || (atRule === 'import' && functions.length === 0)) atRule = '';
  });
}
