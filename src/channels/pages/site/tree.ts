import { type DirectEntry, hashEntries } from '../../../github/api/tree-answer.ts';

/** A file in a tree of git: its path, and git's id of its bytes. */
export interface TreeFile {
  readonly path: string;
  readonly sha: string;
}

/** Git's id of the tree that has exactly these files, all of them regular. */
export function hashTree(files: readonly TreeFile[]): string {
  const folders = new Map<string, TreeFile[]>();
  const entries: DirectEntry[] = [];
  for (const { path, sha } of files) {
    const end = path.indexOf('/');
    if (end === -1) entries.push({ name: path, mode: '100644', isFolder: false, sha });
    else addTo(folders, path.slice(0, end), { path: path.slice(end + 1), sha });
  }
  for (const [name, inside] of folders) {
    entries.push({ name, mode: '40000', isFolder: true, sha: hashTree(inside) });
  }
  return hashEntries(entries);
}

function addTo(folders: Map<string, TreeFile[]>, name: string, file: TreeFile): void {
  const known = folders.get(name);
  if (known === undefined) folders.set(name, [file]);
  else known.push(file);
}
