import { faultError } from '../../errors.ts';
import { findCssReferences } from '../../rules/page/script-references.ts';
import { type PageFiles, replaceAddresses } from './page-files.ts';
import { decodeResource } from './resource-text.ts';

/** What precedes a font that no browser reads, because all read the WOFF2 before it. */
const AFTER_WOFF2 =
  /\)\s*format\(\s*(["']?)woff2\1\s*\)(?:\s*,\s*url\([^()]*\)\s*format\([^()]*\))*\s*,\s*(?:url\(\s*)?$/i;

export const writeInStyle = (address: string): string => `url("${address}")`;

/**
 * Puts pictures, fonts and other style sheets into the text of a style sheet.
 * @param base the URL that its addresses are relative to
 * @param importers the style sheets that led here, beginning with the page's
 */
export const inlineStyle = (
  text: string,
  base: string,
  files: PageFiles,
  importers: readonly string[] = [],
): Promise<string> =>
  replaceAddresses(
    text,
    (add) => findCssReferences(text, add),
    async ({ address, kind, offset }) => {
      const url = URL.parse(address, base);
      if (url === null) return null;
      if (AFTER_WOFF2.test(text.slice(Math.max(0, offset - 500), offset))) return 'data:,';
      return kind === 'style' ? inlineSheet(url, files, '', importers) : files.inlineData(url);
    },
    writeInStyle,
  );

/** The `data:` URL of a style sheet. @param charset the encoding that the element names */
export async function inlineSheet(
  url: URL,
  files: PageFiles,
  charset = '',
  importers: readonly string[] = [],
): Promise<string> {
  const resource = await files.readCode(url);
  if (importers.includes(resource.url)) {
    const what = `the style sheet ${files.show(url)} imports itself`;
    throw faultError(what, 'remove the @import that leads back to it');
  }
  const text = decodeResource(resource, charset);
  const made =
    files.sheets.get(resource.url) ??
    files.makeDataUrl('text/css', await inlineStyle(text, resource.url, files, [...importers, resource.url]));
  files.sheets.set(resource.url, made);
  return made;
}
