import type { DeliveryError } from '../../errors.ts';
import { namedLine } from '../../plain-text.ts';
import { SITE } from '../../protocol/limits.ts';
import { refuseSpecialFile } from '../../rules/special-files.ts';
import { type BranchTree, blobsIn, filesBelow } from './branch-reader.ts';
import { pageOfDelivered } from './commit-message.ts';
import { type ComparedItem, isProtected, planChange } from './compare.ts';
import { listVanished, readBefore, readFolderInBranch } from './compare-folder.ts';
import { notOursError, notOwnedError } from './not-ours.ts';
import {
  type FolderInBranch,
  findDeliveries,
  findSingleFiles,
  isFromSame,
  type OwnedSite,
} from './ownership.ts';
import { describeRemoved } from './placement.ts';
import type { PagesTask } from './target.ts';

/**
 * A folder is removed with everything that the same workflow delivered below it; with `overwrite`, all that is there.
 *
 * @throws {DeliveryError} `NOT_OURS` if nothing of it is ours, or was, or somebody changed its page: it would still open
 */
export async function compareRemovedFolder(task: PagesTask): Promise<ComparedItem> {
  const folder = await readFolderInBranch(task);
  const { tree, last } = folder;
  const { itemPath, destination } = task;
  const found = await findOwnBelow(task, folder);
  const { owned, left } = found;
  if (found.changedPage !== undefined) throw changedPageError(found.changedPage);
  refuseAddress(task, folder, owned.size > 0);
  const { removedFolders, named, notes, unsure } = found;
  const planned = planChange(task, { ...tree, owned, last, removedFolders, named, notes });
  const removed = new Set(planned.change?.removals);
  // What an earlier run removed may be served until the site is built without it.
  const older = removed.size === 0 ? await readBefore(task.target, folder) : tree.entries;
  const vanished = await listOwnVanished(task, folder, older, left.length > 0);
  if (owned.size + vanished.length === 0 && left.length > 0) throw notOwnedError(task, left, last);
  // Where nothing else goes, all of the folder would still be served.
  const isNoneGone = removed.size + vanished.length === 0;
  for (const path of isNoneGone ? owned : []) refuseSpecialFile(path, destination.siteRoot);
  const rest = new Map([...tree.entries].filter(([path]) => !removed.has(path)));
  const more = isLimited(folder, left) ? ', or one run reads no more (try again)' : '';
  const why = `because somebody changed it since, or this tool did not deliver it${more}`;
  const unknown = namedLine(`what stays in ${itemPath || './'}, ${why}`, unsure);
  const gone = blobsIn([tree.entries, older], [...removed, ...vanished]);
  const placement = describeRemoved(planned, gone, rest, unknown);
  return { ...planned, placement: { ...placement, leavesFiles: found.leavesFiles } };
}

/** The files that an earlier run removed; beside files of others only those that are known to have been ours. */
async function listOwnVanished(
  task: PagesTask,
  { tree, before }: FolderInBranch,
  older: BranchTree['entries'],
  isMixed: boolean,
): Promise<readonly string[]> {
  const vanished = listVanished(task, tree, older);
  if (vanished.length === 0 || !isMixed) return vanished;
  const then = await findDeliveries(
    task.target,
    { head: before ?? null, entries: older },
    task.itemPath,
    true,
  );
  const { owned } = await findOwnBelow(task, then);
  return vanished.filter((path) => owned.has(path));
}

const isLimited = ({ sites }: FolderInBranch, left: readonly string[]): boolean =>
  left.length > SITE.singleFiles ||
  sites.size >= SITE.removals ||
  [...sites.values()].some(({ files, changed }) => files.length + changed.length === 0);

/** An address removes what was delivered there, and no more. @throws {DeliveryError} `NOT_OURS` */
function refuseAddress(
  { itemPath, target: { options }, destination }: PagesTask,
  { sites }: FolderInBranch,
  hasOwned: boolean,
): void {
  if (options.address === undefined) return;
  if (options.overwrite && itemPath === destination.siteRoot) {
    throw notOursError(
      'this would remove everything on the site, files of others as well',
      (w) => `leave ${w.input('overwrite')} out, or set ${w.input('url')} to a page or a folder`,
    );
  }
  if (sites.has(itemPath) || !hasOwned) return;
  throw notOursError(
    `the folder ${itemPath || './'} was not delivered itself`,
    (w) => `set ${w.input('url')} to the address of one of the folders that were delivered in it`,
  );
}

/** The address that was handed over would still open, with another page. */
const changedPageError = (page: string): DeliveryError =>
  notOursError(
    `somebody changed ${page}, so it would still open, and nothing was removed`,
    (w) => `set ${w.input('overwrite', 'true')} if you may remove that page`,
  );

/** What a folder has of this tool, however deep, and the files that it has besides. */
async function findOwnBelow(task: PagesTask, folder: FolderInBranch) {
  const { itemPath, target } = task;
  const goes = ({ record }: OwnedSite): boolean =>
    record.itemPath === itemPath || isFromSame(record.message, target.options);
  const all = [...folder.sites.values()];
  const going = all.filter(goes);
  const delivered = going.flatMap(({ files }) => files.map(({ path }) => path));
  const owned = new Set(delivered.filter((path) => !task.isSpared(path)));
  const existing = filesBelow(folder.tree, itemPath);
  const spared = [...existing.keys()].filter(task.isSpared);
  const others = [...existing.keys()].filter((path) => !owned.has(path) && !task.isSpared(path));
  const single = target.options.overwrite
    ? new Map(others.flatMap((path) => (existing.get(path)?.type === 'blob' ? [[path, '']] : [])))
    : await findSingleFiles(target, folder.tree, others);
  const isOthers = (path: string): boolean => !isFromSame(single.get(path) ?? '', target.options);
  const ofOthers = [...single.keys()].filter(isOthers);
  for (const path of single.keys()) if (!ofOthers.includes(path)) owned.add(path);
  const left = others.filter((path) => !owned.has(path));
  const staying = all.filter((site) => !goes(site));
  const known = new Set([...ofOthers, ...staying.flatMap(({ files }) => files.map(({ path }) => path))]);
  return {
    ...nameRemoved(task, folder, going, single),
    owned,
    left,
    leavesFiles: spared.length > 0,
    unsure: left.filter((path) => !known.has(path)),
    changedPage: going
      .flatMap(({ record, changed }) => changed.filter((path) => path === pageOfDelivered(record.delivered)))
      .find((page) => left.includes(page)),
    notes: [
      ...namedLine('left out, and so still there', spared),
      ...namedLine('still there, because another workflow delivered it', [
        ...staying.map(({ record }) => record.itemPath),
        ...ofOthers,
      ]),
    ],
  };
}

/** What the commit says that it removes: never a delivery of which somebody else removed everything before. */
function nameRemoved(
  task: PagesTask,
  { isDelivered }: FolderInBranch,
  going: readonly OwnedSite[],
  single: ReadonlyMap<string, string>,
) {
  const { itemPath, target } = task;
  const listItemPaths = (isPart: boolean): readonly string[] =>
    going.flatMap(({ record, files }) => {
      const stays = files.filter(({ path }) => task.isSpared(path) || isProtected(task, path)).length;
      const isFound = target.options.overwrite || files.length > stays;
      return isFound && stays > 0 === isPart ? record.itemPath : [];
    });
  // With `overwrite` nobody looked who delivered a file: an audit asks for its last commit.
  const files = [...single].flatMap(([path, message]) =>
    message !== '' && isFromSame(message, target.options) && !isProtected(task, path) ? path : [],
  );
  const [ended, removedFrom] = [listItemPaths(false), listItemPaths(true)];
  const removed = [...(isDelivered ? [] : [itemPath]), ...ended, ...files];
  return { removedFolders: [...ended, ...removedFrom], named: { removed, removedFrom } };
}
