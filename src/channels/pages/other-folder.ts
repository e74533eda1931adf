import { DeliveryError } from '../../errors.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import type { ComparedFolder } from '../channel.ts';
import { filesBelow } from './branch-reader.ts';
import { addressOf } from './destination.ts';
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
  const pages = [...filesBelow(await readTargetTree(target), folder)].filter(([path]) => isPage(path));
  if (pages.length === 0) throw noneError('the branch has no page there');
  const byPath = new Map(pages.map(([path, blob]) => [path.slice(folder.length), blob]));
  return { url: addressOf(destination, folder), pages: byPath };
}

const noneError = (reason: string): DeliveryError => new DeliveryError('NOT_FOUND', reason);
