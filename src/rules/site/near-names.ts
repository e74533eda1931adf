/** How many names are named. */
const MAX_NAMES = 2;

/**
 * Looks for files of a folder that a missing one probably means: in another case, or with the same name in another
 * folder. The index of all names is made at the first call.
 */
export function createNearNames(paths: readonly string[]): (missing: string) => readonly string[] {
  let index: ReadonlyMap<string, readonly (readonly [string, string])[]> | undefined;
  return (missing) => {
    const pairs = () => paths.flatMap((path) => keysOf(path).map((key) => [key, path] as const));
    index ??= Map.groupBy(pairs(), ([key]) => key);
    const found = keysOf(missing).flatMap((key) => index?.get(key)?.slice(0, MAX_NAMES + 1) ?? []);
    const names = new Set(found.map(([, path]) => path));
    return [...names].filter((name) => name !== missing).slice(0, MAX_NAMES);
  };
}

/** The path and the name in lower case. Every folder has an index, so that name says nothing. */
function keysOf(path: string): readonly string[] {
  const lower = path.toLowerCase();
  const name = lower.slice(lower.lastIndexOf('/') + 1);
  return name === 'index.html' ? [lower] : [lower, `//${name}`];
}
