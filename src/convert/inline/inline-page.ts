import type { Converted } from '../resources.ts';
import { inlineDocument } from './document.ts';
import { type InlineOptions, PageFiles, PageProblem } from './page-files.ts';

/**
 * Puts all files that a page needs into it: style sheets, scripts, modules, pictures and fonts. All other bytes stay.
 *
 * @returns the page, or the fault because of which it can't become one file
 * @throws whatever `read` rejects with
 */
export async function inlinePage(source: Buffer, options: InlineOptions): Promise<Converted> {
  const files = new PageFiles(options);
  const encoding = Buffer.from(source.toString()).equals(source) ? 'utf8' : 'latin1';
  try {
    const page = await inlineDocument(source.toString(encoding), options.url.href, files);
    return { page: Buffer.from(page, encoding), files: files.files, notes: [...files.notes] };
  } catch (thrown) {
    if (!(thrown instanceof PageProblem)) throw thrown;
    return { problem: thrown.message, line: thrown.line, hint: thrown.hint };
  }
}
