import { getLastCommits } from '../../../github/api/history.ts';
import { SITE } from '../../../protocol/limits.ts';
import { type BranchTree, listFolders, treeShaAt } from './branch-tree.ts';
import { parseSiteMessage } from './site-message.ts';
import type { FolderTarget } from './site-target.ts';

/**
 * The oldest owned folders beside the delivered one that are more than `keep`. A folder counts only if the last
 * commit that touched it delivered all of it: one with anything of others in it is left alone.
 *
 * @returns paths that end in `/`
 * @see design 2 (`keep`)
 */
export async function findOldSites(target: FolderTarget, tree: BranchTree): Promise<readonly string[]> {
  const { folder, github, options, together = [folder] } = target;
  if (options.keep === undefined || folder === '' || tree.head === null) return [];
  const parent = parentOf(folder);
  const siblings = listFolders(tree, parent)
    .filter((path) => path !== folder && !together.includes(path))
    .slice(0, SITE.siblings);
  if (siblings.length === 0) return [];
  const commits = await getLastCommits(
    github,
    tree.head,
    siblings.map((path) => path.slice(0, -1)),
  );
  const owned = siblings.flatMap((path) => {
    const last = commits.get(path.slice(0, -1));
    const delivery = last ? parseSiteMessage(last.message, path) : null;
    const isWhole = delivery?.treeSha === treeShaAt(tree, path);
    return isWhole && last?.committedAt ? [{ path, committedAt: last.committedAt }] : [];
  });
  owned.sort((one, other) => other.committedAt - one.committedAt);
  const beside = together.filter((path) => parentOf(path) === parent);
  return owned.slice(Math.max(options.keep - beside.length, 0)).map(({ path }) => path);
}

const parentOf = (folder: string): string => folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);
