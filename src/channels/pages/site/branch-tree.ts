import { type BranchEntry, findSubmodule, submoduleError } from '../../../github/api/branch.ts';
import { type CommitTarget, readTargetHead } from '../target.ts';

/** What a commit of a branch contains. */
export interface BranchTree {
  /** Sha of the commit; `null` where the branch does not exist yet. */
  readonly head: string | null;
  /** Everything in it by its path: files, and folders without a slash at the end. */
  readonly entries: ReadonlyMap<string, BranchEntry>;
}

/**
 * Reads all of the branch that a target is written to, in three requests; a tree that is known already is not read
 * again.
 *
 * @throws {DeliveryError} `TOO_LARGE` where GitHub does not list so many files at once.
 */
export async function readTargetTree(target: CommitTarget): Promise<BranchTree> {
  const head = await readTargetHead(target);
  return { head, entries: head === null ? new Map() : await target.reader.getEntries(target.github, head) };
}

/** @throws {DeliveryError} `NOT_OURS` where one of the paths is a submodule, or below one. */
export function refuseSubmodules({ entries }: Pick<BranchTree, 'entries'>, paths: Iterable<string>): void {
  for (const path of paths) {
    const submodule = findSubmodule(entries, path);
    if (submodule !== null) throw submoduleError(submodule);
  }
}

/** The files of a tree below a folder, with their paths within it. */
export function filesBelow(
  { entries }: Pick<BranchTree, 'entries'>,
  folder: string,
): Map<string, BranchEntry> {
  const files = new Map<string, BranchEntry>();
  for (const [path, entry] of entries) {
    if (entry.type !== 'tree' && path.startsWith(folder)) files.set(path.slice(folder.length), entry);
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

/** Git's id of a folder, `null` where there is none; of the root it is that of the commit. */
export const treeShaAt = ({ entries, head }: BranchTree, folder: string): string | null =>
  folder === '' ? head : (entries.get(folder.slice(0, -1))?.sha ?? null);

/** Whether the branch has anything in a folder. */
export const hasFilesBelow = ({ entries }: BranchTree, folder: string): boolean =>
  folder === '' ? entries.size > 0 : entries.get(folder.slice(0, -1))?.type === 'tree';
