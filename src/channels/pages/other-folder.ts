import type { BranchEntry } from '../../github/api/branch.ts';
import { isFolderPath } from '../../rules/naming.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import type { Placement } from '../channel.ts';
import { filesBelow } from './branch-reader.ts';
import { addressOf } from './destination.ts';
import { isRemoval, type PagesTask } from './target.ts';

/**
 * Adds the pages of the folder that `compare` names, or why there are none. A folder between both, such as `previews/`,
 * holds other deliveries, so it is left out.
 */
export function withCompared(
  placement: Placement,
  task: PagesTask,
  entries: ReadonlyMap<string, BranchEntry>,
): Placement {
  const { itemPath, destination, target } = task;
  const { compare } = target.options;
  if (compare === undefined || isRemoval(task) || !isFolderPath(itemPath)) return placement;
  const { siteRoot } = destination;
  const given = compare === './' ? '' : compare;
  const folder = given.startsWith(siteRoot) ? given : siteRoot + given;
  const isInside = itemPath.startsWith(folder);
  const between = isInside ? itemPath.slice(0, itemPath.indexOf('/', folder.length) + 1) : null;
  const isPage = (path: string): boolean => isHtml(path) && !(between && path.startsWith(between));
  const pages = [...filesBelow({ entries }, folder)].filter(([path]) => isPage(path));
  const obstacles: readonly (readonly [boolean, string])[] = [
    [folder === itemPath, 'that is the delivered folder itself'],
    [pages.length === 0, 'the branch has no page there'],
  ];
  const [, obstacle] = obstacles.find(([isMet]) => isMet) ?? [];
  if (obstacle !== undefined) {
    const line = `which pages differ from ${compare}: ${obstacle}`;
    return { ...placement, unknown: [...(placement.unknown ?? []), line] };
  }
  const byPath = new Map(pages.map(([path, blob]) => [path.slice(folder.length), blob]));
  return { ...placement, compared: { name: compare, url: addressOf(destination, folder), pages: byPath } };
}
