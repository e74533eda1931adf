import { DeliveryError } from '../errors.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { CONFLICT_HINT } from './refusals.ts';

export type FileBytes = Pick<LocalFile, 'size' | 'blobSha' | 'read'>;

export interface FileWrite<File = FileBytes> {
  /** Path in the branch: joined and checked, not percent-encoded. */
  readonly path: string;
  readonly file: File;
}

/** What one commit is to do to the branch that it was planned for. */
export interface Change {
  readonly message: string;
  readonly writes: readonly FileWrite[];
  readonly removals: readonly string[];
  /** Git's id of the file that the only write replaces, which the single-call write names; `null` for none. */
  readonly replaces: string | null;
  /** A commit before it, so that the history of a path has this one although the path holds the same after both. */
  readonly before?: Pick<Change, 'message' | 'removals'>;
}

/** The commits that a change needs, the last one its own. */
export const commitsOf = (change: Change): readonly Omit<Change, 'replaces'>[] =>
  change.before === undefined ? [change] : [{ ...change.before, writes: [] }, change];

/** The branch is another one than planned: a tree built over it would drop what another writer has there. */
export const conflictError = (branch: string): DeliveryError =>
  new DeliveryError('CONFLICT', `the branch ${branch} changed during the delivery`, {
    hint: CONFLICT_HINT,
    retryable: true,
  });
