import { type Token, type TokenHandler, TokenizerMode } from 'parse5';
import { SAXParser, type StartTag, type Text } from 'parse5-sax-parser';
import {
  type AddAddress,
  createLineCounter,
  getAttribute,
  hasAttribute,
  isExternal,
  laterGrade,
  type PageReference,
  type ReferenceGrade,
  trimAddress,
} from './addresses.ts';
import { getAddressReader, getScriptType, gradeScript, isCss } from './fetching-attributes.ts';
import { addImportMap, NO_IMPORT_MAP } from './import-map.ts';
import { findCssReferences, findScriptReferences } from './script-references.ts';
import { type FormProblem, SourceForm } from './source-form.ts';

/** Limits far beyond real pages, so that a hostile page can't take much time. */
export const SEARCH_LIMITS = {
  depth: 2_048,
  documents: 16,
  maps: 64,
  mapEntries: 4_096,
} as const;

/**
 * The page's own settings, as far as it was read: base and import map apply only to what follows them.
 * @see https://html.spec.whatwg.org/multipage/semantics.html#the-base-element
 */
class PageFields {
  base: string;
  importMap = NO_IMPORT_MAP;
  hasScript = false;
  complete = true;
  /** What is wrong with the file as a whole; `null` for nothing. */
  form: FormProblem | null = null;
  #hasBase = false;

  constructor(url: string) {
    this.base = url;
  }

  /** Only the first base counts. */
  read(tag: StartTag): void {
    if (tag.tagName === 'base' && !this.#hasBase && hasAttribute(tag, 'href')) {
      this.#hasBase = true;
      const base = URL.parse(getAttribute(tag, 'href').trim(), this.base)?.href ?? '';
      if (base.length > MAX_ADDRESS) this.complete = false;
      // No address can be relative to a `data:` URL, so the URL of the page counts.
      else if (URL.canParse('x', base)) this.base = base;
    } else if (tag.tagName === 'script') this.hasScript = true;
  }
}

const MAX_ADDRESS = 4_000;

/** Receives the references in page order, except those that cause no request, such as `data:` and `#top`. */
type AddReference = (reference: PageReference, page: Readonly<PageFields>) => void;

interface DocumentContext {
  readonly firstLine: number;
  readonly level: number;
  readonly grade: ReferenceGrade;
  /** Judges the document, unless it is within another one. */
  readonly form?: SourceForm;
}

/** Finds and grades every address that a browser may use when it opens the page, or later. */
export async function searchPage(
  pieces: AsyncIterable<string> | Iterable<string>,
  url: string,
  add: AddReference,
): Promise<Readonly<PageFields>> {
  const page = new PageFields(url);
  const form = new SourceForm();
  const document = new DocumentSearch(add, page, { firstLine: 1, level: 0, grade: 'code', form });
  for await (const piece of pieces) document.search(piece, false);
  document.search('', true);
  page.form = form.end();
  return page;
}

const TEXT_ELEMENTS = new Set(['script', 'style']);

/** Elements with their own parsing rules. */
const FOREIGN_ELEMENTS = new Set(['svg', 'math']);

class DocumentSearch extends SAXParser {
  readonly #add: AddReference;
  readonly #page: PageFields;
  readonly #context: DocumentContext;
  /** Open templates: their content waits for a script. */
  #templates = 0;
  #depth = 0;
  #open: StartTag | null = null;
  #text = '';
  #textLine = 1;
  #maps = 0;

  constructor(add: AddReference, page: PageFields, context: DocumentContext) {
    super({ sourceCodeLocationInfo: true });
    this.#add = add;
    this.#page = page;
    this.#context = context;
    const handler: TokenHandler = this.parserFeedbackSimulator;
    handler.onParseError = (error) => context.form?.addError(error);
    this.on('startTag', (tag) => this.#readTag(tag));
    this.on('endTag', ({ tagName }) => this.#readEndTag(tagName));
    this.on('text', (text) => this.#readText(text));
  }

  /** Synchronous, unlike the stream interface of the parser. */
  search(piece: string, isLast: boolean): void {
    this.tokenizer.write(piece, isLast);
    if (isLast) this.#endText();
  }

  /** The parser would leave a self-closing `svg` open. */
  override onStartTag(token: Token.TagToken): void {
    this.#context.form?.addTag(token, true, this.tokenizer.state !== TokenizerMode.DATA);
    super.onStartTag(token);
    if (token.selfClosing && FOREIGN_ELEMENTS.has(token.tagName))
      this.parserFeedbackSimulator.onEndTag(token);
  }

  override onCharacter(token: Token.CharacterToken): void {
    this.#context.form?.addText(token);
    if (this.#open !== null) super.onCharacter(token);
  }

  override onEndTag(token: Token.TagToken): void {
    this.#context.form?.addTag(token, false, false);
    super.onEndTag(token);
  }

  override onDoctype(token: Token.DoctypeToken): void {
    this.#context.form?.addDoctype(token);
    super.onDoctype(token);
  }

  override onComment(token: Token.CommentToken): void {
    this.#context.form?.addComment(token);
    super.onComment(token);
  }

  #readTag(tag: StartTag): void {
    this.#endText();
    const name = tag.tagName;
    if (FOREIGN_ELEMENTS.has(name)) this.#depth += 1;
    if (this.#depth > SEARCH_LIMITS.depth) {
      this.#page.complete = false;
      this.stop();
      return;
    }
    this.#searchAttributes(tag, name);
    if (name === 'template') this.#templates += 1;
    if (TEXT_ELEMENTS.has(name)) this.#open = tag;
    if (this.#templates === 0 && this.#depth === 0) this.#page.read(tag);
  }

  #readEndTag(name: string): void {
    this.#endText();
    if (name === 'template') this.#templates = Math.max(this.#templates - 1, 0);
    if (FOREIGN_ELEMENTS.has(name)) this.#depth = Math.max(this.#depth - 1, 0);
  }

  #searchAttributes(tag: StartTag, element: string): void {
    const location = tag.sourceCodeLocation as Token.LocationWithAttributes | undefined;
    // A browser ignores the `src` of a frame with a `srcdoc`.
    const hasDocument = element === 'iframe' && hasAttribute(tag, 'srcdoc');
    for (const { name, prefix, value } of tag.attrs) {
      const fullName = prefix ? `${prefix}:${name}` : name;
      const isDocument = hasDocument && fullName === 'srcdoc';
      const readAddresses = hasDocument ? undefined : getAddressReader(element, fullName);
      if (readAddresses === undefined && !isDocument) continue;
      const line = location?.attrs?.[fullName]?.startLine ?? location?.startLine ?? 1;
      if (isDocument) this.#searchDocument(value, line);
      else readAddresses?.(value, tag, this.#adder(value, line, element, this.#grade));
    }
  }

  #searchDocument(text: string, line: number): void {
    const context = { firstLine: this.#context.firstLine - 1 + line, level: this.#context.level + 1 };
    // It starts with the base of the outer document, but has its own import map.
    const page = new PageFields(this.#page.base);
    if (context.level > SEARCH_LIMITS.documents) page.complete = false;
    else new DocumentSearch(this.#add, page, { ...context, grade: this.#grade }).search(text, true);
    this.#page.complete &&= page.complete;
  }

  #readText({ text, sourceCodeLocation }: Text): void {
    if (this.#open === null) return;
    if (this.#text === '') this.#textLine = sourceCodeLocation?.startLine ?? 1;
    // Reading a character joins the many parts of the string, which saves memory.
    void text.charCodeAt(0);
    this.#text += text;
  }

  #endText(): void {
    const [tag, text] = [this.#open, this.#text];
    this.#open = null;
    this.#text = '';
    if (tag === null || text === '') return;
    if (tag.tagName === 'script') this.#searchScript(tag, text);
    else if (isCss(tag)) findCssReferences(text, this.#adder(text, this.#textLine, 'style', this.#grade));
  }

  #searchScript(tag: StartTag, text: string): void {
    const kind = getScriptType(tag);
    if (/^\s*importmap\s*$/i.test(getAttribute(tag, 'type'))) {
      if (this.#templates === 0) this.#addMap(text);
    } else if (kind !== null && !hasAttribute(tag, 'src')) {
      const grade = laterGrade(this.#grade, gradeScript(tag));
      findScriptReferences(text, kind === 'module', this.#adder(text, this.#textLine, 'script', grade));
    }
  }

  #addMap(text: string): void {
    const { importMap, base } = this.#page;
    this.#maps += 1;
    const added = this.#maps > SEARCH_LIMITS.maps ? null : addImportMap(importMap, text, base);
    if (added !== null && added.entries.length <= SEARCH_LIMITS.mapEntries) this.#page.importMap = added;
    else {
      this.#page.complete = false;
      this.#page.importMap = { ...importMap, isOpen: true };
    }
  }

  get #grade(): ReferenceGrade {
    return this.#templates > 0 ? laterGrade(this.#context.grade, 'later') : this.#context.grade;
  }

  /** Completes the addresses found in a text. @param line the line of the document that the text begins on */
  #adder(text: string, line: number, element: string, grade: ReferenceGrade): AddAddress {
    const getLine = createLineCounter(text, this.#context.firstLine - 1 + line);
    return ({ offset, ...found }) => {
      if (!isExternal(found.address)) return;
      const address = trimAddress(found.address, MAX_ADDRESS);
      const reference = { ...found, address, line: getLine(offset), element };
      this.#add({ ...reference, grade: laterGrade(grade, found.grade) }, this.#page);
    };
  }
}
