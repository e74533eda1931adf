import { UTF_16_MARK } from '../../rules/text-encoding.ts';
import type { ConvertedPage, ConvertOptions } from '../resources.ts';
import { inlineDocument } from './document.ts';
import { PageFiles } from './page-files.ts';

/**
 * Puts all files that a page needs into it: style sheets, scripts, modules, pictures and fonts. All other bytes stay.
 *
 * @throws {DeliveryError} what `read` rejects with, or `BAD_FILE`, with the line of the element
 */
export async function inlinePage(source: Buffer, options: ConvertOptions): Promise<ConvertedPage> {
  const files = new PageFiles(options);
  const isUtf8 = Buffer.from(source.toString()).equals(source);
  const mark = source.toString('latin1', 0, 2);
  const encoding = UTF_16_MARK.test(mark) ? 'utf16le' : isUtf8 ? 'utf8' : 'latin1';
  // Node writes UTF-16 only with the little end first, and the mark says so.
  const decoder = new TextDecoder('utf-16be', { ignoreBOM: true });
  const text = mark === '\xfe\xff' ? decoder.decode(source) : source.toString(encoding);
  const page = await inlineDocument(text, options.url.href, files);
  return { page: Buffer.from(page, encoding), files: files.files, notes: [...files.notes] };
}
