import {
  type BranchEntry,
  type ExistingBlobs,
  findInTree,
  findSubmodule,
  getExistingBlobs,
  listEntries,
  submoduleError,
} from '../../github/api/branch.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { getLastCommits, type LastCommit, type LastCommits } from '../../github/api/history.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';

type CommitEntries = ReadonlyMap<string, BranchEntry>;

/** Reads what a commit of the branch holds. A commit never changes, so nothing of it is asked for twice. */
export interface BranchReader {
  /** @param head sha of the commit */
  getBlobs(github: GitHubClient, head: string, paths: readonly string[]): Promise<ExistingBlobs>;
  /** The last commit that touched each path, and others that are known. @param head sha of the commit to begin with */
  getCommits(github: GitHubClient, head: string, paths: readonly string[]): Promise<LastCommits>;
  /** @param commit its sha @throws {DeliveryError} `TOO_LARGE` where GitHub does not list so many files. */
  getEntries(github: GitHubClient, commit: string): Promise<CommitEntries>;
}

/** Commits whose entries are remembered: the newest one, and the one that delivered what is looked at. */
const REMEMBERED = 2;

/** Creates a reader that remembers the trees of two commits, and the history of the newest one. */
export function createBranchReader(): BranchReader {
  const entries = new Map<string, CommitEntries>();
  let history = { head: '', commits: new Map<string, LastCommit | null>() };
  return {
    getBlobs: async (github, head, paths) => {
      const tree = entries.get(head);
      if (tree === undefined) return getExistingBlobs(github, head, paths);
      return new Map(paths.map((path) => [path, findInTree(tree, path)]));
    },
    getCommits: async (github, head, paths) => {
      if (history.head !== head) history = { head, commits: new Map() };
      const { commits } = history;
      const missing = paths.filter((path) => !commits.has(path));
      for (const [path, last] of await getLastCommits(github, head, missing)) commits.set(path, last);
      return commits;
    },
    getEntries: async (github, commit) => {
      const found = entries.get(commit) ?? (await listEntries(github, commit));
      // The one that was used last is at the end.
      entries.delete(commit);
      entries.set(commit, found);
      for (const oldest of [...entries.keys()].slice(0, -REMEMBERED)) entries.delete(oldest);
      return found;
    },
  };
}

/** Reads what an older commit holds; `null` once so many were read that it costs too much. */
export type OlderTrees = (commit: string | undefined) => Promise<CommitEntries | null>;

/** @param limit how many commits may be read */
export function limitTrees(github: GitHubClient, reader: BranchReader, limit: number): OlderTrees {
  const read = new Set<string>();
  return async (commit) => {
    if (commit === undefined || (!read.has(commit) && read.size >= limit)) return null;
    read.add(commit);
    return reader.getEntries(github, commit);
  };
}

/** What a commit of a branch contains. */
export interface BranchTree {
  /** Sha of the commit; `null` where the branch does not exist yet. */
  readonly head: string | null;
  /** Everything in it by its path: files, and folders without a slash at the end. */
  readonly entries: ReadonlyMap<string, BranchEntry>;
}

/** @throws {DeliveryError} `NOT_OURS` where one of the paths is a submodule, or below one. */
export function refuseSubmodules({ entries }: Pick<BranchTree, 'entries'>, paths: Iterable<string>): void {
  for (const path of paths) {
    const submodule = findSubmodule(entries, path);
    if (submodule !== null) throw submoduleError(submodule);
  }
}

/** The files of a tree below a folder, by their paths in the branch. */
export function filesBelow(
  { entries }: Pick<BranchTree, 'entries'>,
  folder: string,
): Map<string, BranchEntry> {
  const files = new Map<string, BranchEntry>();
  for (const [path, entry] of entries) {
    if (entry.type !== 'tree' && path.startsWith(folder)) files.set(path, entry);
  }
  return files;
}

/** The folders that lie directly in a folder, each ending in `/`. */
export function listFolders({ entries }: Pick<BranchTree, 'entries'>, folder: string): readonly string[] {
  return [...entries].flatMap(([path, { type }]) => {
    const isDirect = path.startsWith(folder) && !path.includes('/', folder.length);
    return type === 'tree' && isDirect ? [`${path}/`] : [];
  });
}

/** Whether a branch has these bytes there, as a plain file. */
export function holdsFile({ entries }: Pick<BranchTree, 'entries'>, { path, sha }: TreeFile): boolean {
  const entry = entries.get(path);
  return entry?.sha === sha && entry.mode === '100644';
}

/** Git's id of a folder, `null` where there is none; of the root it is that of the commit. */
export const treeShaAt = ({ entries, head }: BranchTree, folder: string): string | null =>
  folder === '' ? head : (entries.get(folder.slice(0, -1))?.sha ?? null);

/** Whether the branch has anything in a folder. */
export const hasFilesBelow = ({ entries }: BranchTree, folder: string): boolean =>
  folder === '' ? entries.size > 0 : entries.get(folder.slice(0, -1))?.type === 'tree';
