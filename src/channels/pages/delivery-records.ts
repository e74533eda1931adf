import { DeliveryError } from '../../errors.ts';
import { parentFolders } from '../../github/api/branch.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import { HISTORY_PAGES, SITE } from '../../protocol/limits.ts';
import { isFolderPath } from '../../rules/naming.ts';
import {
  type BranchTree,
  filesBelow,
  type HistoryCommit,
  holdsFile,
  type OlderTrees,
  type SiteHistory,
} from './branch-reader.ts';
import {
  type DeliveredObject,
  type DeliveryMessage,
  describeDelivered,
  listAlone,
  parseMessage,
} from './commit-message.ts';

/** What this tool's newest commit about a path did to it. */
export interface DeliveryRecord extends HistoryCommit {
  readonly itemPath: string;
  readonly delivered?: DeliveredObject | undefined;
  readonly parts: readonly Pick<DeliveryRecord, 'sha' | 'parent'>[];
  /** Whether newer commits of this tool delivered the path, and so own it. */
  readonly isReplaced: (path: string) => boolean;
  /** Whether a newer commit of this tool names the path as removed. It names whole deliveries, not their files. */
  readonly isRemoved: (path: string) => boolean;
}

export type DeliveredRecord = DeliveryRecord & { readonly delivered: DeliveredObject };

/**
 * Reads this tool's records for a path and below it, a hundred commits a request.
 * @param isEnough whether older records aren't needed
 * @returns the records by path, the newest first; `last`, the newest commit of anybody
 */
export async function readRecords(
  history: SiteHistory,
  head: string,
  itemPath: string,
  isEnough: (records: ReadonlyMap<string, DeliveryRecord>) => boolean = () => false,
) {
  const records = new Map<string, DeliveryRecord>();
  const parts = new Map<string, DeliveryRecord['parts']>();
  const addToIndex = createIndex();
  const path = itemPath.replace(/\/$/, '');
  let last: HistoryCommit | undefined;
  let isComplete = false;
  for (let historyPage = 1; historyPage <= HISTORY_PAGES && !isComplete; historyPage += 1) {
    const { commits, isLast } = await history.listCommits(head, path, historyPage);
    for (const found of commits) {
      last ??= found;
      const parsed = parseMessage(found.message);
      for (const named of listNamedPaths(parsed)) {
        const newer = addToIndex(named);
        if (!named.startsRecord || !isWithin(named.itemPath, path) || records.has(named.itemPath)) continue;
        records.set(named.itemPath, { ...found, ...named, ...newer, parts: parts.get(named.itemPath) ?? [] });
      }
      for (const path of parsed?.removedFrom ?? []) parts.set(path, [...(parts.get(path) ?? []), found]);
    }
    isComplete = isLast;
    if (isEnough(records)) break;
  }
  return { records, last, isComplete };
}

/** Whether a path equals the item's path or lies below it. */
export const isWithin = (path: string, itemPath: string): boolean =>
  itemPath === '' || path === itemPath || path.startsWith(itemPath.endsWith('/') ? itemPath : `${itemPath}/`);

type NamedPath = Pick<DeliveryRecord, 'itemPath' | 'delivered'> & { readonly startsRecord: boolean };

function listNamedPaths(parsed: DeliveryMessage | null): readonly NamedPath[] {
  const { delivered, removed = [] } = parsed ?? {};
  // Records of files, and of folders that `keep` removed, come from their delivery: it may have been
  // restored.
  const removals = removed.map((itemPath) => ({
    itemPath,
    startsRecord: !delivered && isFolderPath(itemPath),
  }));
  return delivered
    ? [{ itemPath: delivered.itemPath, delivered, startsRecord: true }, ...removals]
    : removals;
}

function createIndex(): (named: NamedPath) => Pick<DeliveryRecord, 'isReplaced' | 'isRemoved'> {
  const all: (NamedPath & { readonly holds: (path: string) => boolean })[] = [];
  return (named) => {
    const { itemPath, delivered } = named;
    const newer = all.length;
    all.push({ ...named, holds: delivered ? createDeliveredLookup(delivered) : (path) => path === itemPath });
    let nearby: typeof all | undefined;
    const search = (isDelivery: boolean) => (path: string) => {
      nearby ??= all
        .slice(0, newer)
        .filter((entry) => entry.itemPath.startsWith(itemPath) || itemPath.startsWith(entry.itemPath));
      return nearby.some((entry) => (entry.delivered !== undefined) === isDelivery && entry.holds(path));
    };
    return { isReplaced: search(true), isRemoved: search(false) };
  };
}

/** Whether a path belongs to a delivery; no path does for a removal. */
export const createOwnLookup = (message: DeliveryMessage | null): ((path: string) => boolean) =>
  message?.delivered ? createDeliveredLookup(message.delivered) : () => false;

function createDeliveredLookup(delivered: DeliveredObject): (path: string) => boolean {
  const { itemPath, beside } = delivered;
  const isKept = createKeptLookup(delivered);
  const files = new Set([itemPath, ...beside.map(({ path }) => path)]);
  return (path) => (isFolderPath(itemPath) ? path.startsWith(itemPath) && !isKept(path) : files.has(path));
}

/**
 * Lists the files that are still a delivery's own; `null` if too many trees were read, or the message was copied.
 */
export async function listRecordedFiles(
  { sha, delivered, itemPath, parts, isReplaced, files: known }: DeliveredRecord,
  { entries }: BranchTree,
  readOlder: OlderTrees,
): Promise<readonly TreeFile[] | null> {
  const isOpen = ({ path }: TreeFile): boolean => !isReplaced(path);
  if (!isFolderPath(itemPath)) return isReplaced(itemPath) ? [] : listAlone(delivered).filter(isOpen);
  const notReplaced = [...entries].filter(
    ([path, { type }]) => path.startsWith(itemPath) && (type === 'tree' || !isReplaced(path)),
  );
  const current = known
    ? [...known].map(([path, blob]) => ({ path, sha: blob.sha })).filter(isOpen)
    : listDelivered(new Map(notReplaced), delivered);
  const older = current === null ? await readOlder(sha) : null;
  let files = current ?? (older && listDelivered(older, delivered)?.filter(isOpen));
  for (const part of parts) {
    const before = files && (await readOlder(part.parent));
    const after = before && (await readOlder(part.sha));
    if (!files || !before || !after) return null;
    // A file that was missing before was lost, not removed.
    files = files.filter((file) => !before.has(file.path) || holdsFile({ entries: after }, file));
  }
  return files ?? null;
}

/** Lists other files; a whole folder is one line. @throws {DeliveryError} `NOT_OURS` if the list is too long */
export function listKept(tree: Pick<BranchTree, 'entries'>, folder: string, delivered: ReadonlySet<string>) {
  const mixed = new Set([...delivered].flatMap(parentFolders));
  const kept = new Map<string, string>();
  for (const [path, { sha }] of filesBelow(tree, folder)) {
    if (delivered.has(path)) continue;
    const top = parentFolders(path).findLast((parent) => parent.length > folder.length && !mixed.has(parent));
    if (top === undefined) kept.set(path.slice(folder.length), sha);
    else kept.set(`${top.slice(folder.length)}/`, tree.entries.get(top)?.sha ?? sha);
  }
  if (kept.size > SITE.kept) {
    const what = `${kept.size} files and folders that don't belong to this delivery`;
    throw new DeliveryError('NOT_OURS', `the folder ${folder || './'} has ${what}`, {
      hint: (w) => `set ${w.input('path')} to a folder of its own`,
    });
  }
  return [...kept].map(([path, sha]) => ({ path, sha }));
}

function createKeptLookup({ itemPath, kept }: Pick<DeliveredObject, 'itemPath' | 'kept'>) {
  const names = new Set(kept.map(({ path }) => itemPath + path));
  return (path: string): boolean =>
    names.size > 0 && (names.has(path) || parentFolders(path).some((folder) => names.has(`${folder}/`)));
}

/** Lists the delivered files if the tree holds exactly the recorded ones; otherwise `null`. */
export function listDelivered(entries: BranchTree['entries'], { itemPath, kept, object }: DeliveredObject) {
  const isKept = createKeptLookup({
    itemPath,
    kept: kept.filter(({ path, sha }) => entries.get(itemPath + path.replace(/\/$/, ''))?.sha === sha),
  });
  const files = [...filesBelow({ entries }, itemPath)].map(([path, { sha }]) => ({ path, sha }));
  const delivered = files.filter(({ path }) => !isKept(path));
  return describeDelivered(itemPath, delivered).object === object ? delivered : null;
}
