/** Finds files whose names are like that of a missing one. */
export type NearNames = (missing: string) => readonly string[];

/** How many names are named. */
const MAX_NAMES = 2;

/**
 * Looks for files of a folder that a reference probably means: in another case, with another ending, the index of a
 * folder, or the same name in another folder. The index of all names is made at the first call.
 */
export function createNearNames(paths: Iterable<string>): NearNames {
  let index: ReadonlyMap<string, readonly string[]> | undefined;
  return (missing) => {
    index ??= createIndex(paths);
    const path = missing.replace(/\/$/, '').toLowerCase();
    const keys = [path, `${path}/index.html`, stemKey(path), nameKey(path)];
    const found = keys.flatMap((key) => index?.get(key) ?? []);
    return [...new Set(found)].filter((name) => name !== missing).slice(0, MAX_NAMES);
  };
}

/** The files by path in lower case, by path without ending, and by name without folders. */
function createIndex(paths: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const index = new Map<string, string[]>();
  for (const path of paths) {
    const lower = path.toLowerCase();
    for (const key of [lower, stemKey(lower), nameKey(lower)]) {
      const known = index.get(key);
      if (known === undefined) index.set(key, [path]);
      else if (known.length <= MAX_NAMES) known.push(path);
    }
  }
  return index;
}

/** No path has an asterisk and a slash at its start. */
const stemKey = (path: string): string => `/*/${path.replace(/\.[^./]*$/, '')}`;

/** Every folder has an index, so that name says nothing. */
const nameKey = (path: string): string =>
  /(?:^|\/)index\.html$/.test(path) ? path : `//${path.slice(path.lastIndexOf('/') + 1)}`;
