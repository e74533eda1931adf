import type {
  ContentBox,
  ContentKind,
  DomDocument,
  DomElement,
  DomNode,
  DomStyle,
  FrameContent,
  PageBox,
} from './dom-types.ts';

declare const document: DomDocument;
declare const innerWidth: number;
declare const innerHeight: number;
declare function getComputedStyle(element: DomElement, pseudo?: string): DomStyle;

/**
 * Runs in the page, in an isolated world that the page's scripts can't change. Only its source is sent there, so it
 * can use nothing from this module.
 */
export class DocumentReader {
  readonly #limits = { elements: 20_000, boxes: 800, text: 4_000, milliseconds: 400 };
  readonly #boxes: ContentBox[] = [];
  readonly #range = document.createRange();
  readonly #start = performance.now();
  readonly #unfilled = new Set<string>();
  readonly #broken = new Set<string>();
  #templateTag = /x/;
  #isWaiting = false;
  #elements = 0;

  /** @param templateTag finds a tag of a template */
  run(templateTag: RegExp): FrameContent {
    this.#templateTag = templateTag;
    if (document.documentElement !== null) this.#visit(document.documentElement);
    return {
      title: document.title,
      headings: [...document.querySelectorAll('h1')]
        .filter((heading) => heading.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }))
        .map((heading) => heading.textContent),
      isComplete: document.readyState === 'complete',
      isWaiting: this.#isWaiting,
      unfilledTags: [...this.#unfilled],
      brokenPictures: [...this.#broken],
      boxes: this.#boxes,
    };
  }

  #visit(element: DomElement): void {
    this.#elements += 1;
    const isIgnored = ['script', 'style', 'noscript', 'template', 'title'].includes(element.localName);
    if (isIgnored || this.#isEnough()) return;
    const isVisible = element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
    if (isVisible) this.#addElement(element);
    if (element.shadowRoot !== null) this.#visitChildren(element.shadowRoot, isVisible);
    this.#visitChildren(element, isVisible);
  }

  #visitChildren(parent: DomNode, isVisible: boolean): void {
    for (const child of parent.childNodes) {
      if (child.nodeType === 1) this.#visit(child as DomElement);
      else if (child.nodeType === 3 && isVisible) this.#addTextNode(child);
    }
  }

  #isEnough(): boolean {
    const { elements, boxes, milliseconds } = this.#limits;
    const isLate = performance.now() - this.#start > milliseconds;
    return isLate || this.#elements >= elements || this.#boxes.length >= boxes;
  }

  #addTextNode(node: DomNode): void {
    const text = (node.nodeValue ?? '').replace(/\s+/g, ' ').slice(0, this.#limits.text);
    if (text.trim() === '') return;
    this.#range.selectNodeContents(node);
    const lines = [...this.#range.getClientRects()].filter(({ width, height }) => width >= 2 && height >= 2);
    const parent = this.#parentOf(node);
    if (lines.length > 0 && parent !== null) this.#readPhrase(text.trim(), parent);
    for (const [index, line] of lines.slice(0, 4).entries()) {
      this.#add('text', line, index === 0 ? text : '', parent);
    }
  }

  /** Code may show template tags, and what a person clicks may end with an ellipsis. */
  #readPhrase(text: string, parent: DomElement): void {
    const isWaiting = /^(?:loading|please wait)[\s.…!,]*$|(?:…|\.\.\.)$/i.test(text);
    if (isWaiting && parent.closest('a, button, summary, label, textarea') === null) this.#isWaiting = true;
    const [tag] = this.#templateTag.exec(text) ?? [];
    if (tag && parent.closest('code, pre, samp, kbd, textarea') === null) this.#unfilled.add(tag);
  }

  #addElement(element: DomElement): void {
    const style = getComputedStyle(element);
    const added = ['::before', '::after']
      .map((pseudo) => getComputedStyle(element, pseudo))
      .filter(({ content = 'none' }) => content !== 'none' && content !== 'normal');
    const kind = this.#kindOf(element, [style, ...added]);
    if (kind !== null) this.#add(kind, this.#innerBox(element, style), '', element);
    if (element.localName === 'img') this.#readPicture(element);
    const contents = added.map(({ content = '' }) => /^"(.*)"$/s.exec(content)?.[1] ?? '');
    const isField = ['input', 'textarea'].includes(element.localName);
    const text = isField ? element.value || element.placeholder || '' : contents.join('').trim();
    if (text === '') return;
    // Icon fonts draw pictures.
    const isIcon = /^[\p{Co}\s]+$/u.test(text);
    this.#add(isIcon ? 'drawing' : 'text', element.getBoundingClientRect(), text, element);
  }

  /** A picture that is hidden, such as by an empty `alt`, has no size. */
  #readPicture(element: DomElement): void {
    const { complete, naturalWidth, currentSrc = '' } = element;
    const { width, height } = element.getBoundingClientRect();
    const isBroken = complete === true && naturalWidth === 0 && currentSrc !== '';
    if (isBroken && width >= 2 && height >= 2) this.#broken.add(currentSrc.slice(0, this.#limits.text));
  }

  /** @param styles the element's own style first */
  #kindOf(element: DomElement, styles: readonly DomStyle[]): ContentKind | null {
    const [style = {}] = styles;
    switch (element.localName) {
      case 'img':
        return element.complete && (element.naturalWidth ?? 0) > 0 ? 'image' : null;
      case 'video':
        return (element.readyState ?? 0) >= 2 || element.poster ? 'image' : null;
      case 'iframe':
      case 'frame':
        return null; // Its document is read separately.
      default:
        if (/^(svg|canvas|object|embed|audio|input|select|progress|meter)$/.test(element.localName))
          return 'drawing';
        if (styles.some(({ backgroundImage, content }) => /url\(/.test(`${backgroundImage} ${content}`)))
          return 'image';
        if (!this.#isOpaque(style) && !(style.backgroundImage ?? '').includes('gradient(')) return null;
        return /url\(|gradient\(/.test(style.maskImage ?? '') ? 'drawing' : 'shape';
    }
  }

  #isOpaque({ backgroundColor = '', opacity }: DomStyle): boolean {
    // `rgb(0, 0, 0)`, `rgba(0, 0, 0, 0.5)` or `oklch(0.5 0.1 90 / 0.5)`
    const [, alpha = '1'] = /[,/] ([\d.]+)\)$/.exec(backgroundColor.replace(/^rgb\(.*/, '')) ?? [];
    return Number(alpha) >= 0.9 && Number(opacity) >= 0.9;
  }

  /** The picture's area excludes its border. */
  #innerBox(element: DomElement, style: DomStyle): PageBox {
    const { x, y, width, height } = element.getBoundingClientRect();
    const edge = (name: string): number => Number.parseFloat(style[`border${name}Width`] ?? '') || 0;
    const [left, top] = [edge('Left'), edge('Top')];
    const inner = { width: width - left - edge('Right'), height: height - top - edge('Bottom') };
    return { x: x + left, y: y + top, ...inner };
  }

  #add(kind: ContentKind, { x, y, width, height }: PageBox, text: string, element: DomElement | null): void {
    if (width < 2 || height < 2 || x + width <= 0 || y + height <= 0) return;
    if (element !== null && this.#isCovered(element, x + width / 2, y + height / 2)) return;
    if (element !== null && this.#isClipped(element, { x, y, width, height })) return;
    this.#boxes.push({ kind, x, y, width, height, text });
  }

  /** Whether a parent hides all of the box. Positioned elements escape parents that are not positioned. */
  #isClipped(element: DomElement, box: PageBox): boolean {
    let position = '';
    for (const parent of this.#listParents(element)) {
      if (position === 'fixed' || ['body', 'html'].includes(parent.localName)) return false;
      const style = getComputedStyle(parent);
      if (position === 'absolute' && style.position === 'static' && style.transform === 'none') continue;
      const { x, y, width, height } = parent.getBoundingClientRect();
      const isLost = (overflow = '', size: number): boolean => size < 2 && /hidden|clip/.test(overflow);
      if (isLost(style.overflowX, Math.min(x + width, box.x + box.width) - Math.max(x, box.x))) return true;
      if (isLost(style.overflowY, Math.min(y + height, box.y + box.height) - Math.max(y, box.y))) return true;
      position = style.position ?? '';
    }
    return false;
  }

  #isCovered(element: DomElement, x: number, y: number): boolean {
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
    const parents = this.#listParents(element);
    let over = document.elementFromPoint(x, y);
    while (over !== null && !parents.includes(over)) {
      if (/^(img|video|canvas|iframe)$/.test(over.localName) || this.#isOpaque(getComputedStyle(over)))
        return true;
      over = this.#parentOf(over);
    }
    return false;
  }

  /** The element and its parents, across shadow roots. */
  #listParents(element: DomElement): DomElement[] {
    const parents: DomElement[] = [];
    for (let next: DomElement | null = element; next !== null; next = this.#parentOf(next))
      parents.push(next);
    return parents;
  }

  #parentOf({ parentNode }: DomNode): DomElement | null {
    return (parentNode?.nodeType === 1 ? (parentNode as DomElement) : parentNode?.host) ?? null;
  }
}
