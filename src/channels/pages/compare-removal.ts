import type { DeliveryError } from '../../errors.ts';
import { nameFew } from '../../plain-text.ts';
import { SITE } from '../../protocol/limits.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import { refuseSpecialFile } from '../../rules/special-files.ts';
import type { Words } from '../../words.ts';
import { blobsIn, filesBelow } from './branch-reader.ts';
import { type ComparedPlace, planChange } from './compare.ts';
import { listVanished, readBefore, readFolderInBranch } from './compare-folder.ts';
import { findPartError, notOursError, otherOwnerError, rewrittenError } from './not-ours.ts';
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
export async function compareRemovedFolder(task: PagesTask): Promise<ComparedPlace> {
  const folder = await readFolderInBranch(task);
  const { tree, last, before = null } = folder;
  const { place, target, destination } = task;
  const { sites, owned, left, spared, foreign } = await findOwnBelow(task, folder);
  refuseChangedPage(folder, left, foreign);
  refuseAddress(task, folder, owned.size > 0);
  // What an earlier run removed may be served until the site is built without it; beside files of others, if it was ours.
  const older = owned.size === 0 ? await readBefore(target, folder) : tree.entries;
  let vanished = listVanished(task, tree, older);
  if (vanished.length > 0 && left.length > 0) {
    const then = await findDeliveries(target, { head: before, entries: older }, place, true);
    const ours = await findOwnBelow(task, then);
    vanished = vanished.filter((path) => ours.owned.has(path));
  }
  if (owned.size + vanished.length === 0 && left.length > 0) {
    if (target.options.from?.isAlone) throw otherOwnerError(target.options, [place]);
    const partError = findPartError(task, last?.message);
    if (partError !== null) throw partError;
    if (last?.isFirst) throw rewrittenError(`${place || './'} has ${nameFew(left)}`);
    throw nothingOursError(place, left);
  }
  const removedFolders = sites.map(([one]) => one);
  const planned = planChange(task, { ...tree, owned, last, removedFolders });
  const removed = new Set(planned.change?.removals);
  // Where nothing else goes, all of the folder would still be served.
  const isNoneGone = removed.size + vanished.length === 0;
  for (const path of isNoneGone ? owned : []) refuseSpecialFile(path, destination.siteRoot);
  const rest = new Map([...tree.entries].filter(([path]) => !removed.has(path)));
  const more = isLimited(folder, left) ? ', or one run reads no more (try again)' : '';
  const why = `because somebody changed it since, or this tool did not deliver it${more}`;
  const unknown = left.length === 0 ? [] : [`what stays in ${place || './'}, ${why}: ${nameFew(left)}`];
  const gone = blobsIn([tree.entries, older], [...removed, ...vanished]);
  const placement = describeRemoved(planned, gone, rest, unknown);
  const notes = [
    ...(spared.length === 0 ? [] : [`left out, and so still there: ${nameFew(spared)}`]),
    ...(foreign.length === 0
      ? []
      : [`still there, because another workflow delivered it: ${nameFew(foreign)}`]),
  ];
  return { ...planned, placement: { ...placement, notes: [...(placement.notes ?? []), ...notes] } };
}

/** Whether a limit of one run may be why something stays. */
const isLimited = ({ sites }: FolderInBranch, left: readonly string[]): boolean =>
  left.length > SITE.singleFiles ||
  sites.size >= SITE.removals ||
  [...sites.values()].some(({ files, changed }) => files.length + changed.length === 0);

/** An address removes what was delivered there, and no more. @throws {DeliveryError} `NOT_OURS` */
function refuseAddress(
  { place, target: { options }, destination }: PagesTask,
  { sites }: FolderInBranch,
  hasOwned: boolean,
): void {
  if (options.address === undefined) return;
  if (options.overwrite && place === destination.siteRoot) {
    throw notOursError(
      'this would remove everything on the site, files of others as well',
      (w) => `leave ${w.input('overwrite')} out, or set ${w.input('url')} to a page or a folder`,
    );
  }
  if (sites.has(place) || !hasOwned) return;
  throw notOursError(
    `the folder ${place || './'} was not delivered itself`,
    (w) => `set ${w.input('url')} to the address of one of the folders that were delivered in it`,
  );
}

function nothingOursError(place: string, left: readonly string[]): DeliveryError {
  const alone = (w: Words): string =>
    place === ''
      ? 'remove these files with git'
      : `${w.input('overwrite', 'true')} if you may remove these files`;
  return notOursError(
    `nothing in ${place || './'} is known to be as this tool delivered it, so nothing was removed: ${nameFew(left)}`,
    (w) => `set ${w.input('path')} to the folder that was delivered itself, or ${alone(w)}`,
  );
}

/** @throws {DeliveryError} `NOT_OURS` if a page of a delivered folder is another one now: it would still open */
function refuseChangedPage(
  { sites }: FolderInBranch,
  left: readonly string[],
  foreign: readonly string[],
): void {
  for (const [site, { changed }] of sites) {
    const page = changed.find((path) => isHtml(path) && !path.slice(site.length).includes('/'));
    if (page === undefined || !left.includes(page) || foreign.includes(site)) continue;
    throw notOursError(
      `somebody changed ${page}, so it would still open, and nothing was removed`,
      (w) => `set ${w.input('overwrite', 'true')} if you may remove that page`,
    );
  }
}

/** What a folder has of this tool, however deep, and the files that it has besides. */
async function findOwnBelow({ place, target, isLeftOut = () => false }: PagesTask, folder: FolderInBranch) {
  const isSpared = (path: string): boolean => isLeftOut(path.slice(place.length));
  const goes = ([site, { claim }]: readonly [string, OwnedSite]): boolean =>
    site === place || isFromSame(claim.message, target.options);
  const foreign = [...folder.sites].filter((one) => !goes(one)).map(([site]) => site);
  const sites = [...folder.sites]
    .filter(goes)
    .map(([site, { files }]) => [site, files.filter(({ path }) => !isSpared(path))] as const)
    .filter(([, files]) => files.length > 0);
  const owned = new Set(sites.flatMap(([, files]) => files.map(({ path }) => path)));
  const existing = filesBelow(folder.tree, place);
  const spared = [...existing.keys()].filter(isSpared);
  const others = [...existing.keys()].filter((path) => !owned.has(path) && !isSpared(path));
  const single = target.options.overwrite
    ? others.filter((path) => existing.get(path)?.type === 'blob')
    : await findSingleFiles(target, folder.tree, others);
  for (const path of single) owned.add(path);
  return { sites, owned, left: others.filter((path) => !owned.has(path)), spared, foreign };
}
