import type { DefaultTreeAdapterTypes as Dom } from 'parse5';
import {
  type FoundAddress,
  formatAddress,
  isExternal,
  parseDataUrl,
  type ResourceKind,
} from './addresses.ts';
import { findCssReferences } from './css-references.ts';
import { getAddressReader } from './fetching-attributes.ts';
import {
  getAttribute,
  getLocalName,
  getLocation,
  getText,
  parsePage,
  SEARCH_LIMITS,
  TEXT_ELEMENTS,
  walkNodes,
} from './page-tree.ts';
import { findJsonReferences, findScriptReferences } from './script-references.ts';

/** An external address that a browser would fetch. */
export interface PageReference {
  /** From 1. */
  readonly line: number;
  /** The element name, such as `link`, `img`, `style` or `script`. */
  readonly element: string;
  /** For messages: one short line, without credentials and query. */
  readonly address: string;
}

export interface PageSearch {
  /** In page order. */
  readonly references: readonly PageReference[];
  /** Whether the whole page was searched; false if it exceeds a limit. */
  readonly complete: boolean;
}

interface SearchState {
  readonly references: PageReference[];
  nodes: number;
  complete: boolean;
}

/** A document in the page: the page itself, or one in a `srcdoc`, `noscript` or `data:` address. */
interface DocumentPlace {
  /** The line of the page on which the document begins. */
  readonly firstLine: number;
  /** How many documents contain it. */
  readonly level: number;
  readonly isXml: boolean;
}

/** A text with addresses: an attribute value, a script or a style sheet. */
interface TextPlace {
  /** Empty if all addresses count as being on the first line. */
  readonly text: string;
  readonly firstLine: number;
  readonly element: string;
  readonly level: number;
}

/**
 * Finds everything that a browser would fetch from elsewhere when it opens the page. Relative addresses count,
 * because the file is delivered alone.
 *
 * @param isXml parse as XHTML, where `/>` closes elements that HTML leaves open
 */
export function searchPage(html: string, isXml = false): PageSearch {
  const state: SearchState = { references: [], nodes: 0, complete: true };
  searchDocument(state, html, { firstLine: 1, level: 0, isXml });
  return { references: state.references, complete: state.complete };
}

function searchDocument(state: SearchState, text: string, place: DocumentPlace): void {
  if (place.level > SEARCH_LIMITS.documents) {
    state.complete = false;
    return;
  }
  const { document, complete } = parsePage(place.isXml ? addEndTags(text) : text, () => {
    state.nodes += 1;
    return state.nodes <= SEARCH_LIMITS.nodes;
  });
  if (!complete) state.complete = false;
  for (const node of walkNodes(document)) {
    if ('tagName' in node) {
      searchAttributes(state, node, place);
      searchContent(state, node, place);
    } else if (place.isXml && 'data' in node) searchInstruction(state, node, place);
  }
}

function searchAttributes(
  state: SearchState,
  element: Dom.Element,
  { firstLine, level }: DocumentPlace,
): void {
  const elementName = getLocalName(element);
  const { startLine, attrs } = getLocation(element);
  for (const { name, prefix, value } of element.attrs) {
    const fullName = prefix ? `${prefix}:${name}` : name;
    const line = firstLine - 1 + (attrs?.[fullName] ?? attrs?.[fullName.toLowerCase()] ?? startLine);
    if (elementName === 'iframe' && fullName === 'srcdoc') {
      searchDocument(state, value, { firstLine: line, level: level + 1, isXml: false });
    } else {
      const found = getAddressReader(elementName, fullName.toLowerCase())(value, element);
      addReferences(state, found, { text: value, firstLine: line, element: elementName, level });
    }
  }
}

function searchContent(state: SearchState, element: Dom.Element, place: DocumentPlace): void {
  const [first] = element.childNodes;
  const name = getLocalName(element);
  if (first === undefined || !TEXT_ELEMENTS.has(name)) return;
  const text = getText(element);
  const { level } = place;
  const firstLine = place.firstLine - 1 + getLocation(first).startLine;
  const textPlace = { text, firstLine, element: name, level };
  if (name === 'noscript') searchDocument(state, text, { firstLine, level: level + 1, isXml: false });
  else if (name === 'script') addReferences(state, readScript(element, text), textPlace);
  else if (isCss(element)) addReferences(state, findCssReferences(text), textPlace);
}

/** Searches `<?xml-stylesheet href="…"?>`, which the parser returns as a comment. */
function searchInstruction(state: SearchState, comment: Dom.CommentNode, { firstLine }: DocumentPlace): void {
  const [, , address = ''] = /\shref\s*=\s*(["'])(.*?)\1/s.exec(comment.data.slice(0, 4_000)) ?? [];
  addReferences(state, [{ offset: 0, address, kind: 'style' }], {
    text: '',
    firstLine: firstLine - 1 + getLocation(comment).startLine,
    element: 'xml-stylesheet',
    level: 0,
  });
}

/** Keeps the external addresses, and searches the content of `data:` addresses. */
function addReferences(state: SearchState, found: readonly FoundAddress[], place: TextPlace): void {
  const getLine = createLineCounter(place.text, place.firstLine);
  for (const { offset, address, kind } of found) {
    if (isExternal(address)) {
      const line = getLine(offset);
      state.references.push({ line, element: place.element, address: formatAddress(address) });
    } else if (kind !== 'data') {
      searchDataUrl(state, address, kind, { ...place, text: '', firstLine: getLine(offset) });
    }
  }
}

function searchDataUrl(state: SearchState, address: string, kind: ResourceKind, place: TextPlace): void {
  const content = parseDataUrl(address);
  if (content === null) return;
  if (place.level >= SEARCH_LIMITS.documents) {
    state.complete = false;
    return;
  }
  const { type, text } = content;
  const { firstLine } = place;
  const level = place.level + 1;
  const first = state.references.length;
  if (kind === 'style') addReferences(state, findCssReferences(text), { ...place, level });
  else if (kind === 'script') addReferences(state, findScriptReferences(text), { ...place, level });
  else if (/html|xml/.test(type)) {
    searchDocument(state, text, { firstLine, level, isXml: type.includes('xml') });
  }
  // Lines inside an address are not lines of the page: everything in it is on the line of the address.
  for (let at = first; at < state.references.length; at += 1) {
    state.references[at] = { ...(state.references[at] as PageReference), line: firstLine };
  }
}

const isCss = (style: Dom.Element): boolean =>
  ['', 'text/css'].includes(getAttribute(style, 'type').trim().toLowerCase());

/** Script types that a browser runs; with any other type, the script is data. */
const SCRIPT_TYPE = /^(?:module|(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script[\d.]*)?$/;

function readScript(script: Dom.Element, text: string): readonly FoundAddress[] {
  const type = getAttribute(script, 'type').trim().toLowerCase();
  if (type === 'importmap' || type === 'speculationrules') return findJsonReferences(text);
  return SCRIPT_TYPE.test(type) ? findScriptReferences(text) : [];
}

/** Returns the line of each offset; the offsets must be in ascending order. */
function createLineCounter(text: string, firstLine: number): (offset: number) => number {
  let line = firstLine;
  let next = text.indexOf('\n');
  return (offset) => {
    for (; next !== -1 && next < offset; next = text.indexOf('\n', next + 1)) line += 1;
    return line;
  };
}

/** In XML any element may close itself; HTML would treat all that follows as the text of such an element. */
function addEndTags(xml: string): string {
  return xml.replace(
    /<((?:[\w-]+:)?(?:iframe|noembed|noframes|noscript|script|style|textarea|title|xmp))\b((?:[^"'<>]|"[^"]*"|'[^']*'){0,2000}?)\/>/gi,
    '<$1$2></$1>',
  );
}
