import { type CommitEntries, listEntries } from '../../github/api/branch.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import type { GitBlob } from '../../rules/fingerprint.ts';

/** Everything that a commit holds, by its path. @throws {DeliveryError} `TOO_LARGE` where GitHub does not list so many files */
export type ReadEntries = (commit: string) => Promise<CommitEntries>;

/** Commits that are remembered: the newest one, and the one that delivered what is looked at. */
const REMEMBERED = 2;

/** Creates a reader that remembers the commits that it read last. */
export function createEntriesReader(github: GitHubClient): ReadEntries {
  const entries = new Map<string, CommitEntries>();
  return async (commit) => {
    const found = entries.get(commit) ?? (await listEntries(github, commit));
    // The one that was used last is at the end.
    entries.delete(commit);
    entries.set(commit, found);
    for (const oldest of [...entries.keys()].slice(0, -REMEMBERED)) entries.delete(oldest);
    return found;
  };
}

/** Reads what an older commit holds; `null` once so many were read that it costs too much. */
export type OlderTrees = (commit: string | undefined) => Promise<CommitEntries | null>;

/** @param limit how many commits may be read */
export function limitTrees(readEntries: ReadEntries, limit: number): OlderTrees {
  const read = new Set<string>();
  return async (commit) => {
    if (commit === undefined || (!read.has(commit) && read.size >= limit)) return null;
    read.add(commit);
    return readEntries(commit);
  };
}

/** What a commit of a branch contains. */
export interface BranchTree {
  /** Sha of the commit; `null` where the branch does not exist yet. */
  readonly head: string | null;
  readonly entries: CommitEntries;
}

/** The files of a tree below a folder, by their paths in the branch. */
export const filesBelow = ({ entries }: Pick<BranchTree, 'entries'>, folder: string): CommitEntries =>
  new Map([...entries].filter(([path, { type }]) => type !== 'tree' && path.startsWith(folder)));

/** Whether a branch has these bytes there, as a plain file. */
export function holdsFile({ entries }: Pick<BranchTree, 'entries'>, { path, sha }: TreeFile): boolean {
  const entry = entries.get(path);
  return entry?.sha === sha && entry.mode === '100644';
}

/** Whether the branch has anything in a folder. */
export const hasFilesBelow = ({ entries }: BranchTree, folder: string): boolean =>
  folder === '' ? entries.size > 0 : entries.get(folder.slice(0, -1))?.type === 'tree';

/** By path in the branch: what was there before, the newest first; nothing for a new file. */
export type PreviousBlobs = ReadonlyMap<string, readonly GitBlob[]>;

/** `blobAt` for several paths. */
export const blobsIn = (trees: readonly BranchTree['entries'][], paths: readonly string[]): PreviousBlobs =>
  new Map(paths.map((path) => [path, blobAt(trees, path)]));

/** What the first of some trees that has a path holds there; nothing for a folder. */
export function blobAt(trees: readonly BranchTree['entries'][], path: string): readonly GitBlob[] {
  const { type, sha = '', size = 0 } = trees.find((tree) => tree.has(path))?.get(path) ?? {};
  return type === 'blob' ? [{ sha, size }] : [];
}
