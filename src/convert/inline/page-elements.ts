import type { Token } from 'parse5';
import type { StartTag } from 'parse5-sax-parser';
import { PageReader, type TextPlace } from '../../rules/page/page-reader.ts';

/** A tag of a page; for a script or style with its text. */
export interface PageElement {
  readonly tag: StartTag;
  readonly place: Token.LocationWithAttributes;
  readonly isInert: boolean;
  readonly isForeign: boolean;
  text: string;
  textEnd: number;
}

/** Lists the tags of a page in its order. */
export class PageElements extends PageReader {
  readonly all: PageElement[] = [];
  bodyEnd: number;

  constructor(source: string) {
    super();
    this.bodyEnd = source.length;
    this.on('endTag', ({ tagName, sourceCodeLocation: place }) => {
      const isEnd = tagName === 'body' && !this.isInert && !this.isForeign;
      if (isEnd && place) this.bodyEnd = Math.min(this.bodyEnd, place.startOffset);
    });
    this.search(source, true);
  }

  protected override readTag(tag: StartTag): void {
    const { isInert, isForeign } = this;
    const { sourceCodeLocation: place } = tag;
    if (place) this.all.push({ tag, place, isInert, isForeign, text: '', textEnd: place.endOffset });
  }

  protected override readText(_: StartTag, text: string, { endOffset }: TextPlace): void {
    Object.assign(this.all.at(-1) ?? {}, { text, textEnd: endOffset });
  }
}
