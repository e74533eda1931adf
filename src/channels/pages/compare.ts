import { DeliveryError } from '../../errors.ts';
import type { CommitWords } from '../../github/api/history.ts';
import type { Change } from '../../github/change.ts';
import { nameFew } from '../../plain-text.ts';
import { findEffect, refuseSpecialFile } from '../../rules/special-files.ts';
import type { Text } from '../../words.ts';
import type { Placement } from '../channel.ts';
import type { SiteChanges } from '../site-changes.ts';
import { type BranchTree, filesBelow, holdsFile } from './branch-reader.ts';
import { listKept } from './claims.ts';
import { describeDelivered, formatCommitMessage, parseMessage } from './commit-message.ts';
import type { PagesOptions } from './destination.ts';
import { isPictureOf, listPicturePaths } from './pictures.ts';
import { isFolderPath, isRemoval, type PagesTask } from './target.ts';

/** What the branch has at a place, all of it in the same commit, and whose it is. */
interface PlaceState extends BranchTree {
  /** The paths that hold what this tool delivered: what may be replaced, and what goes where it is not wanted. */
  readonly owned: ReadonlySet<string>;
  /** The last commit that touched the place; absent where nothing ever existed. */
  readonly last?: CommitWords | null | undefined;
  /** What the commit of a folder writes and removes beside its files. */
  readonly beside?: Pick<Change, 'writes' | 'removals'>;
  /** The folders whose deliveries are removed. */
  readonly removedFolders?: readonly string[];
}

/** What a place of the branch needs: a change, or nothing more. */
export interface PlannedPlace {
  readonly task: PagesTask;
  /** The commit that it was compared with, the same for all that is written together; `null` for no branch yet. */
  readonly head: string | null;
  /** Absent where the place is as wanted. */
  readonly change?: Change;
  /** The last commit that touched it; absent where nothing ever existed. */
  readonly commitSha?: string | undefined;
  /** Of a folder: paths within it. */
  readonly changes: SiteChanges;
  /** Git's id of the files of a folder as a tree. */
  readonly treeSha?: string | undefined;
  /** What of it was to go, and changes the site or the repository as a whole. */
  readonly notes?: readonly string[];
}

export interface ComparedPlace extends PlannedPlace {
  /** What is reported of it, as if nothing had to be written. */
  readonly placement: Placement;
}

/** The folder whose files GitHub obeys when it builds the site; what is deployed it only shows. */
const builtRoot = ({ destination: { builtBy, siteRoot } }: PagesTask): string | null =>
  builtBy === 'deployment' ? null : siteRoot;

/** Whether a path stays where it would go, because it changes the site or the repository as a whole. */
export const isHeld = (task: PagesTask, path: string): boolean =>
  !task.target.options.overwrite && findEffect(path, builtRoot(task)) !== undefined;

/** Names what of the paths that were to go changes the site or the repository as a whole. */
function describeSpecial(task: PagesTask, paths: readonly string[]): readonly string[] {
  const special = paths.flatMap((path) => {
    const effect = findEffect(path, builtRoot(task));
    return effect === undefined ? [] : [`${path} (${effect})`];
  });
  if (special.length === 0) return [];
  const what = task.target.options.overwrite ? 'removed too' : 'not removed, because that needs `overwrite`';
  return [`${what}: ${nameFew(special)}`];
}

/** Sorts the paths of a place by what becomes of them. @throws {DeliveryError} `NOT_OURS` that names what may not change */
function sortByChange(task: PagesTask, state: PlaceState) {
  const { place, target, files } = task;
  const { owned } = state;
  const { overwrite, prune } = target.options;
  const isGone = isRemoval(task);
  const existing = filesBelow(state, place);
  const wanted = new Map(files.map(({ path, file }) => [path, file.blobSha]));
  const isSame = (path: string): boolean => holdsFile(state, { path, sha: wanted.get(path) ?? '' });
  const named = isGone ? [place] : [...wanted.keys()];
  const differing = named.filter((path) => existing.has(path) && !isSame(path));
  const added = isGone ? [] : named.filter((path) => !existing.has(path));
  for (const path of overwrite ? [] : [...added, ...differing]) refuseSpecialFile(path, builtRoot(task));
  const foreign = overwrite ? [] : differing.filter((path) => !owned.has(path));
  if (foreign.length > 0) throw notOwnedError(task, foreign, state.last?.message);
  const changed = isGone ? [] : differing;
  const stays = named.filter((path) => owned.has(path) && isSame(path));
  const vanished = [...new Set([...differing, ...owned])].filter((path) => !wanted.has(path));
  const due = !isFolderPath(place) || isGone || prune ? vanished : [];
  const removed = new Set(due.filter((path) => !isHeld(task, path)));
  const left = vanished.filter((path) => !removed.has(path));
  const own = isFolderPath(place) ? [...added, ...changed, ...stays, ...left] : named;
  return {
    added,
    changed,
    removed: [...removed],
    due,
    /** What the place has of this tool after that; of a file it is the first, as `describeDelivered` needs it. */
    delivered: own.map((path) => ({ path, sha: wanted.get(path) ?? existing.get(path)?.sha ?? '' })),
    isAdded: changed.length + stays.length + vanished.length === 0,
    replaces: existing.get(place)?.sha ?? null,
  };
}

/**
 * The commit that a place needs, if any, and what it changes. All or nothing: one file that may not be replaced refuses
 * all. @throws {DeliveryError} `NOT_OURS` that names what may not change there
 */
export function planChange(task: PagesTask, state: PlaceState): PlannedPlace {
  const { place, target, files } = task;
  const { beside: { writes, removals } = { writes: [], removals: [] }, removedFolders = [] } = state;
  const { added, changed, removed, due, ...sorted } = sortByChange(task, state);
  const isGone = isRemoval(task);
  const own = new Set([...sorted.delivered.map(({ path }) => path), ...removed]);
  const kept = isFolderPath(place) && !isGone ? listKept(state, place, own) : [];
  // What is for the whole site is no part of the delivery, and stays when that ends.
  const shared = writes
    .filter(({ path }) => path.startsWith(place))
    .map(({ path, file }) => ({ path: path.slice(place.length), sha: file.blobSha }));
  const delivered = isGone ? undefined : describeDelivered(place, sorted.delivered, [...kept, ...shared]);
  const isNew = new Set([...added, ...changed]);
  const change = {
    message: formatCommitMessage(place, {
      verb: isGone ? 'REMOVE' : sorted.isAdded ? 'ADD' : 'UPDATE',
      essence: target.options.essence,
      from: target.options.from,
      owner: target.options.owner,
      delivered,
      removed: [...new Set([...(isGone ? [place] : []), ...removedFolders])],
    }),
    writes: [...files.filter(({ path }) => isNew.has(path)), ...writes],
    removals: [...removed, ...removals.filter((path) => !isHeld(task, path))],
    replaces: sorted.replaces,
  };
  const listed = {
    added: listFiles(task, added),
    changed: listFiles(task, changed),
    removed: listFiles(task, removed),
  };
  return {
    task,
    head: state.head,
    ...(change.writes.length + change.removals.length > 0 && { change }),
    commitSha: state.last?.sha,
    changes: { ...listed, kept: kept.map(({ path }) => path), removedFolders },
    treeSha: delivered?.object,
    notes: describeSpecial(task, [...due, ...removals]),
  };
}

/** As a person reads them: the pictures of a page are no files of theirs. */
function listFiles({ place, pictures, destination }: PagesTask, paths: readonly string[]): readonly string[] {
  const ofPage = pictures === undefined ? [] : listPicturePaths(destination.path);
  return paths.filter((path) => !ofPage.includes(path)).map((path) => path.slice(place.length));
}

/** Why a place is not touched. @param message of the last commit that touched it @see protocol 7 (prohibition 4) */
function notOwnedError(task: PagesTask, paths: readonly string[], message = ''): DeliveryError {
  const { place, target, pictures, destination } = task;
  const picture = pictures && paths.find((path) => isPictureOf(path, destination.path));
  if (picture !== undefined) {
    return notOursError(
      `${picture}, where the picture goes, already exists in the repository, and it is no picture that this tool took of the page`,
      (w) => `set ${w.input('picture', 'false')}, or ${w.input('overwrite', 'true')} to replace it`,
    );
  }
  if (target.options.owner !== undefined) return otherOwnerError(target.options, paths);
  const isFolder = isFolderPath(place);
  const partError = findPartError(task, message);
  if (partError !== null) return partError;
  const within = paths.map((path) => path.slice(place.length));
  return notOursError(
    isFolder
      ? `the folder ${place || './'} of the repository has files that this tool is not known to have delivered: ${nameFew(within)}`
      : isRemoval(task)
        ? `${place} was not delivered by this tool, so it was not removed`
        : `${place} already exists in the repository, and this tool did not deliver what it holds now`,
    (w) =>
      isRemoval(task)
        ? `leave it there, or set ${w.input('overwrite', 'true')} if you may remove that file`
        : `set ${w.input('path')} to ${isFolder ? 'a folder of its own' : 'another place'}, or ${w.input('overwrite', 'true')} if you may replace ${isFolder ? 'these files' : 'that file'}`,
  );
}

/** Why a file is not placed where a person's file has the address. @param isSafe whether its bytes tell which of both is served */
export function takenPageError(
  { place, target }: PagesTask,
  { rival, path }: { readonly rival: string; readonly path: string },
  isSafe = true,
): DeliveryError {
  const isConfined = target.options.confine !== undefined;
  return notOursError(`${rival} is on the branch, and Jekyll shows it where the page of ${path} goes`, (w) =>
    isConfined
      ? `set ${w.input('name')} to another name`
      : `set ${w.input('path')} to ${isFolderPath(place) ? 'a folder of its own' : 'another name'}, or ${isSafe ? `${w.input('overwrite', 'true')} if it may take that address` : `remove ${rival}`}`,
  );
}

/** Why a part of a folder is not touched alone; `null` for what was not delivered with one. @param message as above */
export function findPartError(task: PagesTask, message = ''): DeliveryError | null {
  const { place } = task;
  const { place: whole = place } = parseMessage(message)?.delivered ?? {};
  if (whole === place || !place.startsWith(whole)) return null;
  const [all, alone] = isRemoval(task) ? ['withdraw', 'remove'] : ['deliver', 'replace'];
  return notOursError(
    `${place} already exists in the repository, and it came with the folder ${whole || './'} that was delivered as a whole`,
    (w) =>
      `set ${w.input('path', whole || './')} to ${all} all of it, or ${w.input('overwrite', 'true')} if you may ${alone} ${place} alone`,
  );
}

/** What decides whose deliveries may be replaced and removed. */
export type DeliveryOwner = Pick<PagesOptions, 'owner' | 'from' | 'confine' | 'overwrite' | 'isRemoval'>;

/** An owner's delivery replaces and removes nothing of others. @param paths what they have there */
export function otherOwnerError(
  { owner, confine, isRemoval: isGone }: DeliveryOwner,
  paths: readonly string[],
): DeliveryError {
  const by = `was not delivered by ${confine === undefined ? owner : 'the same confined job'}`;
  const named = nameFew(paths.map((path) => path || './'));
  if (isGone) {
    return notOursError(
      `${named} ${by}, so nothing was removed`,
      (w) => `leave it there, or set ${w.input('overwrite', 'true')}`,
    );
  }
  return notOursError(`${named} already exists in the repository, and what it holds now ${by}`, (w) =>
    confine === undefined
      ? `leave out ${w.input('path')} for a place of its own, or set ${w.input('overwrite', 'true')}`
      : `set ${w.input('name')} to another name`,
  );
}

export const notOursError = (message: string, hint: Text): DeliveryError =>
  new DeliveryError('NOT_OURS', message, { hint, leftBehind: [] });
