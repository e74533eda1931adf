import { DeliveryError } from '../../../errors.ts';
import type { BranchEntry } from '../../../github/api/branch.ts';
import { type GitHubClient, isLastPage } from '../../../github/api/client.ts';
import { hashTree, type TreeFile } from '../../../github/api/tree-id.ts';
import { SITE } from '../../../protocol/limits.ts';
import { type BranchTree, filesBelow, hasFilesBelow } from '../branch-reader.ts';
import { type DeliveredSite, parseMessage } from '../ownership.ts';
import type { CommitTarget } from '../target.ts';

/** A commit that says that it delivered a site. */
export interface FoundDelivery extends DeliveredSite {
  readonly sha: string;
  readonly message: string;
  /** Sha of the commit before it; `null` where there is none. */
  readonly parent: string | null;
  /** Newer commits that delivered a site of its own below the folder. */
  readonly later: readonly DeliveredSite[];
}

/** What the history of a folder says of the sites in it. */
export interface SiteHistory {
  /** The last commit that touched the folder, by anybody; absent where none did. */
  readonly lastCommit?: string | undefined;
  /** Sha of the commit before that one; absent where there is none. */
  readonly lastParent?: string | undefined;
  /** By folder, the newest first: its newest delivery; `null` where a newer commit says that it was removed. */
  readonly deliveries: ReadonlyMap<string, FoundDelivery | null>;
  /** Whether all of the history was read. */
  readonly isComplete: boolean;
}

/**
 * Reads the history of a folder. At the root of the branch each delivery of another folder is part of it.
 *
 * @param folder empty, or ending in `/`
 * @param pages each with `SITE.history` commits
 * @param isWithSitesBelow whether to read on after the newest delivery of the folder itself, for the sites below it
 */
export async function readSiteHistory(
  github: GitHubClient,
  head: string,
  folder: string,
  { pages = SITE.historyPages as number, isWithSitesBelow = false } = {},
): Promise<SiteHistory> {
  const place = folder === '' ? {} : { path: folder.slice(0, -1) };
  const deliveries = new Map<string, FoundDelivery | null>();
  const newer: DeliveredSite[] = [];
  let last: Pick<SiteHistory, 'lastCommit' | 'lastParent'> | undefined;
  for (let page = 1; page <= pages; page += 1) {
    const query = { ...github.repository, ...place, sha: head, per_page: SITE.history, page };
    const answer = await github.rest.repos.listCommits(query);
    const [newest] = answer.data;
    last ??= { lastCommit: newest?.sha, lastParent: newest?.parents[0]?.sha };
    for (const { sha, commit, parents } of answer.data) {
      const parent = parents[0]?.sha ?? null;
      readMessage(deliveries, newer, { sha, parent, message: commit.message, folder });
      if (deliveries.has(folder) && !isWithSitesBelow) return { ...last, deliveries, isComplete: false };
    }
    if (isLastPage(answer, SITE.history)) return { ...last, deliveries, isComplete: true };
  }
  return { ...last, deliveries, isComplete: false };
}

type HistoryCommit = Pick<FoundDelivery, 'sha' | 'parent' | 'message'>;

function readMessage(
  deliveries: Map<string, FoundDelivery | null>,
  newer: DeliveredSite[],
  { folder, ...commit }: HistoryCommit & { readonly folder: string },
): void {
  const { site, removed = [] } = parseMessage(commit.message) ?? {};
  for (const one of removed) {
    if (one.startsWith(folder) && !deliveries.has(one)) deliveries.set(one, null);
  }
  if (!site?.folder.startsWith(folder)) return;
  const later = newer.filter((one) => one.folder.startsWith(site.folder) && one.folder !== site.folder);
  if (!deliveries.has(site.folder)) deliveries.set(site.folder, { ...site, ...commit, later });
  newer.push(site);
}

/** The newest delivery to a folder, and what of it is still there. */
export interface OwnedFiles {
  /** By path within the folder: git's id of the bytes that were delivered and that are still there. */
  readonly files: ReadonlyMap<string, string>;
  /** The last commit that touched the folder, by anybody; absent where none did. */
  readonly lastCommit?: string;
  /** The newest delivery; absent where there is none. */
  readonly delivery?: FoundDelivery;
  /** The commit before the newest delivery, or else before the last one that touched the folder. */
  readonly before?: string;
}

/**
 * What this tool delivered to a folder, as far as it is there. The newest commit that has the form of a delivery
 * counts, if the tree that it names is the one that it made. A file that somebody removed meanwhile, and put back
 * with the same bytes, is the delivered one; after a removal by this tool nothing is.
 *
 * @see design 4
 */
export async function findOwnedFiles(
  { github, reader }: Pick<CommitTarget, 'github' | 'reader'>,
  tree: BranchTree,
  folder: string,
): Promise<OwnedFiles> {
  if (tree.head === null) return { files: new Map() };
  const history = await readSiteHistory(github, tree.head, folder);
  const { lastCommit, lastParent: before, deliveries } = history;
  const found = {
    files: new Map<string, string>(),
    ...(lastCommit && { lastCommit }),
    ...(before && { before }),
  };
  const delivery = deliveries.get(folder);
  if (!delivery || !hasFilesBelow(tree, folder)) return found;
  const delivered =
    findDelivered(tree.entries, delivery) ??
    findDelivered(await reader.getEntries(github, delivery.sha), delivery) ??
    [];
  const { parent } = delivery;
  return {
    ...found,
    files: findRemaining(tree, delivery, delivered),
    delivery,
    ...(parent !== null && { before: parent }),
  };
}

/**
 * The files of a delivery, where a tree holds exactly what its commit says that it delivered; `null` elsewhere. Where
 * the branch does so now, the commit's own tree tells no more.
 */
export function findDelivered(
  entries: BranchTree['entries'],
  delivery: DeliveredSite,
): readonly TreeFile[] | null {
  const delivered = listDelivered(entries, delivery);
  return hashTree(delivered) === delivery.treeSha ? delivered : null;
}

/**
 * The files of a delivery that are still there.
 *
 * @param delivered what the delivery's commit made of the folder
 * @returns by path within the folder: git's id of the bytes
 */
export function findRemaining(
  tree: BranchTree,
  { folder, later }: Pick<FoundDelivery, 'folder' | 'later'>,
  delivered: readonly TreeFile[],
): ReadonlyMap<string, string> {
  const others = later.map((one) => ({ folder: one.folder, kept: namesOf(one.kept) }));
  const isReplaced = (path: string): boolean =>
    others.some((one) => path.startsWith(one.folder) && !isNamed(path.slice(one.folder.length), one.kept));
  const still = delivered.filter(
    ({ path, sha }) => isUnchanged(tree.entries.get(folder + path), sha) && !isReplaced(folder + path),
  );
  return new Map(still.map(({ path, sha }) => [path, sha]));
}

const namesOf = (files: readonly TreeFile[]): ReadonlySet<string> => new Set(files.map(({ path }) => path));

const isUnchanged = (entry: BranchEntry | undefined, sha: string): boolean =>
  entry?.sha === sha && entry.mode === '100644';

/** The files of a folder without those that its delivery has kept. */
function listDelivered(
  entries: BranchTree['entries'],
  { folder, kept }: Pick<DeliveredSite, 'folder' | 'kept'>,
): readonly TreeFile[] {
  const isAsNamed = ({ path, sha }: TreeFile): boolean =>
    entries.get(folder + path.replace(/\/$/, ''))?.sha === sha;
  const names = namesOf(kept.filter(isAsNamed));
  const files = filesBelow({ entries }, folder);
  return [...files].flatMap(([path, { sha }]) => (isNamed(path, names) ? [] : [{ path, sha }]));
}

/** Whether a path, or a folder of it, is one of these names. */
function isNamed(path: string, names: ReadonlySet<string>): boolean {
  if (names.has(path)) return true;
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
    if (names.has(path.slice(0, end + 1))) return true;
  }
  return false;
}

/**
 * What a folder keeps besides the delivered files, in short: a whole folder of others is one line.
 *
 * @param delivered paths within the folder that are delivered: everything else is kept
 * @throws {DeliveryError} `NOT_OURS` where it is too much to be named.
 */
export function listKept(
  tree: BranchTree,
  folder: string,
  delivered: ReadonlySet<string>,
): readonly TreeFile[] {
  const mixed = new Set<string>();
  const files = filesBelow(tree, folder);
  for (const path of delivered) {
    for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
      mixed.add(path.slice(0, end + 1));
    }
  }
  const kept = new Map<string, string>();
  for (const [path, { sha }] of files) {
    if (delivered.has(path)) continue;
    const top = topFolder(path, mixed);
    kept.set(top ?? path, top === null ? sha : (tree.entries.get(folder + top.slice(0, -1))?.sha ?? sha));
  }
  if (kept.size > SITE.kept) {
    throw new DeliveryError(
      'NOT_OURS',
      `the folder ${folder || './'} has ${kept.size} files and folders that this tool did not deliver`,
      { hint: (w) => `set ${w.input('path')} to a folder of its own` },
    );
  }
  return [...kept].map(([path, sha]) => ({ path, sha }));
}

/** The highest folder of a path in which everything is kept; `null` where there is none. */
function topFolder(path: string, mixed: ReadonlySet<string>): string | null {
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
    const folder = path.slice(0, end + 1);
    if (!mixed.has(folder)) return folder;
  }
  return null;
}
