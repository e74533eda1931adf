import { BASE64_ALPHABET } from '../../secret-dumps.ts';
import type { StringRange } from './block-text.ts';
import { findRun, findRunEnd, kindsOf } from './byte-runs.ts';
import type { DecodedPart } from './decoded-part.ts';

/** Kinds of characters, as bits. */
const KIND = { digit: 1, capital: 2, small: 4 } as const;
const KINDS = new Uint8Array(256);
for (const byte of Buffer.from('0123456789')) KINDS[byte] = KIND.digit;
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ')) KINDS[byte] = KIND.capital;
for (const byte of Buffer.from('abcdefghijklmnopqrstuvwxyz')) KINDS[byte] = KIND.small;

/**
 * Whether a long run of base64 may encode a text, or has hex digits that may. Encoded text has digits, and as base64
 * small and capital letters; most names, paths and lines of code lack one of them.
 */
export function isEncodedText(run: Buffer): boolean {
  let some = 0;
  for (let at = 0; at < run.length; at += 1) {
    some |= KINDS[run[at] as number] as number;
    if (some === (KIND.digit | KIND.capital | KIND.small)) return true;
  }
  return (some & KIND.digit) !== 0 && findRun(run, HEX, 0, SHORTEST_HEX) !== -1;
}

/** How compressed images, fonts and archives, and WebAssembly begin in base64: they are frequent and long. */
const COMPRESSED = /^(?:AGFzbQ|iVBORw0KGgo|\/9j\/|R0lGOD|d09GMg|d09GRg|UklGR|H4sI|UEsDB)/;
const COMPRESSED_FIRST = kindsOf('AiR/dUH');
const START_LENGTH = 12;

/** Whether a run of base64 begins a compressed file. */
export function isCompressed(run: Buffer): boolean {
  // Most runs begin with another character: their text is not even made.
  if (COMPRESSED_FIRST[run[0] as number] === 0) return false;
  return COMPRESSED.test(run.toString('latin1', 0, START_LENGTH));
}

/**
 * Decodes what is ASCII text in a run of base64 or hex, wherever in the run it begins: something of the alphabet may
 * be before it, such as a part of an address. Hashes and images are not even decoded. Positions are those in the run.
 */
export function decodeTextParts(run: Buffer): DecodedPart[] {
  const parts: DecodedPart[] = [];
  for (let phase = 0; phase < GROUP; phase += 1) addBase64(run, phase, parts);
  for (let start = findRun(run, HEX, 0, SHORTEST_HEX); start !== -1; ) {
    const end = findRunEnd(run, HEX, start + SHORTEST_HEX);
    addHex(run, [start, end], parts);
    addHex(run, [start + 1, end], parts);
    start = findRun(run, HEX, end, SHORTEST_HEX);
  }
  return parts;
}

/** Characters of base64 for three bytes, and how many such groups of ASCII in a row are a text. */
const [GROUP, GROUPS] = [4, 4];
/** The bits of the first three places of a group at which a character leaves the highest bit of a byte unset. */
const ASCII_PLACES = new Uint8Array(256);
for (const alphabet of [BASE64_ALPHABET, BASE64_ALPHABET.replace('+/', '-_')]) {
  for (const [value, character] of Buffer.from(alphabet).entries()) {
    ASCII_PLACES[character] =
      Number((value & 32) === 0) + Number((value & 8) === 0) * 2 + Number((value & 2) === 0) * 4;
  }
}

/** Whether three bytes, of which the first character is at a position, are ASCII. */
function isAscii(run: Buffer, at: number): boolean {
  const first = ASCII_PLACES[run[at] as number] as number;
  const second = ASCII_PLACES[run[at + 1] as number] as number;
  const third = ASCII_PLACES[run[at + 2] as number] as number;
  return (first & (second >> 1) & (third >> 2) & 1) !== 0;
}

function addBase64(run: Buffer, phase: number, parts: DecodedPart[]): void {
  for (let at = findAscii(run, phase); at !== -1; ) {
    let end = at + GROUP * GROUPS;
    while (end + GROUP <= run.length && isAscii(run, end)) end += GROUP;
    // A part of a group may be text as well.
    const [from, to] = [Math.max(at - GROUP, phase), Math.min(end + GROUP, run.length)];
    parts.push({
      bytes: Buffer.from(run.toString('latin1', from, to), 'base64'),
      positionOf: (index) => from + Math.floor((index * 4) / 3),
    });
    at = findAscii(run, end + GROUP);
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

/** 1 for each hex digit. */
const HEX = kindsOf('0123456789abcdefABCDEF');
/** Fewer hex digits hold no well-known secret. */
const SHORTEST_HEX = 40;
/** The first digits of printable ASCII. */
const [FIRST, LAST] = [0x32, 0x37];
/** So many printable characters in a row are a text. */
const SHORTEST_TEXT = 16;

function addHex(run: Buffer, [start, end]: StringRange, parts: DecodedPart[]): void {
  let [count, most] = [0, 0];
  for (let at = start; at < end; at += 2) {
    const digit = run[at] as number;
    count = digit >= FIRST && digit <= LAST ? count + 1 : 0;
    most = Math.max(most, count);
  }
  if (most < SHORTEST_TEXT) return;
  const bytes = Buffer.from(run.toString('latin1', start, end), 'hex');
  parts.push({ bytes, positionOf: (index) => start + index * 2 });
}
