import type { Token } from 'parse5';
import { SAXParser, type StartTag, type Text } from 'parse5-sax-parser';

/** Limits far beyond real pages, so that a hostile page can't take much time. */
export const SEARCH_LIMITS = {
  depth: 2_048,
  documents: 16,
  maps: 64,
  mapEntries: 4_096,
} as const;

const TEXT_ELEMENTS = new Set(['script', 'style']);

/** Elements with their own parsing rules. */
const FOREIGN_ELEMENTS = new Set(['svg', 'math']);

/** Where the text of a script or style is in its document. */
export type TextPlace = Pick<Token.Location, 'startLine' | 'startOffset' | 'endOffset'>;

/** Reads the tags of a page, and the texts of its scripts and styles, as a browser does. */
export abstract class PageReader extends SAXParser {
  /** Open templates: their content waits for a script. */
  #templates = 0;
  #depth = 0;
  #open: StartTag | null = null;
  #text = '';
  #place: TextPlace = { startLine: 1, startOffset: 0, endOffset: 0 };

  constructor() {
    super({ sourceCodeLocationInfo: true });
    this.on('startTag', (tag) => this.#readTag(tag));
    this.on('endTag', ({ tagName }) => this.#readEndTag(tagName));
    this.on('text', (text) => this.#readText(text));
  }

  protected abstract readTag(tag: StartTag): void;
  protected abstract readText(tag: StartTag, text: string, place: TextPlace): void;

  /** Whether this is in a template. */
  protected get isInert(): boolean {
    return this.#templates > 0;
  }

  /** Whether this is in a drawing or formula, and not in HTML within it. */
  protected get isForeign(): boolean {
    return this.parserFeedbackSimulator.inForeignContent;
  }

  /** Whether the rest of the page was not read. */
  get isTooDeep(): boolean {
    return this.#depth > SEARCH_LIMITS.depth;
  }

  /** Synchronous, unlike the stream interface of the parser. */
  search(piece: string, isLast: boolean): void {
    this.tokenizer.write(piece, isLast);
    if (isLast) this.#endText();
  }

  /** The parser would leave a self-closing `svg` open. */
  override onStartTag(token: Token.TagToken): void {
    super.onStartTag(token);
    if (token.selfClosing && FOREIGN_ELEMENTS.has(token.tagName))
      this.parserFeedbackSimulator.onEndTag(token);
  }

  override onCharacter(token: Token.CharacterToken): void {
    if (this.#open !== null) super.onCharacter(token);
  }

  #readTag(tag: StartTag): void {
    this.#endText();
    const name = tag.tagName;
    this.readTag(tag);
    if (FOREIGN_ELEMENTS.has(name)) this.#depth += 1;
    if (this.isTooDeep) this.stop();
    else if (name === 'template') this.#templates += 1;
    else if (TEXT_ELEMENTS.has(name)) this.#open = tag;
  }

  #readEndTag(name: string): void {
    this.#endText();
    if (name === 'template') this.#templates = Math.max(this.#templates - 1, 0);
    if (FOREIGN_ELEMENTS.has(name)) this.#depth = Math.max(this.#depth - 1, 0);
  }

  #readText({ text, sourceCodeLocation: place }: Text): void {
    if (this.#open === null) return;
    if (place) this.#place = { ...(this.#text === '' ? place : this.#place), endOffset: place.endOffset };
    // Reading a character joins the many parts of the string, which saves memory.
    void text.charCodeAt(0);
    this.#text += text;
  }

  #endText(): void {
    const [tag, text] = [this.#open, this.#text];
    this.#open = null;
    this.#text = '';
    if (tag !== null && text !== '') this.readText(tag, text, this.#place);
  }
}
