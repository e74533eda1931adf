/** Keywords after which a slash begins a regular expression. */
const BEFORE_EXPRESSION = new Set(
  'await case delete do else extends in instanceof new of return throw typeof void yield'.split(' '),
);

/** Keywords whose parentheses contain a condition, not a value. */
const CONDITIONS = new Set(['if', 'while', 'for', 'with']);

const WHITE_SPACE = /\s/;

/** `word`: a name, keyword or number; `mark`: one punctuation character; `string`: the decoded value. */
type TokenKind = 'word' | 'mark' | 'string';

type TokenHandler = (kind: TokenKind, text: string, offset: number) => void;

interface TokenizerState {
  readonly code: string;
  readonly onToken: TokenHandler;
  /** For each open parenthesis: whether it contains a condition. */
  readonly parentheses: boolean[];
  /** For each open template: how many braces are open in its substitution. */
  readonly templates: number[];
  at: number;
  /** Whether the last token ended a value, so that a slash divides. */
  afterValue: boolean;
  /** The last word or mark; empty after a string, template or regular expression. */
  last: string;
  /** No regular expression ends before this index, so each line is searched only once. */
  noRegexBefore: number;
}

/**
 * Divides a script into tokens in one pass, without parsing it. Comments and regular expressions are skipped,
 * strings are decoded. A template is a string up to its first substitution, followed by the tokens in its
 * substitutions. The previous token decides whether a slash divides or begins a regular expression; a wrong
 * decision has no effect after the end of the line.
 *
 * `js-tokens` is not used: it is three times slower, and throws on a string or comment of several megabytes.
 *
 * @see https://tc39.es/ecma262/#sec-ecmascript-language-lexical-grammar
 */
export function tokenizeScript(code: string, onToken: TokenHandler): void {
  const state: TokenizerState = {
    code,
    onToken,
    parentheses: [],
    templates: [],
    at: 0,
    afterValue: false,
    last: '',
    noRegexBefore: 0,
  };
  while (state.at < code.length) readNext(state);
}

function readNext(state: TokenizerState): void {
  const { code, at } = state;
  const char = code[at] as string;
  if (char === '/' && code[at + 1] === '/') state.at = findLineEnd(code, at);
  else if (char === '/' && code[at + 1] === '*') state.at = findEnd(code, '*/', at + 2);
  else if (char === '<' && code.startsWith('<!--', at)) state.at = findLineEnd(code, at);
  else if (char === '"' || char === "'") readString(state);
  else if (char === '`') readTemplate(state, true);
  else if (isWordPart(code, at)) readWord(state);
  else if (WHITE_SPACE.test(char)) state.at += 1;
  else if (char === '/' && !state.afterValue && at >= state.noRegexBefore) readRegex(state);
  else if (char === '}' && state.templates.at(-1) === 0) {
    state.templates.pop();
    readTemplate(state, false);
  } else readMark(state, char);
}

function readString(state: TokenizerState): void {
  const { code, at } = state;
  const end = findStringEnd(code, at);
  state.onToken('string', decodeEscapes(code.slice(at + 1, end)), at);
  state.at = end + 1;
  state.afterValue = true;
  state.last = '';
}

/** Reads a template up to its next substitution; only the part before the first one is a token. */
function readTemplate(state: TokenizerState, isStart: boolean): void {
  const { code, at } = state;
  const { end, hasSubstitution } = findTemplateEnd(code, at + 1);
  if (isStart) state.onToken('string', decodeEscapes(code.slice(at + 1, end)), at);
  if (hasSubstitution) state.templates.push(0);
  state.at = end + (hasSubstitution ? 2 : 1);
  state.afterValue = !hasSubstitution;
  state.last = '';
}

function readWord(state: TokenizerState): void {
  const { code, at, last } = state;
  const end = findWordEnd(code, at);
  const word = decodeEscapes(code.slice(at, end));
  state.onToken('word', word, at);
  state.at = end;
  // After a dot, a keyword is the name of a property.
  state.afterValue = last === '.' || !BEFORE_EXPRESSION.has(word);
  state.last = word;
}

/** Skips a regular expression. If its line has no end for it, the slash is read as a mark next. */
function readRegex(state: TokenizerState): void {
  const end = findRegexEnd(state.code, state.at);
  if (end === -1) {
    state.noRegexBefore = findLineEnd(state.code, state.at);
    return;
  }
  state.at = end;
  state.afterValue = true;
  state.last = '';
}

function readMark(state: TokenizerState, char: string): void {
  const { parentheses, templates, last } = state;
  const innermost = templates.length - 1;
  let afterValue = char === ']' || ((char === '+' || char === '-') && last === char);
  if (char === '(') parentheses.push(CONDITIONS.has(last));
  if (char === ')') afterValue = parentheses.pop() !== true;
  if (char === '{' && innermost >= 0) templates[innermost] = (templates[innermost] as number) + 1;
  if (char === '}' && innermost >= 0) templates[innermost] = (templates[innermost] as number) - 1;
  state.onToken('mark', char, state.at);
  state.at += 1;
  state.afterValue = afterValue;
  state.last = char;
}

function isWordPart(code: string, at: number): boolean {
  const char = code.charCodeAt(at);
  if (char < 0x80) {
    return (
      (char >= 0x61 && char <= 0x7a) ||
      (char >= 0x41 && char <= 0x5a) ||
      (char >= 0x30 && char <= 0x39) ||
      char === 0x5f ||
      char === 0x24 ||
      (char === 0x5c && code[at + 1] === 'u')
    );
  }
  return !WHITE_SPACE.test(code[at] as string);
}

function findWordEnd(code: string, from: number): number {
  let at = from;
  // The dot of `1./2` belongs to the number, so that the slash divides.
  const isNumber = /[0-9]/.test(code[from] as string);
  while (at < code.length && (isWordPart(code, at) || (isNumber && code[at] === '.'))) {
    at = code[at] === '\\' && code[at + 2] === '{' ? findEnd(code, '}', at + 3) : at + 1;
  }
  return at;
}

/** The index of the closing quote; a string without one ends at the line break. */
function findStringEnd(code: string, from: number): number {
  const quote = code[from];
  for (let at = from + 1; at < code.length; at += 1) {
    const char = code[at];
    if (char === quote || char === '\n' || char === '\r') return at;
    if (char === '\\') at += code[at + 1] === '\r' && code[at + 2] === '\n' ? 2 : 1;
  }
  return code.length;
}

function findTemplateEnd(code: string, from: number): { end: number; hasSubstitution: boolean } {
  for (let at = from; at < code.length; at += 1) {
    const char = code[at];
    if (char === '`') return { end: at, hasSubstitution: false };
    if (char === '$' && code[at + 1] === '{') return { end: at, hasSubstitution: true };
    if (char === '\\') at += 1;
  }
  return { end: code.length, hasSubstitution: false };
}

/** The index after the regular expression; -1 if the line ends first. */
function findRegexEnd(code: string, from: number): number {
  let inClass = false;
  for (let at = from + 1; at < code.length; at += 1) {
    const char = code[at];
    if (char === '\n' || char === '\r') return -1;
    if (char === '\\') at += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return at + 1;
  }
  return -1;
}

function findLineEnd(code: string, from: number): number {
  const lineBreak = /[\n\r\u2028\u2029]/g;
  lineBreak.lastIndex = from;
  return lineBreak.exec(code)?.index ?? code.length;
}

/** The index after the next occurrence of a text. */
function findEnd(code: string, text: string, from: number): number {
  const at = code.indexOf(text, from);
  return at === -1 ? code.length : at + text.length;
}

const ESCAPE = /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|(\r\n|[\s\S]))/gi;

const ONE_ESCAPE = new RegExp(ESCAPE.source, 'i');

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v' };

/** Decodes the escapes of a string or name. */
function decodeEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (escaped) => {
    const [, braced, four, two, other = ''] = ONE_ESCAPE.exec(escaped) ?? [];
    const hex = braced ?? four ?? two;
    if (hex === undefined) return /[\r\n\u2028\u2029]/.test(other) ? '' : (CONTROLS[other] ?? other);
    const point = Number.parseInt(hex, 16);
    return point > 0x10ffff ? '' : String.fromCodePoint(point);
  });
}
