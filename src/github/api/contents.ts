import { DeliveryError } from '../../errors.ts';
import { API } from '../../protocol/calls.ts';
import { TRAILER } from '../../protocol/words.ts';
import { encodePath } from '../../rules/naming.ts';
import type { GitHubClient } from './client.ts';

/** Where a file stands in a repository. */
export interface BranchPath {
  readonly branch: string;
  /** Composed and checked, not encoded. */
  readonly path: string;
}

/** The last commit that touched a path. */
export interface LastCommit {
  readonly sha: string;
  /** Whether this tool made it. */
  readonly owned: boolean;
}

/**
 * The blob that stands at a spot, or `null` where there is none.
 *
 * @throws {DeliveryError} `NOT_OURS` when the path is a folder.
 * @see protocol 2.4, 4.2
 */
export async function getBlobSha(github: GitHubClient, { branch, path }: BranchPath): Promise<string | null> {
  try {
    // The object media type answers for files of any size, without their content above 1 MB.
    const record = await github.call(
      API.get_file,
      { path: encodePath(path), ref: branch },
      { accept: 'application/vnd.github.object+json' },
    );
    if (record.type === 'dir' || Array.isArray(record)) throw pathIsFolderError(path);
    return typeof record.sha === 'string' ? record.sha : null;
  } catch (thrown) {
    if (thrown instanceof DeliveryError && thrown.code === 'NOT_FOUND' && thrown.httpCode === 404) {
      return null;
    }
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
  return new DeliveryError(
    'NOT_OURS',
    `${file} is a file of the repository, and ${path} would lie below it`,
    {
      hint: 'set `path:` to a place of its own',
    },
  );
}

/** The last commit on the branch that touched the path; `null` when none did. */
export async function getLastCommit(
  github: GitHubClient,
  { branch, path }: BranchPath,
): Promise<LastCommit | null> {
  const [last] = await github.call<{ sha: string; commit: { message: string } }[]>(API.commits_of_path, {
    sha: branch,
    path,
    per_page: 1,
  });
  if (last === undefined) return null;
  return { sha: last.sha, owned: last.commit.message.split('\n').includes(TRAILER) };
}

/**
 * Method A: one call creates or replaces the file, in a commit of its own.
 *
 * @param content the whole file, at most 1 MB
 * @param replaces the blob that stands there now, or `null`
 * @returns the commit's sha
 * @see protocol 4.2
 */
export async function putFile(
  github: GitHubClient,
  spot: BranchPath,
  message: string,
  content: Buffer,
  replaces: string | null,
): Promise<string> {
  const record = await github.callOnce<{ commit: { sha: string } }>(API.put_file_le1mb, {
    path: encodePath(spot.path),
    message,
    content: content.toString('base64'),
    branch: spot.branch,
    ...(replaces === null ? {} : { sha: replaces }),
  });
  return record.commit.sha;
}
