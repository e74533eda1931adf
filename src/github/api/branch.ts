import { mapConcurrently } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { BATCH, LIST_PAGE } from '../../protocol/limits.ts';
import { OTHER_PATH_HINT, RETRY_HINT } from '../refusals.ts';
import type { GitHubClient } from './client.ts';
import { dataOrNull } from './failures.ts';
import { EMPTY_TREE } from './tree-id.ts';

/** The commit of a branch. @throws {DeliveryError} `NOT_FOUND` if the branch doesn't exist. @see protocol 2.5 */
export async function getBranchHead({ rest, repository }: GitHubClient, branch: string): Promise<string> {
  const found = await dataOrNull(rest.git.getRef({ ...repository, ref: `heads/${branch}` }));
  if (found !== null) return found.object.sha;
  const { owner, repo } = repository;
  const message = `the branch ${branch} of ${owner}/${repo} doesn't exist, or the token can't see it`;
  throw new DeliveryError('NOT_FOUND', message, {
    httpCode: 404,
    hint: (w) => `set ${w.input('branch')} to an existing branch${w.orUse('K2')}`,
  });
}

/** Whether a ruleset requires signed commits. Classic protection shows that only by refusing a push. */
export async function needsSignatures(github: GitHubClient, branch: string): Promise<boolean> {
  const query = { ...github.repository, branch, per_page: LIST_PAGE };
  const rules = await resultOf(() => github.rest.repos.getBranchRules(query));
  return !hasFailed(rules) && rules.data.some(({ type }) => type === 'required_signatures');
}

interface TreeEntry {
  /** `blob` for a file or a link, `tree` for a folder, `commit` for a submodule. */
  readonly type: string;
  readonly sha: string;
}

export interface BranchEntry extends TreeEntry {
  readonly mode: string;
  readonly size: number;
}

/** A commit's files and folders by path; folder paths have no final slash. */
export type CommitEntries = ReadonlyMap<string, BranchEntry>;

/** Every entry of a commit. @throws {DeliveryError} `TOO_LARGE` if GitHub doesn't list that many files */
export async function listEntries(github: GitHubClient, commit: string): Promise<CommitEntries> {
  const entries = await getTree(github, commit);
  if (entries !== null) return entries;
  throw new DeliveryError('TOO_LARGE', 'the branch has more files than GitHub lists at once', {
    hint: (w) => `set ${w.input('branch')} to a branch that holds only sites`,
  });
}

/** A commit's entries by path; `null` if GitHub truncated the list: a missing file could then be replaced. */
async function getTree({ rest, repository }: GitHubClient, commit: string): Promise<CommitEntries | null> {
  const { tree } = (await rest.git.getCommit({ ...repository, commit_sha: commit })).data;
  if (tree.sha === EMPTY_TREE) return new Map();
  const { data } = await rest.git.getTree({ ...repository, tree_sha: tree.sha, recursive: '1' });
  if (data.truncated) return null;
  if (data.sha !== tree.sha || data.tree.length === 0) {
    const message = 'GitHub listed the files of another commit';
    throw new DeliveryError('HOST_ERROR', message, { hint: RETRY_HINT, retryable: true });
  }
  return new Map(data.tree.map(({ path, type, mode, sha, size = 0 }) => [path, { type, mode, sha, size }]));
}

/** The branch's blob for each path, `null` if it has none, or why no file can be at that path. */
export type ExistingBlobs = ReadonlyMap<string, Result<string | null>>;

/** The blobs at some paths. It requests up to `BATCH.paths` paths one by one, and the whole tree for more. */
export async function getExistingBlobs(
  github: GitHubClient,
  ref: string,
  paths: readonly string[],
): Promise<ExistingBlobs> {
  if (paths.length > BATCH.paths) {
    const tree = await getTree(github, /^[0-9a-f]{40}$/.test(ref) ? ref : await getBranchHead(github, ref));
    if (tree !== null) return new Map(paths.map((path) => [path, findInTree(tree, path)]));
  }
  const getBlob = async (path: string): Promise<Result<string | null>> => {
    for (const candidate of [path, ...parentFolders(path)]) {
      const entry = await getEntry(github, ref, candidate);
      if (entry !== null) return findInTree(new Map([[candidate, entry]]), path);
    }
    return null;
  };
  const blobs = await mapConcurrently(paths, BATCH.reads, async (path) => {
    const blob = await resultOf(() => getBlob(path));
    return [path, blob] as const;
  });
  return new Map(blobs);
}

/** What a branch has at a path, or `null`. The number of requests doesn't grow with the branch. */
export async function getEntry(github: GitHubClient, ref: string, path: string): Promise<TreeEntry | null> {
  // GitHub supports this media type for files of any size, and leaves out the content above 1 MB.
  const headers = { accept: 'application/vnd.github.object+json' };
  const query = { ...github.repository, path, ref, headers };
  // Octokit's types describe the default media type, which returns a folder as an array.
  const found = (await dataOrNull(github.rest.repos.getContent(query))) as TreeEntry | null;
  return found && { type: TREE_TYPES[found.type] ?? 'blob', sha: found.sha };
}

const TREE_TYPES: Readonly<Record<string, string>> = { dir: 'tree', submodule: 'commit' };

/** The blob at a path, or `null`. A path below a file is an error: writing it would delete the file. @see protocol 7 */
export function findInTree(tree: ReadonlyMap<string, TreeEntry>, path: string): Result<string | null> {
  const submoduleError = findSubmoduleError(tree, path);
  if (submoduleError !== null) return submoduleError;
  const entry = tree.get(path);
  if (entry?.type === 'blob') return entry.sha;
  if (entry !== undefined) {
    return new DeliveryError('NOT_OURS', `${path} is a folder in the repository`, {
      hint: (w) =>
        `set ${w.input('path', `${path}/`)} to deliver into that folder, or to remove what was delivered there`,
    });
  }
  const file = parentFolders(path).find((folder) => tree.get(folder)?.type === 'blob');
  if (file === undefined) return null;
  return new DeliveryError('NOT_OURS', `${file} is a file in the repository, so it can't contain ${path}`, {
    hint: OTHER_PATH_HINT,
  });
}

/** The error for a path that is a submodule or inside one: the branch only has a link to the submodule. */
export function findSubmoduleError(tree: ReadonlyMap<string, TreeEntry>, path: string): DeliveryError | null {
  const submodule = [path, ...parentFolders(path)].find((folder) => tree.get(folder)?.type === 'commit');
  if (submodule === undefined) return null;
  const message = `${submodule} is a submodule, so this branch doesn't contain its files`;
  return new DeliveryError('NOT_OURS', message, { hint: OTHER_PATH_HINT });
}

/** All parent folders of a path, deepest first: `a/b` and `a` for `a/b/c`. */
export function parentFolders(path: string): string[] {
  const folders: string[] = [];
  for (let end = path.lastIndexOf('/'); end !== -1; end = path.lastIndexOf('/', end - 1)) {
    folders.push(path.slice(0, end));
  }
  return folders;
}
