import { createHash } from 'node:crypto';
import { forEachItem, type ItemResult } from '../../async.ts';
import { DeliveryError, hasFailed } from '../../errors.ts';
import { needsSignatures } from '../../github/api/branch.ts';
import { commitChanges, createBlob, putFile } from '../../github/api/git-data.ts';
import { nameMovedRepository } from '../../github/api/repository.ts';
import { type CommitIdentity, getCommitIdentity } from '../../github/api/token-owner.ts';
import type { Change } from '../../github/change.ts';
import { noGitError } from '../../github/git/failures.ts';
import { hasGit } from '../../github/git/process.ts';
import { SIGNATURE_HINT } from '../../github/hints.ts';
import type { Ports } from '../../ports.ts';
import { MEGABYTE, SITE, SIZE } from '../../protocol/limits.ts';
import { changedFileError } from '../../rules/opened-file.ts';
import { type CommitMethod, type CommitTarget, methodOf, readTargetHead } from './target.ts';

/** The commit of each change. */
type Commits = readonly ItemResult<Change, string>[];

/**
 * Writes changes to the branch: one commit each, all of them in one update, which is never forced.
 *
 * @param head the commit that they were planned for; `null` for a branch that does not exist yet
 * @returns an error for a change that stops no other
 * @throws {DeliveryError} `CONFLICT` where what was compared changed meanwhile: then nothing was written.
 */
export type ChangeWriter = (changes: readonly Change[], head: string | null) => Promise<Commits>;

/** What the methods share during all attempts. */
interface WriterState {
  readonly target: CommitTarget;
  readonly ports: Ports;
  /** Blobs that the host has already. */
  readonly sentBlobs: Set<string>;
  /** Is called with the method before it changes the branch: it may be another one than planned. */
  readonly onWrite: (method: CommitMethod) => void;
}

/**
 * Opens the branch for writing. What does not depend on the branch is sent once, however many attempts follow.
 *
 * @param onWrite is called with the method that changes the branch, before it does
 */
export function createChangeWriter(
  target: CommitTarget,
  ports: Ports,
  onWrite: WriterState['onWrite'] = () => undefined,
): ChangeWriter {
  const state = { target, ports, sentBlobs: new Set<string>(), onWrite };
  const useGit = createGitWriter(state);
  const writers: Readonly<Record<CommitMethod, ChangeWriter>> = {
    A: (changes) => writeContents(changes, state),
    B: (changes, head) => writeObjects(changes, head, state, useGit),
    C: useGit,
  };
  return (changes, head) => writers[methodOf(changes, target)](changes, head);
}

/** Method A: one file of at most 1 MB, in one call. */
async function writeContents(
  [change]: readonly Change[],
  { target: { branch, github }, onWrite }: WriterState,
): Promise<Commits> {
  const [write] = change?.writes ?? [];
  if (change === undefined || write === undefined) return [];
  const { path, file } = write;
  const content = Buffer.concat(await file.read().toArray());
  // The bytes sent are those that were checked, even if nothing showed that they changed.
  const sha = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
  if (sha !== file.blobSha) throw changedFileError(path);
  const { message, basis } = change;
  onWrite('A');
  const put = { branch, path, message, content, replaces: basis.get(path) ?? null };
  return [{ item: change, result: await putFile(github, put) }];
}

/** Method B. A blob that the host refuses stops no other change; where git is installed, git is used for all. */
async function writeObjects(
  changes: readonly Change[],
  head: string | null,
  state: WriterState,
  useGit: ChangeWriter | null,
): Promise<Commits> {
  const { target, ports } = state;
  const blobs = await forEachItem(changes, (change) => sendBlobs(change, state));
  const refused = blobs.filter(({ result }) => hasFailed(result) && result.code === 'TOO_LARGE');
  if (refused.length > 0 && useGit !== null && (await hasGit(ports.signal))) {
    ports.logger.info('the host refuses a blob of this size: using git instead');
    return useGit(changes, head);
  }
  const ready = blobs.flatMap(({ item, result }) => (hasFailed(result) ? [] : [item]));
  const failed = blobs.flatMap((blob) => {
    if (!hasFailed(blob.result)) return [];
    const result = refused.includes(blob) && useGit !== null ? noGitError() : blob.result;
    return [{ item: blob.item, result }];
  });
  if (ready.length === 0) return failed;
  state.onWrite('B');
  const readHead = () => readTargetHead(target);
  const commits = await commitChanges(target.github, ready, {
    branch: target.branch,
    planned: head,
    readHead,
  });
  return [...pairUp(ready, commits), ...failed];
}

/** A blob is named by its content, so it is sent only once. */
async function sendBlobs({ writes }: Change, { target, sentBlobs, ports }: WriterState): Promise<void> {
  for (const { file } of writes) {
    if (!sentBlobs.has(file.blobSha)) await createBlob(target.github, file, ports);
    sentBlobs.add(file.blobSha);
  }
}

/** By git; or by the object API, for the host's signature or because there is no git. */
type GitWay = 'git' | 'signed' | 'without-git';

async function findGitWay(
  { github, branch }: CommitTarget,
  { signal }: Pick<Ports, 'signal'>,
): Promise<GitWay> {
  if ((await needsSignatures(github, branch)) === true) return 'signed';
  return (await hasGit(signal)) ? 'git' : 'without-git';
}

/**
 * Method C, or the object API where git can not be used: GitHub signs what the token of a job or an app commits
 * there, and git cannot. What the branch asks for and who commits is read once.
 */
function createGitWriter(state: WriterState): ChangeWriter {
  const { target, ports } = state;
  let way: GitWay | undefined;
  let author: CommitIdentity | undefined;
  return async (changes, head) => {
    way ??= await findGitWay(target, ports);
    if (way === 'git') {
      author ??= await getCommitIdentity(target.github);
      try {
        return await writeWithGit(changes, head, state, author);
      } catch (thrown) {
        if (!(thrown instanceof DeliveryError) || thrown.code !== 'NEEDS_SIGNATURE') throw thrown;
        way = 'signed';
      }
    }
    return writeWithoutGit(changes, head, state, way);
  };
}

/** Method C; its code is loaded only where it is needed. */
async function writeWithGit(
  changes: readonly Change[],
  head: string | null,
  { target: { github, branch, serverUrl }, ports, onWrite }: WriterState,
  author: CommitIdentity,
): Promise<Commits> {
  const { pushChanges } = await import(/* webpackMode: "eager" */ '../../github/git/push.ts');
  const remote = new URL(`/${github.repository.owner}/${github.repository.repo}.git`, serverUrl);
  const push = { remote, token: github.token, branch, changes, author, createsBranch: head === null };
  onWrite('C');
  return pairUp(changes, await nameMovedRepository(github, () => pushChanges(push, ports)));
}

/** Method B for the changes that fit; of the others nothing is sent. */
async function writeWithoutGit(
  changes: readonly Change[],
  head: string | null,
  state: WriterState,
  way: Exclude<GitWay, 'git'>,
): Promise<Commits> {
  if (way === 'signed') {
    state.ports.logger.info('the branch takes signed commits only: using the object API instead of git');
  }
  const refused = changes.flatMap((item) => {
    const result = findExcess(item, state.target, way);
    return result === null ? [] : [{ item, result }];
  });
  const fitting = changes.filter((change) => !refused.some(({ item }) => item === change));
  return [...(await writeObjects(fitting, head, state, null)), ...refused];
}

/**
 * Whether a change could be written by git or instead of it, as far as that is known before.
 *
 * @throws {DeliveryError} `NEEDS_SIGNATURE` or `BAD_INPUT` as `createChangeWriter` would.
 */
export async function refuseUnwritable(
  change: Change,
  target: CommitTarget,
  ports: Pick<Ports, 'signal'>,
): Promise<void> {
  const way = await findGitWay(target, ports);
  const refusal = way === 'git' ? null : findExcess(change, target, way);
  if (refusal !== null) throw refusal;
}

/** Why the object API does not take a change: each of its files is a request. */
function findExcess(
  { writes }: Change,
  { branch }: CommitTarget,
  way: Exclude<GitWay, 'git'>,
): DeliveryError | null {
  const large = writes.find(({ file }) => file.size > SIZE.methodB);
  if (writes.length <= SITE.apiWrites && large === undefined) return null;
  const what = large === undefined ? `${writes.length} changed files` : `the large file ${large.path}`;
  const limit = `at most ${SITE.apiWrites} files of ${SIZE.methodB / MEGABYTE} MB`;
  if (way === 'without-git') {
    return new DeliveryError(
      'BAD_INPUT',
      `this delivery has ${what}, and no git (2.31 or later) is installed here: without it GitHub takes file by file, ${limit}`,
      { hint: (w) => `install git, or ${w.use('K2')} for a single file`, leftBehind: [] },
    );
  }
  return new DeliveryError(
    'NEEDS_SIGNATURE',
    `the branch ${branch} takes signed commits only, and this delivery has ${what}: GitHub signs only what is sent file by file, ${limit}`,
    { hint: SIGNATURE_HINT, leftBehind: [] },
  );
}

/** The commits of a chain, which has one commit for each change in the changes' order. */
const pairUp = (changes: readonly Change[], commits: readonly string[]): Commits =>
  changes.map((item, at) => ({ item, result: commits[at] ?? '' }));
