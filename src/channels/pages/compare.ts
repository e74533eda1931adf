import type { CommitSummary } from '../../github/api/history.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import type { Change } from '../../github/change.ts';
import { namedLine } from '../../plain-text.ts';
import { findEffect, refuseSpecialFile } from '../../rules/special-files.ts';
import type { Placement } from '../channel.ts';
import type { SiteChanges } from '../site-changes.ts';
import { type BranchTree, holdsFile } from './branch-reader.ts';
import {
  type DeliveryMessage,
  describeDelivered,
  formatCommitMessage,
  pageOfDelivered,
} from './commit-message.ts';
import { listKept } from './delivery-records.ts';
import { notOwnedError } from './not-ours.ts';
import { listPicturePaths } from './pictures.ts';
import { isFolderPath, isRemoval, type PagesTask } from './target.ts';

/** What the branch has at a place, all of it in the same commit, and whose it is. */
interface ItemState extends BranchTree {
  /** The paths that hold what this tool delivered: what may be replaced, and what goes where it is not wanted. */
  readonly owned: ReadonlySet<string>;
  /** The last commit that touched the place; absent where nothing ever existed. */
  readonly last?: CommitSummary | null | undefined;
  /** What the commit of a folder writes and removes beside its files. */
  readonly writes?: Change['writes'];
  readonly removals?: readonly string[];
  readonly removedFolders?: readonly string[];
  /** What the commit of a removed folder says that it removes. */
  readonly named?: Pick<DeliveryMessage, 'removed' | 'removedFrom'>;
  readonly notes?: readonly string[];
}

/** What a place of the branch needs: a change, or nothing more. */
export interface PlannedItem {
  readonly task: PagesTask;
  /** The commit that it was compared with, the same for all that is written together; `null` for no branch yet. */
  readonly head: string | null;
  readonly change?: Change;
  /** The last commit that touched it; absent where nothing ever existed. */
  readonly commitSha?: string | undefined;
  readonly siteChanges: SiteChanges;
  readonly treeSha?: string | undefined;
  readonly notes?: readonly string[];
}

export interface ComparedItem extends PlannedItem {
  /** What is reported of it, as if nothing had to be written. */
  readonly placement: Placement;
}

/** The folder whose files GitHub obeys when it builds the site; what is deployed it only shows. */
const builtRoot = ({ destination: { builtBy, siteRoot } }: PagesTask): string | null =>
  builtBy === 'deployment' ? null : siteRoot;

/** Whether a path stays where it would go, because it changes the site or the repository as a whole. */
export const isProtected = (task: PagesTask, path: string): boolean =>
  !task.target.options.overwrite && findEffect(path, builtRoot(task)) !== undefined;

/** Names what of the paths that were to go changes the site or the repository as a whole. */
function describeSpecial(task: PagesTask, paths: readonly string[]): readonly string[] {
  const special = paths.flatMap((path) => {
    const effect = findEffect(path, builtRoot(task));
    return effect === undefined ? [] : [`${path} (${effect})`];
  });
  const what = task.target.options.overwrite ? 'removed too' : 'not removed, because that needs `overwrite`';
  return namedLine(what, special);
}

/** What is done with a path, by what the branch holds there: of this tool, of others, or of others with `overwrite`. */
const ACTIONS = {
  absent: ['add', 'add', 'add'],
  same: ['keep', 'leave', 'take over'],
  different: ['replace', 'refuse', 'replace'],
  unwanted: ['remove', 'refuse', 'remove'],
} as const;

type Action = (typeof ACTIONS)[keyof typeof ACTIONS][number] | 'spare' | 'hold';

/** Sorts the paths of a place by what is done with them. @throws {DeliveryError} `NOT_OURS` that names what may not change */
function sortByAction(task: PagesTask, state: ItemState) {
  const { itemPath, target, files } = task;
  const { entries, owned } = state;
  const { overwrite, prune } = target.options;
  const wanted = new Map(files.map(({ path, file }) => [path, file.blobSha]));
  const isPruned = isRemoval(task) || !isFolderPath(itemPath) || prune;
  const compare = (path: string, sha: string | undefined): keyof typeof ACTIONS => {
    if ((entries.get(path)?.type ?? 'tree') === 'tree') return 'absent';
    if (sha === undefined) return 'unwanted';
    return holdsFile(state, { path, sha }) ? 'same' : 'different';
  };
  const chooseAction = (path: string): Action => {
    const held = compare(path, wanted.get(path));
    if (held === 'unwanted' && !isPruned) return 'spare';
    const action = ACTIONS[held][owned.has(path) ? 0 : overwrite ? 2 : 1];
    return action === 'remove' && isProtected(task, path) ? 'hold' : action;
  };
  const named = isRemoval(task) && entries.has(itemPath) ? [itemPath] : [...wanted.keys()];
  const actions = new Map([...named, ...owned].map((path) => [path, chooseAction(path)]));
  const pathsTo = (...chosen: readonly Action[]): readonly string[] =>
    [...actions].flatMap(([path, action]) => (chosen.includes(action) ? path : []));
  const isChanged = (path: string): boolean => !['keep', 'leave'].includes(actions.get(path) ?? '');
  const isPart = isFolderPath(itemPath) && !isRemoval(task);
  for (const path of overwrite ? [] : named.filter(isChanged)) {
    refuseSpecialFile(path, builtRoot(task), isPart);
  }
  const refused = pathsTo('refuse');
  if (refused.length > 0) throw notOwnedError(task, refused, state.last);
  return pathsTo;
}

type PathsTo = ReturnType<typeof sortByAction>;

/**
 * The commit that a place needs, if any, and what it changes. All or nothing: one file that may not be replaced refuses
 * all. @throws {DeliveryError} `NOT_OURS` that names what may not change there
 */
export function planChange(task: PagesTask, state: ItemState): PlannedItem {
  const { itemPath, target } = task;
  const common = { essence: target.options.essence, from: target.options.deliverer };
  const { writes = [], removals = [], removedFolders = [], notes = [], named } = state;
  const pathsTo = sortByAction(task, state);
  const [removedPaths, takenPaths] = [pathsTo('remove'), pathsTo('take over')];
  const writtenPaths = new Set(pathsTo('add', 'replace'));
  const { verb, delivered, kept } = describeItem(task, state, pathsTo);
  const isFolder = isFolderPath(itemPath);
  const message = formatCommitMessage(itemPath, {
    ...{ ...common, verb, delivered },
    ...(named ?? { removed: delivered ? removedFolders : removedPaths }),
  });
  // The history of a path has only commits that change it: that of a single file or picture tells whose it is.
  const isUnchanged = writtenPaths.size + removedPaths.length === 0;
  const renewed = isFolder ? takenPaths.slice(0, isUnchanged ? 1 : 0) : takenPaths;
  const before = renewed[0] !== undefined && {
    message: formatCommitMessage(renewed[0], { ...common, verb: 'REMOVE', removed: renewed }),
    removals: renewed,
  };
  const change = {
    ...(before && { before }),
    message,
    writes: [...task.files.filter(({ path }) => writtenPaths.has(path) || renewed.includes(path)), ...writes],
    removals: [...removedPaths, ...removals.filter((path) => !isProtected(task, path))],
    replaces: state.entries.get(itemPath)?.sha ?? null,
  };
  return {
    task,
    head: state.head,
    ...(change.writes.length + change.removals.length > 0 && { change }),
    commitSha: state.last?.sha,
    siteChanges: { ...listChanges(task, pathsTo), kept: kept.map(({ path }) => path), removedFolders },
    treeSha: delivered?.object,
    notes: [
      ...describeSpecial(task, [...removedPaths, ...pathsTo('hold'), ...removals]),
      ...namedLine('taken over, as nothing told whose they are', takenPaths),
      ...notes,
    ],
  };
}

/** What a place has of this tool after its commit, and what else it has; nothing where it is removed. */
function describeItem(
  task: PagesTask,
  { entries, writes = [] }: ItemState,
  pathsTo: PathsTo,
): Pick<DeliveryMessage, 'verb' | 'delivered'> & { readonly kept: readonly TreeFile[] } {
  const { itemPath, files } = task;
  if (isRemoval(task)) return { verb: 'REMOVE', kept: [] };
  const wanted = new Map(files.map(({ path, file }) => [path, file.blobSha]));
  const unchangedPaths = pathsTo('keep', 'take over', 'spare', 'hold');
  const isNew = [...unchangedPaths, ...pathsTo('replace', 'remove')].length === 0;
  const isFolder = isFolderPath(itemPath);
  const paths = isFolder ? [...pathsTo('add', 'replace'), ...unchangedPaths] : [...wanted.keys()];
  const kept = isFolder ? listKept({ entries }, itemPath, new Set([...paths, ...pathsTo('remove')])) : [];
  // What is for the whole site is no part of the delivery, and stays when that ends.
  const shared = writes.flatMap(({ path, file }) =>
    path.startsWith(itemPath) ? { path: path.slice(itemPath.length), sha: file.blobSha } : [],
  );
  const treeFiles = paths.map((path) => ({ path, sha: wanted.get(path) ?? entries.get(path)?.sha ?? '' }));
  const delivered = describeDelivered(itemPath, treeFiles, [...kept, ...shared]);
  const { page } = task.destination;
  const named = page === pageOfDelivered({ itemPath }) ? delivered : { ...delivered, page };
  return { verb: isNew ? 'ADD' : 'UPDATE', delivered: named, kept };
}

/** Paths within the folder, as a person reads them: the pictures of a page are no files of theirs. */
function listChanges({ itemPath, pictures, destination }: PagesTask, pathsTo: PathsTo) {
  const picturePaths = pictures === undefined ? [] : listPicturePaths(destination.entryPath);
  const list = (action: Action): readonly string[] =>
    pathsTo(action).flatMap((path) => (picturePaths.includes(path) ? [] : path.slice(itemPath.length)));
  return { added: list('add'), changed: list('replace'), removed: list('remove') };
}
