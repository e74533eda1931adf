import { DeliveryError } from '../../errors.ts';
import { MEGABYTE } from '../../protocol/limits.ts';
import type { LocalFile } from '../inspect.ts';
import { getContentType } from '../media-type.ts';
import { createEncodingCheck, describeMisread, MISREAD_HINT } from '../text-encoding.ts';

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

/**
 * Refuses a page whose text would be unreadable on the screen, because Pages says of every page that it is UTF-8.
 *
 * @param name how the file is called
 * @returns notes: of a text that is no page, whose bytes may be all that is wanted, and of a page that has the same
 *   mistake everywhere
 * @throws {DeliveryError} `BAD_FILE` with what to change.
 * @see protocol 1 (file rules: on screen)
 */
export async function checkEncoding(
  file: Pick<LocalFile, 'size' | 'pieces'>,
  name: string,
): Promise<readonly string[]> {
  const isPage = isHtml(name);
  if (!isPage && !/charset=utf-8/.test(getContentType(name))) return [];
  const limit = isPage ? file.size : MEGABYTE;
  const check = createEncodingCheck();
  let size = 0;
  for await (const piece of file.pieces()) {
    check.add(piece);
    size += piece.length;
    if (size >= limit) break;
  }
  const misread = check.end(size === file.size);
  if (misread === null) return [];
  const text = `${name} line ${misread.line}: ${describeMisread(misread, isPage)}`;
  if (!isPage || !misread.isUnreadable) return [text];
  throw new DeliveryError('BAD_FILE', text, { hint: MISREAD_HINT });
}
