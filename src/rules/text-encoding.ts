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
 * Finds out whether a browser reads a text rightly if its host declares UTF-8, which wins over what the text says of
 * itself. Only a byte order mark wins over the host. The text is taken in pieces, which are not kept.
 *
 * @see https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding
 */
export function createEncodingCheck() {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let head = '';
  let line = 1;
  let isRight = true;
  let hasNul = false;
  const decodePiece = (piece?: Buffer): string => {
    let text: string;
    try {
      text = decoder.decode(piece, { stream: piece !== undefined });
      if (!text.includes('\0')) return text;
    } catch {
      text = new TextDecoder().decode(piece);
    }
    isRight = false;
    hasNul = text.includes('\0');
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
      if (hasNul) {
        const nul =
          'the text has NUL bytes, which no browser shows, as UTF-16 without a byte order mark has them';
        return { line, text: nul, isUnreadable: true };
      }
      const encoding = readDeclaration(head);
      const isUnreadable = !head.startsWith(UTF_8_MARK) && !isUtf8Label(encoding ?? '');
      const text = isUnreadable
        ? `the text is ${encoding === null ? 'not in UTF-8' : `in ${encoding}`}, and Pages makes browsers read it as UTF-8`
        : 'the text is not in UTF-8 everywhere: a browser shows � where it is not';
      return { line, text, isUnreadable };
    },
  };
}

/** Bytes in which browsers look for a declaration. */
const DECLARED_WITHIN = 1_024;

export const UTF_16_MARK = /^(?:\xfe\xff|\xff\xfe)/;
const UTF_8_MARK = '\xef\xbb\xbf';
const DECLARATION =
  /<meta\b[^>]{0,500}?\bcharset\s*=\s*["']?\s*([\w.:-]{1,40})|<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]{1,40})|^@charset "([\w.:-]{1,40})"/i;

function readDeclaration(head: string): string | null {
  const [, inMeta, inXml, inCss] = DECLARATION.exec(head) ?? [];
  return inMeta ?? inXml ?? inCss ?? null;
}

const isUtf8Label = (label: string): boolean => /^utf-?8$/i.test(label);

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
  const written = UTF_16_MARK.test(head) || head.startsWith(UTF_8_MARK) ? null : decode(bytes, 'utf-8');
  const read = written === null ? null : decode(bytes, label);
  return read === null || read === written;
}

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
