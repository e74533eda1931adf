import { Readable } from 'node:stream';
import { DeliveryError } from '../../errors.ts';
import { base64, base64Length } from '../../http/upload.ts';
import type { Ports } from '../../ports.ts';
import { API } from '../../protocol/calls.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { CONFLICT_HINT, RETRY_HINT } from '../hints.ts';
import type { GitHubClient } from './client.ts';
import { getBranchHead, getExistingBlobs } from './existing-blobs.ts';
import { sendStreamed } from './stream.ts';

const BLOB_HEAD = '{"encoding":"base64","content":"';
const BLOB_TAIL = '"}';

/**
 * Method B, first call: the file becomes a blob, streamed from disk as base64.
 * A blob is named by its content, so sending it twice does no harm.
 *
 * @throws {DeliveryError} `TOO_LARGE` where GitHub accepts no blob of this size.
 * @see protocol 4.2
 */
export async function createBlob(
  github: GitHubClient,
  file: Pick<LocalFile, 'size' | 'blobSha' | 'read'>,
  ports: Ports,
): Promise<void> {
  const { owner, repo } = github.repository;
  const url = new URL(`${github.apiUrl.href.replace(/\/$/, '')}/repos/${owner}/${repo}/git/blobs`);
  const request = {
    call: API.blob,
    url,
    type: 'application/json; charset=utf-8',
    length: BLOB_HEAD.length + base64Length(file.size) + BLOB_TAIL.length,
    body: () => Readable.from(formatBlob(file), { objectMode: false }),
  };
  await withRetries(ports, async () => {
    const answer = await sendStreamed(github, request, ports);
    const sha = (answer as { sha?: unknown } | undefined)?.sha;
    if (sha === file.blobSha) return;
    const message =
      sha === undefined
        ? 'creating the blob returned something that is not a blob'
        : 'GitHub stored a blob that differs from the file';
    throw new DeliveryError('HOST_ERROR', message, { httpCode: 201, hint: RETRY_HINT, retryable: true });
  });
}

/** The call's JSON body, piece by piece. */
async function* formatBlob(file: Pick<LocalFile, 'read'>): AsyncGenerator<string> {
  yield BLOB_HEAD;
  yield* base64(file.read());
  yield BLOB_TAIL;
}

/** One path of the branch, and its new content. */
export interface FileChange {
  /** Joined and checked, not percent-encoded. */
  readonly path: string;
  /** The commit message. */
  readonly message: string;
  /** The blob that was found at the path, or `null`. */
  readonly replaces: string | null;
  /** The file to write; `null` removes the existing one. */
  readonly file: LocalFile | null;
  /** What the same commit changes beside it. */
  readonly beside?: readonly PathChange[];
}

/** What a commit does to one path. */
export type PathChange = Pick<FileChange, 'path' | 'replaces' | 'file'>;

/** Every path that the commit of a change touches. */
export const pathChangesOf = (change: FileChange): readonly PathChange[] =>
  // A page that is gone already may have a picture that is not.
  [change, ...(change.beside ?? [])].filter(({ replaces, file }) => replaces !== null || file !== null);

/**
 * Method B, the other calls: reads the branch, creates one commit per change, each on top of the one before,
 * and moves the branch once, never by force. The blobs must exist already. When another writer is first, only
 * unused objects are left behind, and the caller starts again.
 *
 * @param readHead the commit to build on; `null` for a branch that does not exist yet
 * @returns the commits' shas, in the order of the changes
 * @throws {DeliveryError} `CONFLICT` when the branch or one of the paths changed meanwhile.
 * @see protocol 4.2
 */
export async function commitChanges(
  github: GitHubClient,
  branch: string,
  changes: readonly FileChange[],
  readHead: () => Promise<string | null> = () => getBranchHead(github, branch),
): Promise<string[]> {
  const { rest, repository } = github;
  const waitForTurn = (): Promise<void> => github.pace(async () => undefined);
  // The calls for one file are one write. With many files each commit is one; the first waits before the branch is read.
  if (changes.length > 1) await waitForTurn();
  const base = await readHead();
  await refuseChangedPaths(github, base, changes);
  const commits: string[] = [];
  let tree = await getTreeSha(github, base);
  for (const change of changes) {
    const { message } = change;
    if (commits.length > 0) await waitForTurn();
    const entries = pathChangesOf(change).map(
      ({ path, file }) => ({ path, mode: '100644', type: 'blob', sha: file?.blobSha ?? null }) as const,
    );
    const created = await rest.git.createTree({ ...repository, ...onTopOf(tree), tree: entries });
    tree = created.data.sha;
    const parents = [commits.at(-1) ?? base].filter((sha) => sha !== null);
    const { data: commit } = await rest.git.createCommit({ ...repository, message, tree, parents });
    commits.push(commit.sha);
  }
  const sha = commits.at(-1);
  if (sha !== undefined) await moveBranch(github, branch, { from: base, to: sha });
  return commits;
}

/** One commit of several files. */
export interface TreeCommit {
  readonly message: string;
  readonly writes: readonly { readonly path: string; readonly file: Pick<LocalFile, 'blobSha'> }[];
  /** Paths of files. */
  readonly removals: readonly string[];
  /** The commit to build on; `null` for a branch that does not exist yet. */
  readonly head: string | null;
}

/**
 * Method B for several files in one commit. The blobs must exist already; the branch is moved once, never by force.
 *
 * @returns the commit's sha
 * @throws {DeliveryError} `CONFLICT` when the branch moved meanwhile.
 * @see protocol 4.2
 */
export async function commitTree(github: GitHubClient, branch: string, commit: TreeCommit): Promise<string> {
  const { rest, repository } = github;
  const { message, writes, removals, head } = commit;
  const written = writes.map(({ path, file }) => ({ path, sha: file.blobSha }));
  const removed = removals.map((path) => ({ path, sha: null }));
  const entries = [...removed, ...written].map((entry) => ({
    ...entry,
    mode: '100644' as const,
    type: 'blob' as const,
  }));
  const base = await getTreeSha(github, head);
  const tree = await rest.git.createTree({ ...repository, ...onTopOf(base), tree: entries });
  const parents = head === null ? [] : [head];
  const created = await rest.git.createCommit({ ...repository, message, tree: tree.data.sha, parents });
  const { sha } = created.data;
  await moveBranch(github, branch, { from: head, to: sha });
  return sha;
}

/** The tree of a commit; `null` for none. */
async function getTreeSha({ rest, repository }: GitHubClient, commit: string | null): Promise<string | null> {
  if (commit === null) return null;
  return (await rest.git.getCommit({ ...repository, commit_sha: commit })).data.tree.sha;
}

/** Without a tree below it, the new one has nothing but what is listed. */
const onTopOf = (tree: string | null): { readonly base_tree?: string } =>
  tree === null ? {} : { base_tree: tree };

/** Moves the branch, never by force; from `null` it is created. */
async function moveBranch(
  { rest, repository }: GitHubClient,
  branch: string,
  { from, to: sha }: { readonly from: string | null; readonly to: string },
): Promise<void> {
  await (from === null
    ? rest.git.createRef({ ...repository, ref: `refs/heads/${branch}`, sha })
    : rest.git.updateRef({ ...repository, ref: `heads/${branch}`, sha, force: false }));
}

async function refuseChangedPaths(
  github: GitHubClient,
  base: string | null,
  changes: readonly FileChange[],
): Promise<void> {
  const all = changes.flatMap(pathChangesOf);
  const paths = all.map(({ path }) => path);
  const existing = base === null ? null : await getExistingBlobs(github, base, paths);
  for (const { path, replaces } of all) {
    const now = existing === null ? null : existing.get(path);
    if (now !== replaces) throw pathChangedError(path);
  }
}

/** A tree built over it would drop another writer's file. @see protocol 7 (prohibition 4) */
export function pathChangedError(path: string): DeliveryError {
  return new DeliveryError('CONFLICT', `${path} changed on the branch during the delivery`, {
    hint: CONFLICT_HINT,
    retryable: true,
  });
}
