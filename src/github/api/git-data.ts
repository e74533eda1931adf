import { Readable } from 'node:stream';
import type { Ports } from '../../ports.ts';
import { API } from '../../protocol/calls.ts';
import { withRetries } from '../../retry.ts';
import { type Change, commitsOf, conflictError, type FileBytes } from '../change.ts';
import { getBranchHead } from './branch.ts';
import { type GitHubClient, sendStreamed } from './client.ts';

interface FilePut extends Pick<Change, 'message' | 'replaces'> {
  readonly branch: string;
  readonly path: string;
  readonly content: Buffer;
}

/** Method A: writes one file with one call and returns the commit's sha. @see protocol 4.2 */
export async function putFile(
  { rest, repository }: GitHubClient,
  { content, replaces, ...write }: FilePut,
): Promise<string> {
  const file = { ...write, content: content.toString('base64'), ...(replaces !== null && { sha: replaces }) };
  const { data } = await rest.repos.createOrUpdateFileContents({ ...repository, ...file });
  return data.commit.sha as string;
}

const BLOB_HEAD = '{"encoding":"base64","content":"';
const BLOB_TAIL = '"}';

/**
 * Method B, first call: streams a blob; repeating it is harmless. @throws {DeliveryError} `TOO_LARGE`. @see protocol
 * 4.2
 */
export async function createBlob(github: GitHubClient, file: FileBytes, ports: Ports): Promise<void> {
  const { url } = github.rest.git.createBlob.endpoint({ ...github.repository, content: '' });
  const request = {
    url: new URL(url),
    headers: { 'content-type': 'application/json; charset=utf-8' },
    length: BLOB_HEAD.length + Math.ceil(file.size / 3) * 4 + BLOB_TAIL.length,
    body: () => Readable.from(formatBlob(file), { objectMode: false }),
  };
  await withRetries(ports, () => sendStreamed(github, API.blob, request, ports));
}

async function* formatBlob(file: Pick<FileBytes, 'read'>): AsyncGenerator<string> {
  yield BLOB_HEAD;
  yield* file.read().setEncoding('base64');
  yield BLOB_TAIL;
}

/**
 * Method B, remaining calls: one commit per change. The branch moves only if it is still at `planned`, never by force.
 * @param planned `null` for a new branch. @throws {DeliveryError} `CONFLICT`; only unused objects are left. @see
 * protocol 4.2
 */
export async function commitChanges(
  github: GitHubClient,
  changes: readonly Change[],
  { branch, planned }: { readonly branch: string; readonly planned: string | null },
  readHead: () => Promise<string | null> = () => getBranchHead(github, branch),
): Promise<string[]> {
  const waitForTurn = (): Promise<void> => github.pace(async () => undefined);
  // One file counts as one write. With many files each commit is a write, so wait before reading the branch.
  if (changes.length > 1) await waitForTurn();
  if ((await readHead()) !== planned) throw conflictError(branch);
  const { rest, repository } = github;
  let last: Awaited<ReturnType<typeof createCommit>> | null = null;
  if (planned !== null) {
    const { data } = await rest.git.getCommit({ ...repository, commit_sha: planned });
    last = { sha: planned, tree: data.tree.sha };
  }
  const commits: string[] = [];
  for (const change of changes) {
    if (commits.length > 0) await waitForTurn();
    for (const { message, writes, removals } of commitsOf(change)) {
      const removed = removals.map((path) => ({ path, sha: null }));
      const written = writes.map(({ path, file }) => ({ path, sha: file.blobSha }));
      last = await createCommit(github, message, [...removed, ...written], last);
    }
    commits.push(last?.sha ?? '');
  }
  const sha = commits.at(-1);
  if (sha === undefined) return commits;
  await (planned === null
    ? rest.git.createRef({ ...repository, ref: `refs/heads/${branch}`, sha })
    : rest.git.updateRef({ ...repository, ref: `heads/${branch}`, sha, force: false }));
  return commits;
}

/** Creates a commit without moving the branch. @param objects a `null` sha removes the path */
async function createCommit(
  { rest, repository }: GitHubClient,
  message: string,
  objects: readonly { readonly path: string; readonly sha: string | null }[],
  base: { readonly sha: string; readonly tree: string } | null,
) {
  const entries = objects.map((object) => ({ ...object, mode: '100644' as const, type: 'blob' as const }));
  const onTop = base === null ? {} : { base_tree: base.tree };
  const { sha: tree } = (await rest.git.createTree({ ...repository, ...onTop, tree: entries })).data;
  const parents = base === null ? [] : [base.sha];
  const { data } = await rest.git.createCommit({ ...repository, message, tree, parents });
  return { sha: data.sha, tree };
}
