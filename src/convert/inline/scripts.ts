import { parseJson, toFields } from '../../plain-text.ts';
import type { FoundAddress } from '../../rules/page/addresses.ts';
import { isExternal } from '../../rules/page/addresses.ts';
import type { PageFields } from '../../rules/page/html-references.ts';
import { resolveSpecifier } from '../../rules/page/import-map.ts';
import { findImportMeta, findScriptReferences } from '../../rules/page/script-references.ts';
import type { Resource } from '../resources.ts';
import { joinParts, type PageFiles, PageProblem } from './page-files.ts';
import { replaceAddresses, writeInScript } from './replace-addresses.ts';
import { decodeResource, getMediaType, toDataUrl } from './resource-text.ts';
import type { Styles } from './styles.ts';

const WORKER =
  /\b(?:new\s+(?:Shared)?Worker|importScripts|serviceWorker\s*\.\s*register)\s*\(\s*(["'`])([^"'`$]+)\1/g;

const STRICT = /^(?:\s|\/\/[^\n]*|\/\*(?:(?!\*\/).)*\*\/)*(["'])use strict\1/s;

/**
 * The scripts of a document. Each imported module has a name, and the document's import map says which `data:` URL that
 * is: so a module stays one module, and modules may import each other in a circle.
 */
export class Scripts {
  readonly #files: PageFiles;
  readonly #styles: Styles;
  readonly #page: PageFields;
  /** The modules by name, as `data:` URLs. */
  readonly #modules = new Map<string, string>();
  readonly #imported = new Set<string>();

  constructor(files: PageFiles, styles: Styles, page: PageFields) {
    this.#files = files;
    this.#styles = styles;
    this.#page = page;
  }

  get importCount(): number {
    return this.#imported.size;
  }

  /** An import map of the page with the imported modules. @param maps the page's own import maps */
  composeMap(maps: readonly string[]): string {
    const modules = Object.fromEntries([...this.#imported].map((name) => [name, this.#modules.get(name)]));
    const given = maps.map((text) => toFields(parseJson(text))).reverse();
    const join = (field: string): object => Object.assign({}, ...given.map((map) => toFields(map[field])));
    const joined = { ...Object.assign({}, ...given), imports: { ...join('imports'), ...modules } };
    const scopes = given.some((map) => 'scopes' in map) ? { scopes: join('scopes') } : {};
    return JSON.stringify({ ...joined, ...scopes }).replaceAll('<', '\\u003c');
  }

  /** A classic script. It still knows the address that it came from. */
  async inlineScript(url: URL, declared: string): Promise<string> {
    const resource = await this.#files.readCode(url);
    const given = decodeResource(resource, declared);
    const code = await this.rewrite(given, false, resource.url);
    const strict = STRICT.test(given) ? '"use strict";' : '';
    const source = this.#writeAddress(url.href);
    const own = `document.currentScript&&Object.defineProperty(document.currentScript,"src",{value:${source},configurable:true});`;
    return toDataUrl('text/javascript', `${strict}${own}${code}\n//# sourceURL=${this.#nameModule(url)}`);
  }

  async inlineModule(url: URL): Promise<string> {
    const name = this.#nameModule(url);
    if (!this.#modules.has(name)) {
      // A module that imports itself, directly or not, needs only its name.
      this.#modules.set(name, '');
      this.#modules.set(name, await this.#makeModule(url, await this.#files.readCode(url)));
    }
    return this.#modules.get(name) ?? '';
  }

  async #makeModule(url: URL, resource: Resource): Promise<string> {
    const type = getMediaType(resource);
    if (type === 'text/css') return this.#styles.inlineSheet(url);
    if (/[/+]json$|wasm$/.test(type)) return toDataUrl(type, resource.bytes);
    const text = this.#writeOwnAddress(new TextDecoder().decode(resource.bytes), resource.url);
    const code = await this.rewrite(text, true, resource.url);
    return toDataUrl('text/javascript', `${code}\n//# sourceURL=${this.#nameModule(url)}`);
  }

  /** Lets a script import by name. @param base the URL that its imports are relative to */
  async rewrite(code: string, isModule: boolean, base: string): Promise<string> {
    this.#noteWorkers(code);
    return replaceAddresses(code, (add) => findScriptReferences(code, isModule, add), {
      replace: (found) => this.#import(found, base),
      write: writeInScript,
    });
  }

  async #import({ address, grade }: FoundAddress, base: string): Promise<string | null> {
    const resolved = resolveSpecifier(address, this.#page.importMap, base);
    if (resolved === null && grade === 'code') {
      const what = `no import map says where the module ${JSON.stringify(address)} is`;
      throw new PageProblem(what, 'import it by its URL, or add it to an import map');
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
    return (path === null ? href : `page:${path}`).replace(
      /['`\\]/g,
      (sign) => `%${Buffer.from(sign).toString('hex')}`,
    );
  }

  /** The address of a file as code. Where the page will be is not known yet. */
  #writeAddress(address: string): string {
    const path = this.#files.ownPath(address);
    return path === null ? JSON.stringify(address) : `new URL(${JSON.stringify(path)},document.baseURI).href`;
  }

  /** Replaces `import.meta.url`: nothing is relative to a `data:` URL. */
  #writeOwnAddress(code: string, address: string): string {
    const parts: string[] = [];
    let at = 0;
    for (const [start, end] of findImportMeta(code)) {
      const [field] = /^\s*\.\s*url\b/.exec(code.slice(end, end + 100)) ?? [];
      if (field === undefined) continue;
      parts.push(code.slice(at, start), `(${this.#writeAddress(address)})`);
      at = end + field.length;
    }
    return joinParts([...parts, code.slice(at)]);
  }

  #noteWorkers(code: string): void {
    for (const [, , address] of code.matchAll(WORKER))
      this.#files.notes.add(`a script starts ${address}, which stays outside of the page`);
  }
}
