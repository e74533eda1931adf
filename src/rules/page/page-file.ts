import { MEGABYTE } from '../../protocol/limits.ts';

/** Whether a page may need other hosts: `warn` lists in UNKNOWN what it needs of them, `off` does not. */
export type SelfContained = 'enforce' | 'warn' | 'off';

/**
 * The largest page that is searched, in bytes. Measured with Node 24: a page of this size takes 1 to 4 seconds of the
 * processor and, with its own text, 0.15 to 0.3 GB, depending on how many addresses it has. `SEARCH_LIMITS` bounds the
 * rest.
 */
export const LARGEST_PAGE = 32 * MEGABYTE;

/** Whether a browser shows a file with this name as a page. */
export function isHtml(name: string): boolean {
  return /\.(?:html?|shtml|xhtml|xht)$/i.test(name);
}

/** Whether a browser reads a page with this name as XML. */
export const isXhtml = (name: string): boolean => /\.xht(?:ml)?$/i.test(name);

/** All bytes of a file. @param limit how many bytes are read at most */
export async function readBytes(
  file: { read(): AsyncIterable<Uint8Array> },
  limit = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file.read()) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks);
}

/** The text of a page: a byte order mark decides the encoding; without one, Pages serves UTF-8. */
export function decodeText(bytes: Buffer): string {
  const byteOrderMark = bytes.subarray(0, 2).toString('hex');
  const encoding = byteOrderMark === 'fffe' ? 'utf-16le' : byteOrderMark === 'feff' ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}
