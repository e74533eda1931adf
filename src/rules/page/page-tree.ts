import { type DefaultTreeAdapterTypes as Dom, defaultTreeAdapter, parse, type TreeAdapter } from 'parse5';

/** Bounds of a search, far beyond any page that a browser shows with ease. They hold memory and time down. */
export const BOUNDS = {
  /** Elements and comments, all documents within the page together. */
  nodes: 2_000_000,
  /** Elements within elements. Browsers themselves flatten what is deeper than 512. */
  depth: 2_048,
  /** Documents within documents: `srcdoc`, `noscript`, `data:`. */
  documents: 16,
} as const;

/** Elements whose text is read: their content is a program, a style or a page of its own. */
export const TEXT_ELEMENTS = new Set(['noscript', 'script', 'style']);

/** Where a node begins; all that is kept of the parser's much larger record. */
export interface NodeLocation {
  readonly startLine: number;
  /** Lines of the attributes. */
  readonly attrs?: Readonly<Record<string, number>>;
}

/** A node and its place; where the parser itself made up an element, there is none. */
interface LocatedNode {
  place?: NodeLocation;
}

export const locationOf = (node: Dom.Node): NodeLocation => (node as LocatedNode).place ?? { startLine: 1 };

class OutOfBounds extends Error {}

/**
 * A document's elements, as a browser that runs scripts builds them. Text that nobody reads is dropped while
 * parsing, and parsing ends where the bounds are reached: what came before is searched even so.
 */
export function parsePage(
  html: string,
  mayGrow: () => boolean,
): { document: Dom.Document; complete: boolean } {
  const document = defaultTreeAdapter.createDocument();
  let depth = 0;
  const grow = (): void => {
    if (!mayGrow()) throw new OutOfBounds();
  };
  const treeAdapter: TreeAdapter<Dom.DefaultTreeAdapterMap> = {
    ...defaultTreeAdapter,
    createDocument: () => document,
    createElement(...described) {
      grow();
      return defaultTreeAdapter.createElement(...described);
    },
    createCommentNode(data) {
      grow();
      return defaultTreeAdapter.createCommentNode(data.startsWith('?xml-stylesheet') ? data : '');
    },
    insertText(parent, text) {
      if (TEXT_ELEMENTS.has(localName(parent))) defaultTreeAdapter.insertText(parent, text);
    },
    insertTextBefore: () => undefined,
    onItemPush() {
      depth += 1;
      if (depth > BOUNDS.depth) throw new OutOfBounds();
    },
    onItemPop() {
      depth -= 1;
    },
    setNodeSourceCodeLocation(node, location) {
      // Asked for the text that was dropped, the parser names what stands before it, or nothing.
      const placed = node as LocatedNode | undefined;
      if (placed === undefined || placed.place !== undefined || !location) return;
      const { startLine } = location;
      const given = 'attrs' in location ? location.attrs : undefined;
      placed.place = { startLine };
      if (given === undefined) return;
      const attrs = Object.fromEntries(Object.entries(given).map(([name, place]) => [name, place.startLine]));
      placed.place = { startLine, attrs };
    },
    getNodeSourceCodeLocation: () => undefined,
    updateNodeSourceCodeLocation: () => undefined,
  };
  try {
    parse(html, { treeAdapter, sourceCodeLocationInfo: true });
    return { document, complete: true };
  } catch (thrown) {
    if (thrown instanceof OutOfBounds) return { document, complete: false };
    throw thrown;
  }
}

/** Every node of a tree in the order of the page, templates' content included, however deep. */
export function* inOrder(root: Dom.ParentNode): Generator<Dom.Node> {
  const ahead: Dom.Node[] = [root];
  for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
    yield node;
    if ('content' in node) ahead.push(node.content);
    if ('childNodes' in node) {
      for (let at = node.childNodes.length - 1; at >= 0; at -= 1) ahead.push(node.childNodes[at] as Dom.Node);
    }
  }
}

/** An element's name in lower case and without a prefix, which XHTML may give to any. */
export function localName(node: Dom.Node): string {
  const name = node.nodeName.toLowerCase();
  return name.slice(name.indexOf(':') + 1);
}

export const attribute = (element: Dom.Element, name: string): string =>
  element.attrs.find((one) => one.name === name)?.value ?? '';

export const hasAttribute = (element: Dom.Element, name: string): boolean =>
  element.attrs.some((one) => one.name === name);

export const textOf = (element: Dom.Element): string =>
  element.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
