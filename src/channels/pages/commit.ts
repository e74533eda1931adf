import { mapConcurrently, withCleanupSignal } from '../../async.ts';
import {
  DeliveryError,
  hasFailed,
  hasSucceeded,
  type Result,
  resultOf,
  toDeliveryError,
} from '../../errors.ts';
import { findBranchHead } from '../../github/api/existing-blobs.ts';
import type { FileChange } from '../../github/api/git-data.ts';
import type { LastCommit } from '../../github/api/history.ts';
import { forEachItem, type ItemResult } from '../../item-results.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { createBranchReader } from './branch-reader.ts';
import { type CommitTarget, createCommitWriter } from './commit-methods.ts';
import { formatCommitMessage, isOwnedFile, notOwnedError } from './ownership.ts';

/** A path that should hold a file, or nothing. */
export interface WantedFile {
  readonly path: string;
  /** `null` to remove what exists there. */
  readonly file: LocalFile | null;
}

/** A path that is as wanted. */
export interface CommitResult {
  /** The commit that made it so; absent where nothing ever existed. */
  readonly commitSha?: string;
  /** `false` when it was so already. */
  readonly written: boolean;
}

/** What a path needs: nothing more, a change, or it must not be changed. */
type PathState = ItemResult<WantedFile, CommitResult | FileChange>;

export const isChange = (state: CommitResult | FileChange): state is FileChange => 'replaces' in state;

const changeIn = ({ result }: PathState): FileChange[] =>
  hasSucceeded(result) && isChange(result) ? [result] : [];

/**
 * Makes a commit for each file that needs one, all of them in one update of the branch. Each attempt compares
 * first: what an earlier one has committed is not committed again.
 *
 * @param onReplace is called with each path that will be replaced, before it is
 * @returns `NOT_OURS` for a path with a file that this tool did not deliver; an error says whether anything
 * may have been written
 */
export async function commitFiles(
  wanted: readonly WantedFile[],
  target: CommitTarget,
  ports: Ports,
  onReplace: (path: string) => Promise<void> = async () => undefined,
): Promise<readonly ItemResult<WantedFile, CommitResult>[]> {
  const write = createCommitWriter(target, ports);
  const sent = new Set<string>();
  let known: readonly PathState[] | null = null;
  try {
    return await withRetries(ports, async () => {
      const states = known ?? (await comparePaths(wanted, target, sent));
      known = null;
      const changes = states.flatMap(changeIn);
      const replacing = changes.filter(({ replaces, path }) => replaces !== null && !sent.has(path));
      await mapConcurrently(replacing, BATCH.reads, ({ path }) => onReplace(path));
      if (changes.length === 0) return withCommits(states, new Map());
      for (const { path } of changes) sent.add(path);
      const commits = await write(changes).catch((thrown: unknown) => {
        known = isStillTrue(thrown, changes, target) ? states : null;
        throw thrown;
      });
      return withCommits(states, new Map(commits.map(({ item, result }) => [item, result])));
    });
  } catch (thrown) {
    const error = toDeliveryError(thrown);
    if (sent.size === 0) throw error.withLeftBehind([]);
    if (!ports.signal.aborted) throw error;
    return findArrived(wanted, target, { sent, stop: error }, ports);
  }
}

/**
 * Whether the comparison need not be repeated: the host refused the write because the branch moved, and a
 * write without a sha replaces nothing. With many writers at once this saves half of all calls.
 */
function isStillTrue(thrown: unknown, changes: readonly FileChange[], { method }: CommitTarget): boolean {
  const { code, httpCode } = toDeliveryError(thrown);
  const branchMoved = code === 'CONFLICT' && httpCode === 409;
  return (
    branchMoved && method === 'A' && changes.every(({ replaces, file }) => replaces === null && file !== null)
  );
}

function withCommits(
  states: readonly PathState[],
  commits: ReadonlyMap<FileChange, Result<string>>,
): readonly ItemResult<WantedFile, CommitResult>[] {
  return states.map(({ item, result }) => {
    if (hasFailed(result)) return { item, result: result.withLeftBehind([]) };
    if (!isChange(result)) return { item, result };
    const commitSha = commits.get(result) ?? new DeliveryError('INTERNAL', 'no commit was made');
    return { item, result: hasFailed(commitSha) ? commitSha : { commitSha, written: true } };
  });
}

/** After a stop, the branch may hold a commit whose answer did not arrive. */
async function findArrived(
  wanted: readonly WantedFile[],
  target: CommitTarget,
  { sent, stop }: { readonly sent: ReadonlySet<string>; readonly stop: DeliveryError },
  ports: Ports,
): Promise<readonly ItemResult<WantedFile, CommitResult>[]> {
  const github = target.github.withSignal(withCleanupSignal(ports).signal);
  const states = await resultOf(() => comparePaths(wanted, { ...target, github }, sent));
  if (hasFailed(states)) throw stop;
  return states.map(({ item, result }) => ({
    item,
    result: hasSucceeded(result) && isChange(result) ? stop : result,
  }));
}

/**
 * Compares paths with the branch, all in the same commit of it.
 *
 * @param sent paths that an earlier attempt may have changed
 */
export async function comparePaths(
  wanted: readonly WantedFile[],
  target: CommitTarget,
  sent: ReadonlySet<string> = new Set(),
): Promise<readonly PathState[]> {
  const { github, branch } = target;
  // After a write, what a cache of the host still tells of the branch may be old.
  const reader = sent.size === 0 ? target.reader : createBranchReader();
  const head = await findBranchHead(github, branch);
  // The first file of an empty repository can be written by method A.
  if (head === null) return forEachItem(wanted, async (one) => comparePath(one, NOTHING, target, false));
  const existing = await reader.getBlobs(
    github,
    head,
    wanted.map(({ path }) => path),
  );
  const touched = wanted.filter(
    ({ path, file }) => typeof existing.get(path) === 'string' || (file === null && sent.has(path)),
  );
  const commits = await reader.getCommits(
    github,
    head,
    touched.map(({ path }) => path),
  );
  return forEachItem(wanted, async (one) => {
    const blob = existing.get(one.path) ?? null;
    if (hasFailed(blob))
      throw one.file === null && blob.code === 'NOT_OURS' ? folderRemovalError(one.path) : blob;
    return comparePath(one, { blob, last: commits.get(one.path) ?? null }, target, sent.has(one.path));
  });
}

function folderRemovalError(path: string): DeliveryError {
  return new DeliveryError('NOT_OURS', `${path} is not a file of the repository`, {
    hint: `set \`path:\` to one file; \`path: ${path}/\` removes everything that was delivered below that folder`,
  });
}

/** What a path holds: git's id of its bytes, and the last commit that touched it. */
interface ExistingFile {
  readonly blob: string | null;
  readonly last: LastCommit | null;
}

const NOTHING: ExistingFile = { blob: null, last: null };

function comparePath(
  { path, file }: WantedFile,
  { blob, last }: ExistingFile,
  { essence, overwrite }: CommitTarget,
  wasSent: boolean,
): CommitResult | FileChange {
  const blobSha = file?.blobSha ?? null;
  if (blob === null && blobSha === null && !wasSent) return { written: false };
  if (blob === blobSha && last !== null) return { commitSha: last.sha, written: wasSent };
  if (blob !== null && !overwrite && !isOwnedFile(last?.message ?? '', blob, path)) {
    throw notOwnedError(path, file === null);
  }
  const message = formatCommitMessage({ path, blobSha, replaces: blob !== null, essence });
  return { path, message, replaces: blob, file };
}
