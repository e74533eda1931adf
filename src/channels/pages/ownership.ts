import { parentFolders } from '../../github/api/branch.ts';
import { type GitHubClient, isLastPage } from '../../github/api/client.ts';
import { getLastCommits } from '../../github/api/history.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import { SITE } from '../../protocol/limits.ts';
import { type BranchTree, filesBelow, hasFilesBelow, treeShaAt } from './branch-reader.ts';
import { createKeptLookup, type DeliveredSite, listDelivered, parseMessage } from './commit-message.ts';
import type { CommitTarget } from './target.ts';

/*
 * Who owns a path of the branch: the newest commit that has the form of this tool's says what was delivered, and the
 * branch still holds just that. `isOwned` judges one file, `findDeliveries` the files of folders, `findWholeSites` those
 * that `keep` may remove. Nothing else in the project decides whose it is. What is not ours is written or removed with
 * `overwrite` alone: `mayChange` (compare-files.ts) and `sortFiles` (compare-site.ts) look at that, and `not-ours.ts`
 * refuses the rest.
 */

/**
 * Whether this tool delivered what a path holds, and nobody changed it since.
 *
 * @param message of the last commit that touched the path
 * @param object the path, and git's id of what it holds now
 * @param by what delivered it. `confinedTo`: a confined delivery owns only what the same one delivered. `page`: a
 * picture counts only if it came with its page; what was delivered to the same path by itself is the user's own
 * @see design 4, protocol 7 (prohibition 4)
 */
export function isOwned(
  message: string,
  { path, sha }: TreeFile,
  by: { readonly confinedTo?: string | undefined; readonly page?: string } = {},
): boolean {
  const { objects = [], confinedTo } = parseMessage(message) ?? {};
  return (
    objects.some((one) => one.path === path && one.sha === sha) &&
    (by.confinedTo === undefined || by.confinedTo === confinedTo) &&
    (by.page === undefined || (path !== by.page && objects[0]?.path === by.page))
  );
}

/** A commit that says that it delivered a folder. */
interface SiteDelivery extends DeliveredSite {
  readonly sha: string;
  readonly message: string;
  /** Sha of the commit before it; absent where there is none, or where it was not asked for. */
  readonly parent?: string | undefined;
  /** Newer commits that delivered a folder of its own below this one. */
  readonly later: readonly DeliveredSite[];
}

/** A folder that this tool delivered, as far as it is still there. */
interface OwnedSite {
  readonly delivery: SiteDelivery;
  /** By path within the folder: git's id of the bytes that were delivered and that are still there. */
  readonly files: ReadonlyMap<string, string>;
}

/** What this tool delivered to a folder, and below it. */
export interface FoundDeliveries {
  /** By folder; some may have no file left. */
  readonly sites: ReadonlyMap<string, OwnedSite>;
  /** Folders that are not looked at, because one run removes no more. */
  readonly postponed: readonly string[];
  /** Whether all of the history was searched. */
  readonly isComplete: boolean;
  /** The last commit that touched the folder, by anybody; absent where none did. */
  readonly lastCommit?: string | undefined;
  /** The commit before the newest delivery to the folder, or else before the last one that touched it. */
  readonly before?: string | undefined;
}

type SearchTarget = Pick<CommitTarget, 'github' | 'reader'>;

const NOTHING: FoundDeliveries = { sites: new Map(), postponed: [], isComplete: true };

/**
 * What this tool delivered to a folder, as far as it is there. The newest commit that has the form of a delivery
 * counts, if the tree that it names is the one that it made. A file that somebody removed meanwhile, and put back
 * with the same bytes, is the delivered one; after a removal by this tool nothing is.
 *
 * @param folder empty for the branch's root, or ending in `/`
 * @param isWithBelow whether the deliveries below the folder are looked for too, however deep. A history that is too
 * long to be read tells only of those that nobody changed since; a folder as it was delivered costs no further request
 * @see design 4
 */
export async function findDeliveries(
  target: SearchTarget,
  tree: BranchTree,
  folder: string,
  isWithBelow = false,
): Promise<FoundDeliveries> {
  if (tree.head === null) return NOTHING;
  const { deliveries, isComplete, ...last } = await readHistory(
    target.github,
    tree.head,
    folder,
    isWithBelow,
  );
  const search = createSearch(target, tree);
  for (const one of deliveries.values()) {
    if (one !== null && (isWithBelow || one.folder === folder)) await search.add(one);
  }
  if (isWithBelow && !isComplete) {
    const left = [...filesBelow(tree, folder).keys()].filter((path) => !search.found.has(folder + path));
    const folders = listFoldersOf(left, folder).filter((one) => !deliveries.has(one));
    for (const one of await readLastDeliveries(target, tree.head, folders)) await search.add(one);
  }
  const parent = hasFilesBelow(tree, folder) ? deliveries.get(folder)?.parent : undefined;
  return {
    sites: search.sites,
    postponed: search.postponed,
    isComplete,
    ...last,
    before: parent ?? last.before,
  };
}

/** Collects what of each delivery is still there, with a bound on the trees that are read, sites and files. */
function createSearch({ github, reader }: SearchTarget, tree: BranchTree) {
  const sites = new Map<string, OwnedSite>();
  const postponed: string[] = [];
  const found = new Set<string>();
  let treesLeft: number = SITE.olderTrees;
  const add = async (delivery: SiteDelivery): Promise<void> => {
    const { folder, sha } = delivery;
    if (!hasFilesBelow(tree, folder)) return;
    let delivered = listDelivered(tree.entries, delivery);
    const isFull = sites.size >= SITE.removals || found.size >= SITE.files;
    if (isFull || (delivered === null && treesLeft === 0)) {
      postponed.push(folder);
      return;
    }
    if (delivered === null) {
      treesLeft -= 1;
      delivered = listDelivered(await reader.getEntries(github, sha), delivery) ?? [];
    }
    const remaining = listRemaining(tree, delivery, delivered).filter(
      ({ path }) => !found.has(folder + path),
    );
    for (const { path } of remaining) found.add(folder + path);
    sites.set(folder, { delivery, files: new Map(remaining.map((one) => [one.path, one.sha])) });
  };
  return { sites, postponed, found, add };
}

interface History extends Pick<FoundDeliveries, 'lastCommit' | 'before' | 'isComplete'> {
  /** By folder: its newest delivery; `null` where a newer commit says that it was removed. */
  readonly deliveries: ReadonlyMap<string, SiteDelivery | null>;
}

/** Reads the history of a folder: to its newest delivery, or on for those below it. */
async function readHistory(
  github: GitHubClient,
  head: string,
  folder: string,
  isWithBelow: boolean,
): Promise<History> {
  const place = folder === '' ? {} : { path: folder.slice(0, -1) };
  const deliveries = new Map<string, SiteDelivery | null>();
  const newer: DeliveredSite[] = [];
  let last: Pick<History, 'lastCommit' | 'before'> | undefined;
  for (let page = 1; page <= SITE.historyPages; page += 1) {
    const query = { ...github.repository, ...place, sha: head, per_page: SITE.history, page };
    const answer = await github.rest.repos.listCommits(query);
    last ??= { lastCommit: answer.data[0]?.sha, before: answer.data[0]?.parents[0]?.sha };
    for (const { sha, commit, parents } of answer.data) {
      const { site, removed = [] } = parseMessage(commit.message) ?? {};
      for (const one of removed) if (!deliveries.has(one)) deliveries.set(one, null);
      if (site === undefined || !site.folder.startsWith(folder)) continue;
      const later = newer.filter((one) => one.folder.startsWith(site.folder) && one.folder !== site.folder);
      const parent = parents[0]?.sha;
      const delivery = { ...site, sha, parent, message: commit.message, later };
      if (!deliveries.has(site.folder)) deliveries.set(site.folder, delivery);
      newer.push(site);
      if (!isWithBelow && deliveries.has(folder)) break;
    }
    const isComplete = isLastPage(answer, SITE.history);
    if (isComplete || (!isWithBelow && deliveries.has(folder))) return { ...last, deliveries, isComplete };
  }
  return { ...last, deliveries, isComplete: false };
}

/** The deliveries of folders whose last commit, by anybody, delivered them: a few requests for all. */
async function readLastDeliveries(
  { github }: SearchTarget,
  head: string,
  folders: readonly string[],
): Promise<readonly (SiteDelivery & { readonly committedAt: number | null })[]> {
  const asked = folders.slice(0, SITE.siblings);
  const names = asked.map((one) => one.slice(0, -1));
  const commits = await getLastCommits(github, head, names);
  return asked.flatMap((folder, nth) => {
    const last = commits.get(names[nth] ?? '');
    const { site } = parseMessage(last?.message ?? '') ?? {};
    return last && site?.folder === folder ? [{ ...last, ...site, later: [] }] : [];
  });
}

/** The delivered files that nobody changed since, and that no later delivery below replaced. */
function listRemaining(
  { entries }: BranchTree,
  { folder, later }: SiteDelivery,
  delivered: readonly TreeFile[],
): readonly TreeFile[] {
  const others = later.map((one) => ({ folder: one.folder, isKept: createKeptLookup(one.kept) }));
  const isReplaced = (path: string): boolean =>
    others.some((one) => path.startsWith(one.folder) && !one.isKept(path.slice(one.folder.length)));
  return delivered.filter(({ path, sha }) => {
    const entry = entries.get(folder + path);
    return entry?.sha === sha && entry.mode === '100644' && !isReplaced(folder + path);
  });
}

/** The folders below a folder that have any of these files, those that lie highest first. @param paths within it */
function listFoldersOf(paths: readonly string[], folder: string): readonly string[] {
  const folders = new Set(paths.flatMap(parentFolders));
  const depth = (path: string): number => path.split('/').length;
  return [...folders].toSorted((one, other) => depth(one) - depth(other)).map((one) => `${folder}${one}/`);
}

/** The folders of which the last commit that touched them delivered all that they hold, the newest first. */
export async function findWholeSites(
  target: SearchTarget,
  tree: BranchTree,
  folders: readonly string[],
): Promise<readonly string[]> {
  if (tree.head === null) return [];
  const owned = (await readLastDeliveries(target, tree.head, folders)).filter(
    (one) => one.treeSha === treeShaAt(tree, one.folder) && one.committedAt,
  );
  // Of one second, the name decides: run-10/ is newer than run-9/.
  owned.sort(
    (one, other) =>
      (other.committedAt ?? 0) - (one.committedAt ?? 0) ||
      other.folder.localeCompare(one.folder, 'en', { numeric: true }),
  );
  return owned.map(({ folder }) => folder);
}
