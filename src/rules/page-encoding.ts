/**
 * Whether a browser reads a page in UTF-8 as it was written, if its host declares an encoding: that of the host wins
 * over the page's own. Of a page in another encoding it is not known here what it should look like.
 *
 * @param head its beginning as Latin-1 text
 * @param contentType the header, with or without an encoding
 */
export function isReadAsWritten(head: string, contentType: string): boolean {
  const [, label] = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType) ?? [];
  const bytes = Buffer.from(head, 'latin1');
  // Before the host's word goes only the mark at the beginning of a file.
  if (label === undefined || BYTE_ORDER_MARK.test(head)) return true;
  const written = decode(bytes, 'utf-8');
  const read = decode(bytes, label);
  return written === null || read === null || read === written;
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
  const [, label = 'utf-8'] =
    /<meta\b[^<>]{0,200}\bcharset\s{0,9}=\s{0,9}["']?([\w-]{1,40})/i.exec(head) ?? [];
  const bytes = Buffer.from(head, 'latin1');
  return decode(bytes, label) ?? bytes.toString('utf8');
}
