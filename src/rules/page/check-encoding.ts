import { DeliveryError } from '../../errors.ts';
import { MEGABYTE } from '../../protocol/limits.ts';
import type { LocalFile } from '../inspect.ts';
import { getContentType } from '../media-type.ts';
import { describeMisread, findMisreadText, MISREAD_HINT } from '../text-encoding.ts';
import { isHtml, LARGEST_PAGE, readBytes } from './page-file.ts';

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
  file: Pick<LocalFile, 'size' | 'read'>,
  name: string,
): Promise<readonly string[]> {
  const isPage = isHtml(name);
  if (!isPage && !/charset=utf-8/.test(getContentType(name))) return [];
  const bytes = await readBytes(file, isPage ? LARGEST_PAGE : MEGABYTE);
  const misread = findMisreadText(bytes, bytes.length === file.size);
  if (misread === null) return [];
  const text = `${name} line ${misread.line}: ${describeMisread(misread, isPage)}`;
  if (!isPage || misread.isMistake) return [text];
  throw new DeliveryError('BAD_FILE', text, { hint: MISREAD_HINT });
}
