import { hashEntries } from '../../../github/api/tree-answer.ts';

/** A file in a tree of git: its path, and git's id of its bytes. */
export interface TreeFile {
  readonly path: string;
  readonly sha: string;
}

/** Git's id of the tree that has exactly these files, all of them regular. */
export function hashTree(files: readonly TreeFile[]): string {
  const folders = Map.groupBy(files, ({ path }) => path.split('/', 1)[0] ?? path);
  const entries = [...folders].map(([name, inside]) => {
    const [only] = inside;
    if (only?.path === name) return { name, mode: '100644', isFolder: false, sha: only.sha };
    const below = inside.map(({ path, sha }) => ({ path: path.slice(name.length + 1), sha }));
    return { name, mode: '40000', isFolder: true, sha: hashTree(below) };
  });
  return hashEntries(entries);
}
