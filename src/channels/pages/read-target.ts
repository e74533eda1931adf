import { DeliveryError } from '../../errors.ts';
import { getBranchHead } from '../../github/api/branch.ts';
import { findAbsence } from '../../github/api/failures.ts';
import type { Words } from '../../words.ts';
import type { BranchTree } from './branch-reader.ts';
import type { CommitTarget } from './target.ts';

/**
 * The commit that the branch of a target points to; `null` where it does not exist yet, and the first commit of the
 * delivery may create it. In a repository without a commit, method A does so for the default branch.
 *
 * @throws {DeliveryError} `NOT_FOUND` that names `setup` where a delivery would need it.
 */
export async function readTargetHead(target: CommitTarget): Promise<string | null> {
  const { github, branch, method, options } = target;
  try {
    return await getBranchHead(github, branch);
  } catch (thrown) {
    const absence = findAbsence(thrown);
    if (absence === null) throw thrown;
    const { setup, isRemoval = false } = options;
    if (setup || (absence === 'commits' && (isRemoval || method === 'A'))) return null;
    throw isRemoval ? thrown : missingBranchError(thrown as DeliveryError);
  }
}

/**
 * Reads all of the branch that a target is written to, in three requests; a tree that is known already is not read
 * again.
 *
 * @throws {DeliveryError} `TOO_LARGE` where GitHub does not list so many files at once.
 */
export async function readTargetTree(target: CommitTarget): Promise<BranchTree> {
  const head = await readTargetHead(target);
  return { head, entries: head === null ? new Map() : await target.readEntries(target.github, head) };
}

function missingBranchError(cause: DeliveryError): DeliveryError {
  const { code, message, httpCode } = cause;
  const hint = (w: Words) => `set ${w.input('setup', 'true')} to create it, or ${w.say(cause.advice ?? '')}`;
  return new DeliveryError(code, message, { httpCode, hint, cause });
}
