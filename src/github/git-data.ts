import { Readable } from 'node:stream';
import { DeliveryError } from '../errors.ts';
import { base64, base64Length } from '../http/upload.ts';
import type { Ports } from '../ports.ts';
import { API } from '../protocol/calls.ts';
import { retrying } from '../retry.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { encodePath } from '../rules/naming.ts';
import type { GitHub } from './client.ts';
import { blobAt, type Spot } from './contents.ts';
import { streamFile } from './stream-file.ts';

const BLOB_HEAD = '{"encoding":"base64","content":"';
const BLOB_TAIL = '"}';

/**
 * Method B, first call: the file becomes a blob, streamed from disk as base64.
 * A blob is named by its content, so sending it twice does no harm.
 *
 * @throws {DeliveryError} `TOO_LARGE` where the host takes no blob of this size.
 * @see protocol 4.2
 */
export async function createBlob(github: GitHub, file: LocalFile, ports: Ports): Promise<string> {
  const url = new URL(
    `${github.apiUrl.href.replace(/\/$/, '')}/repos/${github.owner}/${github.repo}/git/blobs`,
  );
  return retrying(ports, async () => {
    const answer = await streamFile(
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
    if (sha !== file.blobSha) {
      throw new DeliveryError('HOST_ERROR', "the host stored other bytes than the file's as its blob", {
        httpCode: 201,
        passing: true,
      });
    }
    return file.blobSha;
  });
}

async function* blobBody(file: LocalFile): AsyncGenerator<string> {
  yield BLOB_HEAD;
  yield* base64(file.read());
  yield BLOB_TAIL;
}

/**
 * Method B, the rest: reads the branch, puts a tree with the one changed path and a commit on it, and
 * moves the branch, never by force. Losing a race leaves only orphans; the caller starts again.
 *
 * @param replaces the blob that was seen to stand there, or `null`
 * @returns the commit's sha
 * @throws {DeliveryError} `CONFLICT` when the file or the branch moved meanwhile.
 * @see protocol 4.2
 */
export async function commitBlob(
  github: GitHub,
  spot: Spot,
  message: string,
  blobSha: string,
  replaces: string | null,
): Promise<string> {
  const { branch, path } = spot;
  const reference = await github.call<{ object: { sha: string } }>(API.get_ref, {
    branch: encodePath(branch),
  });
  const base = reference.object.sha;
  if ((await blobAt(github, { branch: base, path })) !== replaces) throw appeared(path);
  const { tree: baseTree } = await github.call<{ tree: { sha: string } }>(API.get_commit, { sha: base });
  const tree = await github.call<{ sha: string }>(API.tree, {
    base_tree: baseTree.sha,
    tree: [{ path, mode: '100644', type: 'blob', sha: blobSha }],
  });
  const commit = await github.call<{ sha: string }>(API.commit, { message, tree: tree.sha, parents: [base] });
  await github.callOnce(API.update_ref, { branch: encodePath(branch), sha: commit.sha, force: false });
  return commit.sha;
}

/** Somebody else's file would be lost in a tree that is built over it. @see protocol 7 (prohibition 4) */
function appeared(path: string): DeliveryError {
  return new DeliveryError('CONFLICT', `${path} changed on the branch while it was delivered`, {
    passing: true,
  });
}
