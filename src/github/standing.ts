import { DeliveryError, hasFailed, type Settled, settled } from '../errors.ts';
import { pooled } from '../pool.ts';
import { API } from '../protocol/calls.ts';
import { BATCH } from '../protocol/limits.ts';
import { encodePath } from '../rules/naming.ts';
import type { GitHub } from './client.ts';
import { blobAt, isFolder, liesBelowFile } from './contents.ts';

/** By path: the blob that stands there, `null` where there is none, or why nothing can stand there. */
export type Standing = ReadonlyMap<string, Settled<string | null>>;

interface TreeEntry {
  readonly path: string;
  readonly type: string;
  readonly sha: string;
}

/** The commit that a branch points to. @see protocol 2.5 */
export async function headOf(github: GitHub, branch: string): Promise<string> {
  const { object } = await github.call<{ object: { sha: string } }>(API.get_ref, {
    branch: encodePath(branch),
  });
  return object.sha;
}

/**
 * What stands at some paths: a few are asked for one by one, for many the whole tree is read once.
 *
 * @param ref a branch or a commit
 */
export async function standingAt(github: GitHub, ref: string, paths: readonly string[]): Promise<Standing> {
  const listed = paths.length > BATCH.paths ? await treeOf(github, ref) : null;
  if (listed !== null) return new Map(paths.map((path) => [path, standingIn(listed, path)]));
  const found = await pooled(paths, BATCH.reads, (path) => settled(() => blobOrRoom(github, ref, path)));
  return new Map(paths.map((path, at) => [path, found[at] ?? null]));
}

function standingIn(tree: ReadonlyMap<string, TreeEntry>, path: string): Settled<string | null> {
  const entry = tree.get(path);
  if (entry !== undefined) return entry.type === 'blob' ? entry.sha : isFolder(path);
  const file = foldersOf(path).find((folder) => (tree.get(folder)?.type ?? 'tree') !== 'tree');
  return file === undefined ? null : liesBelowFile(path, file);
}

/** A file in the place of one of its folders would be lost, as well. */
async function blobOrRoom(github: GitHub, ref: string, path: string): Promise<string | null> {
  const blob = await blobAt(github, { branch: ref, path });
  if (blob !== null) return blob;
  for (const folder of foldersOf(path)) {
    const standing = await settled(() => blobAt(github, { branch: ref, path: folder }));
    // A folder stands there, so all those above it are folders, too.
    if (hasFailed(standing) && standing.code === 'NOT_OURS') return null;
    if (hasFailed(standing)) throw standing;
    if (standing !== null) throw liesBelowFile(path, folder);
  }
  return null;
}

/** The folders that a path lies in, the deepest first: `a/b` and `a` for `a/b/c`. */
export function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let at = path.lastIndexOf('/'); at !== -1; at = path.lastIndexOf('/', at - 1)) {
    folders.push(path.slice(0, at));
  }
  return folders;
}

/**
 * The paths of the files below a folder of the branch.
 *
 * @param folder such as `previews/pr-12/`
 * @throws {DeliveryError} `TOO_LARGE` where the host doesn't list so many files.
 */
export async function filesBelow(github: GitHub, branch: string, folder: string): Promise<readonly string[]> {
  const tree = await treeOf(github, branch);
  if (tree === null) {
    throw new DeliveryError('TOO_LARGE', 'the branch holds more files than the host lists at once', {
      hint: 'set `path:` to one file',
    });
  }
  const files = [...tree.values()].filter(({ type, path }) => type === 'blob' && path.startsWith(folder));
  return files.map(({ path }) => path);
}

/** Every entry of a commit's tree by its path; `null` where the host cut the list short. */
async function treeOf(github: GitHub, ref: string): Promise<ReadonlyMap<string, TreeEntry> | null> {
  const sha = /^[0-9a-f]{40}$/.test(ref) ? ref : await headOf(github, ref);
  const { tree, truncated } = await github.call<{ tree: readonly TreeEntry[]; truncated: boolean }>(
    API.tree_below,
    { sha, recursive: '1' },
  );
  return truncated ? null : new Map(tree.map((entry) => [entry.path, entry]));
}
