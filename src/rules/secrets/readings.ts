import type { Block } from './blocks.ts';

/** A block as a text. */
export interface Reading {
  readonly text: string;
  /** What begins at an index in [from, to) belongs to the block. */
  readonly from: number;
  readonly to: number;
}

/** Shorter runs of printable characters are chance. */
const SHORTEST = 6;

/** Stands between two strings: no pattern of a secret spans a NUL or goes on after a newline before one. */
const SEPARATOR = '\n\0\n';

const PRINTABLE = String.raw`[\t\n\r -~]`;
const NUL = String.raw`\x00`;
const ASCII_RUN = new RegExp(`${PRINTABLE}{${SHORTEST},}`, 'g');
/** Little-endian; big-endian is the same, one byte later. */
const UTF16_RUN = new RegExp(`(?:${PRINTABLE}${NUL}){${SHORTEST},}`, 'g');

/** The block as UTF-8, in which no letter is cut by the borders of its share. */
export function asText({ bytes, from, to }: Block): Reading {
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
export function asciiStrings(block: Block): Reading {
  return stringsOf(block, ASCII_RUN, 1);
}

/** The block's printable strings in UTF-16. */
export function utf16Strings(block: Block): Reading {
  return holdsUtf16(block.bytes) ? stringsOf(block, UTF16_RUN, 2) : { text: '', from: 0, to: 0 };
}

/** A long enough string in UTF-16 holds both bytes of some pair at this distance, and one of the two is NUL. */
const STRIDE = 2 * SHORTEST - 2;

function holdsUtf16(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length - 1; at += STRIDE) {
    if (bytes[at] === 0 && isUtf16Around(bytes, at)) return true;
    if (bytes[at + 1] === 0 && isUtf16Around(bytes, at + 1)) return true;
  }
  return false;
}

/** Whether the NUL at an index is the second byte of a letter in a long enough string. */
function isUtf16Around(bytes: Buffer, nul: number): boolean {
  const isLetter = (at: number): boolean => bytes[at] === 0 && isPrintable(bytes[at - 1] ?? 0);
  let letters = 0;
  for (let at = nul; isLetter(at); at -= 2) letters += 1;
  for (let at = nul + 2; letters > 0 && letters < SHORTEST && isLetter(at); at += 2) letters += 1;
  return letters >= SHORTEST;
}

function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte <= 0x7e) || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function stringsOf({ bytes, from, to }: Block, run: RegExp, width: 1 | 2): Reading {
  let text = '';
  const share = { from: 0, to: 0 };
  for (const { 0: string, index } of bytes.toString('latin1').matchAll(run)) {
    const begins = (at: number): number => text.length + Math.max(Math.ceil((at - index) / width), 0);
    const end = index + string.length;
    if (index < from) share.from = begins(Math.min(from, end));
    if (index < to) share.to = begins(Math.min(to, end));
    text += (width === 1 ? string : string.replaceAll('\0', '')) + SEPARATOR;
  }
  return { text, ...share };
}
