import { decodeEscapes, decodeHex, type EmbeddedContent } from './escapes.ts';
import { BLOCK_SIZES, type FileBlock } from './file-blocks.ts';

/** Fewer characters hold no well-known secret. */
const SHORTEST_RUN = 40;
/** The shortest line of several; only the last one may be shorter. */
const SHORTEST_LINE = 20;
/** A longer run begins where its base64 begins. */
const LONGEST_SHIFTED = 4_096;
/** Hex digits in a run with other characters, such as `0x`. */
const HEX_RUN = /[0-9a-f]{40,}/gi;

/** The kind of each byte: 0 is no base64, in neither of its alphabets; 2 is a hex digit as well. */
const KINDS = new Uint8Array(256);
for (const byte of Buffer.from('GHIJKLMNOPQRSTUVWXYZghijklmnopqrstuvwxyz+/-_')) KINDS[byte] = 1;
for (const byte of Buffer.from('0123456789abcdefABCDEF')) KINDS[byte] = 2;

/**
 * Creates a decoder for the blocks of one file, in their order. One level is decoded: what is encoded twice stays
 * as it is.
 */
export function createEmbeddedDecoder(): (block: FileBlock) => Generator<EmbeddedContent, void, undefined> {
  /** How many characters at the start of the next block end a group of four. */
  let skipped = 0;
  return function* decode(block) {
    const { bytes } = block;
    const nextStart = block.to - BLOCK_SIZES.before;
    let nextSkipped = 0;
    for (const [runStart, end] of findRuns(bytes)) {
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
    const escaped = decodeEscapes(bytes);
    if (escaped !== null) yield escaped;
  };
}

function decodeBase64(bytes: Buffer, start: number, end: number): EmbeddedContent {
  const decoded = Buffer.from(toBase64Text(bytes, start, end), 'base64');
  return { bytes: decoded, positionOf: (index) => findPosition(bytes, start, index) };
}

/** The start and end of every long run of base64, with the line breaks inside it. */
function* findRuns(bytes: Buffer): Generator<[start: number, end: number], void, undefined> {
  for (let start = findRun(bytes, 0); start !== -1; ) {
    const firstEnd = findEnd(bytes, start + SHORTEST_LINE);
    const end = findLastLine(bytes, start, firstEnd);
    if (end - start < SHORTEST_RUN || isCompressed(bytes, start)) {
      start = findRun(bytes, firstEnd);
      continue;
    }
    yield [start, end];
    start = findRun(bytes, end);
  }
}

/**
 * The start of the first long run from a position on, or -1. A run is read backward from where it would have the
 * length of the shortest line, so most bytes of a usual text are never read.
 */
function findRun(bytes: Buffer, from: number): number {
  let start = from;
  let known = from;
  for (let last = from + SHORTEST_LINE - 1; last < bytes.length; ) {
    let at = last;
    while (at >= known && KINDS[bytes[at] as number] !== 0) at -= 1;
    if (at < known) return start;
    start = at + 1;
    known = last + 1;
    last = at + SHORTEST_LINE;
  }
  return -1;
}

/** The end of the last of several lines of base64; none but the last one is short. */
function findLastLine(bytes: Buffer, start: number, firstEnd: number): number {
  let end = firstEnd;
  for (let length = firstEnd - start; length >= SHORTEST_LINE; ) {
    const next = skipLineBreak(bytes, end);
    if (next === end || KINDS[bytes[next] ?? 0] === 0) return end;
    end = findEnd(bytes, next);
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
  while (at < end && KINDS[bytes[at] as number] === 2) at += 1;
  return at === end;
}

function findEnd(bytes: Buffer, from: number): number {
  let end = from;
  while (end < bytes.length && KINDS[bytes[end] as number] !== 0) end += 1;
  return end;
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
