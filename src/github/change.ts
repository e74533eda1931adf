import { DeliveryError } from '../errors.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { parentFolders, type TreeEntry } from './api/branch.ts';
import { CONFLICT_HINT } from './hints.ts';

/** As much of a file as a commit needs. */
export type FileBytes = Pick<LocalFile, 'size' | 'blobSha' | 'read'>;

export interface FileWrite {
  /** Path in the branch: joined and checked, not percent-encoded. */
  readonly path: string;
  readonly file: FileBytes;
}

export interface Change {
  readonly message: string;
  readonly writes: readonly FileWrite[];
  readonly removals: readonly string[];
  /**
   * What the change was planned for: git's id of each path and folder that was compared, `null` where there was
   * nothing. A folder has no slash at its end; `''` is the whole branch, whose id is that of its commit.
   */
  readonly basis: ReadonlyMap<string, string | null>;
}

/** Every path that decides whether a change may still be made: those of its basis, and the folders above them. */
export const listBasisPaths = (changes: readonly Change[]): readonly string[] => {
  const named = changes.flatMap(({ basis }) => [...basis.keys()]).filter((path) => path !== '');
  return [...new Set(named.flatMap((path) => [path, ...parentFolders(path)]))];
};

/**
 * Refuses changes that were planned for another state of the branch: a tree built over it would drop what another
 * writer has there. The next attempt compares again, and tells why a path is not free any more.
 *
 * @param base the commit to build on; `null` for a new branch
 * @param entries what that commit has at the paths of `listBasisPaths`
 * @throws {DeliveryError} `CONFLICT`
 * @see protocol 7 (prohibition 4)
 */
export function refuseOtherBase(
  changes: readonly Change[],
  base: string | null,
  entries: ReadonlyMap<string, TreeEntry>,
): void {
  for (const [path, planned] of changes.flatMap(({ basis }) => [...basis])) {
    // Git names no id for the root, which every other commit changes.
    const now = path === '' ? base : (entries.get(path)?.sha ?? null);
    if (now !== planned) throw conflictError(path === '' ? 'the root' : path);
    // A file or a submodule in the place of a folder would be replaced by that folder.
    const file = parentFolders(path).find((one) => (entries.get(one)?.type ?? 'tree') !== 'tree');
    if (file !== undefined) throw conflictError(file);
  }
}

/** @param place what somebody changed */
export function conflictError(place: string): DeliveryError {
  return new DeliveryError('CONFLICT', `${place} changed on the branch during the delivery`, {
    hint: CONFLICT_HINT,
    retryable: true,
  });
}
