import type { StringRange } from './block-text.ts';

/** Decoded content of a block: of base64, hex or escapes. */
export interface EmbeddedContent {
  readonly bytes: Buffer;
  /** The position in the block from which the byte at an index was decoded. */
  readonly positionOf: (index: number) => number;
}

/** One printable ASCII character, escaped: percent, JSON and JavaScript, HTML. */
const ESCAPE =
  /%([2-7][0-9a-f])|\\{1,2}(?:u00([2-7][0-9a-f])|u\{0{0,4}([2-7][0-9a-f])\}|x([2-7][0-9a-f]))|&#x0{0,5}([2-7][0-9a-f]);?|&#0{0,5}(\d{2,3});?/gi;

/** How escapes begin; what follows decides. The first character of each is rare, so the search is fast. */
const MARKS = ['%', '\\u', '\\x', '&#'];
const LOOKED_AT = 12;

/** Separates two texts: no secret continues over it. */
const BETWEEN = '\n\0\n';

/**
 * Decodes each word with escapes in the strings of a block, all together as one text. Where most is not escaped,
 * little is read twice.
 */
export function decodeEscapes(bytes: Buffer, strings: readonly StringRange[]): EmbeddedContent | null {
  const words = strings.flatMap(([from, to]) => findEscapedWords(bytes.subarray(0, to), from));
  if (words.length === 0) return null;
  const starts: number[] = [];
  let text = '';
  for (const { start, end } of words) {
    starts.push(text.length);
    text += decodeWord(bytes.toString('latin1', start, end)) + BETWEEN;
  }
  return {
    bytes: Buffer.from(text, 'latin1'),
    positionOf: (index) => {
      const nth = starts.findLastIndex((start) => start <= index);
      const word = words[nth];
      if (word === undefined) return 0;
      const encoded = bytes.toString('latin1', word.start, word.end);
      return word.start + findEncodedPosition(encoded, index - (starts[nth] ?? 0));
    },
  };
}

/** A text between white space, quotes or angle brackets. */
interface EscapedWord {
  readonly start: number;
  readonly end: number;
}

function findEscapedWords(bytes: Buffer, from: number): EscapedWord[] {
  const words = new Map<number, EscapedWord>();
  for (const mark of MARKS) {
    for (let at = bytes.indexOf(mark, from); at !== -1; ) {
      if (!isEscape(bytes, at)) {
        at = bytes.indexOf(mark, at + 1);
        continue;
      }
      const word = { start: findBorder(bytes, at, -1) + 1, end: findBorder(bytes, at, 1) };
      words.set(word.start, word);
      at = bytes.indexOf(mark, word.end);
    }
  }
  return [...words.values()];
}

function isEscape(bytes: Buffer, at: number): boolean {
  // Most percent signs are followed by no digit: their text is not even made.
  if (bytes[at] === PERCENT && !isInRange(bytes[at + 1], DIGIT_TWO, DIGIT_SEVEN)) return false;
  ESCAPE.lastIndex = 0;
  return ESCAPE.exec(bytes.toString('latin1', at, at + LOOKED_AT))?.index === 0;
}

const [PERCENT, DIGIT_TWO, DIGIT_SEVEN] = [0x25, 0x32, 0x37];
const isInRange = (byte = 0, from = 0, to = 0): boolean => byte >= from && byte <= to;

/** Bytes that end a word: control characters and space, `"`, `'`, `<`, `>`, and the backtick. */
const BORDERS = new Uint8Array(256).fill(1, 0, 0x21);
for (const byte of Buffer.from('"\'<>`')) BORDERS[byte] = 1;

function findBorder(bytes: Buffer, from: number, step: 1 | -1): number {
  let at = from;
  while (at >= 0 && at < bytes.length && BORDERS[bytes[at] as number] === 0) at += step;
  return at;
}

const decodeWord = (word: string): string => word.replace(ESCAPE, decodeEscape);

function decodeEscape(_: string, ...groups: (string | undefined)[]): string {
  const decimal = groups[5];
  const hex = groups.slice(0, 5).find((group) => group !== undefined);
  return String.fromCharCode(
    decimal === undefined ? Number.parseInt(hex ?? '0', 16) : Number(decimal) & 0xff,
  );
}

/** The position in an encoded word from which a character of the decoded one comes. */
function findEncodedPosition(encoded: string, index: number): number {
  let saved = 0;
  for (const found of encoded.matchAll(ESCAPE)) {
    if (found.index - saved >= index) break;
    saved += found[0].length - 1;
  }
  return index + saved;
}

/** The bytes that a long run of hex digits encodes, for a run that begins with the first or the second digit of one. */
export function* decodeHex(
  bytes: Buffer,
  start: number,
  end: number,
): Generator<EmbeddedContent, void, undefined> {
  for (const shift of [0, 1]) {
    const digits = bytes.toString('latin1', start + shift, end);
    yield { bytes: Buffer.from(digits, 'hex'), positionOf: (index) => start + shift + index * 2 };
  }
}
