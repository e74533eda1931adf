import { findRun, findRunEnd, kindsOf } from './block-text.ts';

/** What base64 or percent-encoding in a block encodes. */
export interface DecodedPart {
  readonly bytes: Buffer;
  /** The position in the block from which the byte at an index was decoded. */
  readonly positionOf: (index: number) => number;
}

/**
 * Decodes what is text in base64 and percent-encoding in a block, in a `data:` address or anywhere else. One level is
 * decoded: what is encoded twice stays as it is.
 */
export function* decodeEmbedded(bytes: Buffer): Generator<DecodedPart, void, undefined> {
  for (const run of findRuns(bytes)) yield* decodeRun(run);
  yield* decodePercent(bytes);
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** 1 for each character of base64, in one of its alphabets. */
const BASE64 = kindsOf(`${ALPHABET}+/-_`);
/** Fewer characters of base64 hold no well-known secret. Of several lines, only the last one may be shorter. */
const SHORTEST_LINE = 40;

/** A long run of base64. */
interface Run {
  /** The position in the block of a character of the run. */
  readonly positionOf: (index: number) => number;
  /** Its characters, without the line breaks between them. */
  readonly text: Buffer;
}

function* findRuns(bytes: Buffer): Generator<Run, void, undefined> {
  for (let start = findRun(bytes, BASE64, 0, SHORTEST_LINE); start !== -1; ) {
    const lineEnd = findRunEnd(bytes, BASE64, start + SHORTEST_LINE);
    const end = findLastLine(bytes, start, lineEnd);
    yield end === lineEnd ? runInLine(bytes, start, end) : joinLines(bytes, start, end);
    start = findRun(bytes, BASE64, end, SHORTEST_LINE);
  }
}

/** The end of the last of several lines of base64; none but the last one is short. */
function findLastLine(bytes: Buffer, start: number, firstEnd: number): number {
  let end = firstEnd;
  for (let length = firstEnd - start; length >= SHORTEST_LINE; ) {
    const next = skipLineBreak(bytes, end);
    if (next === end || BASE64[bytes[next] ?? 0] === 0) return end;
    end = findRunEnd(bytes, BASE64, next);
    length = end - next;
  }
  return end;
}

/** A line break, plain or in a string of JSON, with white space around it. */
const LINE_BREAK = /^[ \t]*(?:[\r\n]|\\[rn])(?:\s|\\[rn])*/;
const LONGEST_BREAK = 64;
/** What a line break may begin with. */
const BREAK_START = kindsOf(' \t\r\n\\');

/** The position after a line break; the same position if there is none. */
function skipLineBreak(bytes: Buffer, at: number): number {
  // Most runs are followed by something else: its text is not even made.
  if (BREAK_START[bytes[at] ?? 0] === 0) return at;
  return at + (LINE_BREAK.exec(bytes.toString('latin1', at, at + LONGEST_BREAK))?.[0].length ?? 0);
}

const runInLine = (bytes: Buffer, start: number, end: number): Run => ({
  positionOf: (index) => start + index,
  text: bytes.subarray(start, end),
});

const joinLines = (bytes: Buffer, start: number, end: number): Run => ({
  positionOf: (index) => findPosition(bytes, start, index),
  text: Buffer.from(bytes.toString('latin1', start, end).replace(/\\[rn]|\s+/g, ''), 'latin1'),
});

const BACKSLASH = 0x5c;

/** The position of the nth character of several lines. */
function findPosition(bytes: Buffer, start: number, nth: number): number {
  let at = start;
  for (let left = nth; at < bytes.length; at += 1) {
    if (bytes[at] === BACKSLASH) at += 1;
    else if (BASE64[bytes[at] as number] !== 0) {
      if (left === 0) return at;
      left -= 1;
    }
  }
  return at;
}

/** Characters of base64 for three bytes, and how many such groups of ASCII in a row are a text. */
const [GROUP, GROUPS] = [4, 6];
/** The bits of the first three places of a group at which a character leaves the highest bit of a byte unset. */
const ASCII_PLACES = new Uint8Array(256);
for (const alphabet of [`${ALPHABET}+/`, `${ALPHABET}-_`]) {
  for (const [value, character] of Buffer.from(alphabet).entries()) {
    ASCII_PLACES[character] =
      Number((value & 32) === 0) + Number((value & 8) === 0) * 2 + Number((value & 2) === 0) * 4;
  }
}

/**
 * Decodes what is ASCII text in a run, wherever in the run it begins: something of the alphabet may be before it, such
 * as a part of an address. Hashes and images are not even decoded.
 */
function* decodeRun({ text, positionOf }: Run): Generator<DecodedPart, void, undefined> {
  for (let phase = 0; phase < GROUP; phase += 1) {
    for (let at = findAscii(text, phase); at !== -1; ) {
      let end = at + GROUP * GROUPS;
      while (end + GROUP <= text.length && isAscii(text, end)) end += GROUP;
      // A part of a group may be text as well.
      const from = Math.max(at - GROUP, phase);
      yield {
        bytes: Buffer.from(text.toString('latin1', from, end + GROUP), 'base64'),
        positionOf: (index) => positionOf(from + Math.floor((index * 4) / 3)),
      };
      at = findAscii(text, end + GROUP);
    }
  }
}

/** The first of the groups from a position on with which a text begins, or -1. A separate loop is faster. */
function findAscii(run: Buffer, from: number): number {
  const end = run.length - GROUP * GROUPS;
  for (let at = from; at <= end; ) {
    let last = GROUPS - 1;
    while (last >= 0 && isAscii(run, at + GROUP * last)) last -= 1;
    if (last < 0) return at;
    at += GROUP * (last + 1);
  }
  return -1;
}

/** Whether three bytes, of which the first character is at a position, are ASCII. */
function isAscii(run: Buffer, at: number): boolean {
  const first = ASCII_PLACES[run[at] as number] as number;
  const second = ASCII_PLACES[run[at + 1] as number] as number;
  const third = ASCII_PLACES[run[at + 2] as number] as number;
  return (first & (second >> 1) & (third >> 2) & 1) !== 0;
}

const PERCENT = 0x25;
const NO_DIGIT = 16;
/** The value of each hex digit. */
const HEX_VALUES = new Uint8Array(256).fill(NO_DIGIT);
for (const [value, digit] of Buffer.from('0123456789abcdef').entries()) HEX_VALUES[digit] = value;
for (const [value, digit] of Buffer.from('ABCDEF').entries()) HEX_VALUES[digit] = 10 + value;

/** The byte that is percent-encoded at a position, or -1. */
function readPercent(bytes: Buffer, at: number): number {
  if (bytes[at] !== PERCENT) return -1;
  const [first, second] = [
    HEX_VALUES[bytes[at + 1] ?? 0] as number,
    HEX_VALUES[bytes[at + 2] ?? 0] as number,
  ];
  return first === NO_DIGIT || second === NO_DIGIT ? -1 : first * 16 + second;
}

/** 1 for each byte that is part of a word: no control character, space, quote or angle bracket. */
const WORD = new Uint8Array(256).fill(1, 0x21);
for (const byte of Buffer.from('"\'<>`')) WORD[byte] = 0;

/** Shorter words hold no secret, and may be many. */
const SHORTEST_WORD = 16;

/** Decodes each word with percent-encoding. Where most is not encoded, little is read twice. */
function* decodePercent(bytes: Buffer): Generator<DecodedPart, void, undefined> {
  for (let at = bytes.indexOf(PERCENT); at !== -1; at = bytes.indexOf(PERCENT, at + 1)) {
    if (readPercent(bytes, at) === -1) continue;
    let start = at;
    while (start > 0 && WORD[bytes[start - 1] as number] !== 0) start -= 1;
    const end = findRunEnd(bytes, WORD, at);
    if (end - start >= SHORTEST_WORD) yield decodeWord(bytes, start, end);
    at = end - 1;
  }
}

function decodeWord(bytes: Buffer, start: number, end: number): DecodedPart {
  const decoded = Buffer.allocUnsafe(end - start);
  let length = 0;
  for (let at = start; at < end; length += 1) {
    const value = readPercent(bytes, at);
    decoded[length] = value === -1 ? (bytes[at] as number) : value;
    at += value === -1 ? 1 : 3;
  }
  return {
    bytes: decoded.subarray(0, length),
    positionOf(index) {
      let at = start;
      for (let left = index; left > 0; left -= 1) at += readPercent(bytes, at) === -1 ? 1 : 3;
      return at;
    },
  };
}
