import type { FileBlock } from './blocks.ts';

/** A block as a text. */
export interface BlockText {
  readonly text: string;
  /** What begins at an index in [from, to) belongs to the block. */
  readonly from: number;
  readonly to: number;
}

/** Shorter runs of printable characters are chance. */
const SHORTEST = 6;

/** Stands between two strings: no pattern of a secret spans a NUL or goes on after a newline before one. */
const SEPARATOR = '\n\0\n';

/** The block as UTF-8, in which no letter is cut by the borders of its share. */
export function asText({ bytes, from, to }: FileBlock): BlockText {
  const borders = [0, letterAt(bytes, from), letterAt(bytes, to), bytes.length];
  const decoder = new TextDecoder();
  const [before = '', own = '', after = ''] = borders
    .slice(1)
    .map((end, nth) => decoder.decode(bytes.subarray(borders[nth], end)));
  return { text: before + own + after, from: before.length, to: before.length + own.length };
}

/** Where the letter begins to which the byte at an index belongs. */
function letterAt(bytes: Buffer, index: number): number {
  let at = index;
  while (at > Math.max(index - 3, 0) && isContinuation(bytes[at])) at -= 1;
  return at;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The block's printable strings in ASCII, as `strings` finds them, with line breaks kept inside a string. */
export const asciiStrings = (block: FileBlock): BlockText => stringsOf(block, 1);

/** The block's printable strings in UTF-16, little-endian; big-endian is the same, one byte later. */
export const utf16Strings = (block: FileBlock): BlockText => stringsOf(block, 2);

/** Bytes of a letter. */
type Width = 1 | 2;

function stringsOf({ bytes, from, to }: FileBlock, width: Width): BlockText {
  let text = '';
  const share = { from: 0, to: 0 };
  for (const [start, end] of runsOf(bytes, width)) {
    const indexOf = (at: number): number => text.length + Math.max(Math.ceil((at - start) / width), 0);
    if (start < from) share.from = indexOf(Math.min(from, end));
    if (start < to) share.to = indexOf(Math.min(to, end));
    text += bytes.toString(width === 1 ? 'latin1' : 'utf16le', start, end) + SEPARATOR;
  }
  return { text, ...share };
}

/** Where the strings begin and end. Nothing is made of the bytes between them, which may be noise. */
function runsOf(bytes: Buffer, width: Width): [start: number, end: number][] {
  const runs: [number, number][] = [];
  for (let phase = 0; phase < width; phase += 1) {
    for (let at = nextLetter(bytes, phase, width); at !== -1; at = nextLetter(bytes, at, width)) {
      let start = at;
      while (isLetter(bytes, start - width, width)) start -= width;
      while (isLetter(bytes, at, width)) at += width;
      if (at - start >= SHORTEST * width) runs.push([start, at]);
    }
  }
  return runs.sort(([one], [other]) => one - other);
}

/**
 * A letter of every string that is long enough, from `at` on, or -1. A loop of its own, which reads nothing
 * behind the end, stays fast.
 */
function nextLetter(bytes: Buffer, at: number, width: Width): number {
  const end = bytes.length - width + 1;
  for (let place = at; place < end; place += SHORTEST * width) {
    if (width === 2 && bytes[place + 1] !== 0) continue;
    if (isPrintable(bytes[place])) return place;
  }
  return -1;
}

function isLetter(bytes: Buffer, at: number, width: Width): boolean {
  return (width === 1 || bytes[at + 1] === 0) && isPrintable(bytes[at]);
}

function isPrintable(byte = 0): boolean {
  return (byte >= 0x20 && byte <= 0x7e) || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
