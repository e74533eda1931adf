import { createHash } from 'node:crypto';

/** Git's id of a tree without entries. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** What lies directly in a tree. */
interface DirectEntry {
  readonly name: string;
  readonly mode: string;
  readonly isFolder: boolean;
  readonly sha: string;
}

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

/**
 * Git's id of the tree that has exactly these entries.
 *
 * @see https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
 */
function hashEntries(entries: readonly DirectEntry[]): string {
  const sorted = entries.toSorted((one, other) => compareUtf8(sortKey(one), sortKey(other)));
  // All of them in one buffer: a buffer for each would be ten times of that.
  const content = Buffer.allocUnsafe(sorted.reduce((sum, entry) => sum + maxLength(entry), 0));
  let end = 0;
  for (const { mode, name, sha } of sorted) {
    end += content.write(`${mode} ${name}\0`, end);
    end += content.write(sha, end, 'hex');
  }
  return createHash('sha1').update(`tree ${end}\0`).update(content.subarray(0, end)).digest('hex');
}

const maxLength = ({ mode, name, sha }: DirectEntry): number =>
  Buffer.byteLength(mode) + Buffer.byteLength(name) + ' \0'.length + Math.ceil(sha.length / 2);

/** Git sorts a folder as if its name ended in a slash. */
const sortKey = ({ name, isFolder }: DirectEntry): string => (isFolder ? `${name}/` : name);

/** Compares two names by their bytes in UTF-8, without making them. */
function compareUtf8(one: string, other: string): number {
  const end = Math.min(one.length, other.length);
  for (let at = 0; at < end; at += 1) {
    const [left, right] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (left !== right) return rankInUtf8(left) - rankInUtf8(right);
  }
  return one.length - other.length;
}

/** In UTF-8 the characters of two units, each from D800 to DFFF, come after all others. */
function rankInUtf8(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
