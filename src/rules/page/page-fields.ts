import type { StartTag } from 'parse5-sax-parser';
import { getAttribute } from './addresses.ts';
import type { ImportMapEntry } from './import-map.ts';

/**
 * What a page says of itself, as far as it was read. For a browser, too, base and import map count for what follows.
 *
 * @see https://html.spec.whatwg.org/multipage/semantics.html#the-base-element
 */
export interface PageFields {
  /** The address of `<base href>`; empty without one. */
  base: string;
  importMap: readonly ImportMapEntry[];
  /** The content of `<meta name="generator">`; empty without one. */
  generator: string;
  hasScript: boolean;
  /** Whether the whole page is searched; false once it exceeds a limit. */
  complete: boolean;
}

/** Keeps what a tag says of the page; the first base and generator count. @param name of the element, without a prefix */
export function readPageFields(page: PageFields, tag: StartTag, name: string): void {
  if (name === 'base') page.base ||= getAttribute(tag, 'href');
  else if (name === 'script') page.hasScript = true;
  else if (name === 'meta' && getAttribute(tag, 'name').toLowerCase() === 'generator') {
    page.generator ||= getAttribute(tag, 'content').slice(0, 200);
  }
}
