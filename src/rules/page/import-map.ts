import { parseJson, toFields } from '../../plain-text.ts';
import { isSpecifierAddress } from './addresses.ts';

/** What modules that a page loads mean by a name, or by all names that begin with it. */
export interface ImportMapEntry {
  readonly specifier: string;
  readonly address: string;
}

/**
 * The entries of an import map, those of its scopes first: of two with the same name, which one counts for a module is
 * not told apart. None if the JSON is invalid.
 *
 * @see https://html.spec.whatwg.org/multipage/webappapis.html#import-maps
 */
export function parseImportMap(json: string): readonly ImportMapEntry[] {
  const { imports, scopes } = toFields(parseJson(json));
  return [...Object.values(toFields(scopes)), imports].flatMap((map) =>
    Object.entries(toFields(map)).flatMap(([specifier, address]) =>
      typeof address === 'string' && isSpecifierAddress(address) ? [{ specifier, address }] : [],
    ),
  );
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
  const toUrl = (text: string, from: string): string =>
    isSpecifierAddress(text) ? (URL.parse(text, from)?.href ?? text) : text;
  const name = toUrl(specifier, importer);
  const [best] = entries
    .map(({ specifier: key, address }) => ({ key: toUrl(key, base), address }))
    .filter(({ key }) => key === name || (key.endsWith('/') && name.startsWith(key)))
    .sort((one, other) => other.key.length - one.key.length);
  if (best === undefined) return isSpecifierAddress(specifier) ? specifier : null;
  const target = URL.parse(best.address, base);
  const rest = name.slice(best.key.length);
  // Nothing is relative to a `data:` address.
  return (rest === '' ? target : URL.parse(rest, target?.href))?.href ?? null;
}
