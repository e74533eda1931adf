/** How a secret is found in what `xxd`, `hexdump`, `od` and `uuencode` print. */
export interface WrittenForms {
  /** Creates patterns of regular expressions: they are large, and most texts have no keyword. */
  createPatterns(): readonly string[];
  /** What a match of one of them begins with; each has four characters or more. */
  readonly keywords: readonly string[];
}

/**
 * Within a dump, from one line to the next: the characters of the line, and the position that begins the next one.
 */
export const DUMP_LINE = String.raw`[\t\x20-\x7e]{0,60}\r?\n[\da-fA-F]{4,16}:?[ \t]+`;

/** What is left of a line. */
export const DUMP_END = String.raw`[\t\x20-\x7e]{0,70}`;

/** The same where the characters are what is dumped. */
export const DUMP_POSITION = String.raw`(?<=\n)[\da-f]{6,16}[ \t]+`;

const NEXT_NUMBER = String.raw`(?:${DUMP_LINE}|[ \t]{1,8})`;

/** Bytes in octal, and words of two bytes in hex and octal, the lower byte first. */
export function dumpForms(secret: string): WrittenForms {
  const bytes = [...Buffer.from(secret)];
  const lists = [bytes.map((byte) => octal(byte, 3)), ...[0, 1].flatMap((from) => wordsFrom(bytes, from))];
  return {
    createPatterns: () => lists.map((numbers) => numbers.map(anyCase).join(NEXT_NUMBER)),
    keywords: lists.flatMap(([first = '', second = '']) => [
      ...[' ', '\t', '  ', '   '].map((space) => first + space + second),
      ...[`${first}  `, `${first}\n0`, `${first}\r\n`],
    ]),
  };
}

/** A word before the first whole one has a byte that is not part of the secret. */
function wordsFrom(bytes: readonly number[], from: number): string[][] {
  const words: number[] = [];
  for (let at = from; at + 1 < bytes.length; at += 2)
    words.push((bytes[at + 1] ?? 0) * 256 + (bytes[at] ?? 0));
  return [words.map((word) => word.toString(16).padStart(4, '0')), words.map((word) => octal(word, 6))];
}

const octal = (value: number, length: number): string => value.toString(8).padStart(length, '0');
const anyCase = (digits: string): string =>
  digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);

export const BASE64_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const FIRST_SIGN = 0x20;
/** The sign of a line's length begins the next line. */
const NEXT_SIGN = String.raw`(?:\r?\n[!-M])?`;
const KEYWORD_LENGTH = 4;

/**
 * The same bits as in base64, in other signs.
 *
 * @param cores the characters of base64 that depend on the secret alone
 * @see https://pubs.opengroup.org/onlinepubs/9699919799/utilities/uuencode.html
 */
export function uuencodedForms(cores: readonly string[]): WrittenForms {
  // Where a line ends among the first signs, the ones after them begin the match.
  const starts = cores.flatMap((core) => [core, core.slice(KEYWORD_LENGTH)]);
  return {
    createPatterns: () =>
      starts.map((core) =>
        Array.from(core, (sign) => `[${signsOf(sign).map(escapeSign).join('')}]`).join(NEXT_SIGN),
      ),
    keywords: starts.flatMap((core) =>
      Array.from(core.slice(0, KEYWORD_LENGTH), signsOf).reduce<string[]>(
        (before, signs) => before.flatMap((text) => signs.map((sign) => text + sign)),
        [''],
      ),
    ),
  };
}

/** Zero is a space or a backtick. */
function signsOf(character: string): string[] {
  const value = BASE64_ALPHABET.indexOf(character);
  return value === 0 ? ['`', ' '] : [String.fromCharCode(FIRST_SIGN + value)];
}

const escapeSign = (sign: string): string => sign.replace(/[\\\]^-]/, '\\$&');
