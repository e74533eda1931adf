import type { DefaultTreeAdapterTypes as Dom } from 'parse5';
import {
  type FoundAddress,
  isExternal,
  laterGrade,
  parseDataUrl,
  type ReferenceGrade,
  type ResourceKind,
  trimAddress,
} from './addresses.ts';
import { findCssReferences } from './css-references.ts';
import { getAddressReader, getScriptType } from './fetching-attributes.ts';
import { type ImportMapEntry, parseImportMap } from './import-map.ts';
import { createLineCounter } from './line-counter.ts';
import { gradeMedia } from './media-queries.ts';
import {
  getAttribute,
  getLocalName,
  getLocation,
  getText,
  hasAttribute,
  parsePage,
  SEARCH_LIMITS,
  TEXT_ELEMENTS,
  walkNodes,
} from './page-tree.ts';
import { findScriptReferences, findSpeculationReferences } from './script-references.ts';

/** An address that a browser uses when it opens the page, or later. */
export interface PageReference
  extends Pick<FoundAddress, 'kind' | 'grade' | 'rule' | 'others' | 'isPartial' | 'isSpecifier'> {
  /** From 1. */
  readonly line: number;
  /** The element name, such as `link`, `img`, `style` or `script`. */
  readonly element: string;
  /** As a URL parser reads it; `formatAddress` makes it fit for messages. */
  readonly address: string;
  /** Whether it is in the content of a `data:` address, to which nothing can be relative. */
  readonly isOpaque?: boolean;
}

export interface PageSearch {
  /** In page order; without those that cause no request, such as `data:` and `#top`. */
  readonly references: readonly PageReference[];
  /** Whether the whole page was searched; false if it exceeds a limit. */
  readonly complete: boolean;
  /** The address of `<base href>`; empty without one. */
  readonly base: string;
  readonly importMap: readonly ImportMapEntry[];
  /** The content of `<meta name="generator">`; empty without one. */
  readonly generator: string;
}

interface SearchState {
  readonly references: PageReference[];
  readonly importMap: ImportMapEntry[];
  nodes: number;
  complete: boolean;
  base: string;
  generator: string;
}

/** A document in the page: the page itself, or one in a `srcdoc`, `noscript` or `data:` address. */
interface DocumentPlace {
  /** The line of the page on which the document begins. */
  readonly firstLine: number;
  /** How many documents contain it. */
  readonly level: number;
  readonly isXml: boolean;
  /** What the document holds is used at this time or later. */
  readonly grade: ReferenceGrade;
  /** Whether it is in a `data:` address. */
  readonly isOpaque: boolean;
}

/** A text with addresses: an attribute value, a script or a style sheet. */
interface TextPlace extends Omit<DocumentPlace, 'isXml'> {
  /** Empty if all addresses count as being on the first line. */
  readonly text: string;
  readonly element: string;
}

/**
 * Finds every address that a browser would use when it opens the page, when something happens in it, or when a
 * person follows a link; graded accordingly.
 *
 * @param isXml parse as XHTML, where `/>` closes elements that HTML leaves open
 */
export function searchPage(html: string, isXml = false): PageSearch {
  const state: SearchState = {
    references: [],
    importMap: [],
    nodes: 0,
    complete: true,
    base: '',
    generator: '',
  };
  searchDocument(state, html, { firstLine: 1, level: 0, isXml, grade: 'start', isOpaque: false });
  const { nodes: _, ...search } = state;
  return search;
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
  const inertPlace: DocumentPlace = { ...place, grade: laterGrade(place.grade, 'later') };
  for (const { node, isInert } of walkNodes(document)) {
    if ('tagName' in node) {
      const nodePlace = isInert ? inertPlace : place;
      searchAttributes(state, node, nodePlace);
      searchContent(state, node, nodePlace);
      if (place.level === 0 && !isInert) readPageFields(state, node);
    } else if (place.isXml && 'data' in node) searchInstruction(state, node, place);
  }
}

/** Keeps the base and the generator of the page; the first of each counts. */
function readPageFields(state: SearchState, element: Dom.Element): void {
  const name = getLocalName(element);
  if (name === 'base') state.base ||= getAttribute(element, 'href');
  else if (name === 'meta' && getAttribute(element, 'name').toLowerCase() === 'generator') {
    state.generator ||= getAttribute(element, 'content').slice(0, 200);
  }
}

function searchAttributes(state: SearchState, element: Dom.Element, place: DocumentPlace): void {
  const elementName = getLocalName(element);
  const { startLine, attrs } = getLocation(element);
  for (const { name, prefix, value } of element.attrs) {
    const fullName = prefix ? `${prefix}:${name}` : name;
    const line = place.firstLine - 1 + (attrs?.[fullName] ?? attrs?.[fullName.toLowerCase()] ?? startLine);
    if (elementName === 'iframe' && fullName === 'srcdoc') {
      searchDocument(state, value, { ...place, firstLine: line, level: place.level + 1, isXml: false });
    } else {
      const found = getAddressReader(elementName, fullName.toLowerCase())(value, element);
      if (found.length > 0) {
        addReferences(state, found, { ...place, text: value, firstLine: line, element: elementName });
      }
    }
  }
}

function searchContent(state: SearchState, element: Dom.Element, place: DocumentPlace): void {
  const [first] = element.childNodes;
  const name = getLocalName(element);
  if (first === undefined || !TEXT_ELEMENTS.has(name)) return;
  const text = getText(element);
  const firstLine = place.firstLine - 1 + getLocation(first).startLine;
  const textPlace: TextPlace = { ...place, text, firstLine, element: name };
  if (name === 'noscript') {
    const grade = laterGrade(place.grade, 'later');
    searchDocument(state, text, { ...place, firstLine, level: place.level + 1, isXml: false, grade });
  } else if (name === 'script') readScript(state, element, textPlace);
  else if (isCss(element)) {
    const grade = laterGrade(place.grade, gradeMedia(getAttribute(element, 'media')));
    addReferences(state, findCssReferences(text), { ...textPlace, grade });
  }
}

/** Searches `<?xml-stylesheet href="…"?>`, which the parser returns as a comment. */
function searchInstruction(state: SearchState, comment: Dom.CommentNode, place: DocumentPlace): void {
  const [, , address = ''] = /\shref\s*=\s*(["'])(.*?)\1/s.exec(comment.data.slice(0, 4_000)) ?? [];
  addReferences(state, [{ offset: 0, address, kind: 'style', grade: 'start' }], {
    ...place,
    text: '',
    firstLine: place.firstLine - 1 + getLocation(comment).startLine,
    element: 'xml-stylesheet',
  });
}

/** The longest part of an address that is kept, in characters. */
const MAX_ADDRESS = 4_000;

/** Keeps the addresses that cause a request, and searches the content of `data:` addresses. */
function addReferences(state: SearchState, found: readonly FoundAddress[], place: TextPlace): void {
  const getLine = createLineCounter(place.text, place.firstLine);
  const { element, isOpaque } = place;
  for (const { offset, isPageRelative: _, ...reference } of found) {
    const { address, kind } = reference;
    const grade = laterGrade(place.grade, reference.grade);
    if (isExternal(address)) {
      const line = getLine(offset);
      const kept = trimAddress(address, MAX_ADDRESS);
      state.references.push({
        ...reference,
        address: kept,
        line,
        element,
        grade,
        ...(isOpaque && { isOpaque }),
      });
    } else if (kind !== 'data' && grade !== 'link') {
      searchDataUrl(state, address, kind, { ...place, text: '', firstLine: getLine(offset), grade });
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
  const inner: TextPlace = { ...place, level: place.level + 1, isOpaque: true };
  const first = state.references.length;
  if (kind === 'style') addReferences(state, findCssReferences(text), inner);
  else if (kind === 'script' || kind === 'module') {
    addReferences(state, findScriptReferences(text, kind === 'module'), inner);
  } else if (/html|xml/.test(type)) searchDocument(state, text, { ...inner, isXml: type.includes('xml') });
  // Lines inside an address are not lines of the page: everything in it is on the line of the address.
  for (let at = first; at < state.references.length; at += 1) {
    state.references[at] = { ...(state.references[at] as PageReference), line: firstLine };
  }
}

const isCss = (style: Dom.Element): boolean =>
  ['', 'text/css'].includes(getAttribute(style, 'type').trim().toLowerCase());

function readScript(state: SearchState, script: Dom.Element, place: TextPlace): void {
  const { text } = place;
  const type = getAttribute(script, 'type').trim().toLowerCase();
  const scriptType = getScriptType(script);
  if (type === 'importmap') {
    if (place.grade === 'start' && !place.isOpaque) state.importMap.push(...parseImportMap(text));
    addReferences(state, toReferences(parseImportMap(text)), { ...place, element: 'importmap' });
  } else if (type === 'speculationrules') addReferences(state, findSpeculationReferences(text), place);
  else if (scriptType !== null && !hasAttribute(script, 'src')) {
    const isUnused = hasAttribute(script, 'nomodule');
    const grade = isUnused ? 'later' : place.grade;
    addReferences(state, findScriptReferences(text, scriptType === 'module'), { ...place, grade });
  }
}

/** The addresses of an import map are loaded by the modules that import them. */
const toReferences = (entries: readonly ImportMapEntry[]): FoundAddress[] =>
  entries.map(({ offset, address }) => ({ offset, address, kind: 'module', grade: 'start' }));

/** In XML any element may close itself; HTML would treat all that follows as the text of such an element. */
function addEndTags(xml: string): string {
  return xml.replace(
    /<((?:[\w-]+:)?(?:iframe|noembed|noframes|noscript|script|style|textarea|title|xmp))\b((?:[^"'<>]|"[^"]*"|'[^']*'){0,2000}?)\/>/gi,
    '<$1$2></$1>',
  );
}
