import { mapConcurrently, withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf, toDeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { getBlobSha, getLastCommit } from '../../github/api/contents.ts';
import { getExistingBlobs } from '../../github/api/existing-blobs.ts';
import { type FileChange, pathChangedError } from '../../github/api/git-data.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import { TRAILER } from '../../protocol/words.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { baseName } from '../../rules/naming.ts';
import { type CommitMethod, createCommitWriter } from './commit-methods.ts';

/** The branch, and how it is written to. */
export interface CommitTarget {
  readonly github: GitHubClient;
  readonly branch: string;
  readonly method: CommitMethod;
  /** Essence of the commit messages. */
  readonly essence: string;
  /** Whether what was not delivered by this tool may be replaced or taken away. */
  readonly overwrite: boolean;
  /** Where git finds the repository. */
  readonly serverUrl: URL;
}

/** What is to become of one path. */
export interface WantedFile {
  readonly path: string;
  /** What is to stand there; `null` to take away what does. */
  readonly file: LocalFile | null;
}

/** A path that is as it was wished. */
export interface CommitResult {
  /** The commit that made it so; absent where nothing ever stood there. */
  readonly commitSha?: string;
  /** `false` when it was so already. */
  readonly written: boolean;
}

/** What a wish comes upon: it is fulfilled, needs a change, or must not be fulfilled. */
export type PathState = Result<CommitResult | FileChange>;

export const isChange = (seen: PathState): seen is FileChange => 'replaces' in seen;

/**
 * Every wish in a commit of its own, all of them in one update of the branch. Each attempt looks first:
 * what an earlier one has committed is not committed again.
 *
 * @param onReplace is told of what will be replaced, before it is
 * @returns by wish; `NOT_OURS` where somebody else's file stands
 */
export async function commitFiles(
  wishes: readonly WantedFile[],
  where: CommitTarget,
  ports: Ports,
  onReplace: (path: string) => Promise<void> = async () => undefined,
): Promise<readonly Result<CommitResult>[]> {
  const write = createCommitWriter(where, ports);
  const sent = new Set<string>();
  let known: readonly PathState[] | null = null;
  try {
    return await withRetries(ports, async () => {
      const seen = known ?? (await comparePaths(wishes, where, sent));
      known = null;
      const changes = seen.filter(isChange);
      const replacing = changes.filter(({ replaces, path }) => replaces !== null && !sent.has(path));
      await mapConcurrently(replacing, BATCH.reads, ({ path }) => onReplace(path));
      for (const { path } of changes) sent.add(path);
      // What stands there already, or is somebody else's, costs no upload.
      const commits =
        changes.length === 0
          ? []
          : await write(changes).catch((thrown: unknown) => {
              known = isStillTrue(thrown, changes, where) ? seen : null;
              throw thrown;
            });
      return seen.map((one) => (isChange(one) ? committed(commits[changes.indexOf(one)]) : one));
    });
  } catch (thrown) {
    if (!ports.signal.aborted || sent.size === 0) throw thrown;
    return findArrived(wishes, where, sent, toDeliveryError(thrown), ports);
  }
}

/**
 * Whether what was seen need not be looked for again: the host has refused the write because the branch moved,
 * and without a sha it overwrites nothing. Where many write at once this saves half of all calls.
 */
function isStillTrue(thrown: unknown, changes: readonly FileChange[], { method }: CommitTarget): boolean {
  const { code, httpCode } = toDeliveryError(thrown);
  const moved = code === 'CONFLICT' && httpCode === 409;
  return moved && method === 'A' && changes.every(({ replaces, file }) => replaces === null && file !== null);
}

function committed(commitSha: Result<string> | undefined): Result<CommitResult> {
  if (commitSha === undefined) return new DeliveryError('INTERNAL', 'no commit was made');
  return hasFailed(commitSha) ? commitSha : { commitSha, written: true };
}

/** After a stop: an answer that nobody waited for may have been a yes. */
async function findArrived(
  wishes: readonly WantedFile[],
  where: CommitTarget,
  sent: ReadonlySet<string>,
  stop: DeliveryError,
  ports: Ports,
): Promise<readonly Result<CommitResult>[]> {
  const github = where.github.withSignal(withCleanupSignal(ports).signal);
  const seen = await resultOf(() => comparePaths(wishes, { ...where, github }, sent));
  if (hasFailed(seen)) throw stop;
  return seen.map((one) => (isChange(one) ? stop : one));
}

/** What committing the wishes would come upon: the first line of each message, or what holds already. */
export async function previewCommits(
  wishes: readonly WantedFile[],
  where: CommitTarget,
  asItIs: (fulfilled: CommitResult) => string,
): Promise<readonly Result<string>[]> {
  const seen = await comparePaths(wishes, where);
  return seen.map((one) => {
    if (hasFailed(one)) return one;
    return isChange(one) ? (one.message.split('\n')[0] ?? '') : asItIs(one);
  });
}

/** @param sent paths that an earlier attempt may have changed */
export async function comparePaths(
  wishes: readonly WantedFile[],
  where: CommitTarget,
  sent: ReadonlySet<string> = new Set(),
): Promise<readonly PathState[]> {
  const { github, branch } = where;
  const paths = wishes.map(({ path }) => path);
  const standing = await getExistingBlobs(github, branch, paths);
  return mapConcurrently(wishes, BATCH.reads, async (wish): Promise<PathState> => {
    const blob = standing.get(wish.path) ?? null;
    return hasFailed(blob) ? blob : comparePath(wish, blob, where, sent.has(wish.path));
  });
}

async function comparePath(
  { path, file }: WantedFile,
  blob: string | null,
  where: CommitTarget,
  sent: boolean,
): Promise<PathState> {
  const { github, branch, essence, overwrite } = where;
  const removing = file === null;
  if (blob === null && removing && !sent) return { written: false };
  const last = blob === null && !removing ? null : await getLastCommit(github, { branch, path });
  if (blob === (file?.blobSha ?? null) && last !== null) {
    // The branch may have moved between the two looks: that commit must hold what was seen.
    const held = await resultOf(() => getBlobSha(github, { branch: last.sha, path }));
    if (hasFailed(held)) return held;
    if (held !== blob) throw pathChangedError(path);
    return { commitSha: last.sha, written: sent };
  }
  if (blob !== null && last?.owned !== true && !overwrite) return notOwnedError(path, removing);
  const verb = removing ? 'REMOVE' : blob === null ? 'ADD' : 'UPDATE';
  const message = `${verb} ${baseName(path)}: ${essence}\n\n${TRAILER}`;
  return { path, message, replaces: blob, file };
}

/** @see protocol 7 (prohibition 4) */
function notOwnedError(path: string, removing: boolean): DeliveryError {
  const to = removing ? 'take away' : 'replace';
  return new DeliveryError(
    'NOT_OURS',
    `${path} already stands in the repository and was not delivered by this action`,
    { hint: `set \`path:\` to a place of its own, or \`overwrite: true\` if the file is yours to ${to}` },
  );
}
