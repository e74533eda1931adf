import type { CommitSummary } from '../../github/api/history.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import { SITE } from '../../protocol/limits.ts';
import { listSources } from '../../rules/jekyll.ts';
import { isFolderPath } from '../../rules/naming.ts';
import { type BranchTree, hasFilesBelow, holdsFile, limitTrees, type SiteHistory } from './branch-reader.ts';
import { listAlone, parseMessage } from './commit-message.ts';
import {
  type DeliveredRecord,
  type DeliveryRecord,
  listRecordedFiles,
  readRecords,
} from './delivery-records.ts';
import type { PagesDestination } from './destination.ts';
import { type DeliveryOwner, foreignError } from './not-ours.ts';
import type { CommitTarget } from './target.ts';

/*
 * This tool owns a path if its newest commit there names the content that the branch still holds (`listRecordedFiles`).
 * Other files need `overwrite`. The audit (`readDeliveries`) and a restoration (`restoreBefore`) read the same commits.
 *
 * A delivery of this tool may belong to another workflow, a person or agents (`isFromSame`). Without `overwrite`:
 *
 *                              | at the path itself  | below a folder that is withdrawn | beside, for `keep`
 *   a workflow or a person     | takes it            | leaves it and names it           | leaves it
 *   who delivers alone         | is refused          | leaves it and names it           | leaves it
 */

/** Whether this tool delivered the path alone, and nobody changed it since. @see protocol 7 (prohibition 4) */
export function isOwned(message: string, { path, sha }: TreeFile, page?: string): boolean {
  const { delivered } = parseMessage(message) ?? {};
  if (delivered === undefined || (page ?? delivered.itemPath) !== delivered.itemPath) return false;
  return listAlone(delivered).some((file) => file.path === path && file.sha === sha);
}

/** Whether the same deliverer made the commit, or `overwrite` treats it so; see the table above. */
export const isFromSame = (message: string, { deliverer, overwrite }: DeliveryOwner): boolean =>
  overwrite || parseMessage(message)?.deliverer?.name === deliverer?.name;

/** Whether others own it, so that it must not be touched. */
export const isOfOthers = (message: string, options: DeliveryOwner): boolean =>
  options.deliverer?.isRestricted === true && !isFromSame(message, options);

/** @param found paths that this tool delivered, with their commit messages @throws {DeliveryError} `NOT_OURS` */
function refuseOthers({ options }: SearchTarget, found: readonly (readonly [string, string])[]): void {
  const others = found.flatMap(([itemPath, message]) => (isOfOthers(message, options) ? itemPath : []));
  if (others.length > 0) throw foreignError(options, others);
}

export interface OwnedSite {
  readonly record: DeliveredRecord;
  readonly files: readonly TreeFile[];
  readonly changed: readonly string[];
}

/** A folder of the branch, with this tool's deliveries to it and below it. */
export interface FolderInBranch {
  readonly tree: BranchTree;
  /** By folder; a site may have no file left. */
  readonly sites: ReadonlyMap<string, OwnedSite>;
  /** Paths of known deliveries of single files, with their pictures. */
  readonly singles: ReadonlySet<string>;
  /** Whether there may be more deliveries than one run finds. */
  readonly isPartial?: boolean;
  /** Whether the folder itself was delivered and not withdrawn. */
  readonly isDelivered?: boolean;
  /** The last commit of anybody that touched the folder. */
  readonly last?: CommitSummary | undefined;
  /** The parent of this tool's last commit to the folder, otherwise of anybody's last commit to it. */
  readonly before?: string | undefined;
}

type SearchTarget = Pick<CommitTarget, 'history'> & { readonly options: DeliveryOwner };

/**
 * Finds what is left of deliveries to a folder. The newest one counts if the branch matches it; after a removal none
 * does.
 * @param isWithBelow whether deliveries below the folder count too
 */
export async function findDeliveries(
  target: SearchTarget,
  tree: BranchTree,
  folder: string,
  isWithBelow = false,
): Promise<FolderInBranch> {
  const { history } = target;
  if (tree.head === null) return { tree, sites: new Map(), singles: new Set() };
  const isEnough = (read: ReadonlyMap<string, unknown>): boolean => !isWithBelow && read.has(folder);
  const { records, last, isComplete } = await readRecords(history, tree.head, folder, isEnough);
  const readOlder = limitTrees(history.readEntries, SITE.olderTrees);
  const sites = new Map<string, OwnedSite>();
  const found = new Set<string>();
  const newest = hasFilesBelow(tree, folder) ? records.get(folder) : undefined;
  const isDelivered = newest?.delivered !== undefined;
  let isPartial = !isComplete && !isDelivered;
  for (const record of records.values()) {
    if (!isOfSite(record) || !hasFilesBelow(tree, record.itemPath)) continue;
    if (!isWithBelow && record.itemPath !== folder) continue;
    const listed = await listRecordedFiles(record, tree, readOlder);
    isPartial ||= listed === null && record.itemPath !== folder;
    const delivered = listed ?? [];
    const files = delivered.filter((file) => holdsFile(tree, file) && !found.has(file.path));
    for (const { path } of files) found.add(path);
    const changed = delivered.flatMap((file) =>
      tree.entries.has(file.path) && !holdsFile(tree, file) ? file.path : [],
    );
    sites.set(record.itemPath, { record, files, changed });
  }
  const own = sites.get(folder);
  if (own && own.files.length > 0) refuseOthers(target, [[folder, own.record.message]]);
  const before = (newest?.parts[0] ?? newest ?? last)?.parent;
  const alone = [...records.values()].flatMap(({ delivered }) => (delivered ? listAlone(delivered) : []));
  const singles = new Set(alone.map(({ path }) => path));
  return { tree, sites, singles, last, before, isDelivered, isPartial };
}

const isOfSite = (record: DeliveryRecord): record is DeliveredRecord =>
  record.delivered !== undefined && isFolderPath(record.itemPath);

/**
 * Finds the sibling folders that `keep` removes. The history decides which are the newest, because dates can be
 * wrong.
 * @param together folders of the same delivery: `keep` counts them and removes none
 */
export async function findOlderSites(
  { history, options }: CommitTarget,
  { head, entries }: BranchTree,
  folder: string,
  together: readonly string[],
): Promise<Readonly<Record<'older' | 'skipped', readonly string[]>>> {
  const none = { older: [], skipped: [] };
  if (options.keep === undefined || folder === '' || head === null) return none;
  const parent = parentOf(folder);
  const keep = Math.max(options.keep - together.filter((path) => parentOf(path) === parent).length, 0);
  const siblings = listSiblings(entries, parent)
    .filter((path) => path !== folder && !together.includes(path))
    .slice(0, SITE.siblings);
  const nameOf = (itemPath: string): string => itemPath.slice(0, -1);
  const commits = await history.readLastCommits(head, siblings.map(nameOf));
  const whole = siblings.filter((path) => {
    const { message = '' } = commits.get(nameOf(path)) ?? {};
    const { itemPath, object } = parseMessage(message)?.delivered ?? {};
    return itemPath === path && object === entries.get(nameOf(path))?.sha && isFromSame(message, options);
  });
  if (whole.length <= keep && whole.length === siblings.length) return none;
  const newestOf = (records: ReadonlyMap<string, DeliveryRecord>): readonly string[] =>
    [...records.keys()].filter((itemPath) => whole.includes(itemPath)).slice(0, keep);
  const wanted = Math.min(keep, whole.length);
  const { records } = await readRecords(history, head, parent, (read) => newestOf(read).length === wanted);
  const newest = newestOf(records);
  // If the history shows too few, all stay.
  const older = newest.length < keep ? [] : whole.filter((itemPath) => !newest.includes(itemPath));
  // After a squash, the first commit has everything.
  const mayBeDelivered = (path: string): boolean => {
    const { message = '', isFirst = false } = commits.get(nameOf(path)) ?? {};
    return isFirst || records.has(path) || parseMessage(message) !== null;
  };
  return { older, skipped: siblings.filter((path) => !whole.includes(path) && mayBeDelivered(path)) };
}

export const listSiblings = (entries: BranchTree['entries'], parent: string): readonly string[] =>
  [...entries].flatMap(([path, { type }]) =>
    type === 'tree' && parentOf(`${path}/`) === parent ? `${path}/` : [],
  );

const parentOf = (folder: string): string => folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);

/**
 * Finds unchanged single files of this tool, with their commit messages; more than `SITE.singleFiles` aren't
 * checked.
 * @param page the page that pictures must have come with
 */
export async function findSingleFiles(
  target: SearchTarget,
  { head, entries }: BranchTree,
  paths: readonly string[],
  page?: { readonly path: string; readonly pictures: ReadonlySet<string> },
): Promise<ReadonlyMap<string, string>> {
  if (head === null || paths.length === 0 || paths.length > SITE.singleFiles) return new Map();
  const commits = await target.history.readLastCommits(head, paths);
  const messageOf = (path: string): string => commits.get(path)?.message ?? '';
  const owned = paths.filter((path) => {
    const file = { path, sha: entries.get(path)?.sha ?? '' };
    const ofPage = page?.pictures.has(path) ? page.path : undefined;
    return holdsFile({ entries }, file) && isOwned(messageOf(path), file, ofPage);
  });
  const found = owned.map((path) => [path, messageOf(path)] as const);
  if (!target.options.isRemoval) refuseOthers(target, found);
  return new Map(found);
}

/** Lists the files that a URL may show, the likeliest first: the file itself, or Markdown delivered for it. */
export async function findShown(
  history: SiteHistory,
  { builtBy, entryPath: path }: Pick<PagesDestination, 'builtBy' | 'entryPath'>,
): Promise<readonly string[]> {
  const sources = builtBy === 'branch' ? listSources(path) : [];
  if (sources.length === 0) return [path];
  const commits = await history.readLastCommits(await history.readHead(), sources);
  const parsedOf = (source: string) => parseMessage(commits.get(source)?.message ?? '');
  const delivered = sources.filter((source) => {
    const { delivered, removed } = parsedOf(source) ?? {};
    if (delivered) return delivered.itemPath === source && delivered.page === path;
    // A rendered page and its source are removed together.
    return removed?.includes(source) && !removed.includes(path);
  });
  if ((await history.readEntry(path))?.type === 'blob') return [path, ...delivered];
  const unattributed = sources.filter((source) => commits.get(source)?.isFirst && parsedOf(source) === null);
  return [...delivered, ...unattributed, path];
}

/** Finds what is left of a delivery to a path, and its commit; no files if nothing is left. */
export async function findDeliveredTo(itemPath: string, target: SearchTarget, tree: BranchTree) {
  if (isFolderPath(itemPath)) {
    const { record, files = [] } = (await findDeliveries(target, tree, itemPath)).sites.get(itemPath) ?? {};
    return { files, sha: record?.sha ?? '', message: record?.message ?? '' };
  }
  const commits = await target.history.readLastCommits(tree.head ?? '', [itemPath]);
  const { sha = '', message = '' } = commits.get(itemPath) ?? {};
  const { delivered } = parseMessage(message) ?? {};
  const all = delivered?.itemPath === itemPath ? listAlone(delivered) : [];
  const files = all.filter((file) => holdsFile(tree, file));
  return { files: files[0] === all[0] ? files : [], sha, message };
}
