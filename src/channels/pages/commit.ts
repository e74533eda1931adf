import { mapConcurrently, withCleanupSignal } from '../../async.ts';
import {
  DeliveryError,
  hasFailed,
  hasSucceeded,
  type Result,
  resultOf,
  toDeliveryError,
} from '../../errors.ts';
import type { FileChange } from '../../github/api/git-data.ts';
import type { ItemResult } from '../../item-results.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import {
  type CommitMethod,
  type CommitTarget,
  type CommitWriter,
  createCommitWriter,
} from './commit-methods.ts';
import {
  type CommitResult,
  comparePaths,
  isChange,
  type PathState,
  type WantedFile,
} from './compare-paths.ts';

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
  let method: CommitMethod | undefined;
  const write = createCommitWriter(target, ports, (used) => {
    method = used;
  });
  const results = await commitInAttempts(wanted, target, { write, onReplace }, ports);
  return results.map(({ item, result }) =>
    hasFailed(result) || !result.written || method === undefined
      ? { item, result }
      : { item, result: { ...result, method } },
  );
}

async function commitInAttempts(
  wanted: readonly WantedFile[],
  target: CommitTarget,
  { write, onReplace }: { readonly write: CommitWriter; readonly onReplace: (path: string) => Promise<void> },
  ports: Ports,
): Promise<readonly ItemResult<WantedFile, CommitResult>[]> {
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
    branchMoved &&
    method === 'A' &&
    changes.every(
      ({ replaces, file, beside = [] }) => replaces === null && file !== null && beside.length === 0,
    )
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
