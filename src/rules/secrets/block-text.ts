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
export const extractAsciiStrings = (block: FileBlock): BlockText => extractStrings(block, 1);

/** The printable UTF-16 strings of the block, little-endian; big-endian is the same, one byte later. */
export const extractUtf16Strings = (block: FileBlock): BlockText => extractStrings(block, 2);

/** Bytes per character. */
type CharacterWidth = 1 | 2;

function extractStrings({ bytes, from, to }: FileBlock, width: CharacterWidth): BlockText {
  let text = '';
  const range = { from: 0, to: 0 };
  for (const [start, end] of findRuns(bytes, width)) {
    const toTextIndex = (at: number): number => text.length + Math.max(Math.ceil((at - start) / width), 0);
    if (start < from) range.from = toTextIndex(Math.min(from, end));
    if (start < to) range.to = toTextIndex(Math.min(to, end));
    text += bytes.toString(width === 1 ? 'latin1' : 'utf16le', start, end) + SEPARATOR;
  }
  return { text, ...range };
}

/** The start and end of every string. The bytes between them are not decoded. */
function findRuns(bytes: Buffer, width: CharacterWidth): [start: number, end: number][] {
  const runs: [number, number][] = [];
  for (let phase = 0; phase < width; phase += 1) {
    for (let at = findPrintable(bytes, phase, width); at !== -1; at = findPrintable(bytes, at, width)) {
      let start = at;
      while (isPrintableAt(bytes, start - width, width)) start -= width;
      while (isPrintableAt(bytes, at, width)) at += width;
      if (at - start >= SHORTEST_STRING * width) runs.push([start, at]);
    }
  }
  return runs.sort(([one], [other]) => one - other);
}

/**
 * Checks only as many positions from `from` on as are needed to hit every string of the shortest length.
 * Returns the first printable one, or -1. A separate loop that reads nothing after the end is faster.
 */
function findPrintable(bytes: Buffer, from: number, width: CharacterWidth): number {
  const end = bytes.length - width + 1;
  for (let at = from; at < end; at += SHORTEST_STRING * width) {
    if (width === 2 && bytes[at + 1] !== 0) continue;
    if (isPrintable(bytes[at])) return at;
  }
  return -1;
}

function isPrintableAt(bytes: Buffer, at: number, width: CharacterWidth): boolean {
  return (width === 1 || bytes[at + 1] === 0) && isPrintable(bytes[at]);
}

function isPrintable(byte = 0): boolean {
  return (byte >= 0x20 && byte <= 0x7e) || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
