import type { CommitSummary } from '../../github/api/history.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import type { Change } from '../../github/change.ts';
import { namedLine } from '../../plain-text.ts';
import { isFolderPath } from '../../rules/naming.ts';
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
import { isComparedPicture, listPicturePaths } from './pictures.ts';
import { isRemoval, type PagesTask } from './target.ts';

/** What the branch holds at the item's path in one commit, and who owns it. */
interface ItemState extends BranchTree {
  /** Paths that this tool delivered: they may be replaced, and removed if they aren't wanted. */
  readonly owned: ReadonlySet<string>;
  /** The last commit that touched the path; absent if nothing was ever there. */
  readonly last?: CommitSummary | null | undefined;
  readonly writes?: Change['writes'];
  readonly removals?: readonly string[];
  readonly removedFolders?: readonly string[];
  readonly named?: Pick<DeliveryMessage, 'removed' | 'removedFrom'>;
  readonly notes?: readonly string[];
}

export interface PlannedItem {
  readonly task: PagesTask;
  /** The commit of the comparison, the same for one update; `null` if the branch is missing. */
  readonly head: string | null;
  readonly change?: Change;
  readonly commitSha?: string | undefined;
  readonly siteChanges: SiteChanges;
  readonly treeSha?: string | undefined;
  readonly notes?: readonly string[];
}

export interface ComparedItem extends PlannedItem {
  readonly placement: Placement;
}

/** The folder where GitHub obeys special files during a build. A deployment only serves them. */
const builtRoot = ({ destination: { builtBy, siteRoot } }: PagesTask): string | null =>
  builtBy === 'deployment' ? null : siteRoot;

/** Whether a path may not be removed, because it affects the whole site or repository. */
export const isProtected = (task: PagesTask, path: string): boolean =>
  !task.target.options.overwrite && findEffect(path, builtRoot(task)) !== undefined;

function describeSpecial(task: PagesTask, paths: readonly string[]): readonly string[] {
  const special = paths.flatMap((path) => {
    const effect = findEffect(path, builtRoot(task));
    return effect === undefined ? [] : [`${path} (${effect})`];
  });
  const what = task.target.options.overwrite ? 'removed too' : 'not removed, because that needs `overwrite`';
  return namedLine(what, special);
}

/** What to do with a path: if this tool delivered it, if others did, or if `overwrite` allows it. */
const ACTIONS = {
  absent: { owned: 'add', foreign: 'add', overwritten: 'add' },
  same: { owned: 'keep', foreign: 'leave', overwritten: 'take over' },
  different: { owned: 'replace', foreign: 'refuse', overwritten: 'replace' },
  unwanted: { owned: 'remove', foreign: 'refuse', overwritten: 'remove' },
} as const;

type Actions = (typeof ACTIONS)[keyof typeof ACTIONS];
type Action = Actions[keyof Actions] | 'spare' | 'protect';

/** Sorts paths by action. @throws {DeliveryError} `NOT_OURS` that names the paths that may not change */
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
    const found = compare(path, wanted.get(path));
    if (found === 'unwanted' && !isPruned) return 'spare';
    const action = ACTIONS[found][owned.has(path) ? 'owned' : overwrite ? 'overwritten' : 'foreign'];
    return action === 'remove' && isProtected(task, path) ? 'protect' : action;
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

/** Git's history of a path skips commits that don't change it. To take over an identical file, remove it first. */
function listRenewed(itemPath: string, pathsTo: PathsTo): readonly string[] {
  const takenPaths = pathsTo('take over');
  if (!isFolderPath(itemPath)) return takenPaths;
  // One is enough, and none is needed if the commit changes the folder anyway.
  return pathsTo('add', 'replace', 'remove').length === 0 ? takenPaths.slice(0, 1) : [];
}

/** Plans the commit. @throws {DeliveryError} `NOT_OURS`: one refused file refuses the whole item */
export function planChange(task: PagesTask, state: ItemState): PlannedItem {
  const { itemPath, target } = task;
  const common = { essence: target.options.essence, deliverer: target.options.deliverer };
  const { writes = [], removals = [], removedFolders = [], notes = [], named } = state;
  const pathsTo = sortByAction(task, state);
  const [removedPaths, takenPaths] = [pathsTo('remove'), pathsTo('take over')];
  const writtenPaths = new Set(pathsTo('add', 'replace'));
  const { verb, delivered, kept } = describeItem(task, state, pathsTo);
  const message = formatCommitMessage(itemPath, {
    ...{ ...common, verb, delivered },
    ...(named ?? { removed: delivered ? removedFolders : removedPaths }),
  });
  const renewed = listRenewed(itemPath, pathsTo);
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
      ...describeSpecial(task, [...removedPaths, ...pathsTo('protect'), ...removals]),
      ...namedLine('taken over, although their owner was unknown', takenPaths),
      ...notes,
    ],
  };
}

/** Describes this tool's files after the commit, and the other ones; empty for a removal. */
function describeItem(
  task: PagesTask,
  { entries, writes = [] }: ItemState,
  pathsTo: PathsTo,
): Pick<DeliveryMessage, 'verb' | 'delivered'> & { readonly kept: readonly TreeFile[] } {
  const { itemPath, files } = task;
  if (isRemoval(task)) return { verb: 'REMOVE', kept: [] };
  const wanted = new Map(files.map(({ path, file }) => [path, file.blobSha]));
  const unchangedPaths = pathsTo('keep', 'take over', 'spare', 'protect');
  const isNew = [...unchangedPaths, ...pathsTo('replace', 'remove')].length === 0;
  const isFolder = isFolderPath(itemPath);
  const paths = isFolder ? [...pathsTo('add', 'replace'), ...unchangedPaths] : [...wanted.keys()];
  const kept = isFolder ? listKept({ entries }, itemPath, new Set([...paths, ...pathsTo('remove')])) : [];
  // Files for the whole site stay when the delivery ends.
  const shared = writes.flatMap(({ path, file }) =>
    path.startsWith(itemPath) ? { path: path.slice(itemPath.length), sha: file.blobSha } : [],
  );
  const treeFiles = paths.map((path) => ({ path, sha: wanted.get(path) ?? entries.get(path)?.sha ?? '' }));
  const delivered = describeDelivered(itemPath, treeFiles, [...kept, ...shared]);
  const { page } = task.destination;
  const named = page === pageOfDelivered({ itemPath }) ? delivered : { ...delivered, page };
  return { verb: isNew ? 'ADD' : 'UPDATE', delivered: named, kept };
}

function listChanges({ itemPath, pictures, destination }: PagesTask, pathsTo: PathsTo) {
  const picturePaths = pictures === undefined ? [] : listPicturePaths(destination.entryPath);
  const list = (action: Action): readonly string[] =>
    pathsTo(action)
      .filter((path) => !picturePaths.includes(path) && !isComparedPicture(path))
      .map((path) => path.slice(itemPath.length));
  return { added: list('add'), changed: list('replace'), removed: list('remove') };
}
