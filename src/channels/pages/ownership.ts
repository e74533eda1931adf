import { getBranchHead, getEntry } from '../../github/api/branch.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { type CommitSummary, getLastCommits } from '../../github/api/history.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import { SITE } from '../../protocol/limits.ts';
import { listSources } from '../../rules/jekyll.ts';
import { type BranchTree, hasFilesBelow, holdsFile, limitTrees } from './branch-reader.ts';
import { listAlone, parseMessage } from './commit-message.ts';
import {
  type DeliveredRecord,
  type DeliveryRecord,
  listRecordedFiles,
  readRecords,
} from './delivery-records.ts';
import type { PagesDestination } from './destination.ts';
import { type DeliveryOwner, foreignError } from './not-ours.ts';
import { type CommitTarget, isFolderPath } from './target.ts';

/*
 * Who owns a path of the branch: the newest commit that has the form of this tool's says what was delivered
 * (`listClaimed`), and the branch still holds just that; a changed file of a folder loses only itself. What is not ours
 * is written or removed with `overwrite` alone (`sortByChange`, `compareRemovedFolder`). A restoration (`restoreBefore`)
 * and the audit (`listDeliveries`) read the same commits and judge what the branch holds as well. Elsewhere the label of
 * an asset decides (`hasOwnLabel`), the text of a draft (`listOwnAssets`), the bytes of a file in a bin
 * (`mayRemove`), the receipt of a deployed site (`refuseForeignSite`), and marker and author of a comment or an issue
 * (`filterCreated`).
 *
 * What this tool delivered may be of somebody else (`isFromSame`: another workflow, a person, agents). Then, without
 * `overwrite`:
 *
 *                              | at the path itself  | below a folder that is withdrawn | beside, for `keep`
 *   a workflow or a person     | takes it            | leaves it and names it           | leaves it
 *   who delivers alone         | is refused          | is refused                       | leaves it
 */

/**
 * Whether this tool delivered what a path holds as a single file, and nobody changed it since.
 *
 * @param message of the last commit that touched the path
 * @param page of a picture, which counts only if it came with that page
 * @see protocol 7 (prohibition 4)
 */
export function isOwned(message: string, { path, sha }: TreeFile, page?: string): boolean {
  const { delivered } = parseMessage(message) ?? {};
  if (delivered === undefined || (page ?? delivered.itemPath) !== delivered.itemPath) return false;
  return listAlone(delivered).some((file) => file.path === path && file.sha === sha);
}

/** Whether the same one delivered it, or `overwrite` lets it count as that; what follows is in the table above. */
export const isFromSame = (message: string, { deliverer: from, overwrite }: DeliveryOwner): boolean =>
  overwrite || parseMessage(message)?.from?.name === from?.name;

/** Whether it must not be touched. */
export const isOfOthers = (message: string, options: DeliveryOwner): boolean =>
  options.deliverer?.isRestricted === true && !isFromSame(message, options);

/** @param found what this tool delivered: each place, and its commit's message @throws {DeliveryError} `NOT_OURS` */
function refuseOthers({ options }: SearchTarget, found: readonly (readonly [string, string])[]): void {
  const others = found.flatMap(([itemPath, message]) => (isOfOthers(message, options) ? itemPath : []));
  if (others.length > 0) throw foreignError(options, others);
}

/** A folder that this tool delivered, as far as it is still there. */
export interface OwnedSite {
  readonly record: DeliveredRecord;
  /** The files that were delivered and that are still there, by path in the branch. */
  readonly files: readonly TreeFile[];
  readonly changed: readonly string[];
}

/** A folder of the branch, and what this tool delivered to it and below it. */
export interface FolderInBranch {
  readonly tree: BranchTree;
  /** By folder; some may have no file left. */
  readonly sites: ReadonlyMap<string, OwnedSite>;
  /** Whether the folder itself is a delivery that nobody withdrew. */
  readonly isDelivered?: boolean;
  /** The last commit that touched the folder, by anybody; absent where none did. */
  readonly last?: CommitSummary | undefined;
  /** The commit before what this tool did last to the folder, or else before the last one that touched it. */
  readonly before?: string | undefined;
}

type SearchTarget = Pick<CommitTarget, 'github' | 'readEntries'> & { readonly options: DeliveryOwner };

/**
 * What this tool delivered to a folder, as far as it is there. The newest commit in the form of a delivery counts, if the
 * tree that it names is the one that it made; after a removal by this tool nothing does.
 *
 * @param folder empty for the root of the branch, or ending in `/`
 * @param isWithBelow whether deliveries below the folder count too, as far as one run removes them
 * @throws {DeliveryError} as `refuseOthers`
 */
export async function findDeliveries(
  target: SearchTarget,
  tree: BranchTree,
  folder: string,
  isWithBelow = false,
): Promise<FolderInBranch> {
  const { github, readEntries } = target;
  if (tree.head === null) return { tree, sites: new Map() };
  const { records, last } = await readRecords(
    github,
    tree.head,
    folder,
    (read) => !isWithBelow && read.has(folder),
  );
  const readOlder = limitTrees(readEntries, SITE.olderTrees);
  const sites = new Map<string, OwnedSite>();
  const found = new Set<string>();
  for (const record of records.values()) {
    if (!isOfSite(record) || !hasFilesBelow(tree, record.itemPath)) continue;
    if (!isWithBelow && record.itemPath !== folder) continue;
    if (sites.size >= SITE.removals || found.size >= SITE.files) break;
    const delivered = (await listRecordedFiles(record, tree, readOlder)) ?? [];
    const files = delivered.filter((file) => holdsFile(tree, file) && !found.has(file.path));
    for (const { path } of files) found.add(path);
    const changed = delivered.flatMap((file) =>
      tree.entries.has(file.path) && !holdsFile(tree, file) ? file.path : [],
    );
    sites.set(record.itemPath, { record, files, changed });
  }
  const present = [...sites.values()].filter(({ files }) => files.length > 0);
  refuseOthers(
    target,
    present.map(({ record }) => [record.itemPath, record.message]),
  );
  const newest = hasFilesBelow(tree, folder) ? records.get(folder) : undefined;
  const before = (newest?.parts[0] ?? newest ?? last)?.parent;
  return { tree, sites, last, before, isDelivered: newest?.delivered !== undefined };
}

const isOfSite = (record: DeliveryRecord): record is DeliveredRecord =>
  record.delivered !== undefined && isFolderPath(record.itemPath);

/**
 * The folders beside a delivered one that `keep` removes: their last commit delivered all that they hold, and they are not
 * among the newest. The order is that of the history: a commit has the date of any clock.
 *
 * @param together the folders of the step: `keep` counts them and removes none
 * @returns also those that stay: not as they were delivered, as far as the history that is read tells; with a delivery of
 * another workflow; or after a squash that left no delivery
 */
export async function findOlderSites(
  { github, options }: CommitTarget,
  { head, entries }: BranchTree,
  folder: string,
  together: readonly string[],
): Promise<Readonly<Record<'older' | 'changed' | 'foreign' | 'unattributed', readonly string[]>>> {
  const none = { older: [], changed: [], foreign: [], unattributed: [] };
  if (options.keep === undefined || folder === '' || head === null) return none;
  const parent = parentOf(folder);
  const keep = Math.max(options.keep - together.filter((path) => parentOf(path) === parent).length, 0);
  const asked = listSiblings(entries, parent)
    .filter((path) => path !== folder && !together.includes(path))
    .slice(0, SITE.siblings);
  const nameOf = (itemPath: string): string => itemPath.slice(0, -1);
  const commits = await getLastCommits(github, head, asked.map(nameOf));
  const isOwn = (message: string, itemPath: string): boolean =>
    isFromSame(message, options) && parseMessage(message)?.delivered?.itemPath === itemPath;
  const whole = asked.filter((itemPath) => {
    const { message = '' } = commits.get(nameOf(itemPath)) ?? {};
    const isHeld = parseMessage(message)?.delivered?.object === entries.get(nameOf(itemPath))?.sha;
    return isHeld && isOwn(message, itemPath);
  });
  if (whole.length <= keep && whole.length === asked.length) return none;
  const newestOf = (records: ReadonlyMap<string, DeliveryRecord>): readonly string[] =>
    [...records.keys()].filter((itemPath) => whole.includes(itemPath)).slice(0, keep);
  const wanted = Math.min(keep, whole.length);
  const { records } = await readRecords(github, head, parent, (read) => newestOf(read).length === wanted);
  const newest = newestOf(records);
  // If the history that is read does not show so many, all stay.
  const older = newest.length < keep ? [] : whole.filter((itemPath) => !newest.includes(itemPath));
  const others = asked.filter((itemPath) => !whole.includes(itemPath));
  const lastOf = (itemPath: string): string => commits.get(nameOf(itemPath))?.message ?? '';
  // What a delivery left beside its files makes the folder another one than it delivered.
  const changed = others.filter((itemPath) =>
    [records.get(itemPath)?.message ?? '', lastOf(itemPath)].some((message) => isOwn(message, itemPath)),
  );
  const foreign = others.filter((itemPath) => {
    const isDelivered = parseMessage(lastOf(itemPath))?.delivered !== undefined;
    return isDelivered && !isFromSame(lastOf(itemPath), options) && !changed.includes(itemPath);
  });
  const unattributed = others.filter((itemPath) => {
    const last = commits.get(nameOf(itemPath));
    return last?.isFirst && parseMessage(last.message) === null;
  });
  return { older, changed, foreign, unattributed };
}

const listSiblings = (entries: BranchTree['entries'], parent: string): readonly string[] =>
  [...entries].flatMap(([path, { type }]) =>
    type === 'tree' && parentOf(`${path}/`) === parent ? `${path}/` : [],
  );

const parentOf = (folder: string): string => folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);

/**
 * The paths that this tool delivered as single files, and nobody changed since, each with the message of its commit; of
 * more than `SITE.singleFiles`, none.
 *
 * @param page the page whose pictures some of the paths are: these count only if they came with it
 * @throws {DeliveryError} as `refuseOthers`
 */
export async function findSingleFiles(
  target: SearchTarget,
  { head, entries }: BranchTree,
  paths: readonly string[],
  page?: { readonly path: string; readonly pictures: ReadonlySet<string> },
): Promise<ReadonlyMap<string, string>> {
  if (head === null || paths.length === 0 || paths.length > SITE.singleFiles) return new Map();
  const commits = await getLastCommits(target.github, head, paths);
  const messageOf = (path: string): string => commits.get(path)?.message ?? '';
  const owned = paths.filter((path) => {
    const file = { path, sha: entries.get(path)?.sha ?? '' };
    const ofPage = page?.pictures.has(path) ? page.path : undefined;
    return holdsFile({ entries }, file) && isOwned(messageOf(path), file, ofPage);
  });
  const found = owned.map((path) => [path, messageOf(path)] as const);
  refuseOthers(target, found);
  return new Map(found);
}

/**
 * The files that an address shows, the first one in place of the others: what the branch has there itself, then the
 * Markdown whose delivery handed that address over. After a squash, Markdown whose delivery nothing tells.
 */
export async function findShown(
  github: GitHubClient,
  { branch, builtBy, entryPath: path }: Pick<PagesDestination, 'branch' | 'builtBy' | 'entryPath'>,
): Promise<readonly string[]> {
  const sources = builtBy === 'branch' ? listSources(path) : [];
  if (sources.length === 0) return [path];
  const commits = await getLastCommits(github, await getBranchHead(github, branch), sources);
  const parsedOf = (source: string) => parseMessage(commits.get(source)?.message ?? '');
  const delivered = sources.filter((source) => {
    const delivery = parsedOf(source)?.delivered;
    return delivery?.itemPath === source && delivery.page === path;
  });
  if ((await getEntry(github, branch, path))?.type === 'blob') return [path, ...delivered];
  const unattributed = sources.filter((source) => commits.get(source)?.isFirst && parsedOf(source) === null);
  return [...delivered, ...unattributed, path];
}

/** What this tool delivered to a place, as far as it is still there, and in which commit; no files for nothing. */
export async function findDeliveredTo(itemPath: string, target: SearchTarget, tree: BranchTree) {
  if (isFolderPath(itemPath)) {
    const { record, files = [] } = (await findDeliveries(target, tree, itemPath)).sites.get(itemPath) ?? {};
    return { files, sha: record?.sha ?? '', message: record?.message ?? '' };
  }
  const commits = await getLastCommits(target.github, tree.head ?? '', [itemPath]);
  const { sha = '', message = '' } = commits.get(itemPath) ?? {};
  const { delivered } = parseMessage(message) ?? {};
  const all = delivered?.itemPath === itemPath ? listAlone(delivered) : [];
  const files = all.filter((file) => holdsFile(tree, file));
  return { files: files[0] === all[0] ? files : [], sha, message };
}
