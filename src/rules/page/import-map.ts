import { hash } from 'node:crypto';
import { parseJson, toFields } from '../../plain-text.ts';
import { isSpecifierAddress } from './addresses.ts';

/** What a module specifier, or a prefix that ends in `/`, resolves to. */
interface ImportMapEntry {
  /** The module or folder that it applies to; empty for all modules. */
  readonly scope: string;
  readonly specifier: string;
  /** A URL; `null` if the map has an invalid address, which blocks the name. */
  readonly address: string | null;
}

export interface ImportMap {
  readonly id: string;
  readonly entries: readonly ImportMapEntry[];
  /** An index of the entries, because a page may have many entries and imports. */
  readonly bySpecifier: ReadonlyMap<string, readonly ImportMapEntry[]>;
  readonly isOpen?: boolean;
}

export const NO_IMPORT_MAP: ImportMap = { id: '', entries: [], bySpecifier: new Map() };

/**
 * Adds the entries of an import map, or none if its JSON is invalid.
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

function listMappings({ bySpecifier }: ImportMap, name: string): readonly ImportMapEntry[] {
  const folders = Array.from(name.matchAll(/\//g), ({ index }) => name.slice(0, index + 1));
  return [...new Set([...folders, name])].flatMap((key) => bySpecifier.get(key) ?? []);
}

/** The address of a specifier in the module `importer`; `null` if no entry resolves a bare name. */
export function resolveSpecifier(specifier: string, map: ImportMap, importer: string): string | null {
  const name = toUrl(specifier, importer);
  const [best] = listMappings(map, name)
    .filter(({ scope }) => scope === '' || hasKey(importer, scope))
    .sort((a, b) => b.scope.length - a.scope.length || b.specifier.length - a.specifier.length);
  if (best === undefined) return isSpecifierAddress(specifier) ? specifier : null;
  const rest = name.slice(best.specifier.length);
  // No address can be relative to a `data:` URL.
  return rest === '' || best.address === null ? best.address : (URL.parse(rest, best.address)?.href ?? null);
}
