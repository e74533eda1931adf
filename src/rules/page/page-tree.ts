import {
  type DefaultTreeAdapterTypes as Dom,
  defaultTreeAdapter,
  parse,
  type Token,
  type TreeAdapter,
} from 'parse5';

/** Limits of a search, far beyond any page that a browser shows easily. They bound memory and time. */
export const SEARCH_LIMITS = {
  /** Elements and comments of the page and all documents in it. */
  nodes: 2_000_000,
  /** Elements inside elements. Browsers flatten everything below 512. */
  depth: 2_048,
  /** Documents inside documents: `srcdoc`, `noscript`, `data:`. */
  documents: 16,
} as const;

/** Elements whose text is kept: a program, a style sheet or another page. */
export const TEXT_ELEMENTS = new Set(['noscript', 'script', 'style']);

/** Where a node begins: the small part of the record of the parser that is kept. */
interface NodeLocation {
  readonly startLine: number;
  /** The lines of the attributes. */
  readonly attrs?: Readonly<Record<string, number>>;
}

/** A node with its location; an element that the parser added itself has none. */
interface LocatedNode {
  ownLocation?: NodeLocation;
}

export const getLocation = (node: Dom.Node): NodeLocation =>
  (node as LocatedNode).ownLocation ?? { startLine: 1 };

class SearchLimitError extends Error {}

/** A parsed document; `complete` is false if parsing stopped at a limit. */
interface ParsedPage {
  readonly document: Dom.Document;
  readonly complete: boolean;
}

/**
 * Parses a page into the elements that a browser with scripts builds. Text that is not needed is dropped while
 * parsing. Parsing stops at a limit; everything before it is kept.
 *
 * @param mayGrow called for every node; false if there are too many
 */
export function parsePage(html: string, mayGrow: () => boolean): ParsedPage {
  const document = defaultTreeAdapter.createDocument();
  try {
    parse(html, { treeAdapter: createTreeAdapter(document, mayGrow), sourceCodeLocationInfo: true });
    return { document, complete: true };
  } catch (thrown) {
    if (thrown instanceof SearchLimitError) return { document, complete: false };
    throw thrown;
  }
}

function createTreeAdapter(
  document: Dom.Document,
  mayGrow: () => boolean,
): TreeAdapter<Dom.DefaultTreeAdapterMap> {
  let depth = 0;
  const checkGrowth = (): void => {
    if (!mayGrow()) throw new SearchLimitError();
  };
  return {
    ...defaultTreeAdapter,
    createDocument: () => document,
    createElement(...description) {
      checkGrowth();
      return defaultTreeAdapter.createElement(...description);
    },
    createCommentNode(data) {
      checkGrowth();
      return defaultTreeAdapter.createCommentNode(data.startsWith('?xml-stylesheet') ? data : '');
    },
    insertText(parent, text) {
      if (TEXT_ELEMENTS.has(getLocalName(parent))) defaultTreeAdapter.insertText(parent, text);
    },
    insertTextBefore: () => undefined,
    onItemPush() {
      depth += 1;
      if (depth > SEARCH_LIMITS.depth) throw new SearchLimitError();
    },
    onItemPop() {
      depth -= 1;
    },
    setNodeSourceCodeLocation: setLocation,
    getNodeSourceCodeLocation: () => undefined,
    updateNodeSourceCodeLocation: () => undefined,
  };
}

/** Keeps only the lines of a location; the full record takes much more memory. */
function setLocation(node: Dom.Node, location: Token.ElementLocation | null): void {
  // For a text that was dropped, the parser passes the previous node or none.
  const located = node as LocatedNode | undefined;
  if (located === undefined || located.ownLocation !== undefined || !location) return;
  const { startLine } = location;
  located.ownLocation = { startLine };
  const { attrs } = location;
  if (attrs === undefined) return;
  const lines = Object.fromEntries(Object.entries(attrs).map(([name, place]) => [name, place.startLine]));
  located.ownLocation = { startLine, attrs: lines };
}

/** A node, and whether it is in a template, which loads nothing before a script copies it. */
interface WalkedNode {
  readonly node: Dom.Node;
  readonly isInert: boolean;
}

/** Every node of a tree in page order, including the content of templates, at any depth. */
export function* walkNodes(root: Dom.ParentNode): Generator<WalkedNode> {
  const pending: WalkedNode[] = [{ node: root, isInert: false }];
  for (let walked = pending.pop(); walked !== undefined; walked = pending.pop()) {
    yield walked;
    const { node, isInert } = walked;
    if ('content' in node) {
      pending.push({ node: node.content, isInert: isInert || !hasAttribute(node, 'shadowrootmode') });
    }
    if ('childNodes' in node) {
      for (let at = node.childNodes.length - 1; at >= 0; at -= 1) {
        pending.push({ node: node.childNodes[at] as Dom.Node, isInert });
      }
    }
  }
}

/** The lowercase name of an element without a prefix, which any element may have in XHTML. */
export function getLocalName(node: Dom.Node): string {
  const name = node.nodeName.toLowerCase();
  return name.slice(name.indexOf(':') + 1);
}

export const getAttribute = (element: Dom.Element, name: string): string =>
  element.attrs.find((attribute) => attribute.name === name)?.value ?? '';

export const hasAttribute = (element: Dom.Element, name: string): boolean =>
  element.attrs.some((attribute) => attribute.name === name);

export const getText = (element: Dom.Element): string =>
  element.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
