import { hasFailed, hasSucceeded, type Result, resultOf } from '../../errors.ts';
import { putFile } from '../../github/api/contents.ts';
import { commitChanges, createBlob, type FileChange } from '../../github/api/git-data.ts';
import { noGitError } from '../../github/git/failures.ts';
import { hasGit } from '../../github/git/process.ts';
import type { Ports } from '../../ports.ts';
import { SIZE } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import type { CommitTarget } from './commit.ts';

/** The ways to commit. @see protocol 4.2, 8 */
export const COMMIT_METHODS = {
  A: 'method A, single-call write',
  B: 'method B, object API',
  C: "method C, git's own protocol",
} as const;

export type CommitMethod = keyof typeof COMMIT_METHODS;

/**
 * The way to commit: by the file's size, and many together through git, where there is one.
 *
 * @param files `null` for each that is taken away
 */
export function methodFor(files: readonly (LocalFile | null)[], hasGit: boolean): CommitMethod {
  if (files.length > 1) return hasGit ? 'C' : 'B';
  const size = files[0]?.size;
  if (size === undefined) return 'B';
  if (size <= SIZE.methodA) return 'A';
  return size <= SIZE.methodB ? 'B' : 'C';
}

/** The way for these files on this machine: it stays the same, however few of them need a change in the end. */
export async function chooseMethod(
  files: readonly (LocalFile | null)[],
  signal: AbortSignal,
): Promise<CommitMethod> {
  return methodFor(files, files.length > 1 && (await hasGit(signal)));
}

/** Writes changes to the branch; by change the commit's sha, or why there is none. */
export type CommitWriter = (changes: readonly FileChange[]) => Promise<readonly Result<string>[]>;

/** What does not depend on the branch is sent once, whatever attempts it takes. */
export function createCommitWriter(where: CommitTarget, ports: Ports): CommitWriter {
  const sent = new Set<string>();
  const ways: Readonly<Record<CommitMethod, CommitWriter>> = {
    A: async (changes) => {
      const [change] = changes;
      if (change?.file == null) return [];
      const content = Buffer.concat(await change.file.read().toArray());
      return [await putFile(where.github, { ...change, branch: where.branch, content })];
    },
    B: (changes) => writeByObjects(changes, where, sent, ports),
    C: (changes) => writeByGit(changes, where, ports),
  };
  return ways[where.method];
}

/** Method B: a blob that the host does not take stops no other file; git takes over where there is one. */
async function writeByObjects(
  changes: readonly FileChange[],
  where: CommitTarget,
  sent: Set<string>,
  ports: Ports,
): Promise<readonly Result<string>[]> {
  const blobs: Result<FileChange>[] = [];
  for (const change of changes) blobs.push(await resultOf(() => sendBlob(change, where, sent, ports)));
  const tooLarge = (one: Result<FileChange>): boolean => hasFailed(one) && one.code === 'TOO_LARGE';
  if (blobs.some(tooLarge) && (await hasGit(ports.signal))) {
    ports.logger.info('the host takes no blob of this size: git takes over');
    return writeByGit(changes, where, ports);
  }
  const ready = blobs.filter(hasSucceeded);
  const commits = ready.length === 0 ? [] : await commitChanges(where.github, where.branch, ready);
  return blobs.map((one) => {
    if (hasFailed(one)) return tooLarge(one) ? noGitError() : one;
    return commits[ready.indexOf(one)] ?? '';
  });
}

/** A blob is named by its content: what was sent once is there. */
async function sendBlob(
  change: FileChange,
  { github }: CommitTarget,
  sent: Set<string>,
  ports: Ports,
): Promise<FileChange> {
  const { file } = change;
  if (file === null || sent.has(file.blobSha)) return change;
  await createBlob(github, file, ports);
  sent.add(file.blobSha);
  return change;
}

/** Method C, loaded only where it is needed. */
async function writeByGit(
  changes: readonly FileChange[],
  { github, branch, serverUrl }: CommitTarget,
  ports: Ports,
): Promise<readonly string[]> {
  const { pushChanges } = await import(/* webpackMode: "eager" */ '../../github/git/push.ts');
  const remote = new URL(`/${github.repository.owner}/${github.repository.repo}.git`, serverUrl);
  return pushChanges({ remote, token: github.token, branch, changes }, ports);
}
