import { isUtf8 } from 'node:buffer';

/** A text that a browser does not read as it was written, because its host calls it UTF-8. */
export interface MisreadText {
  /** The first line that is read wrongly; from 1. */
  readonly line: number;
  /** The encoding that the text has, as far as it says so; `null` where it does not. */
  readonly encoding: string | null;
  /** Whether it is unreadable; else only a few characters of a text in UTF-8 are wrong, for everybody. */
  readonly isUnreadable: boolean;
}

/**
 * Finds out whether a browser reads a text rightly if its host declares UTF-8, which wins over what the text says of
 * itself. Only a byte order mark wins over the host. The text is taken in pieces, which are not kept.
 *
 * @see https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding
 */
export function createEncodingCheck() {
  let head = '';
  /** A character that may go on in the next piece. */
  let begun: Buffer = Buffer.alloc(0);
  let line = 1;
  /** Characters that are no UTF-8, counted up to the fewest that make a text unreadable. */
  let wrong = 0;
  const read = (text: Buffer): void => {
    if (wrong >= FEWEST_WRONG) return;
    const [right = '', ...rest] = isUtf8(text)
      ? [text.toString('latin1')]
      : new TextDecoder().decode(text).split('\ufffd');
    if (wrong === 0) line += right.split('\n').length - 1;
    wrong += rest.length;
  };
  return {
    add(piece: Buffer): void {
      const bytes = begun.length === 0 ? piece : Buffer.concat([begun, piece]);
      if (head.length < DECLARED_WITHIN) head += bytes.toString('latin1', begun.length, DECLARED_WITHIN);
      const text = cutLastCharacter(bytes);
      begun = Buffer.from(bytes.subarray(text.length));
      read(text);
    },
    /** @param isWhole false if only the beginning of the text was added */
    end(isWhole = true): MisreadText | null {
      if (isWhole) read(begun);
      if (UTF_16_MARK.test(head)) return null;
      if (UTF_16_PAGE.test(head)) {
        return { line: 1, encoding: 'UTF-16 without a byte order mark', isUnreadable: true };
      }
      if (wrong === 0) return null;
      const declared = readDeclaration(head);
      const isSlip = UTF_8_MARK.test(head) || wrong < FEWEST_WRONG || isUtf8Label(declared ?? '');
      return { line, encoding: isSlip ? null : declared, isUnreadable: !isSlip };
    },
  };
}

/** Fewer wrong characters than this are a slip, often in a comment or a script. */
const FEWEST_WRONG = 4;

/** Bytes in which browsers look for a declaration. */
const DECLARED_WITHIN = 1_024;

/** That of UTF-32, which browsers do not know, begins like one. */
const UTF_16_MARK = /^(?:\xfe\xff|\xff\xfe(?!\0\0))/;
const UTF_8_MARK = /^\xef\xbb\xbf/;
/** The `<` with which a page begins, of two bytes. */
const UTF_16_PAGE = /^(?:(?:[\t\n\r ]\0)*<\0|(?:\0[\t\n\r ])*\0<)/;
const DECLARATION =
  /<meta\b[^>]{0,500}?\bcharset\s*=\s*["']?\s*([\w.:-]{1,40})|<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]{1,40})|^@charset "([\w.:-]{1,40})"/i;

function readDeclaration(head: string): string | null {
  const [, inMeta, inXml, inCss] = DECLARATION.exec(head) ?? [];
  return inMeta ?? inXml ?? inCss ?? null;
}

const isUtf8Label = (label: string): boolean => /^utf-?8$/i.test(label);

/** Without the last character that is no Latin letter, if it is near the end: it may be cut. */
function cutLastCharacter(bytes: Buffer): Buffer {
  for (let length = 1; length <= 4 && length <= bytes.length; length += 1) {
    if ((bytes.at(-length) ?? 0) >= 0xc0) return bytes.subarray(0, -length);
  }
  return bytes;
}

/** What is wrong, in a clause. @param isPage whether a browser opens it, not a page that uses it */
export function describeMisread({ encoding, isUnreadable }: MisreadText, isPage: boolean): string {
  const kind = isPage ? 'the page' : 'the text';
  if (!isUnreadable) return `${kind} is not in UTF-8 everywhere: a browser shows � where it is not`;
  const actual = encoding === null ? `${kind} is not in UTF-8` : `${kind} is in ${encoding}`;
  return `${actual}, and Pages makes browsers read it as UTF-8, so ${isPage ? 'it would be unreadable' : 'letters that are not English would be wrong'}`;
}

export const MISREAD_HINT = 'save it as UTF-8';

/**
 * Whether a browser reads a text in UTF-8 as it was written: that of the host wins over the encoding that a page says
 * itself. Of a text in another encoding it is not known here what it should look like.
 *
 * @param head its beginning as Latin-1 text
 * @param contentType the header, with or without an encoding
 * @param usual what a browser takes for the encoding of a page or a plain text where none is declared; a style sheet
 * and a script have that of their page
 */
export function isReadAsWritten(
  readHead: () => string,
  contentType: string,
  usual = 'windows-1252',
): boolean {
  const isAlone = /^(?:text\/(?:html|plain)\b|$)/i.test(contentType);
  const own = isAlone ? (readDeclaration(readHead()) ?? usual) : 'utf-8';
  const [, label = own] = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType) ?? [];
  if (isUtf8Label(label)) return true;
  const head = readHead();
  const bytes = Buffer.from(head, 'latin1');
  // Before the host's word goes only the mark at the beginning of a file.
  const written = BYTE_ORDER_MARK.test(head) ? null : decode(bytes, 'utf-8');
  const read = written === null ? null : decode(bytes, label);
  return read === null || read === written;
}

const BYTE_ORDER_MARK = /^(?:\xef\xbb\xbf|\xfe\xff|\xff\xfe)/;

/** The text up to the last complete character; `null` where the bytes are not in this encoding, or it is unknown. */
function decode(bytes: Buffer, label: string): string | null {
  try {
    return new TextDecoder(label, { fatal: label === 'utf-8' }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}

/**
 * The beginning of a page as text, by the encoding that it declares.
 *
 * @param head its bytes as Latin-1 text
 */
export function decodePage(head: string): string {
  const bytes = Buffer.from(head, 'latin1');
  return decode(bytes, readDeclaration(head) ?? 'utf-8') ?? bytes.toString('utf8');
}
