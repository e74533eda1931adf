import type { Converted } from '../resources.ts';
import { inlineDocument } from './document.ts';
import { type InlineOptions, PageFiles, PageProblem } from './page-files.ts';

/**
 * Puts all files that a page needs into it: style sheets, scripts, modules, pictures and fonts.
 *
 * @param source the page. Its bytes stay, except where the page names a file
 * @returns the page, or the fault because of which it can't become one file
 * @throws whatever `read` rejects with
 */
export async function inlinePage(source: Buffer, options: InlineOptions): Promise<Converted> {
  const files = new PageFiles(options);
  try {
    const { text, encode } = decodePage(source);
    const page = encode(await inlineDocument(text, options.url.href, files));
    return { page, files: files.files, notes: [...files.notes] };
  } catch (thrown) {
    if (!(thrown instanceof PageProblem)) throw thrown;
    return { problem: thrown.message, line: thrown.line, hint: thrown.hint };
  }
}

/** A text from which exactly these bytes can be made again. */
function decodePage(source: Buffer) {
  const mark = source.toString('hex', 0, 2);
  if (mark === 'fffe') {
    return { text: source.toString('utf16le'), encode: (text: string) => Buffer.from(text, 'utf16le') };
  }
  if (mark === 'feff') {
    const text = Buffer.from(source).swap16().toString('utf16le');
    return { text, encode: (page: string) => Buffer.from(page, 'utf16le').swap16() };
  }
  const text = source.toString();
  const encoding = Buffer.from(text).equals(source) ? 'utf8' : 'latin1';
  return { text: source.toString(encoding), encode: (page: string) => Buffer.from(page, encoding) };
}
