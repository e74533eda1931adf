import type { Token } from 'parse5';
import type { StartTag } from 'parse5-sax-parser';
import { PageReader, type TextPlace } from '../../rules/page/page-reader.ts';

/** A tag of the page; for a script or style with its text. */
export interface PageElement {
  readonly tag: StartTag;
  readonly place: Token.LocationWithAttributes;
  /** Whether a template holds it. */
  readonly isInert: boolean;
  readonly isForeign: boolean;
  /** Where an element may be inserted before it: not in a template or drawing. */
  readonly before: number;
  text: string;
  textEnd: number;
}

/** Lists the tags of a page in its order. */
export class PageElements extends PageReader {
  readonly all: PageElement[] = [];
  isComplete = true;
  /** Where the body ends. */
  bodyEnd: number;
  #container: number | null = null;

  constructor(source: string) {
    super();
    this.bodyEnd = source.length;
    this.on('endTag', ({ tagName, sourceCodeLocation: place }) => {
      if (/^(?:body|html)$/.test(tagName) && !this.isInert && !this.isForeign)
        this.bodyEnd = Math.min(this.bodyEnd, place?.startOffset ?? this.bodyEnd);
    });
    this.search(source, true);
  }

  protected override readTag(tag: StartTag): void {
    if (this.isTooDeep) this.isComplete = false;
    const place = tag.sourceCodeLocation;
    if (!place) return;
    if (!this.isInert && !this.isForeign) this.#container = null;
    const before = this.#container ?? place.startOffset;
    if (this.isForeign || tag.tagName === 'template') this.#container = before;
    const { isInert, isForeign } = this;
    this.all.push({ tag, place, isInert, isForeign, before, text: '', textEnd: place.endOffset });
  }

  protected override readText(_: StartTag, text: string, { endOffset }: TextPlace): void {
    const last = this.all.at(-1);
    if (last !== undefined) Object.assign(last, { text, textEnd: endOffset });
  }
}
