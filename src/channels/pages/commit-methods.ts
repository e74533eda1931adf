import { createHash } from 'node:crypto';
import { DeliveryError, hasFailed, hasSucceeded } from '../../errors.ts';
import { needsSignatures } from '../../github/api/branch-rules.ts';
import { putFile } from '../../github/api/contents.ts';
import { commitChanges, createBlob, type FileChange, pathChangesOf } from '../../github/api/git-data.ts';
import { type CommitIdentity, getCommitIdentity } from '../../github/api/token-owner.ts';
import { noGitError } from '../../github/git/failures.ts';
import { hasGit } from '../../github/git/process.ts';
import { SIGNATURE_HINT } from '../../github/hints.ts';
import { forEachItem, type ItemResult } from '../../item-results.ts';
import type { Ports } from '../../ports.ts';
import { MEGABYTE, SIZE } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { changedFileError } from '../../rules/opened-file.ts';
import type { BranchReader } from './branch-reader.ts';
import { nameMovedRepository } from './moved-repository.ts';
import { readTargetHead, type TargetBranch } from './target-branch.ts';

/** How files are committed. @see protocol 4.2, 8 */
export const COMMIT_METHODS = {
  A: 'method A, single-call write',
  B: 'method B, object API',
  C: "method C, git's own protocol",
} as const;

export type CommitMethod = keyof typeof COMMIT_METHODS;

/** The branch, and how it is written to. */
export interface CommitTarget extends TargetBranch {
  readonly method: CommitMethod;
  /** Essence of the commit messages. */
  readonly essence: string;
  /** Whether a file that this tool did not deliver may be replaced or removed. */
  readonly overwrite: boolean;
  /** The confinement whose files alone may be replaced; absent where those of the whole tool may. */
  readonly confinedTo?: string | undefined;
  /** Where git finds the repository. */
  readonly serverUrl: URL;
  readonly reader: BranchReader;
}

/** The commit of each change. */
type Commits = readonly ItemResult<FileChange, string>[];

/** Writes changes to the branch, one commit each. */
export type CommitWriter = (changes: readonly FileChange[]) => Promise<Commits>;

/**
 * The method for some files: by the size of a single one; several go through git where it is installed.
 *
 * @param files `null` for each that is removed
 */
export function methodFor(files: readonly (LocalFile | null)[], gitIsInstalled: boolean): CommitMethod {
  if (files.length > 1) return gitIsInstalled ? 'C' : 'B';
  const size = files[0]?.size;
  if (size === undefined) return 'B';
  if (size <= SIZE.methodA) return 'A';
  return size <= SIZE.methodB ? 'B' : 'C';
}

/** The method for these files on this machine, whichever of them turn out to need a change. */
export async function chooseMethod(
  files: readonly (LocalFile | null)[],
  signal: AbortSignal,
): Promise<CommitMethod> {
  return methodFor(files, files.length > 1 && (await hasGit(signal)));
}

/** What the methods share during all attempts. */
interface WriterState {
  readonly target: CommitTarget;
  /** Blobs that the host has already. */
  readonly sentBlobs: Set<string>;
  /** Writes with git what the object API refuses; `null` where git cannot. */
  readonly useGit: CommitWriter | null;
  /** Is called with the method before it changes the branch: it may be another one than planned. */
  readonly onWrite: (method: CommitMethod) => void;
}

/**
 * Opens the branch for writing. What does not depend on the branch is sent once, however many attempts follow.
 *
 * @param onWrite is called with the method that changes the branch, before it does
 */
export function createCommitWriter(
  target: CommitTarget,
  ports: Ports,
  onWrite: WriterState['onWrite'] = () => undefined,
): CommitWriter {
  const state = { target, sentBlobs: new Set<string>(), onWrite };
  const useGit = createGitWriter({ ...state, useGit: null }, ports);
  const writers: Readonly<Record<CommitMethod, CommitWriter>> = {
    A: (changes) => writeContents(changes, state),
    B: (changes) => writeObjects(changes, { ...state, useGit }, ports),
    C: useGit,
  };
  return (changes) => writers[methodOf(changes, target)](changes);
}

/** The method for these changes: one call of method A writes one file, and none beside it. */
export const methodOf = (
  changes: readonly FileChange[],
  { method }: Pick<CommitTarget, 'method'>,
): CommitMethod => (method === 'A' && changes.some(({ beside = [] }) => beside.length > 0) ? 'B' : method);

/**
 * Method C, or the object API where the branch takes signed commits only: GitHub signs what the token of a job or
 * an app commits there, and git cannot. What the branch asks for and who commits is read once.
 */
function createGitWriter(state: WriterState, ports: Ports): CommitWriter {
  const { github, branch } = state.target;
  let mustSign: boolean | 'unknown' | undefined;
  let author: CommitIdentity | undefined;
  const writeSigned: CommitWriter = (changes) => {
    ports.logger.info('the branch takes signed commits only: using the object API instead of git');
    return writeSignedObjects(changes, state, ports);
  };
  return async (changes) => {
    mustSign ??= await needsSignatures(github, branch);
    if (mustSign === true) return writeSigned(changes);
    author ??= await getCommitIdentity(github);
    try {
      return await writeWithGit(changes, author, state, ports);
    } catch (thrown) {
      if (!(thrown instanceof DeliveryError) || thrown.code !== 'NEEDS_SIGNATURE') throw thrown;
      mustSign = true;
      return writeSigned(changes);
    }
  };
}

/** Method B for the files that fit; the others are refused before anything of them is sent. */
async function writeSignedObjects(
  changes: readonly FileChange[],
  state: WriterState,
  ports: Ports,
): Promise<Commits> {
  const fits = ({ file }: FileChange): boolean => (file?.size ?? 0) <= SIZE.methodB;
  const written = await writeObjects(changes.filter(fits), state, ports);
  const refused = changes.filter((change) => !fits(change));
  return [...written, ...refused.map((item) => ({ item, result: unsignedError(item, state.target) }))];
}

function unsignedError({ path }: FileChange, { branch }: CommitTarget): DeliveryError {
  const limit = SIZE.methodB / MEGABYTE;
  return new DeliveryError(
    'NEEDS_SIGNATURE',
    `the branch ${branch} takes signed commits only, and GitHub signs none with a file above ${limit} MB: ${path}`,
    { hint: SIGNATURE_HINT },
  );
}

/** Method A: one file of at most 1 MB, in one call. */
async function writeContents(
  changes: readonly FileChange[],
  { target, onWrite }: Pick<WriterState, 'target' | 'onWrite'>,
): Promise<Commits> {
  const [change] = changes;
  if (change?.file == null) return [];
  const content = Buffer.concat(await change.file.read().toArray());
  // The bytes sent are those that were checked, even if nothing showed that they changed.
  if (createHash('sha256').update(content).digest('hex') !== change.file.sha256) {
    throw changedFileError(change.file.name);
  }
  const { branch, github } = target;
  const { message, path, replaces } = change;
  onWrite('A');
  return [{ item: change, result: await putFile(github, { branch, path, message, content, replaces }) }];
}

/** Method B. A blob that the host refuses stops no other file; where git is installed, git is used for all. */
async function writeObjects(
  changes: readonly FileChange[],
  { target, sentBlobs, useGit, onWrite }: WriterState,
  ports: Ports,
): Promise<Commits> {
  const blobs = await forEachItem(changes, (change) => sendBlobs(change, target, sentBlobs, ports));
  const refused = blobs.filter(({ result }) => hasFailed(result) && result.code === 'TOO_LARGE');
  if (refused.length > 0 && useGit !== null && (await hasGit(ports.signal))) {
    ports.logger.info('the host refuses a blob of this size: using git instead');
    return useGit(changes);
  }
  const ready = blobs.flatMap(({ item, result }) => (hasSucceeded(result) ? [item] : []));
  const readHead = () => readTargetHead(target);
  if (ready.length > 0) onWrite('B');
  const commits =
    ready.length === 0 ? [] : await commitChanges(target.github, target.branch, ready, readHead);
  return [
    ...pairUp(ready, commits),
    ...blobs.flatMap((blob) => {
      if (!hasFailed(blob.result)) return [];
      return {
        item: blob.item,
        result: refused.includes(blob) && useGit !== null ? noGitError() : blob.result,
      };
    }),
  ];
}

/** A blob is named by its content, so it is sent only once. */
async function sendBlobs(
  change: FileChange,
  { github }: CommitTarget,
  sentBlobs: Set<string>,
  ports: Ports,
): Promise<void> {
  for (const { file } of pathChangesOf(change)) {
    if (file === null || sentBlobs.has(file.blobSha)) continue;
    await createBlob(github, file, ports);
    sentBlobs.add(file.blobSha);
  }
}

/** Method C; its code is loaded only where it is needed. */
async function writeWithGit(
  changes: readonly FileChange[],
  author: CommitIdentity,
  { target, onWrite }: Pick<WriterState, 'target' | 'onWrite'>,
  ports: Ports,
): Promise<Commits> {
  const { github, branch, serverUrl, setup = false } = target;
  const createsBranch = setup && (await readTargetHead(target)) === null;
  const { pushChanges } = await import(/* webpackMode: "eager" */ '../../github/git/push.ts');
  const remote = new URL(`/${github.repository.owner}/${github.repository.repo}.git`, serverUrl);
  const push = { remote, token: github.token, branch, changes, author, createsBranch };
  onWrite('C');
  const commits = await nameMovedRepository(github, () => pushChanges(push, ports));
  return pairUp(changes, commits);
}

/** The commits of a chain, which has one commit for each change in the changes' order. */
function pairUp(changes: readonly FileChange[], commits: readonly string[]): Commits {
  return changes.map((item, at) => ({ item, result: commits[at] ?? '' }));
}
