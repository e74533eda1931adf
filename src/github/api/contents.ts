import { DeliveryError } from '../../errors.ts';
import { OTHER_PATH_HINT } from '../hints.ts';
import type { GitHubClient } from './client.ts';
import { isNotFound } from './failures.ts';

/** A file's place in a repository. */
export interface BranchPath {
  /** A branch, or a commit's sha. */
  readonly branch: string;
  /** Joined and checked, not percent-encoded. */
  readonly path: string;
}

/**
 * The blob that a branch has at a path, or `null` where it has none.
 *
 * @throws {DeliveryError} `NOT_OURS` when the path is a folder.
 * @see protocol 2.4, 4.2
 */
export async function getBlobSha(github: GitHubClient, { branch, path }: BranchPath): Promise<string | null> {
  try {
    const { data } = await github.rest.repos.getContent({
      ...github.repository,
      path,
      ref: branch,
      // This media type is answered for files of any size, without the content above 1 MB.
      headers: { accept: 'application/vnd.github.object+json' },
    });
    // Octokit's types describe the default media type, in which a folder is an array.
    if (Array.isArray(data) || (data.type as string) === 'dir') throw pathIsFolderError(path);
    return typeof data.sha === 'string' ? data.sha : null;
  } catch (thrown) {
    if (isNotFound(thrown)) return null;
    throw thrown;
  }
}

/** @see protocol 7 (prohibition 4) */
export function pathIsFolderError(path: string): DeliveryError {
  return new DeliveryError('NOT_OURS', `${path} is a folder of the repository`, {
    hint: `to place the file in it, set \`path: ${path}/\``,
  });
}

/** @see protocol 7 (prohibition 4) */
export function belowFileError(path: string, file: string): DeliveryError {
  return new DeliveryError('NOT_OURS', `${file} is a file of the repository, so ${path} cannot be below it`, {
    hint: OTHER_PATH_HINT,
  });
}

/**
 * When a commit was made, by the clock of the host that made it (of this machine, for a commit that was pushed).
 *
 * @returns milliseconds since the epoch; `undefined` where the host does not tell
 */
export async function getCommitTime(github: GitHubClient, sha: string): Promise<number | undefined> {
  const { data } = await github.rest.repos.listCommits({ ...github.repository, sha, per_page: 1 });
  const [commit] = data;
  const time = commit?.sha === sha ? Date.parse(commit.commit.committer?.date ?? '') : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** One file to write. */
export interface FileWrite extends BranchPath {
  /** The commit message. */
  readonly message: string;
  /** The whole file, at most 1 MB. */
  readonly content: Buffer;
  /** The blob that is at the path now, or `null`. */
  readonly replaces: string | null;
}

/**
 * Method A: one call creates or replaces the file, in a commit of its own.
 *
 * @returns the commit's sha
 * @see protocol 4.2
 */
export async function putFile(github: GitHubClient, write: FileWrite): Promise<string> {
  const { branch, path, message, content, replaces } = write;
  const { data } = await github.rest.repos.createOrUpdateFileContents({
    ...github.repository,
    path,
    message,
    content: content.toString('base64'),
    branch,
    ...(replaces === null ? {} : { sha: replaces }),
  });
  return data.commit.sha as string;
}
