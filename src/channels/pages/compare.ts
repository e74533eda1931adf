import { DeliveryError } from '../../errors.ts';
import type { LastCommit } from '../../github/api/history.ts';
import type { Change } from '../../github/change.ts';
import { nameFew } from '../../plain-text.ts';
import type { Text } from '../../words.ts';
import type { SiteChanges } from '../site-changes.ts';
import { type BranchTree, type EarlierFiles, filesBelow } from './branch-reader.ts';
import { listKept } from './claims.ts';
import { describeDelivered, formatCommitMessage, parseMessage } from './commit-message.ts';
import { isPictureOf, listPicturePaths } from './pictures.ts';
import { type CommitMethod, isFolderPath, isRemoval, type PagesTask } from './target.ts';

type CommitWords = Pick<LastCommit, 'sha' | 'message'>;

/** What the branch has at a place, all of it in the same commit, and whose it is. */
interface PlaceState extends BranchTree {
  /** The paths that hold what this tool delivered: what may be replaced, and what goes where it is not wanted. */
  readonly owned: ReadonlySet<string>;
  /** The last commit that touched the place; absent where nothing ever existed. */
  readonly last?: CommitWords | null | undefined;
  /** What the commit of a folder writes and removes beside its files. */
  readonly beside?: Partial<Pick<Change, 'writes' | 'removals'>>;
  /** The folders whose deliveries are removed. */
  readonly removedFolders?: readonly string[];
}

/** What a place of the branch needs: a change, or nothing more. */
export interface ComparedPlace {
  readonly task: PagesTask;
  /** The commit that it was compared with, the same for all that is written together; `null` for no branch yet. */
  readonly head: string | null;
  /** Absent where the place is as wanted. */
  readonly change?: Change;
  /** The commit that made it so; absent where nothing ever existed. */
  readonly commitSha?: string | undefined;
  /** How this delivery made it so; absent where it was so already. */
  readonly writtenBy?: CommitMethod | undefined;
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
  /** Of what is removed: the other files of the branch, which may be served at its addresses. */
  readonly rest?: BranchTree['entries'];
  /** Of a folder that is removed: what of it stays. */
  readonly unknown?: readonly string[];
}

/** Sorts the paths of a place by what becomes of them. @throws {DeliveryError} `NOT_OURS` that names what others have there */
function sortByChange(task: PagesTask, { entries, owned, last }: PlaceState) {
  const { place, target, files } = task;
  const { overwrite, prune } = target.options;
  const existing = filesBelow({ entries }, place);
  const wanted = new Map(files.map(({ path, file }) => [path, file]));
  const isSame = (path: string): boolean => {
    const { sha, mode } = existing.get(path) ?? {};
    return sha === wanted.get(path)?.blobSha && mode === '100644';
  };
  const named = isRemoval(task) ? [place] : [...wanted.keys()];
  const differing = named.filter((path) => existing.has(path) && !isSame(path));
  const foreign = overwrite ? [] : differing.filter((path) => !owned.has(path));
  if (foreign.length > 0) throw notOwnedError(task, foreign, last?.message);
  const added = named.filter((path) => wanted.has(path) && !existing.has(path));
  const changed = differing.filter((path) => wanted.has(path));
  const stays = named.filter((path) => owned.has(path) && isSame(path));
  const vanished = [...new Set([...differing, ...owned])].filter((path) => !wanted.has(path));
  const goes = !isFolderPath(place) || isRemoval(task) || prune;
  const own = isFolderPath(place) ? [...added, ...changed, ...stays, ...(goes ? [] : vanished)] : named;
  return {
    ...{ added, changed, removed: goes ? vanished : [] },
    /** What the place has of this tool after that; of a file it is the first, as `describeDelivered` needs it. */
    delivered: own.map((path) => ({
      path,
      sha: wanted.get(path)?.blobSha ?? existing.get(path)?.sha ?? '',
    })),
    isAdded: changed.length + stays.length + vanished.length === 0,
    replaces: existing.get(place)?.sha ?? null,
  };
}

/**
 * The commit that a place needs, if any, and what it changes. All or nothing: one file that may not be replaced refuses
 * all.
 *
 * @throws {DeliveryError} `NOT_OURS` that names what others have there
 */
export function planChange(
  task: PagesTask,
  state: PlaceState,
): Pick<ComparedPlace, 'task' | 'head' | 'change' | 'commitSha' | 'changes' | 'treeSha'> {
  const { place, target, files } = task;
  const { beside: { writes = [], removals = [] } = {}, removedFolders = [] } = state;
  const sorted = sortByChange(task, state);
  const { added, changed, removed } = sorted;
  const isGone = isRemoval(task);
  const own = new Set([...sorted.delivered.map(({ path }) => path), ...removed]);
  const kept = isFolderPath(place) && !isGone ? listKept(state, place, own) : [];
  // What is for the whole site is no part of the delivery, and stays when that ends.
  const shared = writes
    .filter(({ path }) => path.startsWith(place))
    .map(({ path, file }) => ({ path: path.slice(place.length), sha: file.blobSha }));
  const delivered = isGone ? undefined : describeDelivered(place, sorted.delivered, [...kept, ...shared]);
  const isNew = new Set([...added, ...changed]);
  const message = formatCommitMessage(place, {
    verb: isGone ? 'REMOVE' : sorted.isAdded ? 'ADD' : 'UPDATE',
    essence: target.options.essence,
    confinedTo: target.options.confinement?.owner,
    delivered,
    removed: isGone ? removedFolders : [],
  });
  const change = {
    message,
    writes: [...files.filter(({ path }) => isNew.has(path)), ...writes],
    removals: [...removed, ...removals],
    replaces: sorted.replaces,
  };
  const hasWork = change.writes.length + change.removals.length > 0;
  return {
    task,
    head: state.head,
    ...(hasWork && { change }),
    commitSha: state.last?.sha,
    changes: { ...listChanges(task, sorted), kept: kept.map(({ path }) => path), removedFolders },
    treeSha: delivered?.object,
  };
}

/** As a person reads them: the pictures of a page are no files of theirs. */
function listChanges(
  { place, pictures, destination }: PagesTask,
  sorted: Pick<SiteChanges, 'added' | 'changed' | 'removed'>,
) {
  const own = pictures === undefined ? [] : listPicturePaths(destination.path);
  const listWithin = (paths: readonly string[]): string[] =>
    paths
      .filter((path) => !own.includes(path))
      .map((path) => path.slice(isFolderPath(place) ? place.length : 0));
  return {
    added: listWithin(sorted.added),
    changed: listWithin(sorted.changed),
    removed: listWithin(sorted.removed),
  };
}

/**
 * Why a place is not touched: what others have there.
 *
 * @param paths what it holds of others
 * @param message of the last commit that touched the place
 * @see protocol 7 (prohibition 4)
 */
function notOwnedError(task: PagesTask, paths: readonly string[], message = ''): DeliveryError {
  const { place, target, pictures, destination } = task;
  const picture = pictures && paths.find((path) => isPictureOf(path, destination.path));
  if (picture !== undefined) {
    return notOursError(
      `${picture}, where the picture goes, already exists in the repository, and it is no picture that this tool took of the page`,
      (w) => `set ${w.input('picture', 'false')}, or ${w.input('overwrite', 'true')} to replace it`,
    );
  }
  const isFolder = isFolderPath(place);
  const isThere = `${place || './'} already exists in the repository, and`;
  if (!isFolder && target.options.confinement !== undefined) {
    return notOursError(
      `${isThere} what it holds now was not delivered by the same confined job`,
      (w) => `set ${w.input('name')} to another name`,
    );
  }
  const verb = isRemoval(task) ? 'remove' : 'replace';
  const { place: whole = place } = parseMessage(message)?.delivered ?? {};
  if (isFolderPath(whole) && whole !== place && place.startsWith(whole)) {
    return notOursError(
      `${isThere} it came with the folder ${whole || './'} that was delivered as a whole`,
      (w) =>
        `deliver the folder again with what you want, set ${w.input('path', whole || './')} to withdraw all of it, or ${w.input('overwrite', 'true')} if you may ${verb} ${place} alone`,
    );
  }
  const within = paths.map((path) => path.slice(place.length));
  return notOursError(
    isFolder
      ? `the folder ${place || './'} of the repository has files that this tool did not deliver: ${nameFew(within)}`
      : `${isThere} this tool did not deliver what it holds now`,
    (w) =>
      `set ${w.input('path')} to ${isFolder ? 'a folder of its own' : 'another place'}, or ${w.input('overwrite', 'true')} if you may ${verb} ${isFolder ? 'these files' : 'that file'}`,
  );
}

/** A file is in the place of a folder, or the other way round: that is never replaced. */
export const blockedError = (folder: string, paths: readonly string[]): DeliveryError =>
  notOursError(
    `the folder ${folder || './'} of the repository can not hold the site: a file of others is in the place of a folder, or a folder in that of a file: ${nameFew(paths)}`,
    (w) => `set ${w.input('path')} to a folder of its own`,
  );

const notOursError = (message: string, hint: Text): DeliveryError =>
  new DeliveryError('NOT_OURS', message, { hint, leftBehind: [] });
