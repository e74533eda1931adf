import { DeliveryError } from '../errors.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { CONFLICT_HINT } from './refusals.ts';

export type FileBytes = Pick<LocalFile, 'size' | 'blobSha' | 'read'>;

export interface FileWrite<File = FileBytes> {
  readonly path: string;
  readonly file: File;
}

export interface Change {
  readonly message: string;
  readonly writes: readonly FileWrite[];
  readonly removals: readonly string[];
  /** Method A only: git's id of the file that the write replaces, or `null`. */
  readonly replaces: string | null;
  /** An extra commit before it: it adds this delivery to a path's history even if the path stays the same. */
  readonly before?: Pick<Change, 'message' | 'removals'>;
}

/** The commits of a change, the extra commit first. */
export const commitsOf = (change: Change): readonly Omit<Change, 'replaces'>[] =>
  change.before === undefined ? [change] : [{ ...change.before, writes: [] }, change];

/** The error if the branch has moved since the plan: writing over it would drop another writer's files. */
export const conflictError = (branch: string): DeliveryError =>
  new DeliveryError('CONFLICT', `the branch ${branch} changed during the delivery`, {
    hint: CONFLICT_HINT,
    retryable: true,
  });
