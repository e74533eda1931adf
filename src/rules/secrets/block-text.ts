import { isAscii } from 'node:buffer';
import type { FileBlock } from './file-blocks.ts';

/** A block as a text. */
export interface BlockText {
  readonly text: string;
  /** A secret that begins at an index in [from, to) belongs to the block. */
  readonly from: number;
  readonly to: number;
}

/** Shorter runs of printable characters occur by chance. */
const SHORTEST_STRING = 6;

/** Separates two strings: no pattern of a secret spans a NUL or continues after a newline before one. */
const SEPARATOR = '\n\0\n';

/** Decodes the block as UTF-8. The borders of its range cut no character. */
export function decodeUtf8({ bytes, from, to }: FileBlock): BlockText {
  // A copy of bytes is a quarter of the work, and a text of one byte for each character is searched sooner.
  if (isAscii(bytes)) return { text: bytes.toString('latin1'), from, to };
  const borders = [0, findCharacterStart(bytes, from), findCharacterStart(bytes, to), bytes.length];
  const decoder = new TextDecoder();
  const [before = '', inRange = '', after = ''] = borders
    .slice(1)
    .map((end, index) => decoder.decode(bytes.subarray(borders[index], end)));
  return { text: before + inRange + after, from: before.length, to: before.length + inRange.length };
}

/** The start of the character to which the byte at an index belongs. */
function findCharacterStart(bytes: Buffer, index: number): number {
  let at = index;
  while (at > Math.max(index - 3, 0) && isContinuation(bytes[at])) at -= 1;
  return at;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The printable ASCII strings of the block, as the command `strings` finds them, including line breaks. */
export const extractAsciiStrings = (block: FileBlock): BlockText =>
  joinStrings(block, findAsciiStrings(block.bytes), 1);

/** The printable UTF-16 strings of the block, little-endian; big-endian is the same, one byte later. */
export const extractUtf16Strings = (block: FileBlock): BlockText =>
  joinStrings(block, findUtf16Strings(block.bytes), 2);

/** The start and end of a string in a block. */
type StringRange = readonly [start: number, end: number];

function findAsciiStrings(bytes: Buffer): StringRange[] {
  const strings: StringRange[] = [];
  for (let end = 0; ; ) {
    const start = findRun(bytes, PRINTABLE, end, SHORTEST_STRING);
    if (start === -1) return strings;
    end = findRunEnd(bytes, PRINTABLE, start + SHORTEST_STRING);
    strings.push([start, end]);
  }
}

/** Bytes per character. */
type CharacterWidth = 1 | 2;

function joinStrings(
  { bytes, from, to }: FileBlock,
  strings: readonly StringRange[],
  width: CharacterWidth,
): BlockText {
  let text = '';
  const range = { from: 0, to: 0 };
  for (const [start, end] of strings) {
    const toTextIndex = (at: number): number => text.length + Math.max(Math.ceil((at - start) / width), 0);
    if (start < from) range.from = toTextIndex(Math.min(from, end));
    if (start < to) range.to = toTextIndex(Math.min(to, end));
    text += bytes.toString(width === 1 ? 'latin1' : 'utf16le', start, end) + SEPARATOR;
  }
  return { text, ...range };
}

/** The start and end of every string, at even and odd positions. The bytes between them are not decoded. */
function findUtf16Strings(bytes: Buffer): StringRange[] {
  const strings: StringRange[] = [];
  for (let end = 0; ; ) {
    const found = findUtf16Character(bytes, end);
    if (found === -1) return strings;
    let start = found;
    while (start > end && isUtf16Character(bytes, start - 2)) start -= 2;
    end = found;
    while (isUtf16Character(bytes, end)) end += 2;
    if (end - start >= SHORTEST_STRING * 2) strings.push([start, end]);
  }
}

/**
 * Checks only as many positions from `from` on as are needed to hit every string of the shortest length.
 * Returns the first printable one, or -1. A separate loop that reads nothing after the end is faster.
 */
function findUtf16Character(bytes: Buffer, from: number): number {
  const last = bytes.length - 2;
  for (let at = from; at < last; at += SHORTEST_STRING * 2) {
    const [first, second, third] = [bytes[at] as number, bytes[at + 1] as number, bytes[at + 2] as number];
    if (second === 0 && PRINTABLE[first] !== 0) return at;
    if (third === 0 && PRINTABLE[second] !== 0) return at + 1;
  }
  return from <= last && isUtf16Character(bytes, last) ? last : -1;
}

const isUtf16Character = (bytes: Buffer, at: number): boolean =>
  at >= 0 && bytes[at + 1] === 0 && PRINTABLE[bytes[at] as number] !== 0;

/** 1 for printable ASCII, tab and line breaks. */
const PRINTABLE = new Uint8Array(256).fill(1, 0x20, 0x7f);
for (const byte of Buffer.from('\t\n\r')) PRINTABLE[byte] = 1;

/** The kind of each possible byte: 0 for a byte that ends a run, an odd number for every other. */
type ByteKinds = Uint8Array;

/** Kinds by which these Latin-1 characters belong to a run, and every other one ends it. */
export function kindsOf(characters: string): ByteKinds {
  const kinds = new Uint8Array(256);
  for (const byte of Buffer.from(characters, 'latin1')) kinds[byte] = 1;
  return kinds;
}

/**
 * The start of the first run with at least so many bytes, from a position on, or -1. A run is read backward from where
 * it would have that length, so most bytes outside of runs are never read.
 *
 * @param length at least 5
 */
export function findRun(bytes: Buffer, kinds: ByteKinds, from: number, length: number): number {
  const kindOf = (at: number): number => kinds[bytes[at] as number] as number;
  for (let last = from + length - 1; last < bytes.length; ) {
    // Three are compared together: a processor predicts the result for one byte of random content badly.
    if ((kindOf(last) & kindOf(last - 2) & kindOf(last - 4)) === 0) {
      last += length - 4;
      continue;
    }
    let at = last;
    while (at > last - length && kindOf(at) !== 0) at -= 1;
    if (at === last - length) return at + 1;
    last = at + length;
  }
  return -1;
}

/** The position after the run that contains a position. Four bytes are compared together: that takes half the time. */
export function findRunEnd(bytes: Buffer, kinds: ByteKinds, from: number): number {
  const kindOf = (at: number): number => kinds[bytes[at] as number] as number;
  const last = bytes.length - 4;
  let end = from;
  while (end <= last && (kindOf(end) & kindOf(end + 1) & kindOf(end + 2) & kindOf(end + 3)) !== 0) end += 4;
  while (end < bytes.length && kindOf(end) !== 0) end += 1;
  return end;
}
