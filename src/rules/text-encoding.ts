/** A text that a browser does not read as it was written, because its host calls it UTF-8. */
export interface MisreadText {
  /** The first line that is read wrongly; from 1. */
  readonly line: number;
  /** What is wrong, in a clause. */
  readonly text: string;
  /** False for one that calls itself UTF-8: a few characters of it are wrong, and for everybody. */
  readonly isUnreadable: boolean;
}

/**
 * Finds out whether a browser reads a text rightly if its host declares UTF-8: only a byte order mark wins over the host.
 *
 * @see https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding
 */
export function createEncodingCheck(readCharset: (head: string) => string | null) {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let head = '';
  let line = 1;
  let isRight = true;
  const decodePiece = (piece?: Buffer): string => {
    let text: string;
    try {
      text = decoder.decode(piece, { stream: piece !== undefined });
      if (!text.includes('\0')) return text;
    } catch {
      text = new TextDecoder().decode(piece);
    }
    isRight = false;
    return text.replace(/[\0\ufffd].*/s, '');
  };
  return {
    add(piece: Buffer): void {
      if (head.length < DECLARED_WITHIN) head += piece.toString('latin1', 0, DECLARED_WITHIN);
      if (isRight) line += decodePiece(piece).split('\n').length - 1;
    },
    /** @param isWhole false if only the beginning of the text was added */
    end(isWhole = true): MisreadText | null {
      if (isWhole && isRight) decodePiece();
      if (isRight || UTF_16_MARK.test(head)) return null;
      const encoding = readCharset(head);
      const isUnreadable = !head.startsWith(UTF_8_MARK) && encoding !== 'utf-8';
      const text = isUnreadable
        ? `the text is ${encoding === null ? 'not in UTF-8' : `in ${encoding}`}, and Pages makes browsers read it as UTF-8`
        : 'the text is not in UTF-8 everywhere: a browser shows � where it is not';
      return { line, text, isUnreadable };
    },
  };
}

const DECLARED_WITHIN = 1_024;

export const UTF_16_MARK = /^(?:\xfe\xff|\xff\xfe)/;
const UTF_8_MARK = '\xef\xbb\xbf';

/** The labels of encodings in which browsers show nothing but one �. @see https://encoding.spec.whatwg.org/#replacement */
const REPLACEMENT = /^\s*(?:replacement|hz-gb-2312|(?:cs)?iso-?2022-?(?:kr|cn(?:-ext)?))\s*$/i;

/** The encoding that a label means; `null` for none that browsers know: they ignore any other label. */
export function readEncoding(label: string): string | null {
  if (REPLACEMENT.test(label)) return 'replacement';
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

/**
 * Whether a browser that reads a text in this encoding sees it as it was written. Of what is not in UTF-8 nobody knows
 * here what it should look like. @param head its beginning as Latin-1 text
 */
export function isReadAsWritten(head: string, encoding: string): boolean {
  if (UTF_16_MARK.test(head) || head.startsWith(UTF_8_MARK)) return true;
  const bytes = Buffer.from(head, 'latin1');
  let written: string;
  try {
    written = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return true;
  }
  return encoding !== 'replacement' && new TextDecoder(encoding).decode(bytes, { stream: true }) === written;
}
