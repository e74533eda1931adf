/** A block, or what base64 or percent-encoding in it encodes. */
interface DecodedPart {
  readonly bytes: Buffer;
  /** The position in the block from which the byte at an index was decoded. */
  readonly positionOf: (index: number) => number;
}

/**
 * A block as it is, and decoded from base64 and percent-encoding, in a `data:` address or anywhere else. One level is
 * decoded: what is encoded twice stays as it is.
 */
export function* decodeEmbedded(block: Buffer): Generator<DecodedPart, void, undefined> {
  yield { bytes: block, positionOf: (index) => index };
  yield* decodeBase64(block);
  yield* decodePercentWords(block);
}

/** Fewer characters of base64 hold no well-known secret. Of several lines, only the last one may be shorter. */
const SHORTEST_LINE = 40;
const BASE64 = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(/[\w+/-]/.test(String.fromCharCode(byte))),
);

/** A line break, plain or in a string of JSON, with white space around it. */
const LINE_BREAK = String.raw`[ \t]{0,64}(?:[\r\n]|\\[rn])(?:\s|\\[rn]){0,64}`;
const LINE = `[\\w+/-]{${SHORTEST_LINE},}`;
const BREAKS = /(?:\\[rn]|\s)+/g;
/** In one of the alphabets, in one line or several. */
const RUN = new RegExp(`${LINE}(?:${LINE_BREAK}${LINE})*(?:${LINE_BREAK}[\\w+/-]+)?`, 'y');

/** Decodes each run from all four places where a group of base64 may begin: a part of an address may be before it. */
function* decodeBase64(block: Buffer): Generator<DecodedPart, void, undefined> {
  let start = findRun(block, 0);
  const text = start === -1 ? '' : block.toString('latin1');
  while (start !== -1) {
    const runStart = start;
    RUN.lastIndex = start;
    const [run = ''] = RUN.exec(text) ?? [];
    const joined = run.replace(BREAKS, '');
    for (let from = 0; from < GROUP; from += 1) {
      yield {
        bytes: Buffer.from(joined.slice(from), 'base64'),
        positionOf: (index) => runStart + findCharacter(run, from + Math.floor((index * GROUP) / 3)),
      };
    }
    start = findRun(block, start + run.length);
  }
}

/** Characters of base64 for three bytes. */
const GROUP = 4;

/** Where in a run its nth character of base64 is. */
function findCharacter(run: string, nth: number): number {
  let at = nth;
  for (const { 0: text, index } of run.matchAll(BREAKS)) if (index <= at) at += text.length;
  return at;
}

/**
 * The start of the first run of base64 from a position on, or -1. A run is read backward from where it would have the
 * shortest length, so most bytes outside of runs are never read.
 */
function findRun(bytes: Buffer, from: number): number {
  const kindOf = (at: number): number => BASE64[bytes[at] as number] as number;
  for (let last = from + SHORTEST_LINE - 1; last < bytes.length; ) {
    // Three are compared together: a processor predicts the result for one byte of random content badly.
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
/** The value of each hex digit; -1 for any other byte. */
const HEX_VALUES = new Int8Array(256).fill(-1);
for (const [value, digit] of Buffer.from('0123456789abcdef').entries()) HEX_VALUES[digit] = value;
for (const [value, digit] of Buffer.from('ABCDEF').entries()) HEX_VALUES[digit] = 10 + value;

/** The byte that is percent-encoded at a position; negative without one. */
const readPercent = (bytes: Buffer, at: number): number =>
  bytes[at] === PERCENT
    ? ((HEX_VALUES[bytes[at + 1] ?? 0] as number) << 4) | (HEX_VALUES[bytes[at + 2] ?? 0] as number)
    : -1;

/** Decodes what is percent-encoded anywhere in a block. */
function* decodePercentWords(block: Buffer): Generator<DecodedPart, void, undefined> {
  let first = block.indexOf(PERCENT);
  while (first !== -1 && readPercent(block, first) < 0) first = block.indexOf(PERCENT, first + 1);
  if (first === -1) return;
  const decoded = Buffer.allocUnsafe(block.length);
  let length = 0;
  for (let at = 0; at < block.length; length += 1) {
    const value = readPercent(block, at);
    decoded[length] = value < 0 ? (block[at] as number) : value;
    at += value < 0 ? 1 : 3;
  }
  yield {
    bytes: decoded.subarray(0, length),
    positionOf(index) {
      let at = 0;
      for (let left = index; left > 0; left -= 1) at += readPercent(block, at) < 0 ? 1 : 3;
      return at;
    },
  };
}
