import type { Token } from 'parse5';
import { SAXParser, type StartTag, type Text } from 'parse5-sax-parser';
import {
  createLineCounter,
  type FoundAddress,
  getAttribute,
  getLocalName,
  hasAttribute,
  isExternal,
  laterGrade,
  parseDataUrl,
  type ReferenceGrade,
  trimAddress,
} from './addresses.ts';
import { getAddressReader, getScriptType, gradeScript, isForSomeScreens } from './fetching-attributes.ts';
import { type ImportMapEntry, parseImportMap } from './import-map.ts';
import { findCssReferences, findScriptReferences } from './script-references.ts';

/** Limits of a search, far beyond any page that a browser shows easily. They bound memory and time. */
export const SEARCH_LIMITS = {
  /** Tags and comments of the page and all documents in it. */
  nodes: 2_000_000,
  /** Drawings and formulas that are open at once. */
  depth: 2_048,
  /** Documents inside documents: `srcdoc`, `noscript`, `data:`. */
  documents: 16,
} as const;

/** An address that a browser uses when it opens the page, or later. */
export interface PageReference extends Pick<FoundAddress, 'kind' | 'grade' | 'isSpecifier'> {
  /** From 1. */
  readonly line: number;
  /** The element name, such as `link`, `img`, `style` or `script`. */
  readonly element: string;
  /** As a URL parser reads it; `formatAddress` makes it fit for messages. */
  readonly address: string;
  /** Whether it is in the content of a `data:` address, to which nothing can be relative. */
  readonly isOpaque: boolean;
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
  readonly keepsLinks: boolean;
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
  /** Whether it is in a `data:` address, to which nothing can be relative. */
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
 * @param keepsLinks whether to keep what only a person follows: a long page has very many of it
 */
export function searchPage(html: string, isXml = false, keepsLinks = true): PageSearch {
  const state: SearchState = {
    keepsLinks,
    references: [],
    importMap: [],
    nodes: 0,
    complete: true,
    base: '',
    generator: '',
  };
  searchDocument(state, html, { firstLine: 1, level: 0, isXml, grade: 'code', isOpaque: false });
  const { nodes: _, keepsLinks: __, ...search } = state;
  return search;
}

function searchDocument(state: SearchState, text: string, place: DocumentPlace): void {
  if (place.level > SEARCH_LIMITS.documents) state.complete = false;
  else new DocumentSearch(state, place).search(place.isXml ? addEndTags(text) : text);
}

/** Elements whose text is read: a program, a style sheet or another page. */
const TEXT_ELEMENTS = new Set(['noscript', 'script', 'style']);

/** Elements in which names and texts are read in another way. */
const FOREIGN_ELEMENTS = new Set(['svg', 'math']);

/** Reads the tags of one document, in their order and without building a tree. */
class DocumentSearch extends SAXParser {
  readonly #state: SearchState;
  readonly #place: DocumentPlace;
  /** For each open template: whether its content waits for a script; and how many do. */
  readonly #templates: boolean[] = [];
  #waiting = 0;
  /** How many elements of another namespace are open. */
  #depth = 0;
  /** The last tag, if its text is read. */
  #open: StartTag | null = null;
  #text = '';
  #textLine = 1;

  constructor(state: SearchState, place: DocumentPlace) {
    super({ sourceCodeLocationInfo: true });
    this.#state = state;
    this.#place = place;
    this.on('startTag', (tag) => this.#readTag(tag));
    this.on('endTag', ({ tagName }) => this.#readEndTag(getLocalName(tagName)));
    this.on('text', (text) => this.#readText(text));
    this.on('comment', ({ text, sourceCodeLocation }) => {
      this.#countNode();
      if (place.isXml) this.#readInstruction(text, sourceCodeLocation?.startLine);
    });
  }

  /** Reads the whole document at once: as a stream it would be read later. */
  search(text: string): void {
    this.tokenizer.write(text, true);
    this.#endText();
  }

  /** The parser takes a drawing that closes itself for an open one. */
  override onStartTag(token: Token.TagToken): void {
    super.onStartTag(token);
    if (token.selfClosing && FOREIGN_ELEMENTS.has(token.tagName))
      this.parserFeedbackSimulator.onEndTag(token);
  }

  /** Text that is not read is not kept. */
  override onCharacter(token: Token.CharacterToken): void {
    if (this.#open !== null) super.onCharacter(token);
  }

  /** Ends the search at a limit, and then returns false. */
  #countNode(): boolean {
    const state = this.#state;
    state.nodes += 1;
    if (state.nodes <= SEARCH_LIMITS.nodes && this.#depth <= SEARCH_LIMITS.depth) return true;
    state.complete = false;
    this.stop();
    return false;
  }

  #readTag(tag: StartTag): void {
    this.#endText();
    const name = getLocalName(tag.tagName);
    if (FOREIGN_ELEMENTS.has(name)) this.#depth += 1;
    if (!this.#countNode()) return;
    this.#searchAttributes(tag, name);
    if (name === 'template') this.#openTemplate(!hasAttribute(tag, 'shadowrootmode'));
    if (TEXT_ELEMENTS.has(name)) this.#open = tag;
    if (this.#place.level === 0 && this.#grade !== 'later') this.#readPageFields(tag, name);
  }

  #readEndTag(name: string): void {
    this.#endText();
    if (name === 'template') this.#waiting -= Number(this.#templates.pop() === true);
    if (FOREIGN_ELEMENTS.has(name)) this.#depth = Math.max(this.#depth - 1, 0);
  }

  #openTemplate(waits: boolean): void {
    this.#templates.push(waits);
    this.#waiting += Number(waits);
  }

  /** What a browser uses at the current place is used at this time or later. */
  get #grade(): ReferenceGrade {
    return this.#waiting > 0 ? laterGrade(this.#place.grade, 'later') : this.#place.grade;
  }

  /** Keeps the base and the generator of the page; the first of each counts. */
  #readPageFields(tag: StartTag, name: string): void {
    const state = this.#state;
    if (name === 'base') state.base ||= getAttribute(tag, 'href');
    else if (name === 'meta' && getAttribute(tag, 'name').toLowerCase() === 'generator') {
      state.generator ||= getAttribute(tag, 'content').slice(0, 200);
    }
  }

  #searchAttributes(tag: StartTag, element: string): void {
    const location = tag.sourceCodeLocation as Token.LocationWithAttributes | undefined;
    for (const { name, prefix, value } of tag.attrs) {
      const fullName = (prefix ? `${prefix}:${name}` : name).toLowerCase();
      const found = getAddressReader(element, fullName)(value, tag);
      const isDocument = element === 'iframe' && fullName === 'srcdoc';
      if (found.length === 0 && !isDocument) continue;
      const line = location?.attrs?.[fullName]?.startLine ?? location?.startLine ?? 1;
      const place = this.#placeAt(line, tag);
      if (isDocument) searchDocument(this.#state, value, { ...place, level: place.level + 1, isXml: false });
      else addReferences(this.#state, found, { ...place, text: value, element });
    }
  }

  #readText({ text, sourceCodeLocation }: Text): void {
    if (this.#open === null) return;
    if (this.#text === '') this.#textLine = sourceCodeLocation?.startLine ?? 1;
    this.#text += text;
  }

  /** Searches the text of the last tag; any other tag ends it. */
  #endText(): void {
    const [tag, text] = [this.#open, this.#text];
    this.#open = null;
    this.#text = '';
    if (tag === null || text === '') return;
    const element = getLocalName(tag.tagName);
    const place = { ...this.#placeAt(this.#textLine, tag), text, element };
    if (element === 'script') readScript(this.#state, tag, place);
    else if (element === 'noscript') {
      const grade = laterGrade(place.grade, 'later');
      searchDocument(this.#state, text, { ...place, level: place.level + 1, isXml: false, grade });
    } else if (isCss(tag)) addReferences(this.#state, findCssReferences(text), place);
  }

  /** Searches `<?xml-stylesheet href="…"?>`, which the parser takes for a comment. */
  #readInstruction(text: string, line: number | undefined): void {
    const [, , address = ''] =
      /^\?xml-stylesheet\s.*?\bhref\s*=\s*(["'])(.*?)\1/s.exec(text.slice(0, 4_000)) ?? [];
    const place = { ...this.#placeAt(line), text: '', element: 'xml-stylesheet' };
    addReferences(this.#state, [{ offset: 0, address, kind: 'style', grade: 'code' }], place);
  }

  /** Where a tag, or its text, is used. */
  #placeAt(line = 1, tag?: StartTag): DocumentPlace {
    const grade = tag && isForSomeScreens(tag) ? laterGrade(this.#grade, 'later') : this.#grade;
    const { firstLine, isOpaque } = this.#place;
    return { ...this.#place, firstLine: isOpaque ? firstLine : firstLine - 1 + line, grade };
  }
}

/** The longest part of an address that is kept, in characters. */
const MAX_ADDRESS = 4_000;

/** Keeps the addresses that cause a request, and searches the content of `data:` addresses. */
function addReferences(state: SearchState, found: readonly FoundAddress[], place: TextPlace): void {
  const { element, isOpaque } = place;
  // Lines inside a `data:` address are not lines of the page: everything in it is on the line of the address.
  const getLine = createLineCounter(isOpaque ? '' : place.text, place.firstLine);
  for (const { offset, ...reference } of found) {
    const { address, kind } = reference;
    const grade = laterGrade(place.grade, reference.grade);
    if (grade === 'link' && !state.keepsLinks) continue;
    const line = getLine(offset);
    if (isExternal(address)) {
      const kept = trimAddress(address, MAX_ADDRESS);
      state.references.push({ ...reference, address: kept, line, element, grade, isOpaque });
    } else if (kind !== 'data' && grade !== 'link') {
      searchDataUrl(state, reference, { ...place, firstLine: line, grade });
    }
  }
}

function searchDataUrl(
  state: SearchState,
  { address, kind }: Pick<FoundAddress, 'address' | 'kind'>,
  place: TextPlace,
): void {
  const content = parseDataUrl(address);
  if (content === null) return;
  const { type, text } = content;
  const inner: TextPlace = { ...place, level: place.level + 1, isOpaque: true };
  if (kind === 'style') addReferences(state, findCssReferences(text), inner);
  else if (kind === 'script' || kind === 'module') {
    addReferences(state, findScriptReferences(text, kind === 'module'), inner);
  } else if (/html|xml/.test(type)) searchDocument(state, text, { ...inner, isXml: type.includes('xml') });
}

const isCss = (style: StartTag): boolean =>
  ['', 'text/css'].includes(getAttribute(style, 'type').trim().toLowerCase());

function readScript(state: SearchState, script: StartTag, place: TextPlace): void {
  const { text } = place;
  const type = getScriptType(script);
  if (getAttribute(script, 'type').trim().toLowerCase() === 'importmap') {
    const entries = parseImportMap(text);
    if (place.grade !== 'later' && !place.isOpaque) state.importMap.push(...entries);
    addReferences(state, entries.map(toReference), { ...place, element: 'importmap' });
  } else if (type !== null && !hasAttribute(script, 'src')) {
    const grade = laterGrade(place.grade, gradeScript(script));
    addReferences(state, findScriptReferences(text, type === 'module'), { ...place, grade });
  }
}

/** An address of an import map is loaded by the modules that import it. */
const toReference = ({ offset, address }: ImportMapEntry): FoundAddress => {
  return { offset, address, kind: 'module', grade: 'later' };
};

/** In XML any element may close itself; HTML would treat all that follows as the text of such an element. */
function addEndTags(xml: string): string {
  return xml.replace(
    /<((?:[\w-]+:)?(?:iframe|noembed|noframes|noscript|script|style|textarea|title|xmp))\b((?:[^"'<>]|"[^"]*"|'[^']*'){0,2000}?)\/>/gi,
    '<$1$2></$1>',
  );
}
