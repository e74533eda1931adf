import { BASE64_ALPHABET } from '../../secret-dumps.ts';
import { findAsciiStrings } from './block-text.ts';
import { findRun, findRunEnd, kindsOf } from './byte-runs.ts';
import { type DecodedPart, joinParts } from './decoded-part.ts';
import { decodeTextParts, isCompressed, isEncodedText } from './encoded-text.ts';
import { decodeEscapes } from './escapes.ts';
import type { FileBlock } from './file-blocks.ts';

/** Shorter strings of binary content hold no escaped secret. */
const SHORTEST_STRING = 24;
/** Fewer characters hold no well-known secret. */
const SHORTEST_RUN = 40;
/** The shortest line of several; only the last one may be shorter. */
const SHORTEST_LINE = 20;

/** 1 for each character of base64, in one of its alphabets. */
const BASE64 = kindsOf(`${BASE64_ALPHABET}-_`);
/** The same, with the characters that write a line break between two lines. */
const BASE64_LINES = kindsOf(`${BASE64_ALPHABET}-_\r\n\\`);

/**
 * Decodes what is text in base64, hex and escapes in a block, all together. One level is decoded: what is encoded
 * twice stays as it is.
 */
export type DecodeEmbedded = (block: Pick<FileBlock, 'bytes' | 'offset'>) => DecodedPart | null;

/**
 * Creates a decoder for the blocks of one file in their order.
 *
 * @param binary whether the file is no text: then escapes count in its printable strings only
 */
export function createEmbeddedDecoder(binary: boolean): DecodeEmbedded {
  const hasText = createTextCheck();
  return ({ bytes, offset }) => {
    const strings = binary ? findAsciiStrings(bytes, SHORTEST_STRING) : [[0, bytes.length] as const];
    const runs = Array.from(findRuns(bytes)).filter((run) => hasText(run, offset));
    const parts = [...runs.flatMap((run) => decodeRun(bytes, run)), ...decodeEscapes(bytes, strings)];
    return parts.length === 0 ? null : joinParts(parts);
  };
}

/** A long run of base64. */
interface Run {
  /** Position of its first character. */
  readonly start: number;
  readonly end: number;
  /** Its characters, without the line breaks between them. */
  readonly text: Buffer;
}

/**
 * Checks whether a run may encode a text. A compressed file may be one line over many blocks, of which only the first
 * shows what it is. After a line break something else may follow it.
 */
function createTextCheck(): (run: Run, offset: number) => boolean {
  let compressed = { from: 0, to: 0 };
  return ({ start, end, text }, offset) => {
    const [from, to] = [offset + start, offset + end];
    const isContinued = from >= compressed.from && from < compressed.to;
    const isOneLine = text.length === end - start;
    if (!isOneLine || !(isContinued || isCompressed(text))) return isEncodedText(text);
    compressed = { from: isContinued ? compressed.from : from, to };
    return false;
  };
}

const decodeRun = (bytes: Buffer, { start, text }: Run): DecodedPart[] =>
  decodeTextParts(text).map(({ bytes: decoded, positionOf }) => ({
    bytes: decoded,
    positionOf: (index) => findPosition(bytes, start, positionOf(index)),
  }));

function* findRuns(bytes: Buffer): Generator<Run, void, undefined> {
  for (let from = 0; ; ) {
    const start = findRun(bytes, BASE64_LINES, from, SHORTEST_RUN);
    if (start === -1) return;
    const lineEnd = findRunEnd(bytes, BASE64, start);
    const end = findRunEnd(bytes, BASE64_LINES, Math.max(lineEnd, start + SHORTEST_RUN));
    if (lineEnd === end && skipLineBreak(bytes, end) === end) {
      // Most runs are one line.
      yield { start, end, text: bytes.subarray(start, end) };
      from = end;
    } else from = yield* findRunsOfLines(bytes, start, end);
  }
}

/** Finds the runs that begin in a range with line breaks; returns the end of the last, whose indented lines are long. */
function* findRunsOfLines(bytes: Buffer, from: number, to: number): Generator<Run, number, undefined> {
  const lines = bytes.subarray(0, to);
  let last = to;
  for (let start = findRun(lines, BASE64, from, SHORTEST_LINE); start !== -1; ) {
    const firstEnd = findRunEnd(bytes, BASE64, start + SHORTEST_LINE);
    const end = findLastLine(bytes, start, firstEnd);
    const isLong = end - start >= SHORTEST_RUN;
    if (isLong) yield { start, end, text: joinLines(bytes, start, end) };
    const next = isLong ? end : firstEnd;
    // Indented lines end after the lines that were found first.
    last = Math.max(last, next);
    start = findRun(lines, BASE64, next, SHORTEST_LINE);
  }
  return last;
}

/** The end of the last of several lines of base64; none but the last one is short. */
function findLastLine(bytes: Buffer, start: number, firstEnd: number): number {
  let end = firstEnd;
  for (let length = firstEnd - start; length >= SHORTEST_LINE; ) {
    const next = skipLineBreak(bytes, end);
    if (next === end || BASE64[bytes[next] ?? 0] === 0) return end;
    end = findRunEnd(bytes, BASE64, next);
    length = end - next;
  }
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

/** The characters of a run without its line breaks. */
function joinLines(bytes: Buffer, start: number, end: number): Buffer {
  return Buffer.from(bytes.toString('latin1', start, end).replace(/\\[rn]|\s+/g, ''), 'latin1');
}

/** The position of the nth character of a run. */
function findPosition(bytes: Buffer, start: number, nth: number): number {
  let left = nth;
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
