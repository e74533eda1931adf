import { Readable } from 'node:stream';
import { DeliveryError } from '../../errors.ts';
import { base64, base64Length } from '../../http/upload.ts';
import type { Ports } from '../../ports.ts';
import { API } from '../../protocol/calls.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { encodePath } from '../../rules/naming.ts';
import type { GitHubClient } from './client.ts';
import { getBranchHead, getExistingBlobs } from './existing-blobs.ts';
import { RETRY_HINT } from './failures.ts';
import { sendStreamed } from './stream.ts';

const BLOB_HEAD = '{"encoding":"base64","content":"';
const BLOB_TAIL = '"}';

/**
 * Method B, first call: the file becomes a blob, streamed from disk as base64.
 * A blob is named by its content, so sending it twice does no harm.
 *
 * @throws {DeliveryError} `TOO_LARGE` where the host takes no blob of this size.
 * @see protocol 4.2
 */
export async function createBlob(github: GitHubClient, file: LocalFile, ports: Ports): Promise<void> {
  const url = new URL(
    `${github.apiUrl.href.replace(/\/$/, '')}/repos/${github.owner}/${github.repo}/git/blobs`,
  );
  await withRetries(ports, async () => {
    const answer = await sendStreamed(
      github,
      {
        call: API.blob,
        url,
        type: 'application/json; charset=utf-8',
        length: BLOB_HEAD.length + base64Length(file.size) + BLOB_TAIL.length,
        body: () => Readable.from(blobBody(file), { objectMode: false }),
      },
      ports,
    );
    const sha = (answer as { sha?: unknown } | undefined)?.sha;
    if (sha === file.blobSha) return;
    const what =
      sha === undefined
        ? 'creating the blob was answered with something that is not a blob'
        : "the host stored other bytes than the file's as its blob";
    throw new DeliveryError('HOST_ERROR', what, { httpCode: 201, hint: RETRY_HINT, retryable: true });
  });
}

async function* blobBody(file: LocalFile): AsyncGenerator<string> {
  yield BLOB_HEAD;
  yield* base64(file.read());
  yield BLOB_TAIL;
}

/** What is to become of one path of the branch. */
export interface FileChange {
  /** Composed and checked, not encoded. */
  readonly path: string;
  readonly message: string;
  /** The blob that was seen to stand there, or `null`. */
  readonly replaces: string | null;
  /** What is to stand there; `null` takes away what does. */
  readonly file: LocalFile | null;
}

/**
 * Method B, the rest: reads the branch, puts a commit for each change on it, one on the other, and moves
 * the branch once, never by force. Every file's blob is there already. Losing a race leaves only orphans;
 * the caller starts again.
 *
 * @returns the commits' shas, in the changes' order
 * @throws {DeliveryError} `CONFLICT` when one of the paths or the branch moved meanwhile.
 * @see protocol 4.2
 */
export async function commitChanges(
  github: GitHubClient,
  branch: string,
  changes: readonly FileChange[],
): Promise<string[]> {
  const turn = (): Promise<void> => github.pace(async () => undefined);
  // One file's calls are one write. Of many each is; what must be waited for is waited for before the branch is read.
  if (changes.length > 1) await turn();
  const base = await getBranchHead(github, branch);
  const paths = changes.map(({ path }) => path);
  const standing = await getExistingBlobs(github, base, paths);
  for (const { path, replaces } of changes) {
    if (standing.get(path) !== replaces) throw pathChangedError(path);
  }
  const commit = await github.call<{ tree: { sha: string } }>(API.get_commit, { sha: base });
  const commits: string[] = [];
  let tree = commit.tree.sha;
  for (const { path, message, file } of changes) {
    if (commits.length > 0) await turn();
    const entry = { path, mode: '100644', type: 'blob', sha: file?.blobSha ?? null };
    tree = (await github.call<{ sha: string }>(API.tree, { base_tree: tree, tree: [entry] })).sha;
    const parents = [commits.at(-1) ?? base];
    commits.push((await github.call<{ sha: string }>(API.commit, { message, tree, parents })).sha);
  }
  const sha = commits.at(-1) ?? base;
  await github.callOnce(API.update_ref, { branch: encodePath(branch), sha, force: false });
  return commits;
}

/** Somebody else's file would be lost in a tree that is built over it. @see protocol 7 (prohibition 4) */
export function pathChangedError(path: string): DeliveryError {
  return new DeliveryError('CONFLICT', `${path} changed on the branch while it was delivered`, {
    hint: `another job writes here too: ${RETRY_HINT}`,
    retryable: true,
  });
}
