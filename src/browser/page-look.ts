/** A rectangle in CSS pixels, from the top left corner of the window. */
export interface PageBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export type ContentKind = 'text' | 'image' | 'drawing' | 'frame';

/** Something on the page that a person could see, unless its pixels say otherwise. */
export interface ContentBox extends PageBox {
  readonly kind: ContentKind;
  /** The text, where it is one. */
  readonly text: string;
}

/** What the document of one frame contains. */
export interface FrameLook {
  readonly title: string;
  /** Whether the document and what it loads at once have arrived. */
  readonly isComplete: boolean;
  /** In the order of the document. */
  readonly boxes: readonly ContentBox[];
}

/** The parts of the browser's own types that are used here: this project is not compiled for browsers. */
interface DomNode {
  readonly nodeType: number;
  readonly childNodes: Iterable<DomNode>;
  readonly nodeValue: string | null;
}
interface DomElement extends DomNode {
  readonly localName: string;
  readonly shadowRoot: DomNode | null;
  getBoundingClientRect(): PageBox;
  checkVisibility(options: object): boolean;
  closest(selector: string): DomElement | null;
  querySelector(selector: string): DomElement | null;
}
interface DomMedia extends DomElement {
  readonly complete?: boolean;
  readonly naturalWidth?: number;
  readonly readyState?: number;
  readonly poster?: string;
  readonly value?: string;
  readonly type?: string;
  readonly placeholder?: string;
}
interface DomRange {
  selectNodeContents(node: DomNode): void;
  getClientRects(): Iterable<PageBox>;
}
interface DomAnimation {
  readonly effect: { readonly target?: DomElement | null; getComputedTiming(): { endTime?: unknown } } | null;
}
declare const document: DomNode & {
  readonly title: string;
  readonly readyState: string;
  readonly documentElement: DomElement | null;
  createRange(): DomRange;
  getAnimations(): DomAnimation[];
};
declare function getComputedStyle(element: DomElement, pseudo?: string): Record<string, string>;

/**
 * Looks at the document from inside. This class runs in the page, in a world of its own that the page's scripts
 * can't change: its source is sent there, so it may use nothing from outside.
 */
export class PageLook {
  readonly #limits = { elements: 20_000, boxes: 600, text: 4_000, milliseconds: 400 };
  readonly #boxes: ContentBox[] = [];
  readonly #range = document.createRange();
  readonly #start = performance.now();
  /** Elements that move forever and are small: they tell a person to wait. */
  readonly #spinners = new Set<DomElement>();
  #elements = 0;

  run(): FrameLook {
    this.#findSpinners();
    const root = document.documentElement;
    if (root !== null) this.#visit(root, false);
    return { title: document.title, isComplete: document.readyState === 'complete', boxes: this.#boxes };
  }

  #findSpinners(): void {
    for (const { effect } of document.getAnimations().slice(0, 500)) {
      const target = effect?.target;
      if (!target || effect.getComputedTiming().endTime !== Number.POSITIVE_INFINITY) continue;
      const { width, height } = target.getBoundingClientRect();
      if (width <= 200 && height <= 200) this.#spinners.add(target);
    }
  }

  #visit(element: DomElement, isWaiting: boolean): void {
    this.#elements += 1;
    if (this.#isEnough() || ['script', 'style', 'noscript', 'template', 'title'].includes(element.localName))
      return;
    const isSpinner = isWaiting || this.#spinners.has(element);
    const isVisible = element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
    if (isVisible) this.#addElement(element, isSpinner);
    for (const child of [...(element.shadowRoot?.childNodes ?? []), ...element.childNodes]) {
      if (child.nodeType === 1) this.#visit(child as DomElement, isSpinner);
      else if (child.nodeType === 3 && isVisible) this.#addTextNode(child);
    }
  }

  #isEnough(): boolean {
    const { elements, boxes, milliseconds } = this.#limits;
    const isLate = this.#elements % 256 === 0 && performance.now() - this.#start > milliseconds;
    if (isLate) this.#elements = elements;
    return this.#elements >= elements || this.#boxes.length >= boxes;
  }

  #addTextNode(node: DomNode): void {
    const text = (node.nodeValue ?? '').replace(/\s+/g, ' ').slice(0, this.#limits.text);
    if (text.trim() === '') return;
    this.#range.selectNodeContents(node);
    const lines = [...this.#range.getClientRects()].filter(({ width, height }) => width >= 2 && height >= 2);
    for (const [index, line] of lines.slice(0, 4).entries()) this.#add('text', line, index === 0 ? text : '');
  }

  #addElement(element: DomMedia, isSpinner: boolean): void {
    const style = getComputedStyle(element);
    const kind = isSpinner ? null : this.#kindOf(element, style);
    if (kind !== null) this.#add(kind, element.getBoundingClientRect(), '');
    const text = this.#ownText(element);
    if (text !== '') this.#add('text', element.getBoundingClientRect(), text);
  }

  #kindOf(element: DomMedia, style: Record<string, string>): ContentKind | null {
    switch (element.localName) {
      case 'img':
        return element.complete && (element.naturalWidth ?? 0) > 0 ? 'image' : null;
      case 'video':
        return (element.readyState ?? 0) >= 2 || element.poster ? 'image' : null;
      case 'canvas':
        return 'drawing';
      case 'svg':
        return this.#isMovingPicture(element) ? null : 'drawing';
      case 'iframe':
      case 'frame':
      case 'object':
      case 'embed':
        return 'frame';
      default:
        return style.backgroundImage?.includes('url(') ? 'image' : null;
    }
  }

  /** A small picture that repeats its movement forever. */
  #isMovingPicture(element: DomElement): boolean {
    const { width, height } = element.getBoundingClientRect();
    const isSmall = width <= 200 && height <= 200;
    return isSmall && element.querySelector('[repeatCount="indefinite"]') !== null;
  }

  /** Text that is not in a text node: of form fields and of style sheets. */
  #ownText(element: DomMedia): string {
    if (['input', 'textarea'].includes(element.localName)) {
      return element.type === 'hidden' ? '' : element.value || element.placeholder || '';
    }
    const generated = ['::before', '::after'].map(
      (pseudo) => getComputedStyle(element, pseudo).content ?? '',
    );
    return generated
      .map((content) => /^"(.*)"$/s.exec(content)?.[1] ?? '')
      .join('')
      .trim();
  }

  #add(kind: ContentKind, { x, y, width, height }: PageBox, text: string): void {
    if (width < 2 || height < 2) return;
    this.#boxes.push({ kind, x, y, width, height, text });
  }
}
