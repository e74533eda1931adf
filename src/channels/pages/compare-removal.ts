import { DeliveryError } from '../../errors.ts';
import { parentFolders } from '../../github/api/branch.ts';
import { namedLine } from '../../plain-text.ts';
import { SITE } from '../../protocol/limits.ts';
import { refuseSpecialFile } from '../../rules/special-files.ts';
import { type BranchTree, blobsIn, filesBelow } from './branch-reader.ts';
import { pageOfDelivered } from './commit-message.ts';
import { type ComparedItem, isProtected, planChange } from './compare.ts';
import { listVanished, readBefore, readFolderInBranch } from './compare-folder.ts';
import { notOursError, notOwnedError, orOverwrite } from './not-ours.ts';
import {
  type FolderInBranch,
  findDeliveries,
  findSingleFiles,
  isFromSame,
  type OwnedSite,
} from './ownership.ts';
import { describeRemoved } from './placement.ts';
import { compareSweep } from './sweep.ts';
import type { PagesTask } from './target.ts';

/**
 * Compares a removed folder, without a URL with what the same workflow delivered below it; with `overwrite`, all of it.
 * @throws {DeliveryError} `NOT_OURS` if nothing was ours, or somebody changed the page
 */
export async function compareRemovedFolder(task: PagesTask): Promise<ComparedItem> {
  if (task.sweep !== undefined) return compareSweep(task, task.sweep);
  const folder = await readFolderInBranch(task);
  const { tree, last } = folder;
  const { destination } = task;
  const found = await findOwnBelow(task, folder);
  const { owned, unownedPaths, unsure } = found;
  if (found.changedPage !== undefined) throw changedPageError(task, found.changedPage);
  refuseAddress(task, folder, owned.size > 0 || unownedPaths.length > unsure.length);
  const { removedFolders, named, notes } = found;
  const planned = planChange(task, { ...tree, owned, last, removedFolders, named, notes });
  const removed = new Set(planned.change?.removals);
  // Until the next build, the site may still serve what an earlier run removed.
  const older = removed.size === 0 ? await readBefore(task.target, folder) : tree.entries;
  const vanished = await listOwnVanished(task, folder, older, unownedPaths.length > 0);
  if (found.isPartial && unsure.length > 0) throw partialError(task);
  const isNothing = owned.size + vanished.length === 0;
  if (isNothing && unownedPaths.length > 0) throw notOwnedError(task, unownedPaths, last);
  if (isNothing && found.leavesFiles) throw excludedError(task);
  // Removing only protected files would leave the folder served.
  const isNoneGone = removed.size + vanished.length === 0;
  for (const path of isNoneGone ? owned : []) refuseSpecialFile(path, destination.siteRoot);
  const rest = new Map([...tree.entries].filter(([path]) => !removed.has(path)));
  const removedBlobs = blobsIn([tree.entries, older], [...removed, ...vanished]);
  const placement = describeRemoved(planned, removedBlobs, rest);
  return { ...planned, placement: { ...placement, leavesFiles: found.leavesFiles } };
}

/** Lists what an earlier run removed. If others have files there, only known deliveries count. */
async function listOwnVanished(
  task: PagesTask,
  { tree, before }: FolderInBranch,
  older: BranchTree['entries'],
  isMixed: boolean,
): Promise<readonly string[]> {
  const vanished = listVanished(task, tree, older);
  if (vanished.length === 0 || !isMixed) return vanished;
  const then = { head: before ?? null, entries: older };
  const { owned } = await findOwnBelow(task, await findDeliveries(task.target, then, task.itemPath, true));
  return vanished.filter((path) => owned.has(path));
}

/** A URL removes only what was delivered there. @throws {DeliveryError} `NOT_OURS` */
function refuseAddress(
  { itemPath, target: { options }, destination }: PagesTask,
  { sites }: FolderInBranch,
  hasDelivered: boolean,
): void {
  if (options.address === undefined) return;
  if (options.overwrite && itemPath === destination.siteRoot) {
    throw notOursError(
      "this would remove the whole site, with files that this tool didn't deliver",
      (w) => `leave ${w.input('overwrite')} out, or set ${w.input('url')} to a page or a folder`,
    );
  }
  if (sites.has(itemPath) || !hasDelivered) return;
  throw notOursError(
    `the folder ${itemPath || './'} was not delivered as a whole`,
    (w) => `set ${w.input('url')} to the URL of a folder that was delivered in it`,
  );
}

const changedPageError = (task: PagesTask, page: string): DeliveryError =>
  notOursError(
    `somebody changed ${page}, so it would still open, and nothing was removed`,
    (w) => `leave it there${orOverwrite(w, 'if you may remove that page', task)}`,
  );

/** What stays might be of this tool, so the folder must not be reported as removed. */
const partialError = ({ itemPath }: PagesTask): DeliveryError =>
  notOursError(
    `${itemPath || './'} may contain more deliveries than one run finds, so nothing was removed`,
    (w) => `withdraw each delivery in it by its own ${w.input('path')}`,
  );

function excludedError({ itemPath }: PagesTask): DeliveryError {
  const message = `the \`!\` lines exclude all of ${itemPath || './'}, so nothing is left to remove`;
  return new DeliveryError('BAD_INPUT', message, { hint: 'remove or correct one of them', leftBehind: [] });
}

const pathsOf = (sites: readonly OwnedSite[]): readonly string[] =>
  sites.flatMap(({ files }) => files.map(({ path }) => path));

async function findOwnBelow(task: PagesTask, folder: FolderInBranch) {
  const { itemPath, target } = task;
  // A URL means one delivery, so others below it stay.
  const isMeant = (message: string): boolean =>
    target.options.address === undefined && isFromSame(message, target.options);
  const goes = ({ record }: OwnedSite): boolean => record.itemPath === itemPath || isMeant(record.message);
  const { overwrite } = target.options;
  const all = [...folder.sites.values()];
  const going = all.filter(goes);
  const owned = new Set(pathsOf(going).filter((path) => !task.isSpared(path)));
  const existing = filesBelow(folder.tree, itemPath);
  const spared = [...existing.keys()].filter(task.isSpared);
  const others = [...existing.keys()].filter((path) => !owned.has(path) && !task.isSpared(path));
  const singles = others.filter((path) => (folder.isPartial && !overwrite) || folder.singles.has(path));
  const single = overwrite ? new Map<string, string>() : await findSingleFiles(target, folder.tree, singles);
  const isOthers = (path: string): boolean => !isMeant(single.get(path) ?? '');
  const ofOthers = [...single.keys()].filter(isOthers);
  const ownSingles = overwrite ? singles : [...single.keys()].filter((path) => !isOthers(path));
  const taken = overwrite ? others.filter((path) => existing.get(path)?.type === 'blob') : ownSingles;
  for (const path of taken) owned.add(path);
  const unownedPaths = others.filter((path) => !owned.has(path));
  const staying = all.filter((site) => !goes(site));
  const known = new Set([...ofOthers, ...pathsOf(staying)]);
  const origin =
    target.options.address === undefined ? 'somebody else delivered it' : 'it is a delivery of its own';
  const unsure = unownedPaths.filter((path) => !known.has(path));
  return {
    ...nameRemoved(task, folder, going, { ownSingles, taken }),
    owned,
    unownedPaths,
    leavesFiles: spared.length + unsure.length > 0,
    isPartial: !overwrite && (folder.isPartial || singles.length > SITE.singleFiles),
    unsure,
    changedPage: going
      .flatMap(({ record, changed }) => changed.filter((path) => path === pageOfDelivered(record.delivered)))
      .find((page) => unownedPaths.includes(page)),
    notes: [
      ...namedLine('excluded, so still there', spared),
      ...namedLine(
        'still there, because somebody changed it since, or no known delivery contains it',
        unsure,
      ),
      ...namedLine(`still there, because ${origin}`, [
        ...staying.map(({ record }) => record.itemPath),
        ...ofOthers,
      ]),
    ],
  };
}

/** Names what the commit removes, without deliveries that somebody else already emptied. */
function nameRemoved(
  task: PagesTask,
  { isDelivered }: FolderInBranch,
  going: readonly OwnedSite[],
  { ownSingles, taken }: Readonly<Record<'ownSingles' | 'taken', readonly string[]>>,
) {
  const { itemPath, target } = task;
  const { overwrite } = target.options;
  const listItemPaths = (isPart: boolean): readonly string[] =>
    going.flatMap(({ record, files }) => {
      const stays = files.filter(({ path }) => task.isSpared(path) || isProtected(task, path)).length;
      const goesAnyway = overwrite && !task.isSpared(record.itemPath);
      const isFound = goesAnyway || files.length > stays;
      return isFound && stays > 0 === isPart ? record.itemPath : [];
    });
  const files = ownSingles.filter((path) => !isProtected(task, path));
  const [ended, parts] = [listItemPaths(false), listItemPaths(true)];
  const removed = [...(isDelivered ? [] : [itemPath]), ...ended, ...files];
  // With `overwrite`, other files may be a part of a delivery around the folder.
  const isPart = itemPath !== '' && taken.length > ownSingles.length;
  const around = isPart ? ['', ...parentFolders(itemPath.slice(0, -1)).map((path) => `${path}/`)] : [];
  return { removedFolders: [...ended, ...parts], named: { removed, removedFrom: [...parts, ...around] } };
}
