/** Shorter runs of printable characters are chance. */
const SHORTEST = 6;

/** An unfinished run above this length is given on in parts. */
const LONGEST_CARRY = 65_536;

/** Stands between two strings: no pattern of a secret spans a NUL or goes on after a newline before one. */
const SEPARATOR = '\n\0\n';

/** How a character of a string lies in the bytes, one byte being one character of a latin1 text. */
interface Encoding {
  readonly width: 1 | 2;
  readonly run: RegExp;
}

const PRINTABLE = String.raw`[\t\n\r -~]`;
const NUL = String.raw`\x00`;

/** The encodings in which a binary file is searched; UTF-16 is little-endian. */
export const ENCODINGS = {
  ascii: { width: 1, run: new RegExp(`${PRINTABLE}{${SHORTEST},}`, 'g') },
  utf16: { width: 2, run: new RegExp(`(?:${PRINTABLE}${NUL}){${SHORTEST},}`, 'g') },
} as const satisfies Record<string, Encoding>;

/**
 * The printable strings of any bytes, as `strings` finds them, with line breaks kept inside a string.
 * Holds a chunk and an unfinished string at a time.
 */
export async function* printableStrings(
  bytes: AsyncIterable<Buffer>,
  encoding: Encoding,
): AsyncGenerator<string, void, undefined> {
  const { width } = encoding;
  /** The run at the end of what came before: it may go on. */
  let carry = '';
  for await (const chunk of bytes) {
    const text = carry + chunk.toString('latin1');
    const border = startOfLastRun(text, width);
    const found = stringsOf(text.slice(0, border), encoding);
    if (found !== '') yield found;
    carry = text.slice(border);
    if (carry.length > LONGEST_CARRY) {
      // What is kept is long enough to be given on as well, so that the string stays in one piece.
      const cut = carry.length - (carry.length % width) - SHORTEST * width;
      yield plain(carry.slice(0, cut));
      carry = carry.slice(cut);
    }
  }
  yield stringsOf(carry, encoding);
}

function stringsOf(text: string, { run }: Encoding): string {
  let found = '';
  for (const [string] of text.matchAll(run)) found += plain(string) + SEPARATOR;
  return found;
}

const plain = (string: string): string => string.replaceAll('\0', '');

function startOfLastRun(text: string, width: 1 | 2): number {
  let start = text.length;
  if (width === 1) {
    while (isPrintable(text.charCodeAt(start - 1))) start -= 1;
    return start;
  }
  if (isPrintable(text.charCodeAt(start - 1))) start -= 1;
  while (text.charCodeAt(start - 1) === 0 && isPrintable(text.charCodeAt(start - 2))) start -= 2;
  return start;
}

/** False for NaN, the code before a text's first character. */
function isPrintable(code: number): boolean {
  return (code >= 0x20 && code <= 0x7e) || code === 0x09 || code === 0x0a || code === 0x0d;
}
