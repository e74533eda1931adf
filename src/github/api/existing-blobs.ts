import { mapConcurrently } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { API } from '../../protocol/calls.ts';
import { BATCH } from '../../protocol/limits.ts';
import { encodePath } from '../../rules/naming.ts';
import type { GitHubClient } from './client.ts';
import { belowFileError, getBlobSha, pathIsFolderError } from './contents.ts';

/** By path: the blob that stands there, `null` where there is none, or why nothing can stand there. */
export type ExistingBlobs = ReadonlyMap<string, Result<string | null>>;

interface TreeEntry {
  readonly path: string;
  readonly type: string;
  readonly sha: string;
}

/** The commit that a branch points to. @see protocol 2.5 */
export async function getBranchHead(github: GitHubClient, branch: string): Promise<string> {
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
export async function getExistingBlobs(
  github: GitHubClient,
  ref: string,
  paths: readonly string[],
): Promise<ExistingBlobs> {
  const listed = paths.length > BATCH.paths ? await getTree(github, ref) : null;
  if (listed !== null) return new Map(paths.map((path) => [path, findInTree(listed, path)]));
  const found = await mapConcurrently(paths, BATCH.reads, (path) =>
    resultOf(() => getBlobOrFreePath(github, ref, path)),
  );
  return new Map(paths.map((path, at) => [path, found[at] ?? null]));
}

function findInTree(tree: ReadonlyMap<string, TreeEntry>, path: string): Result<string | null> {
  const entry = tree.get(path);
  if (entry !== undefined) return entry.type === 'blob' ? entry.sha : pathIsFolderError(path);
  const file = parentFolders(path).find((folder) => (tree.get(folder)?.type ?? 'tree') !== 'tree');
  return file === undefined ? null : belowFileError(path, file);
}

/** A file in the place of one of its folders would be lost, as well. */
async function getBlobOrFreePath(github: GitHubClient, ref: string, path: string): Promise<string | null> {
  const blob = await getBlobSha(github, { branch: ref, path });
  if (blob !== null) return blob;
  for (const folder of parentFolders(path)) {
    const standing = await resultOf(() => getBlobSha(github, { branch: ref, path: folder }));
    // A folder stands there, so all those above it are folders, too.
    if (hasFailed(standing) && standing.code === 'NOT_OURS') return null;
    if (hasFailed(standing)) throw standing;
    if (standing !== null) throw belowFileError(path, folder);
  }
  return null;
}

/** The folders that a path lies in, the deepest first: `a/b` and `a` for `a/b/c`. */
export function parentFolders(path: string): string[] {
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
export async function listFilesBelow(
  github: GitHubClient,
  branch: string,
  folder: string,
): Promise<readonly string[]> {
  const tree = await getTree(github, branch);
  if (tree === null) {
    throw new DeliveryError('TOO_LARGE', 'the branch holds more files than the host lists at once', {
      hint: 'set `path:` to one file',
    });
  }
  const files = [...tree.values()].filter(({ type, path }) => type === 'blob' && path.startsWith(folder));
  return files.map(({ path }) => path);
}

/** Every entry of a commit's tree by its path; `null` where the host cut the list short. */
async function getTree(github: GitHubClient, ref: string): Promise<ReadonlyMap<string, TreeEntry> | null> {
  const sha = /^[0-9a-f]{40}$/.test(ref) ? ref : await getBranchHead(github, ref);
  const { tree, truncated } = await github.call<{ tree: readonly TreeEntry[]; truncated: boolean }>(
    API.tree_below,
    { sha, recursive: '1' },
  );
  return truncated ? null : new Map(tree.map((entry) => [entry.path, entry]));
}
