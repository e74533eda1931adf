/** A rectangle in CSS pixels, from the top left corner of the window. */
export interface PageBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** `shape`: an area with its own color. A single shape doesn't count; several can be a drawing. */
export type ContentKind = 'text' | 'image' | 'drawing' | 'shape';

export interface ContentBox extends PageBox {
  readonly kind: ContentKind;
  readonly text: string;
}

export interface FrameContent {
  readonly title: string;
  /** Texts of visible `h1` elements. */
  readonly headings: readonly string[];
  readonly isComplete: boolean;
  /** Whether a text asks to wait, in any language that ends it with an ellipsis. */
  readonly isWaiting: boolean;
  /** Template tags in its text that nothing filled, such as `{{ title }}`. */
  readonly unfilledTags: readonly string[];
  /** URLs of pictures that a person sees as broken. */
  readonly brokenPictures: readonly string[];
  readonly boxes: readonly ContentBox[];
}

/** The DOM types used here, because this project is not compiled for browsers. */
export interface DomNode {
  readonly nodeType: number;
  readonly childNodes: Iterable<DomNode>;
  readonly nodeValue: string | null;
  readonly parentNode: DomNode | null;
  /** Only shadow roots have a host. */
  readonly host?: DomElement;
}

export interface DomElement extends DomNode {
  readonly localName: string;
  readonly shadowRoot: DomNode | null;
  readonly complete?: boolean;
  readonly naturalWidth?: number;
  readonly currentSrc?: string;
  readonly readyState?: number;
  readonly poster?: string;
  readonly value?: string;
  readonly placeholder?: string;
  readonly textContent: string;
  getBoundingClientRect(): PageBox;
  closest(selector: string): DomElement | null;
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
