import {
  createPageSearch,
  type PageFields,
  type PageReference,
} from '../../../src/rules/page/html-references.ts';

/** All that is found in a page. @param length how many characters come at once */
export function searchPage(
  html: string,
  isXml = false,
  length = html.length,
): Readonly<PageFields> & { readonly references: readonly PageReference[] } {
  const references: PageReference[] = [];
  const search = createPageSearch((reference) => void references.push(reference), isXml);
  for (let at = 0; at < html.length; at += length) search.write(html.slice(at, at + length));
  return { references, ...search.end() };
}
