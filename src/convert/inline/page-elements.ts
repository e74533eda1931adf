import type { Token } from 'parse5';
import type { StartTag } from 'parse5-sax-parser';
import { getAttribute, hasAttribute, isExternal } from '../../rules/page/addresses.ts';
import { listFetchingAttributes } from '../../rules/page/fetching-attributes.ts';
import { PageReader, type TextPlace } from '../../rules/page/page-reader.ts';
import { MOST_ADDRESSES, refuseSize } from './page-files.ts';

/** A tag of a page; for a script or style with its text. */
export interface PageElement {
  readonly tag: StartTag;
  readonly place: Token.LocationWithAttributes;
  readonly isInert: boolean;
  readonly isForeign: boolean;
  text: string;
  textEnd: number;
}

/** Tags that matter for others, or for an import map. */
const ALWAYS_LISTED = /^(?:base|link|math|meta|noscript|script|style|svg|template)$/;

/** Lists the tags of a page that need files, in its order. */
export class PageElements extends PageReader {
  readonly all: PageElement[] = [];
  readonly ids = new Set<string>();
  /** Whether an attribute, such as `onload`, has a script. */
  hasHandler = false;

  constructor(source: string) {
    super();
    this.search(source, true);
  }

  protected override readTag(tag: StartTag): void {
    if (hasAttribute(tag, 'id')) this.ids.add(getAttribute(tag, 'id'));
    this.hasHandler ||= tag.attrs.some(({ name }) => name.startsWith('on'));
    const { isInert, isForeign } = this;
    const { sourceCodeLocation: place } = tag;
    if (!place || !(ALWAYS_LISTED.test(tag.tagName) || needsFile(tag))) return;
    this.all.push({ tag, place, isInert, isForeign, text: '', textEnd: place.endOffset });
    if (this.all.length > MOST_ADDRESSES) refuseSize();
  }

  protected override readText(_: StartTag, text: string, { endOffset }: TextPlace): void {
    Object.assign(this.all.at(-1) ?? {}, { text, textEnd: endOffset });
  }
}

function needsFile(tag: StartTag): boolean {
  // An animation may change an address.
  let isNeeded = /href$/.test(getAttribute(tag, 'attributeName'));
  for (const { find } of listFetchingAttributes(tag)) {
    if (find === null) return true;
    find(({ address, grade }) => (isNeeded ||= grade !== 'link' && isExternal(address)));
  }
  return isNeeded;
}
