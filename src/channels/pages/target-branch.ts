import { DeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { findAbsence, getBranchHead } from '../../github/api/existing-blobs.ts';

/** A branch that is written to, and what decides whether it may be missing. */
export interface TargetBranch {
  readonly github: GitHubClient;
  readonly branch: string;
  /** How it is written to: `A` is the single-call write. */
  readonly method: string;
  /** Whether a missing branch is created; absent where files are removed. */
  readonly setup?: boolean | undefined;
}

/**
 * The commit that the branch of a target points to; `null` where it does not exist yet, and the first commit of the
 * delivery may create it. In a repository without a commit, method A does so for the default branch.
 *
 * @throws {DeliveryError} `NOT_FOUND` that names `setup` where a delivery would need it.
 */
export async function readTargetHead(target: TargetBranch): Promise<string | null> {
  const { github, branch, method, setup } = target;
  try {
    return await getBranchHead(github, branch);
  } catch (thrown) {
    const absence = findAbsence(thrown);
    if (absence === null) throw thrown;
    const isRemoval = setup === undefined;
    if (setup || (absence === 'commits' && (isRemoval || method === 'A'))) return null;
    throw absence === 'commits' || isRemoval ? thrown : missingBranchError(thrown as DeliveryError);
  }
}

function missingBranchError(cause: DeliveryError): DeliveryError {
  const { code, message, httpCode } = cause;
  const hint = `set \`setup: true\` to create it, or ${cause.hint}`;
  return new DeliveryError(code, message, { httpCode, hint, cause });
}
