import { hash } from 'node:crypto';
import { parseJson, toFields } from '../../plain-text.ts';
import { isSpecifierAddress } from './addresses.ts';

/** What modules that a page loads mean by a name, or by all names that begin with it; addresses are URLs. */
interface ImportMapEntry {
  /** The module for which it counts, or all below a folder; empty for every one. */
  readonly scope: string;
  readonly specifier: string;
  /** `null` where the map's own is none: the name leads nowhere then. */
  readonly address: string | null;
}

export interface ImportMap {
  /** The same for maps that say the same. */
  readonly id: string;
  readonly entries: readonly ImportMapEntry[];
  /** The same entries by their names: a page may have many of them, and imports without end. */
  readonly bySpecifier: ReadonlyMap<string, readonly ImportMapEntry[]>;
  readonly isOpen?: boolean;
}

export const NO_IMPORT_MAP: ImportMap = { id: '', entries: [], bySpecifier: new Map() };

/**
 * Adds the entries of an import map, or none if its JSON is invalid.
 *
 * @param base the URL to which addresses of the map are relative
 * @see https://html.spec.whatwg.org/multipage/webappapis.html#import-maps
 */
export function addImportMap(earlier: ImportMap, json: string, base: string): ImportMap {
  const { imports, scopes } = toFields(parseJson(json));
  const entries = [...earlier.entries];
  for (const [scope, map] of [['', imports] as const, ...Object.entries(toFields(scopes))]) {
    for (const [key, value] of Object.entries(toFields(map))) {
      const within = scope && (URL.parse(scope, base)?.href ?? scope);
      const address = typeof value === 'string' && isSpecifierAddress(value) ? toUrl(value, base) : '';
      const isValid = address.endsWith('/') || (address !== '' && !key.endsWith('/'));
      entries.push({ scope: within, specifier: toUrl(key, base), address: isValid ? address : null });
    }
  }
  const bySpecifier = Map.groupBy(entries, ({ specifier }) => specifier);
  return { ...earlier, id: hash('sha256', JSON.stringify(entries)), entries, bySpecifier };
}

const toUrl = (text: string, from: string): string =>
  isSpecifierAddress(text) ? (URL.parse(text, from)?.href ?? text) : text;

const hasKey = (name: string, key: string): boolean =>
  key === name || (key.endsWith('/') && name.startsWith(key));

/** The entries for a name, or for all names that begin as it does up to a slash. */
function listMappings({ bySpecifier }: ImportMap, name: string): readonly ImportMapEntry[] {
  const folders = Array.from(name.matchAll(/\//g), ({ index }) => name.slice(0, index + 1));
  return [...new Set([...folders, name])].flatMap((key) => bySpecifier.get(key) ?? []);
}

/** The address that a specifier means in the module `importer`; `null` for a bare name without one. */
export function resolveSpecifier(specifier: string, map: ImportMap, importer: string): string | null {
  const name = toUrl(specifier, importer);
  const [best] = listMappings(map, name)
    .filter(({ scope }) => scope === '' || hasKey(importer, scope))
    .sort((a, b) => b.scope.length - a.scope.length || b.specifier.length - a.specifier.length);
  if (best === undefined) return isSpecifierAddress(specifier) ? specifier : null;
  const rest = name.slice(best.specifier.length);
  // Nothing is relative to a `data:` address.
  return rest === '' || best.address === null ? best.address : (URL.parse(rest, best.address)?.href ?? null);
}
