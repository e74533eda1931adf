import type { PageReference } from '../../../src/rules/page/addresses.ts';
import { searchPage } from '../../../src/rules/page/html-references.ts';

/** All that is found in a page. @param length how many characters come at once */
export async function searchText(html: string, length = html.length, url = 'https://a.example/') {
  async function* readPieces() {
    for (let at = 0; at < html.length; at += length) yield html.slice(at, at + length);
    // Here Jest ends a test whose time is over.
    await new Promise(setImmediate);
  }
  const references: PageReference[] = [];
  const page = await searchPage(readPieces(), url, (reference) => void references.push(reference));
  return { references: references as readonly PageReference[], ...page };
}
