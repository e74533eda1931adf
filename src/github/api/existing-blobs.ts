import { mapConcurrently } from '../../async.ts';
import { DeliveryError, type Result, resultOf } from '../../errors.ts';
import { BATCH } from '../../protocol/limits.ts';
import type { GitHubClient } from './client.ts';
import { belowFileError, blobOf, getPathEntry, pathIsFolderError, submoduleError } from './contents.ts';
import { isEmptyRepository, isNotFound } from './failures.ts';
import { EMPTY_TREE, refuseOtherTree } from './tree-answer.ts';

/** By path: the blob that the branch has there, `null` where it has none, or why no file can be there. */
export type ExistingBlobs = ReadonlyMap<string, Result<string | null>>;

/**
 * The sha of the commit that a branch points to.
 *
 * @throws {DeliveryError} `NOT_FOUND` where there is no such branch.
 * @see protocol 2.5
 */
export async function getBranchHead(github: GitHubClient, branch: string): Promise<string> {
  try {
    const { data } = await github.rest.git.getRef({ ...github.repository, ref: `heads/${branch}` });
    return data.object.sha;
  } catch (thrown) {
    if (!isNotFound(thrown)) throw thrown;
    const { owner, repo } = github.repository;
    throw new DeliveryError(
      'NOT_FOUND',
      `the branch ${branch} of ${owner}/${repo} does not exist for this token`,
      {
        httpCode: 404,
        hint: 'set `branch:` to one that exists, or leave it out, or use channel: K2',
        cause: thrown,
      },
    );
  }
}

/** What is missing where a branch could not be read: the branch, all of the repository's commits, or neither. */
export function findAbsence(thrown: unknown): 'branch' | 'commits' | null {
  if (isNotFound(thrown)) return 'branch';
  return isEmptyRepository(thrown) ? 'commits' : null;
}

/**
 * The blobs at some paths. Few paths are requested one by one; for many the whole tree is read once.
 *
 * @param ref a branch or a commit
 */
export async function getExistingBlobs(
  github: GitHubClient,
  ref: string,
  paths: readonly string[],
): Promise<ExistingBlobs> {
  const tree = paths.length > BATCH.paths ? await getTree(github, ref) : null;
  if (tree !== null) return new Map(paths.map((path) => [path, findInTree(tree, path)]));
  const blobs = await mapConcurrently(paths, BATCH.reads, (path) =>
    resultOf(() => getBlobOrFreePath(github, ref, path)),
  );
  return new Map(paths.map((path, index) => [path, blobs[index] ?? null]));
}

/** The blob that a tree has at a path, `null` where it has none, or why no file can be there. */
export function findInTree(
  tree: ReadonlyMap<string, Pick<BranchEntry, 'type' | 'sha'>>,
  path: string,
): Result<string | null> {
  const submodule = findSubmodule(tree, path);
  if (submodule !== null) return submoduleError(submodule);
  const entry = tree.get(path);
  if (entry !== undefined) return entry.type === 'blob' ? entry.sha : pathIsFolderError(path);
  const file = parentFolders(path).find((folder) => (tree.get(folder)?.type ?? 'tree') !== 'tree');
  return file === undefined ? null : belowFileError(path, file);
}

/** The submodule that a tree has at a path or above it; `null` for none. */
export const findSubmodule = (
  tree: ReadonlyMap<string, Pick<BranchEntry, 'type'>>,
  path: string,
): string | null => [path, ...parentFolders(path)].find((one) => tree.get(one)?.type === 'commit') ?? null;

/** The blob at the path, or `null`. Writing below an existing file would delete that file, so it is refused. */
async function getBlobOrFreePath(github: GitHubClient, ref: string, path: string): Promise<string | null> {
  const found = await getPathEntry(github, { branch: ref, path });
  if (found !== null) return blobOf(found, path);
  for (const folder of parentFolders(path)) {
    const above = await getPathEntry(github, { branch: ref, path: folder });
    // The path is a folder, so all those above it are folders as well.
    if (above?.type === 'folder') return null;
    if (above?.type === 'submodule') throw submoduleError(folder);
    if (above !== null) throw belowFileError(path, folder);
  }
  return null;
}

/** The folders that a path is in, the deepest first: `a/b` and `a` for `a/b/c`. */
export function parentFolders(path: string): string[] {
  const folders: string[] = [];
  for (let end = path.lastIndexOf('/'); end !== -1; end = path.lastIndexOf('/', end - 1)) {
    folders.push(path.slice(0, end));
  }
  return folders;
}

/** A file, a folder or another object of a tree. */
export interface BranchEntry {
  readonly type: string;
  readonly mode: string;
  readonly sha: string;
  /** Bytes; 0 for a folder. */
  readonly size: number;
}

/**
 * Everything that a commit contains, by its path.
 *
 * @param commit its sha
 * @throws {DeliveryError} `TOO_LARGE` where GitHub does not list so many files.
 */
export async function listEntries(
  github: GitHubClient,
  commit: string,
): Promise<ReadonlyMap<string, BranchEntry>> {
  const tree = await getTree(github, commit);
  if (tree === null) {
    throw new DeliveryError('TOO_LARGE', 'the branch has more files than GitHub lists at once', {
      hint: 'set `branch:` to one for sites only',
    });
  }
  return tree;
}

/**
 * Every entry of a commit's tree by its path; `null` where GitHub truncated the list. The tree is asked for by the
 * id that the commit names, and the list must have that id.
 *
 * @throws {DeliveryError} `HOST_ERROR` for a list that is not the commit's tree.
 */
async function getTree(github: GitHubClient, ref: string): Promise<ReadonlyMap<string, BranchEntry> | null> {
  const { rest, repository } = github;
  const sha = /^[0-9a-f]{40}$/.test(ref) ? ref : await getBranchHead(github, ref);
  const commit = await rest.git.getCommit({ ...repository, commit_sha: sha });
  const treeSha = commit.data.tree.sha;
  if (treeSha === EMPTY_TREE) return new Map();
  const { data } = await rest.git.getTree({ ...repository, tree_sha: treeSha, recursive: '1' });
  if (data.truncated) return null;
  refuseOtherTree(data, treeSha);
  const entries = new Map<string, BranchEntry>();
  for (const { path, type, mode, sha: id, size = 0 } of data.tree) {
    entries.set(path, { type, mode, sha: id, size });
  }
  return entries;
}
