/** Finds files whose names are like that of a missing one. */
export type NearNames = (missing: string) => readonly string[];

/** How many names are named. */
const MAX_NAMES = 2;

/**
 * Looks for files of a folder that a reference probably means: in another case, or with the same name in another
 * folder. The index of all names is made at the first call.
 */
export function createNearNames(paths: Iterable<string>): NearNames {
  let index: ReadonlyMap<string, readonly string[]> | undefined;
  return (missing) => {
    index ??= createIndex(paths);
    const found = keysOf(missing).flatMap((key) => index?.get(key) ?? []);
    return [...new Set(found)].filter((name) => name !== missing).slice(0, MAX_NAMES);
  };
}

function createIndex(paths: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const index = new Map<string, string[]>();
  for (const path of paths) {
    for (const key of keysOf(path)) {
      const known = index.get(key);
      if (known === undefined) index.set(key, [path]);
      else if (known.length <= MAX_NAMES) known.push(path);
    }
  }
  return index;
}

/** The path and the name in lower case. Every folder has an index, so that name says nothing. */
function keysOf(path: string): readonly string[] {
  const lower = path.toLowerCase();
  const name = lower.slice(lower.lastIndexOf('/') + 1);
  return name === 'index.html' ? [lower] : [lower, `//${name}`];
}
