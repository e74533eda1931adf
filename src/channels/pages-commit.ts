import { aftermath } from '../abort.ts';
import { asDeliveryError, DeliveryError, hasFailed, type Settled, settled } from '../errors.ts';
import type { GitHub } from '../github/client.ts';
import { blobAt, lastCommitAt } from '../github/contents.ts';
import { appeared, type Change } from '../github/git-data.ts';
import { standingAt } from '../github/standing.ts';
import { pooled } from '../pool.ts';
import type { Ports } from '../ports.ts';
import { BATCH } from '../protocol/limits.ts';
import { TRAILER } from '../protocol/words.ts';
import { retrying } from '../retry.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { baseName } from '../rules/naming.ts';
import { createWriter, type Method } from './pages-writer.ts';

/** The branch, and how it is written to. */
export interface Committing {
  readonly github: GitHub;
  readonly branch: string;
  readonly method: Method;
  /** Essence of the commit messages. */
  readonly essence: string;
  /** Whether what was not delivered by this tool may be replaced or taken away. */
  readonly overwrite: boolean;
  /** Where git finds the repository. */
  readonly serverUrl: URL;
}

/** What is to become of one path. */
export interface Wish {
  readonly path: string;
  /** What is to stand there; `null` to take away what does. */
  readonly file: LocalFile | null;
}

/** A path that is as it was wished. */
export interface Committed {
  /** The commit that made it so; absent where nothing ever stood there. */
  readonly commitSha?: string;
  /** `false` when it was so already. */
  readonly written: boolean;
}

/** What a wish comes upon: it is fulfilled, needs a change, or must not be fulfilled. */
export type Seen = Settled<Committed | Change>;

export const isChange = (seen: Seen): seen is Change => 'replaces' in seen;

/**
 * Every wish in a commit of its own, all of them in one update of the branch. Each attempt looks first:
 * what an earlier one has committed is not committed again.
 *
 * @param onReplace is told of what will be replaced, before it is
 * @returns by wish; `NOT_OURS` where somebody else's file stands
 */
export async function commitAll(
  wishes: readonly Wish[],
  where: Committing,
  ports: Ports,
  onReplace: (path: string) => Promise<void> = async () => undefined,
): Promise<readonly Settled<Committed>[]> {
  const write = createWriter(where, ports);
  const sent = new Set<string>();
  let known: readonly Seen[] | null = null;
  try {
    return await retrying(ports, async () => {
      const seen = known ?? (await lookAt(wishes, where, sent));
      known = null;
      const changes = seen.filter(isChange);
      const replacing = changes.filter(({ replaces, path }) => replaces !== null && !sent.has(path));
      await pooled(replacing, BATCH.reads, ({ path }) => onReplace(path));
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
    return whatArrived(wishes, where, sent, asDeliveryError(thrown), ports);
  }
}

/**
 * Whether what was seen need not be looked for again: the host has refused the write because the branch moved,
 * and without a sha it overwrites nothing. Where many write at once this saves half of all calls.
 */
function isStillTrue(thrown: unknown, changes: readonly Change[], { method }: Committing): boolean {
  const { code, httpCode } = asDeliveryError(thrown);
  const moved = code === 'CONFLICT' && httpCode === 409;
  return moved && method === 'A' && changes.every(({ replaces, file }) => replaces === null && file !== null);
}

function committed(commitSha: Settled<string> | undefined): Settled<Committed> {
  if (commitSha === undefined) return new DeliveryError('INTERNAL', 'no commit was made');
  return hasFailed(commitSha) ? commitSha : { commitSha, written: true };
}

/** After a stop: an answer that nobody waited for may have been a yes. */
async function whatArrived(
  wishes: readonly Wish[],
  where: Committing,
  sent: ReadonlySet<string>,
  stop: DeliveryError,
  ports: Ports,
): Promise<readonly Settled<Committed>[]> {
  const github = where.github.under(aftermath(ports).signal);
  const seen = await settled(() => lookAt(wishes, { ...where, github }, sent));
  if (hasFailed(seen)) throw stop;
  return seen.map((one) => (isChange(one) ? stop : one));
}

/** What committing the wishes would come upon: the first line of each message, or what holds already. */
export async function foreseeAll(
  wishes: readonly Wish[],
  where: Committing,
  asItIs: (fulfilled: Committed) => string,
): Promise<readonly Settled<string>[]> {
  const seen = await lookAt(wishes, where);
  return seen.map((one) => {
    if (hasFailed(one)) return one;
    return isChange(one) ? (one.message.split('\n')[0] ?? '') : asItIs(one);
  });
}

/** @param sent paths that an earlier attempt may have changed */
export async function lookAt(
  wishes: readonly Wish[],
  where: Committing,
  sent: ReadonlySet<string> = new Set(),
): Promise<readonly Seen[]> {
  const { github, branch } = where;
  const paths = wishes.map(({ path }) => path);
  const standing = await standingAt(github, branch, paths);
  return pooled(wishes, BATCH.reads, async (wish): Promise<Seen> => {
    const blob = standing.get(wish.path) ?? null;
    return hasFailed(blob) ? blob : judge(wish, blob, where, sent.has(wish.path));
  });
}

async function judge(
  { path, file }: Wish,
  blob: string | null,
  where: Committing,
  sent: boolean,
): Promise<Seen> {
  const { github, branch, essence, overwrite } = where;
  const removing = file === null;
  if (blob === null && removing && !sent) return { written: false };
  const last = blob === null && !removing ? null : await lastCommitAt(github, { branch, path });
  if (blob === (file?.blobSha ?? null) && last !== null) {
    // The branch may have moved between the two looks: that commit must hold what was seen.
    const held = await settled(() => blobAt(github, { branch: last.sha, path }));
    if (hasFailed(held)) return held;
    if (held !== blob) throw appeared(path);
    return { commitSha: last.sha, written: sent };
  }
  if (blob !== null && last?.ours !== true && !overwrite) return notOurs(path, removing);
  const verb = removing ? 'REMOVE' : blob === null ? 'ADD' : 'UPDATE';
  const message = `${verb} ${baseName(path)}: ${essence}\n\n${TRAILER}`;
  return { path, message, replaces: blob, file };
}

/** @see protocol 7 (prohibition 4) */
function notOurs(path: string, removing: boolean): DeliveryError {
  const to = removing ? 'take away' : 'replace';
  return new DeliveryError(
    'NOT_OURS',
    `${path} already stands in the repository and was not delivered by this action`,
    { hint: `set \`path:\` to a place of its own, or \`overwrite: true\` if the file is yours to ${to}` },
  );
}
