import { faultError } from '../../errors.ts';
import { parseJson, toFields } from '../../plain-text.ts';
import { type FoundAddress, formatAddress, isExternal } from '../../rules/page/addresses.ts';
import type { PageFields } from '../../rules/page/html-references.ts';
import { addImportMap, resolveSpecifier } from '../../rules/page/import-map.ts';
import { computesUrls, findOwnAddress, findScriptReferences } from '../../rules/page/script-references.ts';
import type { Resource } from '../resources.ts';
import { type PageFiles, replaceAddresses } from './page-files.ts';
import { decodeResource, getMediaType, toDataUrl } from './resource-text.ts';
import { inlineSheet } from './styles.ts';

const WORKER =
  /\b(?:new\s+(?:Shared)?Worker|importScripts|serviceWorker\.register)\s*\(\s*(?:new\s+URL\(\s*)?(["'`])([^"'`$]+)\1/g;

/** Other directives may precede it. */
const STRICT =
  /^(?:[\s;]|\/\/[^\n]*\n|\/\*(?:(?!\*\/).)*\*\/|(["'])(?!use strict\1)[^"'\n]*\1)*(["'])use strict\2/s;

/** A script that looks for an element by its `src`, which is a `data:` URL now. */
const READS_SOURCE = /\bgetAttribute\(\s*["'`]src\b|\bscript\[src/;
const READS_SCRIPT = /\bcurrentScript\b|\.scripts\b|["'`]script\b/;

/**
 * The scripts of a document. An imported module gets a name, and an import map says which `data:` URL that is. So a
 * module stays one module, and modules may import each other.
 */
export class Scripts {
  readonly #files: PageFiles;
  readonly #page: PageFields;
  /** The `data:` URLs of modules by name. */
  readonly #modules = new Map<string, string>();
  readonly #imported = new Set<string>();
  /** The page's own import maps, the last one first. */
  readonly #maps: Readonly<Record<string, unknown>>[] = [];
  readonly #integrity = new Map<string, string>();

  constructor(files: PageFiles, page: PageFields) {
    this.#files = files;
    this.#page = page;
  }

  addMap(text: string): void {
    const map = toFields(parseJson(text));
    this.#maps.unshift(map);
    this.#page.importMap = addImportMap(this.#page.importMap, text, this.#page.base);
    for (const [address, hashes] of Object.entries(toFields(map.integrity)))
      this.#integrity.set(URL.parse(address, this.#page.base)?.href ?? '', String(hashes));
  }

  /** The text of one import map for the page's own and for the imported modules; `null` without imports. */
  composeMap(): string | null {
    if (this.#imported.size === 0) return null;
    const join = (field: string): object =>
      Object.assign({}, ...this.#maps.map((map) => toFields(map[field])));
    const modules = Object.fromEntries([...this.#imported].map((name) => [name, this.#modules.get(name)]));
    const map = { imports: { ...join('imports'), ...modules }, scopes: join('scopes') };
    return JSON.stringify(map).replaceAll('<', '\\u003c');
  }

  /** A classic script. It still knows the address that it came from. @param charset the encoding that the element names */
  async inlineScript(url: URL, charset: string): Promise<string> {
    const resource = await this.#files.readCode(url);
    const given = decodeResource(resource, charset);
    const code = await this.rewrite(given, false, resource.url);
    const field = `"src",{value:${this.#writeAddress(url.href)},configurable:true}`;
    const start = `document.currentScript&&Object.defineProperty(document.currentScript,${field});`;
    const strict = STRICT.test(given.slice(0, 10_000)) ? '"use strict";' : '';
    return this.#toDataUrl(url, `${strict}${start}\n${code}`);
  }

  async inlineModule(url: URL): Promise<string> {
    const name = this.#nameModule(url);
    if (!this.#modules.has(name)) {
      // A module that imports itself, directly or not, needs only its name.
      this.#modules.set(name, '');
      await this.#files.checkIntegrity(url, this.#integrity.get(url.href) ?? '');
      this.#modules.set(name, await this.#makeModule(url, await this.#files.readCode(url)));
    }
    return this.#modules.get(name) ?? '';
  }

  async #makeModule(url: URL, resource: Resource): Promise<string> {
    const type = getMediaType(resource);
    if (type === 'text/css') return inlineSheet(url, this.#files);
    if (/[/+]json$|\/wasm$/.test(type)) return toDataUrl(type, resource.bytes);
    const given = new TextDecoder().decode(resource.bytes);
    // Nothing is relative to a `data:` URL. A redirect may have added a signature.
    const address = resource.url === url.href ? url.href : resource.url.replace(/\?.*/s, '');
    const find = findOwnAddress.bind(null, given);
    const code = await replaceAddresses(given, find, async () => `(${this.#writeAddress(address)})`);
    return this.#toDataUrl(url, await this.rewrite(code, true, resource.url));
  }

  /** Browsers name a script by its `data:` URL in every error, unless it has a name. */
  #toDataUrl = (url: URL, code: string): string =>
    this.#files.makeDataUrl('text/javascript', `${code}\n//# sourceURL=${this.#nameModule(url)}`);

  /** Lets a script import modules by name. @param base the URL that its imports are relative to */
  rewrite(code: string, isModule: boolean, base: string): Promise<string> {
    for (const [, , address = ''] of code.matchAll(WORKER)) {
      const text = `a script starts ${formatAddress(address)}, which stays outside of the page`;
      if (isExternal(address)) this.#files.notes.add(text);
    }
    if (computesUrls(code) || (READS_SOURCE.test(code) && READS_SCRIPT.test(code))) {
      const where = this.#files.show(new URL(base)) || 'the page';
      this.#files.notes.add(`the code of ${where} computes URLs, whose files stay outside of the page`);
    }
    const find = findScriptReferences.bind(null, code, isModule);
    return replaceAddresses(code, find, (found) => this.#importModule(found, base));
  }

  async #importModule({ address, grade }: FoundAddress, base: string): Promise<string | null> {
    const resolved = resolveSpecifier(address, this.#page.importMap, base);
    if (resolved === null && grade === 'code') {
      const what = `no import map says where the module ${JSON.stringify(address)} is`;
      throw faultError(what, 'import it by its URL, or add it to an import map');
    }
    const url = resolved === null ? null : URL.parse(resolved, base);
    if (url === null || !isExternal(url.href)) return null;
    await this.inlineModule(url);
    const name = this.#nameModule(url);
    this.#imported.add(name);
    return name;
  }

  /** A name that is a URL, and needs no escapes in a script. */
  #nameModule({ href }: URL): string {
    const path = this.#files.ownPath(href);
    return (path === null ? href : `page:${path}`)
      .replace(/'/g, '%27')
      .replace(/`/g, '%60')
      .replace(/\\/g, '%5c');
  }

  /** The address of a file as code. Where the page will be is not known yet. */
  #writeAddress(address: string): string {
    const path = this.#files.ownPath(address);
    if (path === null) return JSON.stringify(address);
    // The page's own base may lead into a folder.
    const base = this.#files.ownPath(this.#page.base)?.replace(/[?#].*/s, '') ?? '';
    const up = path.startsWith('/') ? '' : '../'.repeat(base.split('/').length - 1);
    return `new URL(${JSON.stringify(up + path)},document.baseURI).href`;
  }
}
