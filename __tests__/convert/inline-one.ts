import { inlinePage } from '../../src/convert/inline/inline-page.ts';
import type { ConvertedPage, ReadResource } from '../../src/convert/resources.ts';
import { DeliveryError, hasFailed, resultOf } from '../../src/errors.ts';
import { getContentType } from '../../src/rules/media-type.ts';

/** The content of a file; with its content type, or where it leads. */
export type TestFile =
  | string
  | Buffer
  | { readonly type: string; readonly body: string | Buffer }
  | { readonly to: string };

export type TestFiles = Readonly<Record<string, TestFile>>;

/** The folder of the page, which no inlined page may name. */
export const FOLDER = 'https://page.invalid/above/reports/';

/** Reads files by URL, or by their path in the page's folder. @param reads receives what is read */
export function createReader(files: TestFiles, reads: string[] = []): ReadResource {
  return async function read(url) {
    const name = url.href.replace(FOLDER, '');
    reads.push(name);
    const file = files[name];
    if (file === undefined) throw new DeliveryError('BAD_FILE', `the file ${name} does not exist`);
    if (typeof file === 'object' && 'to' in file) return read(new URL(file.to));
    const isPlain = typeof file === 'string' || Buffer.isBuffer(file);
    const { type, body } = isPlain ? { type: getContentType(url.pathname), body: file } : file;
    return { url: url.href, bytes: Buffer.from(body), contentType: type };
  };
}

export const convert = (
  page: string | Buffer,
  files: TestFiles = {},
  reads: string[] = [],
): Promise<ConvertedPage> =>
  inlinePage(Buffer.from(page), {
    url: new URL('report.html', FOLDER),
    read: createReader(files, reads),
    signal: new AbortController().signal,
  });

/** The inlined page, or its problem. */
export async function inline(page: string | Buffer, files: TestFiles = {}): Promise<string> {
  const converted = await resultOf(() => convert(page, files));
  if (hasFailed(converted)) return converted.inFile('page').message;
  const made = converted.page.toString();
  if (made.includes('page.invalid')) throw new Error(`the page names its made-up host: ${made}`);
  return made;
}

/** Shows each `data:` URL as its content in brackets. */
export const unfold = (text: string): string =>
  text
    .replace(/data:([\w/+.-]+);charset=utf-8,([^"]*)/g, (_, type: string, code: string) => {
      const shown = unfold(decodeURIComponent(code))
        .replace(/\n\/\/# sourceURL=.*$/, '')
        .replace(
          /document\.currentScript&&Object.defineProperty\(document\.currentScript,"src",\{value:(.*?),configurable:true\}\);\n/,
          'src=$1; ',
        );
      return `‹${type.replace('text/', '')} ${shown}›`;
    })
    .replace(/data:([\w/+.-]+);base64,([\w+/]*=*)/g, (_, type: string, bytes: string) => {
      return `‹${type} ${Buffer.from(bytes, 'base64')}›`;
    });
