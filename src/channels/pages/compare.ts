import { hasFailed, type Result, resultOf } from '../../errors.ts';
import type { LastCommit } from '../../github/api/history.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import type { Change } from '../../github/change.ts';
import type { GitBlob } from '../../rules/fingerprint.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import type { SiteChanges } from '../site-changes.ts';
import { describeDelivered, formatCommitMessage } from './commit-message.ts';
import { notOwnedError } from './not-ours.ts';
import { isOwned } from './ownership.ts';
import { listPicturePaths } from './pictures.ts';
import { readTargetHead } from './read-target.ts';
import { type CommitTarget, isRemoval, type PagesTask } from './target.ts';

/** By path in the branch: what was there before, the newest first; nothing for a new file. */
export type EarlierFiles = ReadonlyMap<string, readonly GitBlob[]>;

/** What the branch has at a place, all of it in the same commit, and whose it is. */
interface PlaceState {
  /** By path. The mode is empty where it is not known who made what is there so. */
  readonly existing: ReadonlyMap<string, GitBlob & { readonly mode: string }>;
  /** The paths that hold what this tool delivered: what may be replaced, and what goes where it is not wanted. */
  readonly owned: ReadonlySet<string>;
  /** The last commit that touched the place; absent where nothing ever existed. */
  readonly last?: CommitWords | null | undefined;
  /** Of a folder: what else it has; and what its commit does beside. */
  readonly folder?: {
    listKept(delivered: ReadonlySet<string>): readonly TreeFile[];
    readonly beside: Pick<Change, 'writes' | 'removals'>;
    /** The folders whose deliveries are removed. */
    readonly removedFolders: readonly string[];
    /** What `beside` or an earlier delivery removes. */
    readonly gone: EarlierFiles;
  };
}

type CommitWords = Pick<LastCommit, 'sha' | 'message'>;

/** What a place of the branch needs: a change, or nothing more. */
export interface ComparedPlace {
  /** Absent where the place is as wanted. */
  readonly change?: Change;
  /** The commit that made it so; absent where nothing ever existed. */
  readonly commitSha?: string | undefined;
  /** The newest delivery of this tool to it. */
  readonly replaced?: CommitWords | undefined;
  /** What caches may still have of the files that are delivered. */
  readonly earlier: EarlierFiles;
  /** Paths within the folder. */
  readonly changes: SiteChanges;
  /** What must not be served any more, by path in the branch. */
  readonly gone: EarlierFiles;
  /** Git's id of the files of a folder as a tree. */
  readonly treeSha?: string | undefined;
  /** Of a folder that is delivered: bytes of all that Pages serves. */
  readonly servedSize?: number;
  /** Of a folder that is removed: whether Markdown of it was served as pages. */
  readonly isRendered?: boolean;
  /** Of a folder that is removed: what of it stays. */
  readonly unknown?: readonly string[];
}

/** What some places need, all compared with the same commit of the branch. */
export interface BranchComparison {
  /** The commit; `null` where the branch does not exist yet. */
  readonly head: string | null;
  /** In the order of the tasks. */
  readonly places: readonly Result<ComparedPlace>[];
}

/**
 * Compares a place with what it is to hold. All or nothing: one file that may not be replaced refuses all of it.
 *
 * @returns without what was there earlier, which only a delivery has
 * @throws {DeliveryError} `NOT_OURS` that names what others have there
 */
export function comparePlace(task: PagesTask, state: PlaceState): ComparedPlace {
  const { place, target, files } = task;
  const { essence, confinement } = target.options;
  const { existing, folder } = state;
  const { added, changed, removed, delivered, isAdded } = sortByChange(task, state);
  const kept = folder?.listKept(new Set([...delivered.map(({ path }) => path), ...removed])) ?? [];
  const object = isRemoval(task) ? undefined : describeDelivered(place, delivered, kept);
  const { beside, removedFolders = [] } = folder ?? {};
  const isNew = new Set([...added, ...changed]);
  const writes = [...files.filter(({ path }) => isNew.has(path)), ...(beside?.writes ?? [])];
  const removals = [...removed, ...(beside?.removals ?? [])];
  const message = formatCommitMessage(place, {
    verb: isRemoval(task) ? 'REMOVE' : isAdded ? 'ADD' : 'UPDATE',
    ...{ essence, confinedTo: confinement?.owner, delivered: object },
    removed: isRemoval(task) ? removedFolders : [],
  });
  // The pictures of a page are no files of the user.
  const pictures = task.pictures === undefined ? [] : listPicturePaths(task.destination.path);
  const within = (paths: readonly string[]): string[] =>
    paths.flatMap((path) => (pictures.includes(path) ? [] : [path.slice(folder ? place.length : 0)]));
  const held = [...removed].map((path) => [path, blobsOf(existing.get(path))] as const);
  return {
    ...(writes.length + removals.length > 0 && {
      change: { message, writes, removals, replaces: existing.get(place)?.sha ?? null },
    }),
    commitSha: state.last?.sha,
    earlier: new Map(),
    changes: {
      ...{ added: within(added), changed: within(changed), removed: within([...removed]), removedFolders },
      kept: kept.map(({ path }) => path),
    },
    gone: new Map([...held, ...(folder?.gone ?? [])]),
    treeSha: object?.object,
  };
}

/** The paths of a place by what becomes of them. @throws {DeliveryError} as `comparePlace` */
function sortByChange(task: PagesTask, { existing, owned, folder, last }: PlaceState) {
  const { place, target, files } = task;
  const { overwrite, prune } = target.options;
  const wanted = new Map(files.map(({ path, file }) => [path, file]));
  const isSame = (path: string): boolean => {
    const { sha, mode } = existing.get(path) ?? {};
    return sha === wanted.get(path)?.blobSha && mode === '100644';
  };
  // A file that is to be removed was named; of a folder, what others have there stays.
  const named = isRemoval(task) && folder === undefined ? [place] : [...wanted.keys()];
  const differing = named.filter((path) => existing.has(path) && !isSame(path));
  const foreign = overwrite ? [] : differing.filter((path) => !owned.has(path));
  if (foreign.length > 0) throw notOwnedError(task, foreign, last?.message);
  const added = named.filter((path) => wanted.has(path) && !existing.has(path));
  const changed = differing.filter((path) => wanted.has(path));
  const vanished = [...new Set([...differing, ...owned])].filter((path) => !wanted.has(path));
  const removed = new Set(isRemoval(task) || folder === undefined || prune ? vanished : []);
  const stays = named.filter((path) => owned.has(path) && isSame(path));
  const whole = folder === undefined ? named : [...added, ...changed, ...stays, ...vanished];
  const delivered = whole
    .filter((path) => !removed.has(path))
    .map((path) => ({ path, sha: wanted.get(path)?.blobSha ?? existing.get(path)?.sha ?? '' }));
  const isAdded = changed.length + stays.length + vanished.length === 0;
  return { added, changed, removed, delivered, isAdded };
}

const blobsOf = (held: GitBlob | undefined): readonly GitBlob[] =>
  held === undefined ? [] : [{ sha: held.sha, size: held.size }];

/**
 * Compares single files with the branch. Reads nothing but their paths, and those of the pictures that pages may have:
 * the page's own commit does not tell, because its bytes may be older, or newer, than its picture.
 *
 * @param sent what an earlier attempt may have changed
 */
export async function compareFiles(
  tasks: readonly PagesTask[],
  target: CommitTarget,
  sent: ReadonlySet<PagesTask>,
): Promise<BranchComparison> {
  const head = await readTargetHead(target);
  const own = new Set(tasks.flatMap(({ place, files }) => [place, ...files.map(({ path }) => path)]));
  // What is delivered may have been there before: a cache may still have it.
  const mayBeGone = new Set(tasks.flatMap((one) => (isRemoval(one) && !sent.has(one) ? [] : [one.place])));
  const found = await readPaths([...own], target, head, mayBeGone);
  // A new page has no picture, which spares its delivery two requests.
  const mayHavePicture = (task: PagesTask): boolean => {
    const page = found.get(task.place);
    return (
      isHtml(task.place) && (isRemoval(task) || (page && !hasFailed(page) && page.blob !== null) === true)
    );
  };
  const old = tasks.map((task) =>
    mayHavePicture(task) ? listPicturePaths(task.place).filter((path) => !own.has(path)) : [],
  );
  const pictures = await readPaths(old.flat(), target, head, new Set());
  const places = tasks.map((task, nth) =>
    resultOf(async () => compareFile(task, found, pictures, old[nth] ?? [])),
  );
  return { head, places: await Promise.all(places) };
}

/** What a path holds, and the last commit that touched it. */
interface HeldPath {
  readonly blob: string | null;
  readonly last: LastCommit | null;
}

/** A path that can't be read has its error. */
type HeldPaths = ReadonlyMap<string, Result<HeldPath>>;

/** @param mayBeGone the paths whose history is read even where nothing is there now */
async function readPaths(
  paths: readonly string[],
  { github, reader }: CommitTarget,
  head: string | null,
  mayBeGone: ReadonlySet<string>,
): Promise<HeldPaths> {
  if (head === null || paths.length === 0) return new Map();
  const blobs = await reader.getBlobs(github, head, paths);
  const touched = paths.filter((path) => typeof blobs.get(path) === 'string' || mayBeGone.has(path));
  const commits = await reader.getCommits(github, head, touched);
  return new Map(
    paths.map((path) => {
      const blob = blobs.get(path) ?? null;
      return [path, hasFailed(blob) ? blob : { blob, last: commits.get(path) ?? null }];
    }),
  );
}

/** @param old the paths that pictures of the page may have, beside those that are delivered */
function compareFile(
  task: PagesTask,
  found: HeldPaths,
  pictures: HeldPaths,
  old: readonly string[],
): ComparedPlace {
  const { place, files, target } = task;
  const existing = new Map<string, GitBlob & { readonly mode: string }>();
  const owned = new Set<string>();
  const confinedTo = target.options.confinement?.owner;
  const held = [place, ...files.map(({ path }) => path)].map((path) => [path, found.get(path)] as const);
  for (const [path, state] of [...held, ...old.map((path) => [path, pictures.get(path)] as const)]) {
    if (state === undefined) continue;
    // A folder is no picture; what can't be read may be one.
    if (hasFailed(state) && state.code === 'NOT_OURS' && old.includes(path)) continue;
    if (hasFailed(state)) throw state;
    const { blob: sha, last } = state;
    if (sha === null) continue;
    const size = last?.blobs.find((one) => one.sha === sha)?.size ?? 0;
    existing.set(path, { sha, size, mode: last === null ? '' : '100644' });
    const by = path === place ? { confinedTo } : { confinedTo, page: place };
    if (isOwned(last?.message ?? '', { path, sha }, by)) owned.add(path);
  }
  const page = found.get(place);
  const last = page && !hasFailed(page) ? page.last : null;
  const versions = new Map(last?.blobs.map((one) => [one.sha, one]));
  for (const { path, file } of files) if (path === place) versions.delete(file.blobSha);
  return {
    ...comparePlace(task, { existing, owned, last }),
    replaced: (owned.has(place) && last) || undefined,
    earlier: new Map([[place, [...versions.values()]]]),
  };
}
