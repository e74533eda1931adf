import { DeliveryError } from '../../errors.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import type { ComparedFolder } from '../channel.ts';
import { type BranchTree, filesBelow } from './branch-reader.ts';
import { isWithin } from './delivery-records.ts';
import { addressOf } from './destination.ts';
import { findDeliveries } from './ownership.ts';
import { COMPARED_FOLDER, isComparedPicture } from './pictures.ts';
import { type PagesTask, readTargetTree } from './target.ts';

/**
 * Finds the pages of the folder that `compare` names. A folder between both, such as `previews/`, holds other
 * deliveries, so it is left out. @throws {DeliveryError} if there are none
 */
export async function findCompared(task: PagesTask): Promise<ComparedFolder> {
  const { itemPath, destination, target } = task;
  const { siteRoot } = destination;
  const { compare = './' } = target.options;
  const given = compare === './' ? '' : compare;
  const folder = given.startsWith(siteRoot) ? given : siteRoot + given;
  if (folder === itemPath) throw noneError('that is the delivered folder itself');
  const isInside = itemPath.startsWith(folder);
  const between = isInside ? itemPath.slice(0, itemPath.indexOf('/', folder.length) + 1) : null;
  const isPage = (path: string): boolean => isHtml(path) && !(between && path.startsWith(between));
  const tree = await readTargetTree(target);
  const pages = [...filesBelow(tree, folder)].filter(([path]) => isPage(path));
  if (pages.length === 0) throw noneError(`${target.history.place} has no page there`);
  const byPath = new Map(pages.map(([path, blob]) => [path.slice(folder.length), blob]));
  return { url: addressOf(destination, folder), pages: byPath, hasRoom: await hasRoom(task, tree) };
}

/** Whether all that is where the pictures go are pictures of the last delivery. */
async function hasRoom({ itemPath, files, target }: PagesTask, tree: BranchTree): Promise<boolean> {
  const folder = itemPath + COMPARED_FOLDER;
  if (files.some(({ path }) => isWithin(path, folder))) return false;
  if (!tree.entries.has(folder)) return true;
  const delivered = (await findDeliveries(target, tree, itemPath)).sites.get(itemPath)?.files ?? [];
  const own = delivered.filter(({ path }) => isWithin(path, folder) && isComparedPicture(path));
  return own.length > 0 && own.length === filesBelow(tree, `${folder}/`).size;
}

const noneError = (reason: string): DeliveryError => new DeliveryError('NOT_FOUND', reason);
