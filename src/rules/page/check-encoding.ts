import { DeliveryError } from '../../errors.ts';
import { MEGABYTE } from '../../protocol/limits.ts';
import type { LocalFile } from '../inspect.ts';
import { getContentType } from '../media-type.ts';
import { createEncodingCheck, describeMisread, MISREAD_HINT } from '../text-encoding.ts';
import { isHtml } from './page-file.ts';

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
