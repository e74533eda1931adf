import type { Change } from '../../github/change.ts';
import { hasGit } from '../../github/git/process.ts';
import { SIZE } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { type CommitMethod, type CommitTarget, isFolderPath, isRemoval, type PagesTask } from './target.ts';

/** How files are committed. @see protocol 4.2, 8 */
export const COMMIT_METHODS: Readonly<Record<CommitMethod, string>> = {
  A: 'method A, single-call write',
  B: 'method B, object API',
  C: "method C, git's own protocol",
};

/**
 * The method for single files on this machine, whichever of them turn out to need a change: by the size of a single one;
 * several go through git where it is installed. The single-call write can't create a branch, nor can the API create the
 * first commit.
 *
 * @param files `null` for each that is removed
 * @param absence what the delivery has to create
 */
export async function chooseMethod(
  files: readonly (LocalFile | null)[],
  signal: AbortSignal,
  absence: 'branch' | 'commits' | null = null,
): Promise<CommitMethod> {
  if ((files.length > 1 || absence === 'commits') && (await hasGit(signal))) return 'C';
  const size = files.length > 1 ? undefined : files[0]?.size;
  if (size === undefined) return 'B';
  if (size <= SIZE.methodA) return absence === 'branch' ? 'B' : 'A';
  return size <= SIZE.methodB ? 'B' : 'C';
}

/** The method for these changes: one call of method A writes one path, and nothing beside it. */
export const methodOf = (
  changes: readonly Change[],
  { method }: Pick<CommitTarget, 'method'>,
): CommitMethod => (method === 'A' && !changes.every(isSingleWrite) ? 'B' : method);

const isSingleWrite = ({ writes, removals }: Change): boolean => writes.length === 1 && removals.length === 0;

/** How a plan and a placement name the method. */
export function planMethod(method: CommitMethod, task: Pick<PagesTask, 'place' | 'files'>): string {
  if (isFolderPath(task.place)) return `one commit ${isRemoval(task) ? 'that removes it' : 'for the folder'}`;
  return `${isRemoval(task) ? 'a commit that removes it, ' : ''}${COMMIT_METHODS[method]}`;
}
