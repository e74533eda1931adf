import { Readable } from 'node:stream';
import { DeliveryError } from '../../errors.ts';
import { parentFolders } from '../../github/api/branch.ts';
import { getLastCommits } from '../../github/api/history.ts';
import type { Change, FileBytes } from '../../github/change.ts';
import { nameFew } from '../../plain-text.ts';
import { SITE } from '../../protocol/limits.ts';
import type { GitBlob } from '../../rules/fingerprint.ts';
import { refuseLargeSite } from '../../rules/local-site.ts';
import { type BranchTree, filesBelow, listFolders, refuseSubmodules } from './branch-reader.ts';
import { type BranchComparison, type ComparedPlace, comparePlace, type EarlierFiles } from './compare.ts';
import { listKept } from './delivered-tree.ts';
import { rendersMarkdown } from './jekyll.ts';
import { blockedError } from './not-ours.ts';
import { type FoundDeliveries, findDeliveries, findSingleFiles, findWholeSites } from './ownership.ts';
import { listPicturePaths } from './pictures.ts';
import { readTargetTree } from './read-target.ts';
import { type CommitTarget, isRemoval, type PagesTask } from './target.ts';

/** A file without a byte, under the name that git gives it. */
const EMPTY_FILE: FileBytes = {
  size: 0,
  blobSha: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  read: () => Readable.from([]),
};

/** The place of a folder in the branch, and all that the branch has. */
interface FolderInBranch {
  readonly task: PagesTask;
  readonly target: CommitTarget;
  readonly tree: BranchTree;
  readonly found: FoundDeliveries;
}

/**
 * Compares a folder with the branch, of which all is read. What is removed is everything of this tool in it, however deep:
 * folders and single files.
 *
 * @param together the folders of the step: `keep` counts them and removes none
 * @param wasSent whether an earlier attempt may have changed it
 */
export async function compareFolder(
  task: PagesTask,
  target: CommitTarget,
  { together, wasSent }: { readonly together: readonly string[]; readonly wasSent: boolean },
): Promise<BranchComparison> {
  const tree = await readTargetTree(target);
  refuseSubmodules(tree, isRemoval(task) ? [task.place.slice(0, -1)] : task.files.map(({ path }) => path));
  const found = await findDeliveries(target, tree, task.place, isRemoval(task));
  const folder = { task, target, tree, found };
  const place = isRemoval(task) ? compareRemoval(folder, wasSent) : compareSite(folder, together);
  return { head: tree.head, places: [await place] };
}

/** @throws {DeliveryError} `NOT_OURS`; `TOO_LARGE` for more than Pages serves */
async function compareSite(folder: FolderInBranch, together: readonly string[]): Promise<ComparedPlace> {
  const { task, target, tree, found } = folder;
  const { place } = task;
  const { siteRoot } = task.destination;
  const existing = filesBelow(tree, place);
  const owned = await findOwned(folder, existing);
  const oldSites = await findOldSites(folder, together);
  const oldFiles = oldSites.flatMap((one) => [...filesBelow(tree, one).keys()]);
  const switchPath = `${siteRoot}.nojekyll`;
  const isSwitched = target.options.nojekyll && !tree.entries.has(switchPath);
  const older = await readBefore(folder);
  const vanished = listVanished(folder, older);
  const state = {
    ...{ existing, owned, last: found.last },
    folder: {
      listKept: (all: ReadonlySet<string>) => [
        ...listKept(tree, place, all),
        // It is for the whole site: no part of the delivery, so it stays when that ends.
        ...(isSwitched && siteRoot.startsWith(place)
          ? [{ path: switchPath.slice(place.length), sha: EMPTY_FILE.blobSha }]
          : []),
      ],
      beside: {
        writes: isSwitched ? [{ path: switchPath, file: EMPTY_FILE }] : [],
        removals: oldFiles,
      },
      removedFolders: oldSites,
      gone: new Map(
        [...oldFiles, ...vanished].map((path) => [path, blobsIn([tree.entries, older], path)] as const),
      ),
    },
  };
  const compared = comparePlace(task, state);
  const kept = compared.changes.kept.filter((path) => place + path !== switchPath);
  return {
    ...{ ...compared, replaced: found.sites.get(place)?.claim },
    changes: { ...compared.changes, kept },
    servedSize: measureSite(siteRoot, tree, compared.change),
    earlier: await findEarlier(folder, compared.change === undefined ? [older] : [tree.entries, older]),
  };
}

/** The paths of a folder that hold what this tool delivered. @throws {DeliveryError} `NOT_OURS` where a file is in the way */
async function findOwned(
  { task, target, tree, found }: FolderInBranch,
  existing: ReadonlyMap<string, unknown>,
): Promise<ReadonlySet<string>> {
  const { place, files, destination } = task;
  const delivered = found.sites.get(place)?.files ?? [];
  const owned = new Set(delivered.map(({ path }) => path));
  const wanted = new Set(files.map(({ path }) => path));
  const leaving = new Set(target.options.prune ? [...owned].filter((path) => !wanted.has(path)) : []);
  const blocked = findBlocked(wanted, tree, place, leaving);
  if (blocked.length > 0) throw blockedError(place, blocked);
  const unowned = [...wanted].filter((path) => existing.has(path) && !owned.has(path));
  const pictures = new Set(task.pictures === undefined ? [] : listPicturePaths(destination.path));
  const page = { path: destination.path, pictures };
  for (const path of await findSingleFiles(target, tree, unowned, page)) owned.add(path);
  return owned;
}

/** Everything of this tool at and below a folder: with `overwrite`, all that is there. */
async function compareRemoval(folder: FolderInBranch, wasSent: boolean): Promise<ComparedPlace> {
  const { task, target, tree, found } = folder;
  const { place, destination } = task;
  const existing = filesBelow(tree, place);
  const sites = [...found.sites].filter(([, { files }]) => files.length > 0);
  const owned = new Set(sites.flatMap(([, { files }]) => files.map(({ path }) => path)));
  const others = [...existing.keys()].filter(
    (path) => !owned.has(path) && !found.postponed.some((one) => path.startsWith(one)),
  );
  const single = target.options.overwrite
    ? others.filter((path) => existing.get(path)?.type === 'blob')
    : await findSingleFiles(target, tree, others);
  for (const path of single) owned.add(path);
  const left = others.filter((path) => !owned.has(path));
  const unknown = describeStaying(folder, left);
  const removedFolders = sites.map(([one]) => one);
  const isOurs = owned.size > 0 || wasSent || left.length === 0 || place === destination.siteRoot;
  if (!isOurs) throw nothingOursError(folder, left);
  // What an earlier run removed may be served until the site is built without it.
  const older = owned.size === 0 ? await readBefore(folder) : new Map();
  const gone = new Map(listVanished(folder, older).map((path) => [path, blobsIn([older], path)] as const));
  const compared = comparePlace(task, {
    ...{ existing, owned, last: found.last },
    folder: {
      listKept: () => [],
      beside: { writes: [], removals: [] },
      ...{ removedFolders, gone },
    },
  });
  return { ...compared, isRendered: rendersMarkdown(destination, tree.entries), unknown };
}

/** What stays of a folder once everything of ours is removed. */
function describeStaying(
  { task: { place }, found }: FolderInBranch,
  left: readonly string[],
): readonly string[] {
  const why =
    left.length > SITE.singleFiles
      ? `of which more than ${SITE.singleFiles} are no part of a folder that was delivered, too many to look at`
      : 'because it is not as this tool delivered it';
  const reasons = [
    ...(left.length === 0 ? [] : [`${why}: ${nameFew(left)}`]),
    ...(found.postponed.length === 0
      ? []
      : [`because one run removes no more (try again): ${nameFew(found.postponed)}`]),
  ];
  return reasons.length === 0 ? [] : [`what stays in ${place || './'}, ${reasons.join('; and ')}`];
}

/** All of the folder would still be served. */
function nothingOursError({ task, found }: FolderInBranch, left: readonly string[]): DeliveryError {
  const name = task.place || './';
  const [code, why] =
    left.length > SITE.singleFiles
      ? (['TOO_LARGE', `${name} has more than ${SITE.singleFiles} files, too many to look at`] as const)
      : found.isComplete
        ? (['NOT_OURS', `nothing in ${name} is as this tool delivered it`] as const)
        : (['TOO_LARGE', `the history of ${name} is too long to be searched whole`] as const);
  return new DeliveryError(code, `${why}, so nothing was removed: ${nameFew(left)}`, {
    hint: (w) =>
      `set ${w.input('path')} to the folder that was delivered itself, or remove these files with git`,
    leftBehind: [],
  });
}

/** The branch before the newest delivery, or before the last commit that touched the folder. */
async function readBefore({ target, found: { before } }: FolderInBranch): Promise<BranchTree['entries']> {
  return before === undefined ? new Map() : target.reader.getEntries(target.github, before);
}

/** The files of a folder that an older tree of the branch has, and the newest one has not. */
const listVanished = (
  { task: { place }, tree }: FolderInBranch,
  older: BranchTree['entries'],
): readonly string[] =>
  [...older].flatMap(([path, { type }]) =>
    type === 'blob' && path.startsWith(place) && !tree.entries.has(path) ? [path] : [],
  );

/** Of thousands of new files, one list is kept. */
const NEVER: readonly GitBlob[] = [];

/**
 * What caches may still have of a folder: what this delivery replaces, and what the newest one before it did. A run
 * that finds everything there proves as much as the one that placed it.
 *
 * @param trees what the branch held before, the newest first
 */
async function findEarlier(
  { task, target, tree, found }: FolderInBranch,
  trees: readonly BranchTree['entries'][],
): Promise<EarlierFiles> {
  const page = task.destination.path;
  // The page changes most often, and a cache may be older than the last two versions.
  const commits = tree.head === null ? null : await getLastCommits(target.github, tree.head, [page]);
  const versions = commits?.get(page)?.blobs ?? [];
  const isKnown = trees.length > 1 || found.before !== undefined;
  const earlier = new Map<string, readonly GitBlob[]>();
  for (const { path, file } of task.files) {
    const isSame = !isKnown || trees[0]?.get(path)?.sha === file.blobSha;
    if (path !== page && isSame) continue;
    const held = [...trees.flatMap((one) => blobsIn([one], path)), ...(path === page ? versions : [])];
    const all = new Map(held.map((one) => [one.sha, one]));
    all.delete(file.blobSha);
    earlier.set(path, all.size === 0 ? NEVER : [...all.values()]);
  }
  return earlier;
}

/** What the first of some trees that has a path holds there. */
function blobsIn(trees: readonly BranchTree['entries'][], path: string): readonly GitBlob[] {
  const { type, sha = '', size = 0 } = trees.find((one) => one.has(path))?.get(path) ?? {};
  return type === 'blob' ? [{ sha, size }] : [];
}

/**
 * The oldest owned folders beside the delivered one that are more than `keep`. One with anything of others in it is
 * left alone.
 *
 * @returns paths that end in `/`
 */
async function findOldSites(
  { task: { place: folder }, target, tree }: FolderInBranch,
  together: readonly string[],
): Promise<readonly string[]> {
  const { keep } = target.options;
  if (keep === undefined || folder === '') return [];
  const parent = parentOf(folder);
  const beside = together.filter((path) => parentOf(path) === parent);
  const siblings = listFolders(tree, parent).filter((path) => path !== folder && !together.includes(path));
  return (await findWholeSites(target, tree, siblings)).slice(Math.max(keep - beside.length, 0));
}

const parentOf = (folder: string): string => folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);

/** Paths that can't be written because a file takes the place of one of their folders, or a folder their own. */
function findBlocked(
  paths: ReadonlySet<string>,
  tree: BranchTree,
  folder: string,
  leaving: ReadonlySet<string>,
): readonly string[] {
  const stays = [...filesBelow(tree, folder).keys()].filter((path) => !leaving.has(path));
  const folders = new Set(stays.flatMap(parentFolders));
  const isFile = (path: string): boolean => {
    const entry = tree.entries.get(path);
    return entry !== undefined && entry.type !== 'tree' && !leaving.has(path);
  };
  return [...paths].filter((path) => folders.has(path) || parentFolders(path).some(isFile));
}

/**
 * Bytes of everything below the root of what Pages serves, after some changes.
 *
 * @throws {DeliveryError} as `refuseLargeSite`
 */
function measureSite(
  siteRoot: string,
  { entries }: BranchTree,
  { writes, removals }: Pick<Change, 'writes' | 'removals'> = { writes: [], removals: [] },
): number {
  const replaced = new Set([...writes.map(({ path }) => path), ...removals]);
  let size = writes.reduce((sum, { file }) => sum + file.size, 0);
  for (const [path, entry] of entries) {
    const counts = entry.type !== 'tree' && path.startsWith(siteRoot) && !replaced.has(path);
    if (counts) size += entry.size;
  }
  refuseLargeSite(
    size,
    'with this folder the Pages site would have',
    (w) => `set ${w.input('keep')} to remove older folders, or remove large files`,
  );
  return size;
}
