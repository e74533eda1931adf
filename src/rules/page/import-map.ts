import type { StartTag } from 'parse5-sax-parser';
import { parseJson, toFields } from '../../plain-text.ts';
import { getAttribute, isSpecifierAddress } from './addresses.ts';

export interface ImportMapEntry {
  /** The address below which the entry counts, as it is written; empty for the whole page. */
  readonly scope: string;
  readonly specifier: string;
  readonly address: string;
  /** Where the address is in the JSON. */
  readonly offset: number;
}

/**
 * The entries of an import map in the order of the text; none if the JSON is invalid.
 *
 * @see https://html.spec.whatwg.org/multipage/webappapis.html#import-maps
 */
export function parseImportMap(json: string): readonly ImportMapEntry[] {
  const { imports, scopes } = toFields(parseJson(json));
  const readMap = (scope: string, map: unknown): ImportMapEntry[] =>
    Object.entries(toFields(map)).flatMap(([specifier, address]) => {
      if (typeof address !== 'string' || !isSpecifierAddress(address)) return [];
      const offset = Math.max(json.indexOf(JSON.stringify(address)) + 1, 0);
      return [{ scope, specifier, address, offset }];
    });
  const entries = [
    ...readMap('', imports),
    ...Object.entries(toFields(scopes)).flatMap(([scope, map]) => readMap(scope, map)),
  ];
  return entries.sort((one, other) => one.offset - other.offset);
}

/**
 * What a module specifier means below an import map: an address, relative to the page.
 *
 * @param importer the URL of the module that imports
 * @param base the URL to which addresses of the map are relative
 * @returns `null` for a bare name that no entry has
 */
export function resolveSpecifier(
  specifier: string,
  entries: readonly ImportMapEntry[],
  importer: string,
  base: string,
): string | null {
  const isAddress = isSpecifierAddress(specifier);
  if (entries.length === 0) return isAddress ? specifier : null;
  const name = isAddress ? (URL.parse(specifier, importer)?.href ?? specifier) : specifier;
  const toScope = ({ scope }: ImportMapEntry): string =>
    scope === '' ? '' : (URL.parse(scope, base)?.href ?? '');
  const toName = (key: string): string =>
    isSpecifierAddress(key) ? (URL.parse(key, base)?.href ?? key) : key;
  const isInScope = (scope: string): boolean =>
    scope === importer || (scope.endsWith('/') && importer.startsWith(scope));
  const best = entries
    .map((entry) => ({ entry, scope: toScope(entry), key: toName(entry.specifier) }))
    .filter(({ entry, scope }) => entry.scope === '' || isInScope(scope))
    .filter(({ key }) => key === name || (key.endsWith('/') && name.startsWith(key)))
    .sort((one, other) => other.scope.length - one.scope.length || other.key.length - one.key.length)[0];
  if (best === undefined) return isAddress ? name : null;
  const target = URL.parse(best.entry.address, base);
  const rest = name.slice(best.key.length);
  // Nothing is relative to a `data:` address.
  return (rest === '' ? target : URL.parse(rest, target?.href))?.href ?? null;
}

/**
 * What a page says of itself, as far as it was read. For a browser, too, base and import map count for what follows.
 *
 * @see https://html.spec.whatwg.org/multipage/semantics.html#the-base-element
 */
export interface PageFields {
  /** The address of `<base href>`; empty without one. */
  base: string;
  importMap: readonly ImportMapEntry[];
  /** The content of `<meta name="generator">`; empty without one. */
  generator: string;
  hasScript: boolean;
  /** Whether the whole page is searched; false once it exceeds a limit. */
  complete: boolean;
}

/** Keeps what a tag says of the page; the first base and generator count. @param name of the element, without a prefix */
export function readPageFields(page: PageFields, tag: StartTag, name: string): void {
  if (name === 'base') page.base ||= getAttribute(tag, 'href');
  else if (name === 'script') page.hasScript = true;
  else if (name === 'meta' && getAttribute(tag, 'name').toLowerCase() === 'generator') {
    page.generator ||= getAttribute(tag, 'content').slice(0, 200);
  }
}
