/** Finds files whose names are like that of a missing one. */
export type NearNames = (missing: string) => readonly string[];

/** How many names are named. */
const MAX_NAMES = 2;

/**
 * Looks for files of a folder that a reference probably means: in another case, with another ending, the index of a
 * folder, or the same name in another folder. The index of all names is made at the first call.
 */
export function createNearNames(paths: Iterable<string>): NearNames {
  let index: NameIndex | undefined;
  return (missing) => {
    index ??= createIndex(paths);
    const path = missing.replace(/\/$/, '').toLowerCase();
    const found = [
      ...(index.byPath.get(path) ?? []),
      ...(index.byPath.get(`${path}/index.html`) ?? []),
      ...(index.byStem.get(getStem(path)) ?? []),
      ...(index.byName.get(getName(path)) ?? []),
    ];
    return [...new Set(found)].filter((name) => name !== missing).slice(0, MAX_NAMES);
  };
}

interface NameIndex {
  /** All by lowercase path; by path without ending; by name without folders. */
  readonly byPath: ReadonlyMap<string, readonly string[]>;
  readonly byStem: ReadonlyMap<string, readonly string[]>;
  readonly byName: ReadonlyMap<string, readonly string[]>;
}

function createIndex(paths: Iterable<string>): NameIndex {
  const byPath = new Map<string, string[]>();
  const byStem = new Map<string, string[]>();
  const byName = new Map<string, string[]>();
  for (const path of paths) {
    const lower = path.toLowerCase();
    addName(byPath, lower, path);
    addName(byStem, getStem(lower), path);
    // Every folder has one, so the name says nothing.
    if (getName(lower) !== 'index.html') addName(byName, getName(lower), path);
  }
  return { byPath, byStem, byName };
}

function addName(names: Map<string, string[]>, key: string, path: string): void {
  const known = names.get(key);
  if (known === undefined) names.set(key, [path]);
  else if (known.length <= MAX_NAMES) known.push(path);
}

const getStem = (path: string): string => path.replace(/\.[^./]*$/, '');

const getName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
