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
 * @throws {DeliveryError} `NOT_OURS` when the path is a folder or a submodule.
 * @see protocol 2.4, 4.2
 */
export async function getBlobSha(github: GitHubClient, place: BranchPath): Promise<string | null> {
  const found = await getPathEntry(github, place);
  return found === null ? null : blobOf(found, place.path);
}

/** What a branch has at a path. */
export interface PathEntry {
  readonly type: 'file' | 'folder' | 'submodule';
  readonly sha: string;
}

/** The blob of a file. @throws {DeliveryError} `NOT_OURS` for anything else. */
export function blobOf({ type, sha }: PathEntry, path: string): string {
  if (type === 'folder') throw pathIsFolderError(path);
  if (type === 'submodule') throw submoduleError(path);
  return sha;
}

/** What a branch has at a path; `null` for nothing. */
export async function getPathEntry(
  github: GitHubClient,
  { branch, path }: BranchPath,
): Promise<PathEntry | null> {
  try {
    const { data } = await github.rest.repos.getContent({
      ...github.repository,
      path,
      ref: branch,
      // This media type is answered for files of any size, without the content above 1 MB.
      headers: { accept: 'application/vnd.github.object+json' },
    });
    // Octokit's types describe the default media type, in which a folder is an array.
    if (Array.isArray(data) || (data.type as string) === 'dir') return { type: 'folder', sha: '' };
    if (typeof data.sha !== 'string') return null;
    return { type: data.type === 'submodule' ? 'submodule' : 'file', sha: data.sha };
  } catch (thrown) {
    if (isNotFound(thrown)) return null;
    throw thrown;
  }
}

/** @see protocol 7 (prohibition 4) */
export function pathIsFolderError(path: string): DeliveryError {
  return new DeliveryError('NOT_OURS', `${path} is a folder of the repository`, {
    hint: `set \`path: ${path}/\`: a file is placed in that folder, and a removal takes what was delivered below it`,
  });
}

/**
 * What a submodule holds is in another repository; the branch has only its place, which nothing may take.
 *
 * @see protocol 7 (prohibition 4)
 */
export function submoduleError(path: string): DeliveryError {
  return new DeliveryError(
    'NOT_OURS',
    `${path} is a submodule of the repository, so what is in it is no part of this branch`,
    { hint: OTHER_PATH_HINT },
  );
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
