import { DeliveryError } from '../../../errors.ts';
import { parentFolders } from '../../../github/api/branch.ts';
import { getLastCommits } from '../../../github/api/history.ts';
import { nameFew } from '../../../plain-text.ts';
import { SITE } from '../../../protocol/limits.ts';
import type { LocalSite } from '../../../rules/local-site.ts';
import { type BranchTree, filesBelow, refuseSubmodules } from '../branch-reader.ts';
import { isOwned, pictureNotOwnedError } from '../ownership.ts';
import type { FolderTarget } from '../target.ts';
import type { OwnedFiles } from './site-history.ts';

/** How each file of a site compares with the branch: paths within the folder. */
export interface SiteComparison {
  readonly added: readonly string[];
  /** Files that exist with other bytes and may be replaced. */
  readonly changed: readonly string[];
  /** Owned files that are as wanted. */
  readonly same: readonly string[];
  /** Owned files that are no longer part of the site. */
  readonly vanished: readonly string[];
}

/**
 * Compares a site with what the branch has in its folder.
 *
 * @throws {DeliveryError} `NOT_OURS` that names what may not be replaced, the first ten in full.
 * @see design 4, protocol 7 (prohibition 4)
 */
export async function compareSite(
  site: LocalSite,
  target: FolderTarget,
  tree: BranchTree,
  owned: OwnedFiles,
): Promise<SiteComparison> {
  const { folder, overwrite, options } = target;
  const wanted = new Map(site.files.map(({ path, file }) => [path, file.blobSha]));
  refuseSubmodules(
    tree,
    [...wanted.keys()].map((path) => folder + path),
  );
  const existing = filesBelow(tree, folder);
  const vanished = [...owned.files.keys()].filter((path) => !wanted.has(path));
  const leaving = new Set(options.prune ? vanished : []);
  const both = [...wanted.keys()].filter((path) => existing.has(path) && !owned.files.has(path));
  const single = await findSingleFiles(target, tree, both, site);
  const mayReplace = (path: string): boolean => overwrite || owned.files.has(path) || single.has(path);
  const isSame = (path: string): boolean => {
    const entry = existing.get(path);
    return entry?.sha === wanted.get(path) && entry?.mode === '100644';
  };
  const others = both.filter((path) => !isSame(path));
  const blocked = findBlocked([...wanted.keys()], { tree, folder, leaving });
  const taken = others.find((path) => site.pictures?.includes(path) && !mayReplace(path));
  if (taken !== undefined) throw pictureNotOwnedError(folder + taken).withLeftBehind([]);
  refuseOthers(target, [...others.filter((path) => !mayReplace(path)), ...blocked], blocked.length > 0);
  const known = [...owned.files.keys()].filter((path) => wanted.has(path));
  return {
    added: [...wanted.keys()].filter((path) => !existing.has(path)),
    changed: [...others, ...known.filter((path) => !isSame(path))],
    same: [...known, ...single].filter(isSame),
    vanished,
  };
}

/** The paths that this tool delivered as single files, and that nobody changed since. */
async function findSingleFiles(
  { github, folder }: FolderTarget,
  tree: BranchTree,
  paths: readonly string[],
  { entry: page, pictures = [] }: Pick<LocalSite, 'entry' | 'pictures'>,
): Promise<ReadonlySet<string>> {
  // Of more files than this it is not known, so they count as those of others.
  if (tree.head === null || paths.length === 0 || paths.length > SITE.singleFiles) return new Set();
  const commits = await getLastCommits(
    github,
    tree.head,
    paths.map((path) => folder + path),
  );
  const isOurs = (path: string): boolean => {
    const { sha = '', mode } = tree.entries.get(folder + path) ?? {};
    const { message = '' } = commits.get(folder + path) ?? {};
    // What was delivered by itself where a picture goes is a file of the user.
    const by = pictures.includes(path) ? { page: folder + page } : {};
    return mode === '100644' && isOwned(message, { path: folder + path, sha }, by);
  };
  return new Set(paths.filter(isOurs));
}

/** Paths that can't be written because a file takes the place of one of their folders, or a folder their own. */
function findBlocked(
  paths: readonly string[],
  {
    tree,
    folder,
    leaving,
  }: { readonly tree: BranchTree; readonly folder: string; readonly leaving: ReadonlySet<string> },
): readonly string[] {
  const stays = [...filesBelow(tree, folder).keys()].filter((path) => !leaving.has(path));
  const folders = new Set(stays.flatMap(parentFolders));
  const isFile = (path: string): boolean => {
    const entry = tree.entries.get(path);
    return entry !== undefined && entry.type !== 'tree' && !leaving.has(path.slice(folder.length));
  };
  return paths.filter((path) => folders.has(path) || parentFolders(folder + path).some(isFile));
}

/** @param isBlocked whether a file is in the place of a folder, or the other way round: that is never replaced */
function refuseOthers({ folder }: FolderTarget, paths: readonly string[], isBlocked: boolean): void {
  if (paths.length === 0) return;
  throw new DeliveryError(
    'NOT_OURS',
    `the folder ${folder || './'} of the repository ${isBlocked ? 'can not hold the site: a file of others is in the place of a folder, or a folder in that of a file' : 'has files that this tool did not deliver'}: ${nameFew(paths)}`,
    {
      hint: isBlocked
        ? (w) => `set ${w.input('path')} to a folder of its own`
        : (w) =>
            `set ${w.input('path')} to a folder of its own, or ${w.input('overwrite', 'true')} if you may replace these files`,
      leftBehind: [],
    },
  );
}
