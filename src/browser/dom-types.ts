/** A rectangle in CSS pixels, from the top left corner of the window. */
export interface PageBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** `shape`: an area with a color of its own; one says nothing, several can be a drawing. */
export type ContentKind = 'text' | 'image' | 'drawing' | 'shape';

/** Something on the page that a person could see, unless its pixels say otherwise. */
export interface ContentBox extends PageBox {
  readonly kind: ContentKind;
  readonly text: string;
}

export interface FrameContent {
  readonly title: string;
  /** Of the first degree, where they can be seen. */
  readonly headings: readonly string[];
  /** Whether the document and what it loads at once have arrived. */
  readonly isComplete: boolean;
  /** In the order of the document. */
  readonly boxes: readonly ContentBox[];
}

/** The parts of the browser's own types that are used here: this project is not compiled for browsers. */
export interface DomNode {
  readonly nodeType: number;
  readonly childNodes: Iterable<DomNode>;
  readonly nodeValue: string | null;
  readonly parentNode: DomNode | null;
  /** Of a shadow root. */
  readonly host?: DomElement;
}

export interface DomElement extends DomNode {
  readonly localName: string;
  readonly shadowRoot: DomNode | null;
  readonly complete?: boolean;
  readonly naturalWidth?: number;
  readonly readyState?: number;
  readonly poster?: string;
  readonly value?: string;
  readonly placeholder?: string;
  readonly textContent: string;
  getBoundingClientRect(): PageBox;
  checkVisibility(options: object): boolean;
}

interface DomRange {
  selectNodeContents(node: DomNode): void;
  getClientRects(): Iterable<PageBox>;
}

export interface DomDocument extends DomNode {
  readonly title: string;
  readonly readyState: string;
  readonly documentElement: DomElement | null;
  querySelectorAll(selector: string): Iterable<DomElement>;
  createRange(): DomRange;
  elementFromPoint(x: number, y: number): DomElement | null;
}

export type DomStyle = Readonly<Record<string, string>>;
