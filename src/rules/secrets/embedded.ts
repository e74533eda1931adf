import { decodePercents } from '../page/addresses.ts';

/**
 * A block as it is, and its parts in base64 and percent-encoding, decoded once. `positionOf` maps an index to the
 * position in the block that it was decoded from.
 */
export function* decodeEmbedded(block: Buffer) {
  yield { bytes: block, positionOf: (index: number) => index };
  yield* decodeBase64(block);
  yield* decodePercentWords(block);
}

/** Base64 with fewer characters can't contain a token. Only the last of several lines may be shorter. */
const SHORTEST_LINE = 32;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const BASE64 = new Uint8Array(256);
for (const byte of Buffer.from(`${ALPHABET}+/-_`)) BASE64[byte] = 1;

const LINE_BREAK = String.raw`[ \t]{0,64}(?:[\r\n]|\\[rn])(?:\s|\\[rn]){0,64}`;
const LINE = `[\\w+/-]{${SHORTEST_LINE},}`;
const BREAKS = /(?:\\[rn]|\s)+/g;
const RUN = new RegExp(`${LINE}(?:${LINE_BREAK}${LINE})*(?:${LINE_BREAK}[\\w+/-]+)?`, 'y');

/** Decodes only runs of ASCII text, so no hashes and images. */
function* decodeBase64(bytes: Buffer) {
  let start = findRun(bytes, 0);
  const text = start === -1 ? '' : bytes.toString('latin1');
  while (start !== -1) {
    const runStart = start;
    RUN.lastIndex = start;
    const [run = ''] = RUN.exec(text) ?? [];
    const isOneLine = !/[\s\\]/.test(run);
    const joined = isOneLine
      ? bytes.subarray(start, start + run.length)
      : Buffer.from(run.replace(BREAKS, ''), 'latin1');
    for (const [from, end] of listTexts(joined)) {
      yield {
        bytes: Buffer.from(joined.toString('latin1', from, end), 'base64'),
        positionOf: (index: number) => runStart + findCharacter(run, from + Math.floor((index * 4) / 3)),
      };
    }
    start = findRun(bytes, start + run.length);
  }
}

/** Characters of base64 for three bytes, and how many such groups of ASCII in a row are a text. */
const [GROUP, GROUPS] = [4, 6];
/** For each character, a bit for each of three positions in a group at which it keeps a byte in ASCII. */
const ASCII_PLACES = new Uint8Array(256);
for (const alphabet of [`${ALPHABET}+/`, `${ALPHABET}-_`]) {
  for (const [value, character] of Buffer.from(alphabet).entries()) {
    ASCII_PLACES[character] =
      Number((value & 32) === 0) + Number((value & 8) === 0) * 2 + Number((value & 2) === 0) * 4;
  }
}

/** The ranges of ASCII text in a run. Other characters may precede them, such as part of a URL. */
function* listTexts(run: Buffer): Generator<readonly [from: number, end: number], void, undefined> {
  for (let phase = 0; phase < GROUP; phase += 1) {
    for (let at = findAscii(run, phase); at !== -1; ) {
      let end = at + GROUP * GROUPS;
      while (end + GROUP <= run.length && isAscii(run, end)) end += GROUP;
      // A part of a group may be text as well.
      yield [Math.max(at - GROUP, phase), end + GROUP];
      at = findAscii(run, end + GROUP);
    }
  }
}

/** The start of the next text, or -1. A separate loop is faster. */
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

function isAscii(run: Buffer, at: number): boolean {
  const first = ASCII_PLACES[run[at] as number] as number;
  const second = ASCII_PLACES[run[at + 1] as number] as number;
  const third = ASCII_PLACES[run[at + 2] as number] as number;
  return (first & (second >> 1) & (third >> 2) & 1) !== 0;
}

function findCharacter(run: string, nth: number): number {
  let at = nth;
  for (const { 0: text, index } of run.matchAll(BREAKS)) if (index <= at) at += text.length;
  return at;
}

/**
 * The start of the next run of base64, or -1. It reads backward from where a run would have the shortest length, so
 * most bytes outside of runs are never read.
 */
function findRun(bytes: Buffer, from: number): number {
  const kindOf = (at: number): number => BASE64[bytes[at] as number] as number;
  for (let last = from + SHORTEST_LINE - 1; last < bytes.length; ) {
    // Comparing three bytes together avoids mispredicted branches in random content.
    if ((kindOf(last) & kindOf(last - 2) & kindOf(last - 4)) === 0) {
      last += SHORTEST_LINE - 4;
      continue;
    }
    let at = last;
    while (at > last - SHORTEST_LINE && kindOf(at) !== 0) at -= 1;
    if (at === last - SHORTEST_LINE) return at + 1;
    last = at + SHORTEST_LINE;
  }
  return -1;
}

const PERCENT = 0x25;

const WORD = new Uint8Array(256).fill(1, 0x21);
for (const byte of Buffer.from('"\'<>`')) WORD[byte] = 0;

/** Shorter words can't contain a secret. */
const SHORTEST_WORD = 16;

/** Decodes only words with percent-encoding, so little is searched twice. */
function* decodePercentWords(bytes: Buffer) {
  for (let at = bytes.indexOf(PERCENT); at !== -1; at = bytes.indexOf(PERCENT, at + 1)) {
    if (!/^%[\da-f]{2}$/i.test(bytes.toString('latin1', at, at + 3))) continue;
    let [start, end] = [at, at];
    while (start > 0 && WORD[bytes[start - 1] as number] !== 0) start -= 1;
    while (end < bytes.length && WORD[bytes[end] as number] !== 0) end += 1;
    if (end - start >= SHORTEST_WORD) yield decodeWord(bytes, start, end);
    at = end - 1;
  }
}

function decodeWord(bytes: Buffer, start: number, end: number) {
  const word = bytes.toString('latin1', start, end);
  return {
    bytes: Buffer.from(decodePercents(word, 'latin1'), 'latin1'),
    positionOf(index: number) {
      const signs = word.match(/%[\da-f]{2}|./gis) ?? [];
      return start + signs.slice(0, index).join('').length;
    },
  };
}
