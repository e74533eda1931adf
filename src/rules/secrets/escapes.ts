import type { StringRange } from './block-text.ts';
import { kindsOf } from './byte-runs.ts';
import type { DecodedPart } from './decoded-part.ts';

/** One printable ASCII character, escaped: percent, JSON and JavaScript, HTML. */
const ESCAPE =
  /%([2-7][0-9a-f])|\\{1,2}(?:u00([2-7][0-9a-f])|u\{0{0,4}([2-7][0-9a-f])\}|x([2-7][0-9a-f]))|&#x0{0,5}([2-7][0-9a-f]);?|&#0{0,5}(\d{2,3});?/gi;

/** How escapes begin; what follows decides. A search for one byte returns much sooner than one for two. */
const MARKS = Buffer.from('%\\&');
/** What may be the second and the third byte of an escape. */
const [SECOND, THIRD] = [kindsOf('234567ux#'), kindsOf('0123456789abcdefABCDEFxX{')];
const LOOKED_AT = 12;

/** Decodes each word with escapes in the strings of a block. Where most is not escaped, little is read twice. */
export function decodeEscapes(bytes: Buffer, strings: readonly StringRange[]): DecodedPart[] {
  const words = strings.flatMap(([from, to]) => findEscapedWords(bytes.subarray(0, to), from));
  return words.map(({ start, end }) => {
    const encoded = bytes.toString('latin1', start, end);
    return {
      bytes: Buffer.from(decodeWord(encoded), 'latin1'),
      positionOf: (index) => start + findEncodedPosition(encoded, index),
    };
  });
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
  // Most marks are followed by something else: their text is not even made.
  const [second, third] = [SECOND[bytes[at + 1] ?? 0] ?? 0, THIRD[bytes[at + 2] ?? 0] ?? 0];
  if ((second & third) === 0) return false;
  ESCAPE.lastIndex = 0;
  return ESCAPE.exec(bytes.toString('latin1', at, at + LOOKED_AT))?.index === 0;
}

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
