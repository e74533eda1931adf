import { DeliveryError } from '../../errors.ts';
import type { LastCommit } from '../../github/api/history.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import type { Change } from '../../github/change.ts';
import { nameFew } from '../../plain-text.ts';
import type { GitBlob } from '../../rules/fingerprint.ts';
import type { Text } from '../../words.ts';
import type { SiteChanges } from '../site-changes.ts';
import { describeDelivered, formatCommitMessage, parseMessage } from './commit-message.ts';
import { isPictureOf, listPicturePaths } from './pictures.ts';
import { isFolderPath, isRemoval, type PagesTask } from './target.ts';

/** By path in the branch: what was there before, the newest first; nothing for a new file. */
export type EarlierFiles = ReadonlyMap<string, readonly GitBlob[]>;

type CommitWords = Pick<LastCommit, 'sha' | 'message'>;
export type HeldFile = GitBlob & { readonly mode: string };

/** What the branch has at a place, all of it in the same commit, and whose it is. */
interface PlaceState {
  /** By path. The mode is empty where it is not known who made what is there so. */
  readonly existing: ReadonlyMap<string, HeldFile>;
  /** The paths that hold what this tool delivered: what may be replaced, and what goes where it is not wanted. */
  readonly owned: ReadonlySet<string>;
  /** The last commit that touched the place; absent where nothing ever existed. */
  readonly last?: CommitWords | null | undefined;
}

/** What a place of the branch needs: a change, or nothing more. */
export interface ComparedPlace {
  readonly task: PagesTask;
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
  /** Of what is removed: whether another file of the branch may be served at the address of a path. */
  readonly mayBeServed?: (path: string) => boolean;
  /** Of a folder that is removed: what of it stays. */
  readonly unknown?: readonly string[];
}

/** What becomes of the paths of a place. */
interface SortedPaths {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** What the place has of this tool after that. */
  readonly delivered: readonly TreeFile[];
  /** Whether it had nothing of this tool. */
  readonly isAdded: boolean;
}

/**
 * Sorts the paths of a place by what becomes of them. All or nothing: one file that may not be replaced refuses all.
 *
 * @throws {DeliveryError} `NOT_OURS` that names what others have there
 */
export function sortByChange(task: PagesTask, { existing, owned, last }: PlaceState): SortedPaths {
  const { place, target, files } = task;
  const { overwrite, prune } = target.options;
  const isFolder = isFolderPath(place);
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
  const vanished = [...new Set([...differing, ...owned])].filter((path) => !wanted.has(path));
  const removed = isFolder && !prune ? [] : vanished;
  const stays = named.filter((path) => owned.has(path) && isSame(path));
  const whole = isFolder ? [...added, ...changed, ...stays, ...(prune ? [] : vanished)] : named;
  const delivered = whole.map((path) => ({
    path,
    sha: wanted.get(path)?.blobSha ?? existing.get(path)?.sha ?? '',
  }));
  return {
    added,
    changed,
    removed,
    delivered,
    isAdded: changed.length + stays.length + vanished.length === 0,
  };
}

/** What the commit of a folder does beside its files. */
interface BesideFolder extends Partial<Pick<Change, 'writes' | 'removals'>> {
  /** What else the folder has. */
  readonly kept?: readonly TreeFile[];
  /** The folders whose deliveries are removed. */
  readonly removedFolders?: readonly string[];
}

/** The commit that a place needs, if any, and what it changes. */
export function planChange(
  task: PagesTask,
  { existing, last }: PlaceState,
  sorted: SortedPaths,
  beside: BesideFolder = {},
): Pick<ComparedPlace, 'task' | 'change' | 'commitSha' | 'changes' | 'treeSha'> {
  const { place, target, files } = task;
  const { essence, confinement } = target.options;
  const { kept = [], removedFolders = [], writes: besideWrites = [], removals = [] } = beside;
  // What is for the whole site is no part of the delivery, and stays when that ends.
  const shared = besideWrites
    .filter(({ path }) => path.startsWith(place))
    .map(({ path, file }) => ({ path: path.slice(place.length), sha: file.blobSha }));
  const isGone = isRemoval(task);
  const delivered = isGone ? undefined : describeDelivered(place, sorted.delivered, [...kept, ...shared]);
  const isNew = new Set([...sorted.added, ...sorted.changed]);
  const change = {
    message: formatCommitMessage(place, {
      verb: isGone ? 'REMOVE' : sorted.isAdded ? 'ADD' : 'UPDATE',
      essence,
      confinedTo: confinement?.owner,
      delivered,
      removed: isGone ? removedFolders : [],
    }),
    writes: [...files.filter(({ path }) => isNew.has(path)), ...besideWrites],
    removals: [...sorted.removed, ...removals],
    replaces: existing.get(place)?.sha ?? null,
  };
  const hasWork = change.writes.length + change.removals.length > 0;
  const changes = listChanges(task, sorted, beside);
  return { task, ...(hasWork && { change }), commitSha: last?.sha, changes, treeSha: delivered?.object };
}

/** What a person reads of it. The pictures of a page are no files of theirs. */
function listChanges(
  { place, pictures, destination }: PagesTask,
  { added, changed, removed }: SortedPaths,
  { kept = [], removedFolders = [] }: BesideFolder,
): SiteChanges {
  const own = pictures === undefined ? [] : listPicturePaths(destination.path);
  const within = (paths: readonly string[]): string[] =>
    paths.flatMap((path) => (own.includes(path) ? [] : [path.slice(isFolderPath(place) ? place.length : 0)]));
  return {
    added: within(added),
    changed: within(changed),
    removed: within(removed),
    kept: kept.map(({ path }) => path),
    removedFolders,
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
  if (isFolderPath(place)) {
    const within = paths.map((path) => path.slice(place.length));
    return notOursError(
      `the folder ${place || './'} of the repository has files that this tool did not deliver: ${nameFew(within)}`,
      (w) =>
        `set ${w.input('path')} to a folder of its own, or ${w.input('overwrite', 'true')} if you may replace these files`,
    );
  }
  const isThere = `${place} already exists in the repository, and`;
  if (target.options.confinement !== undefined) {
    return notOursError(
      `${isThere} what it holds now was not delivered by the same confined job`,
      (w) => `set ${w.input('name')} to another name`,
    );
  }
  const verb = isRemoval(task) ? 'remove' : 'replace';
  const { delivered } = parseMessage(message) ?? {};
  if (delivered === undefined || !isFolderPath(delivered.place)) {
    return notOursError(
      `${isThere} this tool did not deliver what it holds now`,
      (w) =>
        `set ${w.input('path')} to another place, or ${w.input('overwrite', 'true')} if you may ${verb} that file`,
    );
  }
  const folder = delivered.place || './';
  return notOursError(
    `${isThere} it came with the folder ${folder} that was delivered as a whole`,
    (w) =>
      `deliver the folder again with what you want, set ${w.input('path', folder)} to withdraw all of it, or ${w.input('overwrite', 'true')} if you may ${verb} that file alone`,
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
