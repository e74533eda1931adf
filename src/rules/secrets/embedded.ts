import { findAsciiStrings, type StringRange } from './block-text.ts';
import { findRun, findRunEnd } from './byte-runs.ts';
import { decodeEscapes, decodeHex, type EmbeddedContent } from './escapes.ts';
import { BLOCK_SIZES, type FileBlock } from './file-blocks.ts';

/** Shorter strings of binary content hold no encoded secret. */
const SHORTEST_STRING = 16;
/** Fewer characters hold no well-known secret. */
const SHORTEST_RUN = 40;
/** The shortest line of several; only the last one may be shorter. */
const SHORTEST_LINE = 20;
/** A longer run begins where its base64 begins. */
const LONGEST_SHIFTED = 4_096;
/** Hex digits in a run with other characters, such as `0x`. */
const HEX_RUN = /[0-9a-f]{40,}/gi;

/** The kind of each byte: 1 is base64, in one of its alphabets; 3 is a hex digit as well. */
const KINDS = new Uint8Array(256);
for (const byte of Buffer.from('GHIJKLMNOPQRSTUVWXYZghijklmnopqrstuvwxyz+/-_')) KINDS[byte] = 1;
for (const byte of Buffer.from('0123456789abcdefABCDEF')) KINDS[byte] = 3;

/**
 * Creates a decoder for the blocks of one file, in their order. One level is decoded: what is encoded twice stays
 * as it is.
 *
 * @param binary whether the file is no text: then only its printable strings are read
 */
export function createEmbeddedDecoder(
  binary: boolean,
): (block: FileBlock) => Generator<EmbeddedContent, void, undefined> {
  /** How many characters at the start of the next block end a group of four. */
  let skipped = 0;
  return function* decode(block) {
    const { bytes } = block;
    const nextStart = block.to - BLOCK_SIZES.before;
    let nextSkipped = 0;
    const strings = binary ? findAsciiStrings(bytes, SHORTEST_STRING) : [[0, bytes.length] as const];
    for (const [runStart, end] of findRuns(bytes, strings)) {
      const start = runStart === 0 && block.offset > 0 ? skipped : runStart;
      if (start < nextStart && end > nextStart) {
        nextSkipped = (4 - (toBase64Text(bytes, start, nextStart).length % 4)) % 4;
      }
      if (isHex(bytes, start, end)) {
        yield* decodeHex(bytes, start, end);
        continue;
      }
      yield decodeBase64(bytes, start, end);
      // A long name is no base64.
      if (end - start > LONGEST_SHIFTED) continue;
      const run = bytes.toString('latin1', start, end);
      if (!/\d/.test(run)) continue;
      // Something of the alphabet may stand before it, such as a part of an address.
      for (let shift = 1; shift < 4; shift += 1) yield decodeBase64(bytes, start + shift, end);
      for (const hex of run.matchAll(HEX_RUN)) {
        yield* decodeHex(bytes, start + hex.index, start + hex.index + hex[0].length);
      }
    }
    skipped = nextSkipped;
    const escaped = decodeEscapes(bytes, strings);
    if (escaped !== null) yield escaped;
  };
}

function decodeBase64(bytes: Buffer, start: number, end: number): EmbeddedContent {
  const decoded = Buffer.from(toBase64Text(bytes, start, end), 'base64');
  return { bytes: decoded, positionOf: (index) => findPosition(bytes, start, index) };
}

/** The start and end of every long run of base64, with the line breaks inside it. */
function* findRuns(bytes: Buffer, strings: readonly StringRange[]): Generator<StringRange, void, undefined> {
  for (const [from, to] of strings) {
    const string = bytes.subarray(0, to);
    for (let start = findRun(string, KINDS, from, SHORTEST_LINE); start !== -1; ) {
      const firstEnd = findRunEnd(bytes, KINDS, start + SHORTEST_LINE);
      const end = findLastLine(bytes, start, firstEnd);
      const isLong = end - start >= SHORTEST_RUN && !isCompressed(bytes, start);
      if (isLong) yield [start, end];
      start = findRun(string, KINDS, isLong ? end : firstEnd, SHORTEST_LINE);
    }
  }
}

/** The end of the last of several lines of base64; none but the last one is short. */
function findLastLine(bytes: Buffer, start: number, firstEnd: number): number {
  let end = firstEnd;
  for (let length = firstEnd - start; length >= SHORTEST_LINE; ) {
    const next = skipLineBreak(bytes, end);
    if (next === end || KINDS[bytes[next] ?? 0] === 0) return end;
    end = findRunEnd(bytes, KINDS, next);
    length = end - next;
  }
  return end;
}

/** How compressed images, fonts and archives, and WebAssembly begin in base64: they are frequent and long, and hold no text. */
const COMPRESSED = /^(?:AGFzbQ|iVBORw0KGgo|\/9j\/|R0lGOD|d09GMg|d09GRg|UklGR|H4sI|UEsDB)/;
const START_LENGTH = 12;

const isCompressed = (bytes: Buffer, start: number): boolean =>
  COMPRESSED.test(bytes.toString('latin1', start, start + START_LENGTH));

/** Whether a run has hex digits alone. */
function isHex(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end && KINDS[bytes[at] as number] === 3) at += 1;
  return at === end;
}

const [NEWLINE, RETURN, SPACE, TAB, BACKSLASH] = [0x0a, 0x0d, 0x20, 0x09, 0x5c];
const LETTERS_OF_BREAKS = [0x6e, 0x72];

/** The position after a line break, plain or as `\n`, and its indentation; the same position if there is none. */
function skipLineBreak(bytes: Buffer, from: number): number {
  let at = from;
  let broken = false;
  for (; at < from + 64; at += 1) {
    const byte = bytes[at];
    if (byte === NEWLINE || byte === RETURN) broken = true;
    else if (byte === BACKSLASH && LETTERS_OF_BREAKS.includes(bytes[at + 1] ?? 0)) {
      broken = true;
      at += 1;
    } else if (byte !== SPACE && byte !== TAB) break;
  }
  return broken ? at : from;
}

/** The characters of base64 alone. */
function toBase64Text(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('latin1', start, end);
  return /[\s\\]/.test(text) ? text.replace(/\\[rn]|\s+/g, '') : text;
}

/** The position of the character from which a decoded byte comes. */
function findPosition(bytes: Buffer, start: number, index: number): number {
  let left = Math.floor((index * 4) / 3);
  let at = start;
  while (left > 0 && at < bytes.length) {
    const next = skipLineBreak(bytes, at);
    if (next === at) {
      at += 1;
      left -= 1;
    } else at = next;
  }
  return at;
}
