import { findSubmoduleError, parentFolders } from '../../github/api/branch.ts';
import type { Change } from '../../github/change.ts';
import { namedLine, nameFew } from '../../plain-text.ts';
import type { GitBlob } from '../../rules/fingerprint.ts';
import { refuseLargeSite } from '../../rules/local-site.ts';
import { type BranchTree, blobAt, blobsIn, filesBelow } from './branch-reader.ts';
import { type ComparedItem, isProtected, planChange } from './compare.ts';
import { listTaken, writeSwitch } from './jekyll.ts';
import { notOursError, takenPageError } from './not-ours.ts';
import { type FolderInBranch, findDeliveries, findOlderSites, findSingleFiles } from './ownership.ts';
import { listPicturePaths } from './pictures.ts';
import { describePublished } from './placement.ts';
import { type CommitTarget, isRemoval, type PagesTask, readTargetTree } from './target.ts';

/** Reads the whole branch, and this tool's deliveries in the folder; for a removal also below it. */
export async function readFolderInBranch(task: PagesTask): Promise<FolderInBranch> {
  const { target } = task;
  const tree = await readTargetTree(target);
  for (const path of isRemoval(task) ? [task.itemPath.slice(0, -1)] : task.files.map((file) => file.path)) {
    const refusal = findSubmoduleError(tree.entries, path);
    if (refusal !== null) throw refusal;
  }
  return findDeliveries(target, tree, task.itemPath, isRemoval(task));
}

/**
 * Compares a folder. @param together all folders of this delivery @throws {DeliveryError} `NOT_OURS`, `TOO_LARGE`
 */
export async function compareSite(task: PagesTask, together: readonly string[]): Promise<ComparedItem> {
  const { destination, itemPath, target } = task;
  const folder = await readFolderInBranch(task);
  const { tree, sites, last } = folder;
  const owned = await findOwned(task, folder);
  const { older: removedFolders, skipped } = await findOlderSites(target, tree, itemPath, together);
  const removals = removedFolders.flatMap((folder) => [...filesBelow(tree, folder).keys()]);
  const writes = writeSwitch(task, tree.entries);
  const notes = namedLine('`keep` skips folders that are not as this workflow delivered them', skipped);
  const planned = planChange(task, { ...tree, owned, last, writes, removals, removedFolders, notes });
  const { change } = planned;
  const older = await readBefore(target, folder);
  const gonePaths = [...(change?.removals ?? []), ...listVanished(task, tree, older)];
  const placement = describePublished(planned, {
    replaced: sites.get(itemPath)?.record,
    servedSize: measureSite(destination.siteRoot, tree, change),
    previous: await findPrevious(task, tree, change === undefined ? [older] : [tree.entries, older]),
    goneFiles: blobsIn([tree.entries, older], gonePaths),
    entries: tree.entries,
  });
  return { ...planned, placement };
}

/** Lists the paths that hold this tool's files. @throws {DeliveryError} `NOT_OURS` if a file blocks a folder */
async function findOwned(task: PagesTask, { tree, sites }: FolderInBranch): Promise<ReadonlySet<string>> {
  const { itemPath, target, files, destination, pictures } = task;
  const delivered = sites.get(itemPath)?.files ?? [];
  const owned = new Set(delivered.map(({ path }) => path));
  const wanted = new Set(files.map(({ path }) => path));
  const isRemoved = (path: string): boolean =>
    target.options.prune && !wanted.has(path) && !isProtected(task, path);
  const removedPaths = new Set([...owned].filter(isRemoved));
  const blocked = findBlocked(wanted, tree, itemPath, removedPaths);
  if (blocked.length > 0) {
    throw notOursError(
      `in the folder ${itemPath || './'} of the repository, a file would replace a folder, or a folder a file: ${nameFew(blocked)}`,
      (w) => `set ${w.input('path')} to a folder of its own`,
    );
  }
  const unowned = [...wanted].filter((path) => tree.entries.get(path)?.type === 'blob' && !owned.has(path));
  const picturePaths = new Set(pictures === undefined ? [] : listPicturePaths(destination.entryPath));
  const page = { path: destination.entryPath, pictures: picturePaths };
  for (const path of (await findSingleFiles(target, tree, unowned, page)).keys()) owned.add(path);
  await refuseTakenAddresses(task, tree, owned);
  return owned;
}

/** @throws {DeliveryError} `NOT_OURS` if a new page would hide another person's page */
async function refuseTakenAddresses(
  task: PagesTask,
  tree: BranchTree,
  owned: ReadonlySet<string>,
): Promise<void> {
  const { overwrite, nojekyll } = task.target.options;
  const taken = overwrite || nojekyll ? [] : listTaken(task, filesBelow(tree, ''));
  const others = taken.flatMap(({ rival }) => (owned.has(rival) ? [] : rival));
  const singleFiles = await findSingleFiles(task.target, tree, others);
  const foreign = taken.find(({ rival }) => !owned.has(rival) && !singleFiles.has(rival));
  if (foreign !== undefined) throw takenPageError(task, foreign);
}

export const readBefore = async (
  { history }: CommitTarget,
  { before, tree }: FolderInBranch,
): Promise<BranchTree['entries']> => (before === undefined ? tree.entries : history.readEntries(before));

/** Lists files that an older tree has and that neither the branch nor the delivery has. */
export function listVanished({ itemPath, files }: PagesTask, tree: BranchTree, older: BranchTree['entries']) {
  const there = new Set([...tree.entries.keys(), ...files.map(({ path }) => path)]);
  return [...filesBelow({ entries: older }, itemPath).keys()].filter((path) => !there.has(path));
}

/** One shared list saves memory for thousands of new files. */
const NEVER: readonly GitBlob[] = [];

/** Lists what caches may still serve: the content that this delivery and the one before replaced. */
async function findPrevious(task: PagesTask, { head }: BranchTree, trees: readonly BranchTree['entries'][]) {
  const page = task.destination.entryPath;
  // The page changes most often, so a cache may hold a version before the last two.
  const commits = head === null ? null : await task.target.history.readLastCommits(head, [page]);
  const versions = commits?.get(page)?.blobs ?? [];
  const previous = new Map<string, readonly GitBlob[]>();
  for (const { path, file } of task.files) {
    if (path !== page && trees[0]?.get(path)?.sha === file.blobSha) continue;
    const blobs = [
      ...trees.flatMap((entries) => blobAt([entries], path)),
      ...(path === page ? versions : []),
    ];
    const all = new Map(blobs.map((blob) => [blob.sha, blob]));
    all.delete(file.blobSha);
    previous.set(path, all.size === 0 ? NEVER : [...all.values()]);
  }
  return previous;
}

/** Lists files that block a folder, and folders that block a file. */
function findBlocked(
  paths: ReadonlySet<string>,
  tree: BranchTree,
  folder: string,
  removedPaths: ReadonlySet<string>,
): readonly string[] {
  const stays = [...filesBelow(tree, folder).keys()].filter((path) => !removedPaths.has(path));
  const folders = new Set(stays.flatMap(parentFolders));
  const isFile = (path: string): boolean => {
    const entry = tree.entries.get(path);
    return entry !== undefined && entry.type !== 'tree' && !removedPaths.has(path);
  };
  const blocking = [...paths].flatMap((path) => [
    ...(folders.has(path) ? [`${path}/`] : []),
    ...parentFolders(path).filter(isFile),
  ]);
  return [...new Set(blocking)];
}

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
