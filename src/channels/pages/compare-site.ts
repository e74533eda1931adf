import { Readable } from 'node:stream';
import { DeliveryError } from '../../errors.ts';
import { parentFolders } from '../../github/api/branch.ts';
import { getLastCommits } from '../../github/api/history.ts';
import { hashTree, type TreeFile } from '../../github/api/tree-id.ts';
import type { Change, FileBytes } from '../../github/change.ts';
import { MEGABYTE, SITE } from '../../protocol/limits.ts';
import type { LocalSite } from '../../rules/local-site.ts';
import { type BranchTree, filesBelow, listFolders, refuseSubmodules, treeShaAt } from './branch-reader.ts';
import type { ComparedPlace } from './commit.ts';
import { formatCommitMessage, listKept } from './commit-message.ts';
import { pictureNotOwnedError, refuseOthers } from './not-ours.ts';
import { findDeliveries, findWholeSites, isOwned } from './ownership.ts';
import { withoutPictures } from './pictures.ts';
import { findEarlierFiles, findGoneFiles } from './recheck.ts';
import type { FolderTarget } from './target.ts';

/** A file without a byte, under the name that git gives it. */
const EMPTY_FILE: FileBytes = {
  size: 0,
  blobSha: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  read: () => Readable.from([]),
};

/**
 * Compares the branch with the site: what one commit has to write and to remove so that the branch holds it. All or
 * nothing: one file that may not be replaced refuses the whole.
 *
 * @throws {DeliveryError} `NOT_OURS` that names what others have there; `TOO_LARGE` for more than Pages serves.
 * @see design 4, 6
 */
export async function compareSite(
  site: LocalSite,
  target: FolderTarget,
  tree: BranchTree,
): Promise<ComparedPlace & Required<Pick<ComparedPlace, 'delivered'>>> {
  const { folder, options } = target;
  const { sites, lastCommit, before } = await findDeliveries(target, tree, folder);
  const { files: owned = new Map<string, string>(), delivery } = sites.get(folder) ?? {};
  const { verb, delivered, added, changed, removed } = await sortFiles(site, target, tree, owned);
  const oldSites = await findOldSites(target, tree);
  const oldFiles = oldSites.flatMap((one) => [...filesBelow(tree, one).keys()].map((path) => one + path));
  const removals = [...removed.map((path) => folder + path), ...oldFiles];
  const switchPath = `${target.siteRoot}.nojekyll`;
  const jekyllSwitch = options.nojekyll && !tree.entries.has(switchPath) ? [switchPath] : [];
  const isNew = new Set([...added, ...changed]);
  const writes = [
    ...site.files.flatMap(({ path, file }) => (isNew.has(path) ? [{ path: folder + path, file }] : [])),
    ...jekyllSwitch.map((path) => ({ path, file: EMPTY_FILE })),
  ];
  const totalSize = measureSite(target.siteRoot, tree, { writes, removals });
  const others = listKept(tree, folder, new Set([...delivered.keys(), ...removed]));
  const treeSha = hashTree([...delivered].map(([path, sha]) => ({ path, sha })));
  const whole = { folder, treeSha, kept: [...others, ...besideSite(jekyllSwitch, folder)] };
  const message = formatCommitMessage(folder, { verb, essence: options.essence, site: whole });
  const basis = listBasis([folder, ...oldSites], jekyllSwitch, tree);
  const isChanged = writes.length + removals.length > 0;
  const kept = others.map(({ path }) => path).filter((path) => folder + path !== switchPath);
  const changes = { ...withoutPictures({ added, changed, removed }, site), kept, removedFolders: oldSites };
  return {
    ...(isChanged && { change: { message, writes, removals, basis } }),
    commitSha: lastCommit,
    ...(delivery && { replaced: delivery }),
    earlier: await findEarlierFiles(site, target, tree, { isChanged, before }),
    gone: await findGoneFiles(target, tree, { removals, before }),
    delivered: { treeSha, totalSize, changes },
  };
}

/**
 * The oldest owned folders beside the delivered one that are more than `keep`. One with anything of others in it is
 * left alone.
 *
 * @returns paths that end in `/`
 * @see design 2 (`keep`)
 */
async function findOldSites(target: FolderTarget, tree: BranchTree): Promise<readonly string[]> {
  const { folder, options, together = [folder] } = target;
  if (options.keep === undefined || folder === '') return [];
  const parent = parentOf(folder);
  const beside = together.filter((path) => parentOf(path) === parent);
  const siblings = listFolders(tree, parent).filter((path) => path !== folder && !together.includes(path));
  return (await findWholeSites(target, tree, siblings)).slice(Math.max(options.keep - beside.length, 0));
}

const parentOf = (folder: string): string => folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);

/** What a change is made for: the trees of its folders, and files that must not be there. */
export const listBasis = (
  folders: readonly string[],
  added: readonly string[],
  tree: BranchTree,
): Change['basis'] =>
  new Map([
    ...folders.map((one) => [one.slice(0, -1), treeShaAt(tree, one)] as const),
    ...added.map((path) => [path, null] as const),
  ]);

/** How a site compares with what the branch has in its folder: paths within the folder. */
interface SiteComparison {
  readonly verb: 'ADD' | 'UPDATE';
  readonly added: readonly string[];
  /** Files that exist with other bytes and may be replaced. */
  readonly changed: readonly string[];
  /** Owned files that are no longer part of the site, where they are removed. */
  readonly removed: readonly string[];
  /** What belongs to the delivery afterwards, and git's ids of it. */
  readonly delivered: ReadonlyMap<string, string>;
}

/** @throws {DeliveryError} `NOT_OURS` that names what may not be replaced, the first ten in full. */
async function sortFiles(
  site: LocalSite,
  target: FolderTarget,
  tree: BranchTree,
  owned: ReadonlyMap<string, string>,
): Promise<SiteComparison> {
  const { folder, options } = target;
  const wanted = new Map(site.files.map(({ path, file }) => [path, file.blobSha]));
  const paths = [...wanted.keys()];
  refuseSubmodules(
    tree,
    paths.map((path) => folder + path),
  );
  const existing = filesBelow(tree, folder);
  const isSame = (path: string): boolean => {
    const entry = existing.get(path);
    return entry?.sha === wanted.get(path) && entry?.mode === '100644';
  };
  const vanished = [...owned.keys()].filter((path) => !wanted.has(path));
  const removed = options.prune ? vanished : [];
  const unowned = paths.filter((path) => existing.has(path) && !owned.has(path));
  const single = await findSingleFiles(site, target, tree, unowned);
  const others = unowned.filter((path) => !isSame(path));
  const foreign = options.overwrite ? [] : others.filter((path) => !single.has(path));
  const taken = foreign.find((path) => site.pictures?.includes(path));
  if (taken !== undefined) throw pictureNotOwnedError(folder + taken).withLeftBehind([]);
  const blocked = findBlocked(paths, target, tree, new Set(removed));
  refuseOthers(folder, [...foreign, ...blocked], blocked.length > 0);
  const added = paths.filter((path) => !existing.has(path));
  const changed = [...others, ...paths.filter((path) => owned.has(path) && !isSame(path))];
  const same = [...paths.filter((path) => owned.has(path)), ...single].filter(isSame);
  const isThere = folder !== '' && treeShaAt(tree, folder) !== null;
  const isNew = !isThere && added.length > 0 && changed.length + same.length + vanished.length === 0;
  const stays = [...added, ...changed, ...same, ...(options.prune ? [] : vanished)];
  const delivered = new Map(stays.map((path) => [path, wanted.get(path) ?? owned.get(path) ?? '']));
  return { verb: isNew ? 'ADD' : 'UPDATE', added, changed, removed, delivered };
}

/** The paths that this tool delivered as single files, and that nobody changed since. */
async function findSingleFiles(
  { entry: page, pictures = [] }: LocalSite,
  { github, folder }: FolderTarget,
  tree: BranchTree,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  // Of more files than this it is not known, so they count as those of others.
  if (tree.head === null || paths.length === 0 || paths.length > SITE.singleFiles) return new Set();
  const all = paths.map((path) => folder + path);
  const commits = await getLastCommits(github, tree.head, all);
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
  { folder }: FolderTarget,
  tree: BranchTree,
  leaving: ReadonlySet<string>,
): readonly string[] {
  const stays = [...filesBelow(tree, folder).keys()].filter((path) => !leaving.has(path));
  const folders = new Set(stays.flatMap(parentFolders));
  const isFile = (path: string): boolean => {
    const entry = tree.entries.get(path);
    return entry !== undefined && entry.type !== 'tree' && !leaving.has(path.slice(folder.length));
  };
  return paths.filter((path) => folders.has(path) || parentFolders(folder + path).some(isFile));
}

/** What lies in the folder and is for the whole Pages site: no part of the delivery, so it stays when that ends. */
const besideSite = (paths: readonly string[], folder: string): readonly TreeFile[] =>
  paths.flatMap((path) =>
    path.startsWith(folder) ? [{ path: path.slice(folder.length), sha: EMPTY_FILE.blobSha }] : [],
  );

/**
 * Bytes of everything below the root of what Pages serves, after some changes.
 *
 * @throws {DeliveryError} `TOO_LARGE`
 * @see https://docs.github.com/pages/getting-started-with-github-pages/github-pages-limits
 */
function measureSite(
  siteRoot: string,
  { entries }: BranchTree,
  { writes, removals }: Pick<Change, 'writes' | 'removals'>,
): number {
  const replaced = new Set([...writes.map(({ path }) => path), ...removals]);
  let size = writes.reduce((sum, { file }) => sum + file.size, 0);
  for (const [path, entry] of entries) {
    const counts = entry.type !== 'tree' && path.startsWith(siteRoot) && !replaced.has(path);
    if (counts) size += entry.size;
  }
  if (size <= SITE.size) return size;
  throw new DeliveryError(
    'TOO_LARGE',
    `with this folder the Pages site would have ${Math.round(size / MEGABYTE)} MB, and GitHub serves at most ${SITE.size / MEGABYTE}`,
    { hint: (w) => `set ${w.input('keep')} to remove older folders, or remove large files`, leftBehind: [] },
  );
}
