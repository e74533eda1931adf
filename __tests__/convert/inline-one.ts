import { inlinePage } from '../../src/convert/inline/inline-page.ts';
import type { Converted, ReadResource } from '../../src/convert/resources.ts';
import { getContentType } from '../../src/rules/media-type.ts';

/** A file by its content, or with its content type; a text that begins with `→ ` is a redirect. */
export type TestFile = string | Buffer | { readonly type: string; readonly body: string | Buffer };

/** The URL of the page, which nothing of an inlined page may name. */
export const PAGE = 'https://page.invalid/';

/** Reads files by URL, or by their path in the page's folder. */
export function createReader(files: Readonly<Record<string, TestFile>>, reads: string[] = []): ReadResource {
  return async function read(url) {
    const path = url.href.startsWith(PAGE) ? url.href.slice(PAGE.length) : url.href;
    reads.push(path);
    const file = files[path];
    if (file === undefined) throw new Error(`404 ${path}`);
    if (typeof file === 'string' && file.startsWith('→ ')) {
      return read(new URL(file.slice(2)));
    }
    const { type, body } =
      typeof file === 'string' || Buffer.isBuffer(file)
        ? { type: getContentType(url.pathname), body: file }
        : file;
    return { url: url.href, bytes: Buffer.from(body), contentType: type };
  };
}

export const convert = (
  page: string | Buffer,
  files: Readonly<Record<string, TestFile>> = {},
): Promise<Converted> =>
  inlinePage(Buffer.from(page), {
    url: new URL('report.html', PAGE),
    read: createReader(files),
    signal: new AbortController().signal,
  });

/** The page that becomes of one; or its problem. */
export async function inline(
  page: string | Buffer,
  files: Readonly<Record<string, TestFile>> = {},
): Promise<string> {
  const converted = await convert(page, files);
  if ('page' in converted) return converted.page.toString();
  return `line ${converted.line}: ${converted.problem}`;
}
