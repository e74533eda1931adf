import type { CommitSummary } from '../../../github/api/history.ts';
import type { TreeFile } from '../../../github/api/tree-id.ts';
import { lineIf } from '../../../plain-text.ts';
import type { GitBlob } from '../../../rules/fingerprint.ts';
import { isFolderPath } from '../../../rules/naming.ts';
import {
  type BranchTree,
  blobAt,
  filesBelow,
  hasFilesBelow,
  holdsFile,
  limitTrees,
  type OlderTrees,
  type SiteHistory,
} from '../branch-reader.ts';
import { pageOfDelivered, parseMessage } from '../commit-message.ts';
import { type DeliveryRecord, listRecordedFiles, readRecords } from '../delivery-records.ts';

/** From worst to best; the worst path decides. `back`: this tool removed it and somebody restored it. */
const STATES = ['lost', 'changed', 'back', 'there', 'removed'] as const;

type BranchState = (typeof STATES)[number];

export interface ListedDelivery {
  readonly record: DeliveryRecord;
  readonly state: BranchState;
  /** Unchanged paths; for a removed delivery, the paths that must not be served. */
  readonly paths: readonly string[];
  readonly before?: ReadonlyMap<string, GitBlob>;
  /** Lost paths, otherwise the changed and restored paths. */
  readonly changed: readonly string[];
  /** The last commit that touched the first changed path, or that removed the delivery; `null` if unknown. */
  readonly by: CommitSummary | null;
  readonly unknown: readonly string[];
}

/**
 * Lists deliveries to a path and below it, the newest first. The number of files adds no request.
 * @param limits of the history, and of older versions
 * @returns also the branch's entries, and `last`, the newest commit that touched the path
 */
export async function readDeliveries(
  history: SiteHistory,
  head: string,
  itemPath: string,
  { pages, olderTrees }: Readonly<Record<'pages' | 'olderTrees', number>>,
) {
  const tree: BranchTree = { head, entries: await history.readEntries(head) };
  let read = 0;
  const isEnough = (): boolean => ++read >= pages;
  const { records, isComplete, last } = await readRecords(history, head, itemPath, isEnough);
  const older = limitTrees(history.readEntries, olderTrees);
  const listed: ListedDelivery[] = [];
  for (const record of records.values()) {
    const delivery = await compareRecord(record, tree, older);
    if (delivery !== null) listed.push(delivery);
  }
  return { deliveries: listed, entries: tree.entries, isComplete, last };
}

const NOTHING = { paths: [], changed: [], by: null, unknown: [] } as const;

/** @returns `null` if newer deliveries replaced everything */
async function compareRecord(
  record: DeliveryRecord,
  tree: BranchTree,
  older: OlderTrees,
): Promise<ListedDelivery | null> {
  const { itemPath, delivered, parts, isReplaced, isRemoved, files: known } = record;
  const isEmpty = isFolderPath(itemPath) && !hasFilesBelow(tree, itemPath) && known?.size !== 0;
  if (delivered && isEmpty && !isReplaced(itemPath) && !isRemoved(itemPath)) {
    return { ...NOTHING, record, state: 'lost', changed: [itemPath] };
  }
  const files = await (delivered
    ? listRecordedFiles({ ...record, delivered }, tree, older)
    : listRemoved(record, tree, older));
  if (files === null) return describeUnread(record, isEmpty);
  const paths = sortByState(files, record, tree);
  const state = STATES.find((candidate) => paths[candidate].length > 0);
  if (state === undefined) return null;
  const { lost, changed, back, there, removed } = paths;
  if (state !== 'removed') {
    const others = state === 'lost' ? lost : [...changed, ...back];
    const unknown = lineIf(
      parts.length + removed.length > 0,
      `whether the withdrawn files of ${itemPath || './'} are gone`,
    );
    return { ...NOTHING, record, state, paths: there, changed: others, unknown };
  }
  if (!isFolderPath(itemPath)) return { ...NOTHING, record, state, paths: removed };
  const entries = (await older(delivered ? record.sha : record.parent)) ?? new Map();
  const before = new Map(removed.flatMap((path) => blobAt([entries], path).map((blob) => [path, blob])));
  return { ...NOTHING, record, state, paths: removed, before, by: delivered ? null : record };
}

function sortByState(
  files: readonly TreeFile[],
  { itemPath, delivered, isRemoved }: DeliveryRecord,
  tree: BranchTree,
) {
  // Removing a page removes its pictures too, and removing a folder all its files.
  const isGone = (path: string): boolean => !delivered || isRemoved(path) || isRemoved(itemPath);
  const stateOf = (file: TreeFile): BranchState => {
    if (!tree.entries.has(file.path)) return isGone(file.path) ? 'removed' : 'lost';
    if (!holdsFile(tree, file)) return 'changed';
    return isGone(file.path) ? 'back' : 'there';
  };
  const paths: Record<BranchState, string[]> = { lost: [], changed: [], back: [], there: [], removed: [] };
  for (const file of files) paths[stateOf(file)].push(file.path);
  return paths;
}

function describeUnread(record: DeliveryRecord, isEmpty: boolean): ListedDelivery {
  const itemPath = record.itemPath || './';
  if (isEmpty && !record.delivered) {
    const unknown = `whether the other files of ${itemPath} are gone: the audit requested only its page`;
    const paths = [pageOfDelivered(record)];
    return { ...NOTHING, record, state: 'removed', paths, by: record, unknown: [unknown] };
  }
  const unknown = `which files of ${itemPath} are lost or changed: the audit saw only that the folder changed`;
  return { ...NOTHING, record, state: 'changed', changed: [record.itemPath], unknown: [unknown] };
}

/** Lists the files that a folder's removal took and no newer delivery replaced; `null` if unknown. */
async function listRemoved(
  { itemPath, parent, sha, isReplaced, removedPaths }: DeliveryRecord,
  tree: BranchTree,
  older: OlderTrees,
) {
  if (removedPaths !== undefined) {
    const below = removedPaths.filter((path) => path.startsWith(itemPath) && !isReplaced(path));
    return below.filter((path) => !tree.entries.has(path)).map((path) => ({ path, sha: '' }));
  }
  const before = await older(parent);
  const after = hasFilesBelow(tree, itemPath) ? await older(sha) : tree.entries;
  if (before === null || after === null) return null;
  return [...filesBelow({ entries: before }, itemPath)].flatMap(([path, file]) =>
    after.has(path) || isReplaced(path) ? [] : { path, sha: file.sha },
  );
}

/** Finds the commits that changed each delivery, 50 paths a request. */
export async function nameCommits(
  listed: readonly ListedDelivery[],
  history: SiteHistory,
  head: string,
): Promise<readonly ListedDelivery[]> {
  const pathOf = ({ changed, paths, state, by }: ListedDelivery): string =>
    (changed[0] ?? (state === 'removed' && by === null ? (paths[0] ?? '') : '')).replace(/\/$/, '');
  const paths = new Set(listed.map(pathOf).filter((path) => path !== ''));
  const commits = await history.readLastCommits(head, [...paths]);
  return listed.map((delivery) => {
    const path = pathOf(delivery);
    const last = commits.get(path);
    const deliveredBlobs = last?.blobs.filter(({ sha }) => sha === delivery.record.delivered?.object) ?? [];
    const parsed = parseMessage(last?.message ?? '');
    const found = {
      before: new Map(deliveredBlobs.map((blob) => [path, blob])),
      ...delivery,
      by: last ?? delivery.by,
    };
    // A restoration puts back what `keep` removed.
    if (delivery.state !== 'back' || parsed === null) return found;
    return { ...found, state: 'there', paths: [...delivery.paths, ...delivery.changed], changed: [] };
  });
}
