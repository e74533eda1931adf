import * as css from 'css-tree/tokenizer';
import { ident, string, url } from 'css-tree/utils';
import { parse } from 'es-module-lexer/minimal/js';
import type { AddAddress } from './addresses.ts';

/** Finds static imports of a module, and literal addresses of `import()`. A browser sees the rest. */
export function findScriptReferences(code: string, isModule: boolean, add: AddAddress): void {
  for (const { n: address, s: start, e: stop, d: call, a: attributes, offset } of readImports(code)) {
    const isStatic = call === -1;
    if (address === undefined || (isStatic && !isModule)) continue;
    const kind = isStatic && attributes !== -1 ? 'data' : 'module';
    const place = { offset: offset + start, end: offset + stop };
    add({ ...place, address, kind, grade: isStatic ? 'code' : 'later', isSpecifier: true });
  }
}

/** Finds each `import.meta.url` of a module. */
export function findOwnAddress(code: string, add: AddAddress): void {
  for (const { d: call, s: start, e: stop, offset } of readImports(code)) {
    const [field = ''] = /^\s*\.\s*url\b/.exec(code.slice(offset + stop, offset + stop + 100)) ?? [];
    if (call !== -2 || field === '') continue;
    const place = { offset: offset + start, end: offset + stop + field.length };
    add({ ...place, address: 'import.meta.url', kind: 'data', grade: 'later' });
  }
}

/** Whether a script computes what it imports, or may use its own address other than as `import.meta.url`. */
export function computesUrls(code: string): boolean {
  for (const { n: address, d: call, e: stop, offset } of readImports(code)) {
    const isKept = /^\s*\.\s*(?!resolve\b)\w/.test(code.slice(offset + stop, offset + stop + 100));
    if (call === -2 ? !isKept : address === undefined) return true;
  }
  return false;
}

function* readImports(
  code: string,
): Generator<Imports[number] & { readonly offset: number }, void, undefined> {
  if (!/import|export/.test(code)) return;
  for (let offset = 0; offset < code.length; ) {
    const { end, imports } = lexPiece(code, offset);
    for (const found of imports) yield { ...found, offset };
    offset = end;
  }
}

type Imports = ReturnType<typeof parse>[0];

/** Characters of a script that are read at once: the lexer needs twelve bytes for each. */
const PIECE = 2 ** 16;

/** Added to a piece: the lexer finds it only if a statement may begin there. */
const PROBE = '\nimport "\\0"';

function lexPiece(code: string, start: number): { readonly end: number; readonly imports: Imports } {
  for (let length = PIECE; start + length < code.length; length *= 2) {
    const end = code.lastIndexOf('\n', start + length);
    const imports = end > start ? lexImports(code.slice(start, end) + PROBE) : [];
    if (imports.at(-1)?.n === '\0') return { end, imports: imports.slice(0, -1) };
  }
  return { end: code.length, imports: lexImports(code.slice(start)) };
}

/** A browser can't run a script that the lexer can't read. */
function lexImports(code: string): Imports {
  try {
    return parse(code)[0];
  } catch {
    return [];
  }
}

/** Functions in which a plain string is an address. */
const ADDRESS_FUNCTIONS = new Set(['url', 'src', 'image', 'image-set', '-webkit-image-set']);

const ENDS = new Set([css.Semicolon, css.LeftCurlyBracket, css.RightCurlyBracket]);

/**
 * Finds addresses in a style sheet, a declaration list or a single value. It reads tokens, not rules, because the page
 * and the screen decide which rules a browser uses. Only `@namespace` has addresses that are never fetched.
 * @see https://drafts.csswg.org/css-syntax/#tokenization
 */
export function findCssReferences(text: string, add: AddAddress): void {
  const functions: string[] = [];
  let atRule = '';
  const nameAt = (start: number, end: number): string => ident.decode(text.slice(start, end)).toLowerCase();
  const addAt = (offset: number, end: number, address: string): void => {
    if (atRule === 'namespace') return;
    add({ offset, end, address, kind: atRule === 'import' ? 'style' : 'data', grade: 'content' });
    if (atRule === 'import') atRule = '';
  };
  const isAddress = (): boolean =>
    functions.length === 0 ? atRule === 'import' : ADDRESS_FUNCTIONS.has(functions.at(-1) ?? '');
  css.tokenize(text, (type, start, end) => {
    if (type === css.WhiteSpace || type === css.Comment) return;
    if (type === css.Url) addAt(start, end, url.decode(text.slice(start, end)));
    else if (type === css.String) {
      if (isAddress()) addAt(start, end, string.decode(text.slice(start, end)));
    } else if (type === css.Function) functions.push(nameAt(start, end - 1));
    else if (type === css.LeftParenthesis) functions.push('');
    else if (type === css.RightParenthesis) functions.pop();
    else if (type === css.AtKeyword) atRule = nameAt(start + 1, end);
    // Any other token instead of the address makes the import invalid.
    else if (ENDS.has(type) || (atRule === 'import' && functions.length === 0)) atRule = '';
  });
}
