/** Words after which a slash begins a regular expression, although a word came before it. */
const BEFORE_EXPRESSION = new Set(
  'await case delete do else extends in instanceof new of return throw typeof void yield'.split(' '),
);

/** Words whose parentheses end a condition, not a value. */
const CONDITIONS = new Set(['if', 'while', 'for', 'with']);

const WHITE_SPACE = /\s/;

/** A word or number, a mark of one character, or a string's value. */
export type SeeToken = (kind: 'word' | 'mark' | 'string', text: string, offset: number) => void;

/**
 * Takes a script apart, in one pass and without understanding it: comments and regular expressions are
 * skipped, strings decoded. A template is the string up to its first substitution, and then what stands in them.
 * Whether a slash divides or begins a regular expression is told by what came before; a wrong guess ends with the line.
 *
 * @see https://tc39.es/ecma262/#sec-ecmascript-language-lexical-grammar
 */
export function scriptTokens(code: string, see: SeeToken): void {
  /** For each open parenthesis: whether it belongs to a condition. */
  const parentheses: boolean[] = [];
  /** For each template we are within: how many braces are open in its substitution. */
  const templates: number[] = [];
  let at = 0;
  let afterValue = false;
  let last = '';
  /** Up to here no regular expression ends, so that a line is searched but once. */
  let divides = 0;

  const token = (kind: 'word' | 'mark' | 'string', text: string, end: number, isValue: boolean): void => {
    see(kind, text, at);
    last = kind === 'string' ? '' : text;
    afterValue = isValue;
    at = end;
  };
  const template = (isHead: boolean): void => {
    const { end, substitutes } = templateEnd(code, at + 1);
    if (isHead) see('string', decoded(code.slice(at + 1, end)), at);
    if (substitutes) templates.push(0);
    last = '';
    afterValue = !substitutes;
    at = end + (substitutes ? 2 : 1);
  };

  while (at < code.length) {
    const char = code[at] as string;
    if (char === '/' && code[at + 1] === '/') at = lineEnd(code, at);
    else if (char === '/' && code[at + 1] === '*') at = after(code, '*/', at + 2);
    else if (char === '<' && code.startsWith('<!--', at)) at = lineEnd(code, at);
    else if (char === '"' || char === "'") {
      const end = stringEnd(code, at);
      token('string', decoded(code.slice(at + 1, end)), end + 1, true);
    } else if (char === '`') template(true);
    else if (isWordPart(code, at)) {
      const end = wordEnd(code, at);
      const word = decoded(code.slice(at, end));
      token('word', word, end, last === '.' || !BEFORE_EXPRESSION.has(word));
    } else if (WHITE_SPACE.test(char)) at += 1;
    else if (char === '/' && !afterValue && at >= divides) {
      const end = regexEnd(code, at);
      if (end === -1) divides = lineEnd(code, at);
      else {
        at = end;
        afterValue = true;
        last = '';
      }
    } else if (char === '}' && templates.at(-1) === 0) {
      templates.pop();
      template(false);
    } else {
      const open = templates.length - 1;
      let isValue = char === ']' || ((char === '+' || char === '-') && last === char);
      if (char === '(') parentheses.push(CONDITIONS.has(last));
      if (char === ')') isValue = parentheses.pop() !== true;
      if (char === '{' && open >= 0) templates[open] = (templates[open] as number) + 1;
      if (char === '}' && open >= 0) templates[open] = (templates[open] as number) - 1;
      token('mark', char, at + 1, isValue);
    }
  }
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

function wordEnd(code: string, from: number): number {
  let at = from;
  // The point of `1./2` belongs to the number, so that the slash divides.
  const isNumber = /[0-9]/.test(code[from] as string);
  while (at < code.length && (isWordPart(code, at) || (isNumber && code[at] === '.'))) {
    at = code[at] === '\\' && code[at + 2] === '{' ? after(code, '}', at + 3) : at + 1;
  }
  return at;
}

/** Where the string's closing quote stands; a line break ends a string that has none. */
function stringEnd(code: string, from: number): number {
  const quote = code[from];
  for (let at = from + 1; at < code.length; at += 1) {
    const char = code[at];
    if (char === quote || char === '\n' || char === '\r') return at;
    if (char === '\\') at += code[at + 1] === '\r' && code[at + 2] === '\n' ? 2 : 1;
  }
  return code.length;
}

function templateEnd(code: string, from: number): { end: number; substitutes: boolean } {
  for (let at = from; at < code.length; at += 1) {
    const char = code[at];
    if (char === '`') return { end: at, substitutes: false };
    if (char === '$' && code[at + 1] === '{') return { end: at, substitutes: true };
    if (char === '\\') at += 1;
  }
  return { end: code.length, substitutes: false };
}

/** Where the regular expression is over; -1 when its line ends first. */
function regexEnd(code: string, from: number): number {
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

function lineEnd(code: string, from: number): number {
  const next = /[\n\r\u2028\u2029]/g;
  next.lastIndex = from;
  return next.exec(code)?.index ?? code.length;
}

function after(code: string, mark: string, from: number): number {
  const at = code.indexOf(mark, from);
  return at === -1 ? code.length : at + mark.length;
}

const ESCAPE = /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|(\r\n|[\s\S]))/gi;

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v' };

/** A string or name without its escapes. */
function decoded(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_, braced?: string, four?: string, two?: string, other = '') => {
    const hex = braced ?? four ?? two;
    if (hex === undefined) return /[\r\n\u2028\u2029]/.test(other) ? '' : (CONTROLS[other] ?? other);
    const point = Number.parseInt(hex, 16);
    return point > 0x10ffff ? '' : String.fromCodePoint(point);
  });
}
