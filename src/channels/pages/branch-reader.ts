import {
  type CommitEntries,
  getBranchHead,
  getEntry,
  getExistingBlobs,
  listEntries,
} from '../../github/api/branch.ts';
import { type GitHubClient, isLastPage } from '../../github/api/client.ts';
import { type CommitSummary, getLastCommits } from '../../github/api/history.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import { LIST_PAGE } from '../../protocol/limits.ts';
import type { GitBlob } from '../../rules/fingerprint.ts';

/** Reads all entries of a commit. @throws {DeliveryError} `TOO_LARGE` if GitHub can't list that many files */
type ReadEntries = (commit: string) => Promise<CommitEntries>;

export interface HistoryCommit extends CommitSummary {
  readonly parent?: string | undefined;
  /** All files that it delivered, and what it removed; absent if only trees can tell. */
  readonly files?: ReadonlyMap<string, GitBlob>;
  readonly removedPaths?: readonly string[];
}

/** The history of a branch; it remembers the commits whose entries were read last. */
export const createBranchHistory = (github: GitHubClient, branch: string) => ({
  place: `the branch ${branch}`,
  readHead: (): Promise<string> => getBranchHead(github, branch),
  readEntries: createEntriesReader(github),
  readEntry: (path: string) => getEntry(github, branch, path),
  readBlobs: (head: string, paths: readonly string[]) => getExistingBlobs(github, head, paths),
  readLastCommits: (head: string, paths: readonly string[]) => getLastCommits(github, head, paths),
  /** The commits that changed a path or something below it, newest first. @param page counts from 1 */
  async listCommits(head: string, path: string, page: number) {
    const query = { ...github.repository, ...(path && { path }), sha: head, per_page: LIST_PAGE, page };
    const answer = await github.rest.repos.listCommits(query);
    const commits = answer.data.map(({ sha, commit, parents }): HistoryCommit => {
      const { message, committer } = commit;
      const isFirst = parents.length === 0;
      return { sha, message, date: committer?.date, parent: parents[0]?.sha, isFirst };
    });
    return { commits, isLast: isLastPage(answer, LIST_PAGE) };
  },
});

/** The commits of a site, wherever they are stored. */
export type SiteHistory = ReturnType<typeof createBranchHistory>;

const REMEMBERED = 2;

function createEntriesReader(github: GitHubClient): ReadEntries {
  const entries = new Map<string, CommitEntries>();
  return async (commit) => {
    const found = entries.get(commit) ?? (await listEntries(github, commit));
    // A map keeps the order of insertion: the last used commit goes to the end.
    entries.delete(commit);
    entries.set(commit, found);
    for (const oldest of [...entries.keys()].slice(0, -REMEMBERED)) entries.delete(oldest);
    return found;
  };
}

/** Reads an older commit; `null` if the limit is reached. */
export type OlderTrees = (commit: string | undefined) => Promise<CommitEntries | null>;

export function limitTrees(readEntries: ReadEntries, limit: number): OlderTrees {
  const read = new Set<string>();
  return async (commit) => {
    if (commit === undefined || (!read.has(commit) && read.size >= limit)) return null;
    read.add(commit);
    return readEntries(commit);
  };
}

export interface BranchTree {
  /** Sha of the commit; `null` if the branch doesn't exist yet. */
  readonly head: string | null;
  readonly entries: CommitEntries;
}

/** Lists the files below a folder by their paths in the branch. */
export const filesBelow = ({ entries }: Pick<BranchTree, 'entries'>, folder: string): CommitEntries =>
  new Map([...entries].filter(([path, { type }]) => type !== 'tree' && path.startsWith(folder)));

/** Whether the branch has this content at the path, as a plain file. */
export function holdsFile({ entries }: Pick<BranchTree, 'entries'>, { path, sha }: TreeFile): boolean {
  const entry = entries.get(path);
  return entry?.sha === sha && entry.mode === '100644';
}

export const hasFilesBelow = ({ entries }: BranchTree, folder: string): boolean =>
  folder === '' ? entries.size > 0 : entries.get(folder.slice(0, -1))?.type === 'tree';

/** Earlier contents by path, the newest first; empty for a new file. */
export type PreviousBlobs = ReadonlyMap<string, readonly GitBlob[]>;

export const blobsIn = (trees: readonly BranchTree['entries'][], paths: readonly string[]): PreviousBlobs =>
  new Map(paths.map((path) => [path, blobAt(trees, path)]));

/** Finds the path's blob in the first tree that has the path; empty for a folder. */
export function blobAt(trees: readonly BranchTree['entries'][], path: string): readonly GitBlob[] {
  const { type, sha = '', size = 0 } = trees.find((tree) => tree.has(path))?.get(path) ?? {};
  return type === 'blob' ? [{ sha, size }] : [];
}
