import { isUtf8 } from 'node:buffer';

/** A text that a browser does not read as it was written, because its host calls it UTF-8. */
export interface MisreadText {
  /** The first line that is read wrongly; from 1. */
  readonly line: number;
  /** The encoding that the text has, as far as it says so; `null` where it does not. */
  readonly encoding: string | null;
  /** Whether the text calls itself UTF-8: then it looks wrong everywhere, also to who wrote it. */
  readonly isMistake: boolean;
}

/**
 * Finds out whether a browser reads a text rightly if its host declares UTF-8, which wins over what the text says of
 * itself. Only a byte order mark wins over the host.
 *
 * @param isWhole false if only the beginning of the text is given
 * @returns `null` if it does
 * @see https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding
 */
export function findMisreadText(bytes: Buffer, isWhole = true): MisreadText | null {
  const head = bytes.toString('latin1', 0, DECLARED_WITHIN);
  if (UTF_16_MARK.test(head)) return null;
  if (UTF_16_PAGE.test(head)) {
    return { line: 1, encoding: 'UTF-16 without a byte order mark', isMistake: false };
  }
  const declared = readDeclaration(head);
  const name = declared && normalize(declared);
  const isEscaped = name === 'iso-2022-jp' && bytes.includes(ESCAPE);
  const text = isWhole ? bytes : cutLastCharacter(bytes);
  if (isUtf8(text) && !isEscaped) return null;
  const isMistake = name === 'utf-8' || UTF_8_MARK.test(head);
  const isWrong = isEscaped ? (line: Buffer) => line.includes(ESCAPE) : (line: Buffer) => !isUtf8(line);
  return { line: findLine(text, isWrong), encoding: isMistake ? null : declared, isMistake };
}

/** Bytes in which browsers look for a declaration. */
const DECLARED_WITHIN = 1_024;

/** That of UTF-32, which browsers do not know, begins like one. */
const UTF_16_MARK = /^(?:\xfe\xff|\xff\xfe(?!\0\0))/;
const UTF_8_MARK = /^\xef\xbb\xbf/;
/** The `<` with which a page begins, of two bytes. */
const UTF_16_PAGE = /^(?:(?:[\t\n\r ]\0)*<\0|(?:\0[\t\n\r ])*\0<)/;
/** With this byte, ISO-2022-JP changes from Latin letters to others. */
const ESCAPE = 0x1b;

const DECLARATION =
  /<meta\b[^>]{0,500}?\bcharset\s*=\s*["']?\s*([\w.:-]{1,40})|<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]{1,40})|^@charset "([\w.:-]{1,40})"/i;

function readDeclaration(head: string): string | null {
  const [, inMeta, inXml, inCss] = DECLARATION.exec(head) ?? [];
  return inMeta ?? inXml ?? inCss ?? null;
}

/** The encoding that a label means to a browser; `null` for none. */
function normalize(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

/** Without the last character that is no Latin letter, which may be cut. */
function cutLastCharacter(bytes: Buffer): Buffer {
  for (let length = 1; length <= 4 && length <= bytes.length; length += 1) {
    if ((bytes.at(-length) ?? 0) >= 0xc0) return bytes.subarray(0, -length);
  }
  return bytes;
}

/** The first line that is wrong, from 1; a character is never on two of them. */
function findLine(bytes: Buffer, isWrong: (line: Buffer) => boolean): number {
  let line = 1;
  for (let start = 0; ; line += 1) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end === -1 || isWrong(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}

const LINE_FEED = 0x0a;

/** What is wrong, in a clause. @param isPage whether a browser opens it, not a page that uses it */
export function describeMisread({ encoding, isMistake }: MisreadText, isPage: boolean): string {
  const kind = isPage ? 'the page' : 'the text';
  if (isMistake) return `${kind} calls itself UTF-8 and is not, so a browser shows � where it is not`;
  const actual = encoding === null ? `${kind} is not in UTF-8` : `${kind} is in ${encoding}`;
  return `${actual}, and Pages makes browsers read it as UTF-8, so ${isPage ? 'it would be unreadable' : 'letters that are not English would be wrong'}`;
}

/** What to change. */
export const MISREAD_HINT = 'save it as UTF-8';
