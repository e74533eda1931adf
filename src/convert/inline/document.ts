import { type DeliveryError, faultError, toDeliveryError } from '../../errors.ts';
import { type FoundAddress, getAttribute, hasAttribute } from '../../rules/page/addresses.ts';
import {
  getScriptType,
  isCss,
  isImportMap,
  isNetworkHint,
  listFetchingAttributes,
} from '../../rules/page/fetching-attributes.ts';
import { PageFields } from '../../rules/page/html-references.ts';
import { SEARCH_LIMITS } from '../../rules/page/page-reader.ts';
import { type PageElement, PageElements } from './page-elements.ts';
import { type PageFiles, replaceAddresses, TextParts } from './page-files.ts';
import { decodeResource, getMediaType } from './resource-text.ts';
import { Scripts } from './scripts.ts';
import { Sprites } from './sprites.ts';
import { inlineSheet, inlineStyle, writeInStyle } from './styles.ts';

interface DocumentContext {
  readonly base: string;
  readonly files: PageFiles;
  /** How many documents are around it. */
  readonly level: number;
}

type Edit = readonly [start: number, end: number, text: string];

const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const escapeValue = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** What makes a drawing load files or run scripts where it is shown as a document. */
const NEEDS_OTHERS =
  /<(?:[\w-]+:)?script\b|\s(?:on\w+|src\w*|data|poster)\s*=|href\s*=(?!\s*["'](?:#|data:))|attributeName\s*=\s*["'](?:xlink:)?href|@import|image-set\(|url\((?!\s*["']?(?:#|data:))/i;

/** The beginning of a `<noscript>` that has more than text and links, or is long. */
const NOSCRIPT_FILES =
  /^(?:(?!<\/noscript).)*?(?:$|<(?!a\s)\w[^<>]*?\s(?:src\w*|href|poster|data)\s*=|@import|url\()/is;

/** A policy that names what a page may load. */
const LOADING_POLICY = /-src(?:-elem|-attr)?(?:\s|$)/i;

/** Puts the files that a document needs into it. @param base the URL that its addresses are relative to */
export async function inlineDocument(
  source: string,
  base: string,
  files: PageFiles,
  level = 0,
): Promise<string> {
  const elements = new PageElements(source);
  if (elements.isTooDeep || level > SEARCH_LIMITS.documents) {
    throw faultError('the page is nested too deeply', 'correct the program that writes it');
  }
  const document = new InlinedDocument(elements, { base, files, level });
  for (const element of elements.all) {
    await document.inline(element, source).catch((thrown: unknown) => {
      throw toDeliveryError(thrown).withLine(element.place.startLine);
    });
  }
  const parts = new TextParts();
  let at = 0;
  for (const [start, end, text] of document.finish(source.length)) {
    parts.add(source.slice(at, start));
    parts.add(text);
    at = end;
  }
  parts.add(source.slice(at));
  return parts.join();
}

class InlinedDocument {
  readonly #elements: PageElements;
  readonly #files: PageFiles;
  readonly #level: number;
  readonly #page: PageFields;
  readonly #scripts: Scripts;
  readonly #sprites: Sprites;
  readonly #edits: Edit[] = [];
  readonly #added = new TextParts();
  readonly #maps: PageElement[] = [];
  #policy: DeliveryError | null = null;

  constructor(elements: PageElements, { base, files, level }: DocumentContext) {
    this.#level = level;
    this.#elements = elements;
    this.#files = files;
    this.#page = new PageFields(base);
    this.#scripts = new Scripts(files, this.#page);
    this.#sprites = new Sprites(elements.ids);
  }

  /** All edits in the order of the page. What comes after its end is part of its body. */
  finish(end: number): readonly Edit[] {
    this.#writeMap();
    const drawings = this.#sprites.write();
    this.#edit(end, end, drawings);
    if (drawings !== '' && this.#elements.all.some(({ tag }) => /^(?:link|script|style)$/.test(tag.tagName)))
      this.#files.notes.add('styles and scripts of the page now reach the drawings that <use> shows');
    if (this.#edits.length > 0 && this.#policy !== null) throw this.#policy;
    return this.#edits.sort(([a], [b]) => a - b);
  }

  async inline(element: PageElement, source: string): Promise<void> {
    const { tag, place, isInert, isForeign } = element;
    // A script may turn such a hint into a style sheet.
    const mayApply = hasAttribute(tag, 'onload') || getAttribute(tag, 'as').toLowerCase() === 'style';
    if (isNetworkHint(tag) && !mayApply) return this.#edit(place.startOffset, place.endOffset, '');
    const after = source.slice(place.endOffset, place.endOffset + 10_000);
    if (tag.tagName === 'noscript' ? NOSCRIPT_FILES.test(after) : hasAttribute(tag, 'attributeName'))
      this.#files.notes.add(`<${tag.tagName}> may need files that stay outside of the page`);
    await this.#inlineAttributes(element);
    // In a drawing the text has escapes.
    const given = isForeign ? element.text : source.slice(place.endOffset, element.textEnd);
    const text = await this.#inlineText(element, given);
    if (text !== given) this.#edit(place.endOffset, element.textEnd, isForeign ? escapeText(text) : text);
    if (isInert || isForeign) return;
    this.#page.read(tag);
    this.#readPolicy(element);
  }

  #edit(start: number, end: number, text: string): void {
    this.#added.add(text);
    if (end > start || text !== '') this.#edits.push([start, end, text]);
  }

  #editAttribute({ place }: PageElement, name: string, text: string): void {
    const { startOffset = 0, endOffset = 0 } = place.attrs?.[name] ?? {};
    this.#edit(startOffset, endOffset, text);
  }

  async #inlineAttributes(element: PageElement): Promise<void> {
    const { tag } = element;
    const isUnused = tag.tagName === 'script' && hasAttribute(tag, 'nomodule');
    for (const { name, value, find } of listFetchingAttributes(tag)) {
      const isStyle = name === 'style';
      const replace = async (found: FoundAddress): Promise<string | null> =>
        isUnused && !isStyle ? '' : this.#inlineAddress(found, element, isStyle);
      const written =
        find === null
          ? await inlineDocument(value, this.#page.base, this.#files, this.#level + 1)
          : await replaceAddresses(value, find, replace, isStyle ? writeInStyle : undefined);
      if (written === value) continue;
      this.#editAttribute(element, name, `${name}="${escapeValue(written)}"`);
      if (!isStyle) for (const check of ['integrity', 'crossorigin']) this.#editAttribute(element, check, '');
    }
  }

  /** The address to write instead of one in an attribute; `null` if a browser loads nothing from there. */
  async #inlineAddress(found: FoundAddress, { tag }: PageElement, isStyle: boolean): Promise<string | null> {
    const { kind } = found;
    const url = URL.parse(found.address, this.#page.base);
    if (url === null || found.grade === 'link') return null;
    if (isStyle) return this.#files.inlineData(url);
    await this.#files.checkIntegrity(url, getAttribute(tag, 'integrity'));
    if (tag.tagName === 'use') return this.#sprites.add(url, this.#files);
    const charset = getAttribute(tag, 'charset');
    const isSheet = kind === 'style' || getAttribute(tag, 'as').toLowerCase() === 'style';
    if (isSheet && isCss(tag)) return inlineSheet(url, this.#files, charset);
    if (kind === 'script') return this.#scripts.inlineScript(url, charset);
    if (kind === 'module') return this.#scripts.inlineModule(url);
    if (kind !== 'document' || (await this.#isPicture(url, tag.tagName))) return this.#files.inlineData(url);
    const what = `<${tag.tagName}> shows another document, ${this.#files.show(url)}`;
    throw faultError(`${what}, which can't become part of the page`, 'use a link or a picture');
  }

  async #isPicture(url: URL, tagName: string): Promise<boolean> {
    if (tagName !== 'object' && tagName !== 'embed') return false;
    const resource = await this.#files.read(url);
    const type = getMediaType(resource);
    return type === 'image/svg+xml'
      ? !NEEDS_OTHERS.test(decodeResource(resource))
      : type.startsWith('image/');
  }

  async #inlineText(element: PageElement, text: string): Promise<string> {
    const { tag, isInert } = element;
    const { base } = this.#page;
    const type = getScriptType(tag);
    if (tag.tagName === 'style' && isCss(tag)) return inlineStyle(text, base, this.#files);
    if (tag.tagName !== 'script' || hasAttribute(tag, 'src')) return text;
    if (isImportMap(tag) && !isInert) {
      this.#maps.push(element);
      this.#scripts.addMap(text);
    }
    return type === null ? text : this.#scripts.rewrite(text, type === 'module', base);
  }

  /** Writes one import map, before all scripts: older browsers read no other. */
  #writeMap(): void {
    const map = this.#scripts.composeMap();
    // A template or drawing comes before the scripts in it.
    const isScript = ({ tag }: PageElement): boolean => /^(?:script|template|svg|math)$/.test(tag.tagName);
    const first = this.#elements.all.find(isScript)?.place.startOffset;
    if (map === null || first === undefined) return;
    this.#edits.unshift([first, first, `<script type="importmap">${map}</script>`]);
    for (const { place, textEnd } of this.#maps)
      this.#edit(place.startOffset, textEnd, '<script type="text">');
  }

  #readPolicy({ tag, place }: PageElement): void {
    const name = getAttribute(tag, 'http-equiv').trim().toLowerCase();
    if (tag.tagName !== 'meta' || name !== 'content-security-policy') return;
    if (this.#policy !== null || !LOADING_POLICY.test(getAttribute(tag, 'content'))) return;
    const what = "the page's Content-Security-Policy may block what is put into the page";
    this.#policy = faultError(what, 'remove this <meta>: one file needs no other host', place.startLine);
  }
}
