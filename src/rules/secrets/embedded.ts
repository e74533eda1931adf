import { BLOCK_SIZES, type FileBlock } from './file-blocks.ts';

/** Decoded content of a block: of a `data:` URI, an inline source map, or lines of base64. */
export interface EmbeddedContent {
  readonly bytes: Buffer;
  /** The position in the block from which the byte at an index was decoded. */
  readonly positionOf: (index: number) => number;
}

/** Fewer characters hold no well-known secret. */
const SHORTEST_RUN = 32;

/** The longest `data:` URI with escapes that is decoded; base64 has no limit but the block. */
const LONGEST_ESCAPED = 65_536;

/** The characters of both alphabets of base64. */
const ALPHABET = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') {
  ALPHABET[character.charCodeAt(0)] = 1;
}
const isBase64 = (byte: number | undefined): boolean => byte !== undefined && ALPHABET[byte] === 1;

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
      const text = toBase64Text(bytes, start, end);
      yield { bytes: Buffer.from(text, 'base64'), positionOf: (index) => findPosition(bytes, start, index) };
    }
    skipped = nextSkipped;
    yield* decodeEscapedUris(bytes);
  };
}

/** The start and end of every long run of base64, with the line breaks inside it. */
function* findRuns(bytes: Buffer): Generator<[start: number, end: number], void, undefined> {
  for (let at = SHORTEST_RUN - 1; at < bytes.length; at += SHORTEST_RUN) {
    if (ALPHABET[bytes[at] as number] === 0) continue;
    let start = at;
    while (start > 0 && ALPHABET[bytes[start - 1] as number] === 1) start -= 1;
    let end = findEnd(bytes, at);
    if (end - start < SHORTEST_RUN) continue;
    // Lines of one width, the last one shorter.
    for (let line = end; line - start >= SHORTEST_RUN; ) {
      const next = skipLineBreak(bytes, line);
      if (next === line || !isBase64(bytes[next])) break;
      line = findEnd(bytes, next);
      end = line;
      if (line - next < SHORTEST_RUN) break;
    }
    yield [start, end];
    at = end;
  }
}

function findEnd(bytes: Buffer, from: number): number {
  let end = from;
  while (end < bytes.length && ALPHABET[bytes[end] as number] === 1) end += 1;
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

/** `data:` URIs with percent escapes instead of base64. */
function* decodeEscapedUris(bytes: Buffer): Generator<EmbeddedContent, void, undefined> {
  for (let at = bytes.indexOf('data:'); at !== -1; at = bytes.indexOf('data:', at + 1)) {
    const [uri = ''] = /^[^\s"'`<>()\\]*/.exec(bytes.toString('latin1', at, at + LONGEST_ESCAPED)) ?? [];
    if (!uri.includes('%')) continue;
    const start = at;
    const text = uri.replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
    yield { bytes: Buffer.from(text, 'latin1'), positionOf: (index) => start + index };
  }
}
