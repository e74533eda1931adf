import type { DomDocument, DomElement, DomNode, PageBox } from './dom-types.ts';

declare const document: DomDocument;
declare const innerHeight: number;

interface TextPart {
  readonly node: DomNode;
  /** Position in the joined text at which this node begins. */
  readonly start: number;
}

/**
 * Finds a text in the document, as a person would: spaces and line breaks don't matter, nor do the elements
 * between its words. Runs in the page, like `PageLook`: it may use nothing from outside.
 */
export class MarkerSearch {
  readonly #limits = { characters: 20_000_000, occurrences: 50 };
  readonly #parts: TextPart[] = [];
  readonly #pieces: string[] = [];
  #length = 0;

  /** Scrolls to the first visible occurrence. @returns where it is in the window; `null` where it is nowhere */
  run(marker: string): PageBox | null {
    if (document.documentElement !== null) this.#collect(document.documentElement);
    const text = this.#pieces.join('');
    const wanted = this.#compact(marker);
    let at = text.indexOf(wanted);
    for (let tried = 0; at !== -1 && tried < this.#limits.occurrences; tried += 1) {
      const box = this.#locate(at);
      if (box !== null) return box;
      at = text.indexOf(wanted, at + 1);
    }
    return null;
  }

  #collect(parent: DomNode): void {
    for (const child of parent.childNodes) {
      if (this.#length > this.#limits.characters) return;
      if (child.nodeType === 1) this.#collectElement(child as DomElement);
      else if (child.nodeType === 3) this.#addPart(child);
    }
  }

  #collectElement(element: DomElement): void {
    if (['script', 'style', 'noscript', 'template', 'head'].includes(element.localName)) return;
    if (element.shadowRoot !== null) this.#collect(element.shadowRoot);
    this.#collect(element);
  }

  #addPart(node: DomNode): void {
    const piece = this.#compact(node.nodeValue ?? '');
    if (piece === '') return;
    this.#parts.push({ node, start: this.#length });
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  #compact(text: string): string {
    return text.normalize('NFC').replace(/\s+/g, '');
  }

  /** The box of the text that has its first letter: what is beside it there is as visible. */
  #locate(first: number): PageBox | null {
    const part = this.#parts.findLast(({ start }) => start <= first);
    const element = part?.node.parentNode as DomElement | null | undefined;
    if (!part || !element?.checkVisibility?.({ checkOpacity: true, checkVisibilityCSS: true })) return null;
    const range = document.createRange();
    range.selectNodeContents(part.node);
    const { y, height } = range.getBoundingClientRect();
    const isInside = y >= 0 && y + Math.min(height, 200) <= innerHeight;
    if (!isInside) element.scrollIntoView({ block: 'center', behavior: 'instant' });
    const box = range.getBoundingClientRect();
    const isEmpty = box.width < 1 || box.height < 1;
    return isEmpty ? null : { x: box.x, y: box.y, width: box.width, height: box.height };
  }
}
