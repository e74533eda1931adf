import type { StartTag } from 'parse5-sax-parser';
import { type FoundAddress, getAttribute, hasAttribute, isLoaded } from '../../rules/page/addresses.ts';
import {
  getScriptType,
  isCss,
  isImportMap,
  isNetworkHint,
  listFetchingAttributes,
} from '../../rules/page/fetching-attributes.ts';
import { PageFields } from '../../rules/page/html-references.ts';
import { addImportMap } from '../../rules/page/import-map.ts';
import { type PageElement, PageElements } from './page-elements.ts';
import { joinParts, type PageFiles, PageProblem } from './page-files.ts';
import { replaceAddresses, writeInAttribute, writeInStyle } from './replace-addresses.ts';
import { getMediaType } from './resource-text.ts';
import { Scripts } from './scripts.ts';
import { Sprites } from './sprites.ts';
import { Styles } from './styles.ts';

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const escapeValue = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** A policy that names what a page may load. */
const LOADING_POLICY = /-src(?:-elem|-attr)?(?:\s|$)/i;

/**
 * Puts the files that a document needs into it. All other characters stay.
 * @param base the URL that its addresses are relative to
 */
export const inlineDocument = (source: string, base: string, files: PageFiles): Promise<string> =>
  new InlinedDocument(source, base, files).write();

class InlinedDocument {
  readonly #source: string;
  readonly #files: PageFiles;
  readonly #page: PageFields;
  readonly #styles: Styles;
  readonly #scripts: Scripts;
  readonly #sprites: Sprites;
  readonly #edits: Edit[] = [];
  readonly #maps: PageElement[] = [];
  #policyLine: number | null = null;
  /** Where an import map can come before the first import. */
  #mapStart: number | null = null;

  constructor(source: string, base: string, files: PageFiles) {
    this.#source = source;
    this.#files = files;
    this.#page = new PageFields(base);
    this.#styles = new Styles(files);
    this.#scripts = new Scripts(files, this.#styles, this.#page);
    this.#sprites = new Sprites(files);
  }

  async write(): Promise<string> {
    const elements = new PageElements(this.#source);
    if (!elements.isComplete) {
      throw new PageProblem('the page is nested too deeply', 'correct the program that writes it');
    }
    for (const element of elements.all) {
      await this.#inlineElement(element).catch((thrown: unknown) => {
        if (thrown instanceof PageProblem) thrown.line = element.place.startLine;
        throw thrown;
      });
    }
    this.#writeMap();
    this.#insert(elements.bodyEnd, await this.#sprites.write(elements.all));
    if (this.#edits.length > 0) this.#refusePolicy();
    return this.#applyEdits();
  }

  async #inlineElement(element: PageElement): Promise<void> {
    const { tag, place, isInert, isForeign } = element;
    if (isNetworkHint(tag) && !hasAttribute(tag, 'onload')) {
      this.#edits.push({ start: place.startOffset, end: place.endOffset, text: '' });
      return;
    }
    const needed = this.#scripts.importCount;
    await this.#inlineAttributes(element);
    if (element.text !== '') await this.#inlineText(element);
    if (this.#scripts.importCount > needed) this.#mapStart ??= element.before;
    if (!isInert && !isForeign) {
      this.#page.read(tag);
      this.#readPolicy(element);
    }
  }

  async #inlineAttributes({ tag, place }: PageElement): Promise<void> {
    const { base } = this.#page;
    let hasFile = false;
    for (const { name, value, find } of listFetchingAttributes(tag)) {
      const written =
        find === null
          ? await inlineDocument(value, base, this.#files)
          : await replaceAddresses(value, find, {
              replace: (found) => this.#inlineAddress(found, tag, name),
              write: name === 'style' ? writeInStyle : writeInAttribute,
            });
      if (written === value) continue;
      const { startOffset: start = 0, endOffset: end = 0 } = place.attrs?.[name] ?? {};
      const isUnused = tag.tagName === 'script' && hasAttribute(tag, 'nomodule');
      this.#edits.push({ start, end, text: isUnused ? '' : `${name}="${escapeValue(written)}"` });
      hasFile = true;
    }
    for (const name of hasFile ? ['integrity', 'crossorigin'] : []) {
      const { startOffset: start = 0, endOffset: end = 0 } = place.attrs?.[name] ?? {};
      this.#edits.push({ start, end, text: '' });
    }
  }

  /** The address to write instead of one in an attribute; `null` if a browser loads nothing from there. */
  async #inlineAddress(found: FoundAddress, tag: StartTag, name: string): Promise<string | null> {
    if (found.kind === 'document' && !isLoaded(found.grade)) return null;
    if (tag.tagName === 'script' && hasAttribute(tag, 'nomodule')) return '';
    const url = URL.parse(found.address, this.#page.base);
    if (url === null) return null;
    if (name !== 'style') await this.#files.checkIntegrity(url, getAttribute(tag, 'integrity'));
    if (tag.tagName === 'use') return this.#sprites.add(url);
    const charset = getAttribute(tag, 'charset');
    const isSheet = found.kind === 'style' || getAttribute(tag, 'as').toLowerCase() === 'style';
    if (isSheet && isCss(tag)) return this.#styles.inlineSheet(url, [], charset);
    if (found.kind === 'script') return this.#scripts.inlineScript(url, charset);
    if (found.kind === 'module') return this.#scripts.inlineModule(url);
    if (found.kind === 'document') await this.#refuseFrame(url, tag);
    return this.#styles.inlineData(url);
  }

  /** An object may be a picture. @throws {PageProblem} for another page */
  async #refuseFrame(url: URL, { tagName }: StartTag): Promise<void> {
    const mayBePicture = tagName === 'object' || tagName === 'embed';
    if (mayBePicture && getMediaType(await this.#files.read(url)).startsWith('image/')) return;
    const what = `<${tagName}> shows another document, ${this.#files.show(url)}, which can't become part of this page`;
    throw new PageProblem(what, 'replace it with a link or a picture');
  }

  async #inlineText(element: PageElement): Promise<void> {
    const { place, textEnd: end, isForeign } = element;
    const start = place.endOffset;
    const raw = this.#source.slice(start, end);
    // In a drawing the text has escapes.
    const isEscaped = isForeign && raw.replace(/\r\n?/g, '\n') !== element.text;
    const given = isEscaped ? element.text : raw;
    const written = await this.#rewriteText(element, given);
    if (written === given) return;
    const text = isEscaped ? escapeText(written) : written;
    this.#edits.push({ start, end, text });
  }

  async #rewriteText(element: PageElement, given: string): Promise<string> {
    const { tag, isInert } = element;
    if (tag.tagName === 'style') return isCss(tag) ? this.#styles.rewrite(given, this.#page.base) : given;
    const type = getScriptType(tag);
    if (isImportMap(tag) && !isInert) {
      this.#maps.push(element);
      this.#page.importMap = addImportMap(this.#page.importMap, given, this.#page.base);
    }
    const isRun = type !== null && !hasAttribute(tag, 'src');
    return isRun ? this.#scripts.rewrite(given, type === 'module', this.#page.base) : given;
  }

  /** Older browsers read one import map, before the first module. */
  #writeMap(): void {
    if (this.#mapStart === null) return;
    const [first] = this.#maps;
    const map = this.#scripts.composeMap(this.#maps.map(({ text }) => text));
    const isFirst = first !== undefined && first.place.startOffset < this.#mapStart;
    for (const [at, { place, textEnd }] of this.#maps.entries()) {
      this.#edits.push({ start: place.endOffset, end: textEnd, text: isFirst && at === 0 ? map : '{}' });
    }
    if (!isFirst) this.#insert(this.#mapStart, `<script type="importmap">${map}</script>`);
  }

  #readPolicy({ tag, place }: PageElement): void {
    const name = getAttribute(tag, 'http-equiv').trim().toLowerCase();
    if (tag.tagName !== 'meta' || name !== 'content-security-policy') return;
    if (LOADING_POLICY.test(getAttribute(tag, 'content'))) this.#policyLine ??= place.startLine;
  }

  #refusePolicy(): void {
    if (this.#policyLine === null) return;
    const what = "the page's Content-Security-Policy may block what is put into the page";
    const problem = new PageProblem(what, 'remove this <meta>: one file needs no other host');
    problem.line = this.#policyLine;
    throw problem;
  }

  #insert(at: number, text: string): void {
    if (text !== '') this.#edits.push({ start: at, end: at, text });
  }

  #applyEdits(): string {
    const parts: string[] = [];
    let at = 0;
    for (const { start, end, text } of this.#edits.toSorted((a, b) => a.start - b.start)) {
      parts.push(this.#source.slice(at, start), text);
      at = end;
    }
    return joinParts([...parts, this.#source.slice(at)]);
  }
}
