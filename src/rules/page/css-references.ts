import * as css from 'css-tree/tokenizer';
import { ident, string, url } from 'css-tree/utils';
import { type FoundAddress, laterGrade, type ReferenceGrade, type ResourceKind } from './addresses.ts';
import {
  type FontSource,
  formatFontRule,
  gradeFontSources,
  gradeImport,
  gradePrelude,
} from './css-grades.ts';

/** Functions in which a plain string is an address. */
const ADDRESS_FUNCTIONS = new Set(['url', 'src', 'image', 'image-set', '-webkit-image-set']);

/** A block in braces, or the style sheet itself. */
interface CssBlock {
  /** The selector of the rule; for a font `@font-face NAME`, as far as its name is known. */
  rule: string;
  readonly grade: ReferenceGrade;
  /** The sources of a font; `null` for any other block. */
  readonly fontSources: FontSource<CssAddress>[] | null;
  /** The characters that a font is for, as they are written; empty without. */
  range: string;
}

/** An address whose grade may still change. */
type CssAddress = { -readonly [Field in keyof FoundAddress]: FoundAddress[Field] };

interface CssState {
  readonly source: string;
  readonly found: CssAddress[];
  /** Filled if the uses of fonts are asked for. */
  readonly fontUses: FontUse[] | null;
  /** The open functions and parentheses, innermost last. */
  readonly functions: string[];
  /** How many addresses were found before each of them. */
  readonly functionStarts: number[];
  /** The style sheet and the open blocks, innermost last. */
  readonly blocks: CssBlock[];
  /** The current at-rule: `import` until its address is found, or `namespace`, whose addresses are not fetched. */
  atRule: string;
  /** Where the current selector or declaration begins. */
  statementStart: number;
  /** The name of the current declaration, in lower case. */
  property: string;
  /** How many declarations of the block ended. */
  declarations: number;
  /** The import whose conditions follow. */
  lastImport: CssAddress | null;
  /** Where these conditions begin. */
  conditionsStart: number;
  /** Whether a rule came before, after which a browser ignores imports. */
  hasRule: boolean;
}

/**
 * Addresses that a style sheet, a declaration list or a single value would fetch.
 *
 * Tokens are checked, not rules: a rule that is invalid for one browser may be valid for another. Only
 * `@namespace` contains addresses without fetching them. What a browser uses only under a condition that a page
 * does not begin with (print, hover), a misplaced `@import`, the further formats of a font and the value of a
 * custom property are graded `later`.
 *
 * @see https://drafts.csswg.org/css-syntax/#tokenization
 */
export function findCssReferences(text: string): FoundAddress[] {
  return readCss(text).found;
}

/** A declaration outside of `@font-face` that may name a font. */
interface FontUse {
  /** The declaration as it is written. */
  readonly declaration: string;
  /** The selector of its rule. */
  readonly rule: string;
}

/** The declarations of a style sheet that choose a font, and those of custom properties. */
export function findFontUses(text: string): readonly FontUse[] {
  return readCss(text, []).fontUses ?? [];
}

function readCss(text: string, fontUses: FontUse[] | null = null): CssState {
  const source = decodeUrlNames(text);
  const state: CssState = {
    source,
    found: [],
    fontUses,
    functions: [],
    functionStarts: [],
    blocks: [{ rule: '', grade: 'start', fontSources: null, range: '' }],
    atRule: '',
    statementStart: 0,
    property: '',
    declarations: 0,
    lastImport: null,
    conditionsStart: 0,
    hasRule: false,
  };
  css.tokenize(source, (type, start, end) => {
    if (type !== css.WhiteSpace && type !== css.Comment) {
      readCssToken(state, type, start, end);
    }
  });
  endStatement(state, source.length);
  while (state.blocks.length > 1) closeBlock(state);
  return state;
}

function readCssToken(state: CssState, type: number, start: number, end: number): void {
  const { source } = state;
  const read = (): string => source.slice(start, end);
  if (type === css.Url) addAddress(state, url.decode(read()), start, end);
  else if (type === css.String) readString(state, string.decode(read()), start, end);
  else if (type === css.Function)
    openFunction(state, ident.decode(source.slice(start, end - 1)).toLowerCase());
  else if (type === css.LeftParenthesis) openFunction(state, '');
  else if (type === css.RightParenthesis) closeFunction(state, end);
  else if (type === css.AtKeyword) state.atRule = ident.decode(source.slice(start + 1, end)).toLowerCase();
  else if (type === css.Semicolon) endStatement(state, start, end);
  else if (type === css.LeftCurlyBracket) openBlock(state, start, end);
  else if (type === css.RightCurlyBracket) {
    endStatement(state, start, end);
    closeBlock(state);
  } else if (type === css.Ident) readIdent(state, read());
  // Any other token in the place of the address makes the import invalid.
  else if (state.atRule === 'import') state.atRule = '';
}

function openFunction({ functions, functionStarts, found }: CssState, name: string): void {
  functions.push(name);
  functionStarts.push(found.length);
}

/** Of the images of a set a browser loads one. The conditions of an import begin after its `url("…")`. */
function closeFunction(state: CssState, end: number): void {
  const { functions, functionStarts, found } = state;
  const name = functions.pop() ?? '';
  if (functions.length === 0 && ADDRESS_FUNCTIONS.has(name)) state.conditionsStart = end;
  const set = found.slice(functionStarts.pop());
  if (!name.endsWith('image-set') || set.length < 2) return;
  for (const one of set) one.others = set.filter((other) => other !== one).map(({ address }) => address);
}

function readString(state: CssState, text: string, start: number, end: number): void {
  const { functions, atRule } = state;
  const isAddress =
    functions.length === 0 ? atRule === 'import' : ADDRESS_FUNCTIONS.has(functions.at(-1) ?? '');
  if (isAddress) addAddress(state, text, start, end);
  else if (state.property === 'font-family') nameFont(state, text);
  else setFormat(state, text);
}

function readIdent(state: CssState, name: string): void {
  const { functions, property, statementStart } = state;
  if (state.atRule === 'import' && functions.length === 0) state.atRule = '';
  if (property === '' && state.atRule === '' && statementStart >= 0)
    state.property = ident.decode(name).toLowerCase();
  else if (property === 'font-family') nameFont(state, ident.decode(name));
  else setFormat(state, name);
}

function nameFont({ blocks }: CssState, name: string): void {
  const block = blocks.at(-1);
  if (block?.fontSources)
    block.rule = block.rule === '@font-face' ? `@font-face ${name}` : `${block.rule} ${name}`;
}

/** Keeps the format of the last source of a font. */
function setFormat({ blocks, functions }: CssState, format: string): void {
  const source = functions.at(-1) === 'format' ? blocks.at(-1)?.fontSources?.at(-1) : undefined;
  if (source !== undefined) source.format = format.toLowerCase();
}

function addAddress(state: CssState, address: string, offset: number, end: number): void {
  const { atRule, found, blocks, property } = state;
  if (atRule === 'namespace') return;
  const { rule, grade, fontSources } = blocks.at(-1) as CssBlock;
  const isImport = atRule === 'import';
  const kind: ResourceKind = isImport ? 'style' : 'data';
  const isUnused = isImport ? state.hasRule : property.startsWith('--') || property.endsWith('behavior');
  const added: CssAddress = { offset, address, kind, grade: isUnused ? 'later' : grade };
  if (rule !== '') added.rule = rule;
  found.push(added);
  if (isImport) {
    state.lastImport = added;
    state.conditionsStart = end;
    state.atRule = '';
  } else if (property === 'src')
    fontSources?.push({ found: added, format: '', declaration: state.declarations });
}

function endStatement(state: CssState, start: number, end = start): void {
  const { lastImport, source, conditionsStart } = state;
  if (lastImport !== null) {
    lastImport.grade = laterGrade(lastImport.grade, gradeImport(source.slice(conditionsStart, start)));
  }
  const block = state.blocks.at(-1) as CssBlock;
  const { rule, fontSources } = block;
  if (fontSources !== null && state.property === 'unicode-range') {
    block.range = source.slice(state.statementStart, start);
  }
  if (fontSources === null && /^(?:font|font-family|--.*)$/.test(state.property)) {
    const declaration = source.slice(state.statementStart, Math.min(start, state.statementStart + MAX_RULE));
    state.fontUses?.push({ declaration, rule });
  }
  state.lastImport = null;
  state.atRule = '';
  state.property = '';
  state.declarations += 1;
  state.statementStart = end;
}

/** The longest selector that is kept, in characters. */
const MAX_RULE = 300;

function openBlock(state: CssState, start: number, end: number): void {
  const { blocks, source, statementStart, atRule } = state;
  const outer = blocks.at(-1) as CssBlock;
  const prelude = source
    .slice(statementStart, Math.min(start, statementStart + 10 * MAX_RULE))
    .replace(/\/\*.*?\*\//gs, '')
    .trim();
  const isFont = atRule === 'font-face';
  const isSelector = !prelude.startsWith('@') && prelude !== '';
  const rule = isFont
    ? '@font-face'
    : isSelector
      ? `${outer.rule} ${prelude}`.trim().slice(0, MAX_RULE)
      : outer.rule;
  const grade = laterGrade(outer.grade, gradePrelude(prelude));
  blocks.push({ rule, grade, fontSources: isFont ? [] : null, range: '' });
  state.hasRule = true;
  endStatement(state, start, end);
}

function closeBlock({ blocks }: CssState): void {
  if (blocks.length === 1) return;
  const { fontSources, rule, range } = blocks.pop() as CssBlock;
  if (fontSources === null) return;
  for (const { found } of fontSources) found.rule = formatFontRule(rule, range);
  gradeFontSources(fontSources);
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
