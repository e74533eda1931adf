import type { PageReference } from '../../../src/rules/page/addresses.ts';
import { searchPage } from '../../../src/rules/page/html-references.ts';
import type { PageFields } from '../../../src/rules/page/import-map.ts';

/** All that is found in a page. @param length how many characters come at once */
export async function searchText(
  html: string,
  isXml = false,
  length = html.length,
): Promise<Readonly<PageFields> & { readonly references: readonly PageReference[] }> {
  async function* readPieces() {
    for (let at = 0; at < html.length; at += length) yield html.slice(at, at + length);
  }
  const references: PageReference[] = [];
  const page = await searchPage(readPieces(), isXml, (reference) => void references.push(reference));
  return { references, ...page };
}
