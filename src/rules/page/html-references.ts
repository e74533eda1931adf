import { type Token, type TokenHandler, TokenizerMode } from 'parse5';
import type { StartTag } from 'parse5-sax-parser';
import { isCutPictureUrl } from '../picture-form.ts';
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
import {
  getScriptType,
  gradeScript,
  isCss,
  isImportMap,
  listFetchingAttributes,
} from './fetching-attributes.ts';
import { addImportMap, NO_IMPORT_MAP } from './import-map.ts';
import { PageReader, SEARCH_LIMITS, type TextPlace } from './page-reader.ts';
import { findCssReferences, findScriptReferences } from './script-references.ts';
import { type FileProblem, SourceForm } from './source-form.ts';

/**
 * The page's own settings, as far as it was read: base and import map apply only to what follows them.
 * @see https://html.spec.whatwg.org/multipage/semantics.html#the-base-element
 */
export class PageFields {
  base: string;
  importMap = NO_IMPORT_MAP;
  hasScript = false;
  complete = true;
  /** What is wrong with the file as a whole. */
  problems: readonly FileProblem[] = [];
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
  page.problems = form.end();
  return page;
}

class DocumentSearch extends PageReader {
  readonly #add: AddReference;
  readonly #page: PageFields;
  readonly #context: DocumentContext;
  #maps = 0;

  constructor(add: AddReference, page: PageFields, context: DocumentContext) {
    super();
    this.#add = add;
    this.#page = page;
    this.#context = context;
    const handler: TokenHandler = this.parserFeedbackSimulator;
    handler.onParseError = (error) => context.form?.addError(error);
  }

  override search(piece: string, isLast: boolean): void {
    this.#context.form?.addSource(piece);
    super.search(piece, isLast);
    if (this.isTooDeep) this.#page.complete = false;
  }

  override onStartTag(token: Token.TagToken): void {
    this.#context.form?.addTag(token, true, this.tokenizer.state !== TokenizerMode.DATA);
    super.onStartTag(token);
  }

  override onCharacter(token: Token.CharacterToken): void {
    this.#context.form?.addText(token);
    super.onCharacter(token);
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

  protected override readTag(tag: StartTag): void {
    this.#searchAttributes(tag);
    if (!this.isInert && !this.isForeign) this.#page.read(tag);
  }

  #searchAttributes(tag: StartTag): void {
    const location = tag.sourceCodeLocation as Token.LocationWithAttributes | undefined;
    for (const { name, value, find } of listFetchingAttributes(tag)) {
      const line = location?.attrs?.[name]?.startLine ?? location?.startLine ?? 1;
      if (find === null) this.#searchDocument(value, line);
      else find(this.#adder(value, line, name === 'style' ? 'background' : tag.tagName, this.#grade));
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

  protected override readText(tag: StartTag, text: string, { startLine }: TextPlace): void {
    if (tag.tagName === 'script') this.#searchScript(tag, text, startLine);
    else if (isCss(tag)) findCssReferences(text, this.#adder(text, startLine, 'style', this.#grade));
  }

  #searchScript(tag: StartTag, text: string, line: number): void {
    const kind = getScriptType(tag);
    if (isImportMap(tag)) {
      if (!this.isInert) this.#addMap(text);
    } else if (kind !== null && !hasAttribute(tag, 'src')) {
      const grade = laterGrade(this.#grade, gradeScript(tag));
      findScriptReferences(text, kind === 'module', this.#adder(text, line, 'script', grade));
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
    return this.isInert ? laterGrade(this.#context.grade, 'later') : this.#context.grade;
  }

  /** Completes the addresses found in a text. @param line the line of the document that the text begins on */
  #adder(text: string, line: number, element: string, grade: ReferenceGrade): AddAddress {
    const getLine = createLineCounter(text, this.#context.firstLine - 1 + line);
    return ({ offset, end: _, ...found }) => {
      if (isCutPictureUrl(found.address)) this.#context.form?.addCutPicture(getLine(offset));
      if (!isExternal(found.address)) return;
      const address = trimAddress(found.address, MAX_ADDRESS);
      const reference = { ...found, address, line: getLine(offset), element };
      this.#add({ ...reference, grade: laterGrade(grade, found.grade) }, this.#page);
    };
  }
}
