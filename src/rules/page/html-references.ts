import { type Token, TokenizerMode } from 'parse5';
import { SAXParser, type StartTag, type Text } from 'parse5-sax-parser';
import {
  type AddAddress,
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

/**
 * What a page says of itself, as far as it was read. For a browser, too, base and import map count for what follows.
 *
 * @see https://html.spec.whatwg.org/multipage/semantics.html#the-base-element
 */
export interface PageFields {
  /** The address of `<base href>`; empty without one. */
  readonly base: string;
  readonly importMap: readonly ImportMapEntry[];
  /** The content of `<meta name="generator">`; empty without one. */
  readonly generator: string;
  readonly hasScript: boolean;
}

export interface PageSearch extends PageFields {
  /** Whether the whole page was searched; false if it exceeds a limit. */
  readonly complete: boolean;
}

/** Gets one reference after another, in page order; without those that cause no request, such as `data:` and `#top`. */
type AddReference = (reference: PageReference, page: PageFields) => void;

interface SearchState {
  readonly add: AddReference;
  nodes: number;
  complete: boolean;
  page: PageFields;
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
 * person follows a link; graded accordingly. The page comes in pieces, and nothing of it is kept.
 *
 * @param isXml parse as XHTML, where `/>` closes elements that HTML leaves open
 */
export function createPageSearch(
  add: AddReference,
  isXml = false,
): { write(piece: string): void; end(): PageSearch } {
  const page = { base: '', importMap: [], generator: '', hasScript: false };
  const state: SearchState = { add, nodes: 0, complete: true, page };
  const place = { firstLine: 1, level: 0, isXml, grade: 'code', isOpaque: false } as const;
  const document = new DocumentSearch(state, place);
  return {
    write: (piece) => document.search(piece, false),
    end() {
      document.search('', true);
      return { ...state.page, complete: state.complete };
    },
  };
}

function searchDocument(state: SearchState, text: string, place: DocumentPlace): void {
  if (place.level > SEARCH_LIMITS.documents) state.complete = false;
  else new DocumentSearch(state, place).search(text, true);
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
  #isStopped = false;
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

  /** Reads a piece at once: as a stream it would be read later. */
  search(piece: string, isLast: boolean): void {
    if (!this.#isStopped) this.tokenizer.write(piece, isLast);
    if (isLast) this.#endText();
  }

  /** The parser takes what closes itself for open: a drawing, and any element of XML. */
  override onStartTag(token: Token.TagToken): void {
    super.onStartTag(token);
    if (!token.selfClosing) return;
    if (FOREIGN_ELEMENTS.has(token.tagName)) this.parserFeedbackSimulator.onEndTag(token);
    else if (this.#place.isXml) {
      this.tokenizer.state = TokenizerMode.DATA;
      this.#readEndTag(getLocalName(token.tagName));
    }
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
    this.#isStopped = true;
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
    const { page } = this.#state;
    const keep = (fields: Partial<PageFields>): void => {
      this.#state.page = { ...page, ...fields };
    };
    if (name === 'base') keep({ base: page.base || getAttribute(tag, 'href') });
    else if (name === 'script') keep({ hasScript: true });
    else if (name === 'meta' && getAttribute(tag, 'name').toLowerCase() === 'generator') {
      keep({ generator: page.generator || getAttribute(tag, 'content').slice(0, 200) });
    }
  }

  #searchAttributes(tag: StartTag, element: string): void {
    const location = tag.sourceCodeLocation as Token.LocationWithAttributes | undefined;
    for (const { name, prefix, value } of tag.attrs) {
      const fullName = (prefix ? `${prefix}:${name}` : name).toLowerCase();
      const readAddresses = getAddressReader(element, fullName);
      const isDocument = element === 'iframe' && fullName === 'srcdoc';
      if (readAddresses === undefined && !isDocument) continue;
      const line = location?.attrs?.[fullName]?.startLine ?? location?.startLine ?? 1;
      const place = this.#placeAt(line, tag);
      if (isDocument) searchDocument(this.#state, value, { ...place, level: place.level + 1, isXml: false });
      else readAddresses?.(value, tag, adder(this.#state, { ...place, text: value, element }));
    }
  }

  #readText({ text, sourceCodeLocation }: Text): void {
    if (this.#open === null) return;
    if (this.#text === '') this.#textLine = sourceCodeLocation?.startLine ?? 1;
    // Reading a character makes one text of its many parts, which take several times its memory.
    void text.charCodeAt(0);
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
    } else if (isCss(tag)) findCssReferences(text, adder(this.#state, place));
  }

  /** Searches `<?xml-stylesheet href="…"?>`, which the parser takes for a comment. */
  #readInstruction(text: string, line: number | undefined): void {
    const [, , address = ''] =
      /^\?xml-stylesheet\s.*?\bhref\s*=\s*(["'])(.*?)\1/s.exec(text.slice(0, 4_000)) ?? [];
    const place = { ...this.#placeAt(line), text: '', element: 'xml-stylesheet' };
    adder(this.#state, place)({ offset: 0, address, kind: 'style', grade: 'code' });
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

/** Hands on the addresses that cause a request, and searches the content of `data:` addresses. */
function adder(state: SearchState, place: TextPlace): AddAddress {
  const { element, isOpaque } = place;
  // Lines inside a `data:` address are not lines of the page: everything in it is on the line of the address.
  const getLine = createLineCounter(isOpaque ? '' : place.text, place.firstLine);
  return ({ offset, ...reference }) => {
    const { address, kind } = reference;
    const grade = laterGrade(place.grade, reference.grade);
    const line = getLine(offset);
    if (isExternal(address)) {
      const short = trimAddress(address, MAX_ADDRESS);
      state.add({ ...reference, address: short, line, element, grade, isOpaque }, state.page);
    } else if (kind !== 'data' && grade !== 'link') {
      searchDataUrl(state, reference, { ...place, firstLine: line, grade });
    }
  };
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
  if (kind === 'style') findCssReferences(text, adder(state, inner));
  else if (kind === 'script' || kind === 'module') {
    findScriptReferences(text, kind === 'module', adder(state, inner));
  } else if (/html|xml/.test(type)) searchDocument(state, text, { ...inner, isXml: type.includes('xml') });
}

const isCss = (style: StartTag): boolean =>
  ['', 'text/css'].includes(getAttribute(style, 'type').trim().toLowerCase());

function readScript(state: SearchState, script: StartTag, place: TextPlace): void {
  const { text } = place;
  const type = getScriptType(script);
  if (getAttribute(script, 'type').trim().toLowerCase() === 'importmap') {
    const entries = parseImportMap(text);
    if (place.grade !== 'later' && !place.isOpaque) {
      state.page = { ...state.page, importMap: [...state.page.importMap, ...entries] };
    }
    entries.map(toReference).forEach(adder(state, { ...place, element: 'importmap' }));
  } else if (type !== null && !hasAttribute(script, 'src')) {
    const grade = laterGrade(place.grade, gradeScript(script));
    findScriptReferences(text, type === 'module', adder(state, { ...place, grade }));
  }
}

/** An address of an import map is loaded by the modules that import it. */
const toReference = ({ offset, address }: ImportMapEntry): FoundAddress => {
  return { offset, address, kind: 'module', grade: 'later' };
};
