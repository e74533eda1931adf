/** A text that a browser misreads, because Pages declares it as UTF-8. */
export type MisreadText = NonNullable<ReturnType<ReturnType<typeof createEncodingCheck>['end']>>;

/**
 * Checks whether a browser reads a text correctly if its host declares UTF-8. Only a byte order mark overrides the host.
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
    end(isWhole = true) {
      if (isWhole && isRight) decodePiece();
      if (isRight || UTF_16_MARK.test(head)) return null;
      const encoding = readCharset(head);
      // If the text declares UTF-8 itself, only a few characters are wrong.
      const isUnreadable = !BYTE_ORDER_MARK.test(head) && encoding !== 'utf-8';
      const text = isUnreadable
        ? `the text is ${encoding === null ? 'not in UTF-8' : `in ${encoding}`}, but GitHub Pages declares it as UTF-8`
        : PARTLY_MISREAD;
      return { line, text, isUnreadable };
    },
  };
}

export const PARTLY_MISREAD = 'part of the text is not in UTF-8, so a browser shows � there';

const DECLARED_WITHIN = 1_024;

export const UTF_16_MARK = /^(?:\xfe\xff|\xff\xfe)/;
/** It overrides the encoding that a host declares. */
export const BYTE_ORDER_MARK = /^(?:\xef\xbb\xbf|\xfe\xff|\xff\xfe)/;

/** Labels of encodings that browsers show as a single �. @see https://encoding.spec.whatwg.org/#replacement */
const REPLACEMENT = /^\s*(?:replacement|hz-gb-2312|(?:cs)?iso-?2022-?(?:kr|cn(?:-ext)?))\s*$/i;

/** The encoding that a label stands for; `null` for a label that browsers ignore. */
export function readEncoding(label: string): string | null {
  if (REPLACEMENT.test(label)) return 'replacement';
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

/** Whether an encoding shows a UTF-8 text as it was written; true for other texts. @param head its beginning as Latin-1 */
export function isReadAsWritten(head: string, encoding: string): boolean {
  if (BYTE_ORDER_MARK.test(head)) return true;
  const bytes = Buffer.from(head, 'latin1');
  let written: string;
  try {
    written = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return true;
  }
  return encoding !== 'replacement' && new TextDecoder(encoding).decode(bytes, { stream: true }) === written;
}
