import { DeliveryError } from '../../../errors.ts';
import type { TreeFile } from '../../../github/api/tree-id.ts';
import { nameFew } from '../../../plain-text.ts';
import { SITE } from '../../../protocol/limits.ts';
import { type BranchTree, filesBelow, hasFilesBelow, refuseSubmodules } from '../branch-reader.ts';
import { folderPrefix } from '../destination.ts';
import type { PagesTask } from '../file-tasks.ts';
import { parseMessage } from '../ownership.ts';
import type { CommitTarget } from '../target.ts';
import {
  type FoundDelivery,
  findDelivered,
  findRemaining,
  readSiteHistory,
  type SiteHistory,
} from './site-history.ts';

/** The delivered sites at and below a folder, and what else is there. */
export interface FoundSites {
  /** By folder: the paths in the branch that are still as they were delivered. */
  readonly sites: ReadonlyMap<string, readonly string[]>;
  /** The paths in the branch of all other files. */
  readonly others: readonly string[];
  /** Sites that stay, because one run removes no more. */
  readonly postponed: readonly string[];
  /** Folders of which not all of the history was searched for sites: it is too long, or they are too many. */
  readonly unsearched: readonly string[];
  /** The last commit that touched the folder, by anybody; absent where none did. */
  readonly lastCommit?: string | undefined;
}

/** How the sites are reached. */
type SearchTarget = Pick<CommitTarget, 'github' | 'reader'>;

const NOTHING: FoundSites = { sites: new Map(), others: [], postponed: [], unsearched: [] };

/**
 * The sites at and below a folder, however deep, no matter who changed them last. What others changed or added in
 * them is not part of it. The history of the folder names them, in at most `SITE.historyPages` requests; a site that
 * is as it was delivered costs no further one.
 *
 * @param folder empty, or ending in `/`
 * @throws {DeliveryError} `NOT_OURS` where the folder is a submodule, or in one.
 * @see design 4
 */
export async function findSites(target: SearchTarget, tree: BranchTree, folder: string): Promise<FoundSites> {
  refuseSubmodules(tree, [folder.slice(0, -1)]);
  const all = [...filesBelow(tree, folder).keys()].map((path) => folder + path);
  if (tree.head === null || all.length === 0) return NOTHING;
  const history = await readSiteHistory(target.github, tree.head, folder, { isWithSitesBelow: true });
  const search = new SiteSearch(target, tree);
  for (const delivery of history.deliveries.values()) if (delivery !== null) await search.add(delivery);
  const unsearched = history.isComplete
    ? []
    : await addOlderSites(search, { target, head: tree.head, folder, history, all });
  const { postponed, sites } = search;
  const others = search.without(all).filter((path) => !postponed.some((one) => path.startsWith(one)));
  return { sites, others, postponed, unsearched, lastCommit: history.lastCommit };
}

/** A delivery, as far as its files are looked for. */
type NamedDelivery = Omit<FoundDelivery, 'parent' | 'message'>;

/** Collects what of each delivery is still there, with a bound on the trees that are read, sites and files. */
class SiteSearch {
  readonly sites = new Map<string, readonly string[]>();
  readonly postponed: string[] = [];
  readonly #removed = new Set<string>();
  readonly #target: SearchTarget;
  readonly #tree: BranchTree;
  #treesLeft: number = SITE.olderTrees;

  constructor(target: SearchTarget, tree: BranchTree) {
    this.#target = target;
    this.#tree = tree;
  }

  /** The paths of some that no site has. */
  without(paths: readonly string[]): readonly string[] {
    return paths.filter((path) => !this.#removed.has(path));
  }

  async add(delivery: NamedDelivery): Promise<void> {
    const { folder } = delivery;
    if (!hasFilesBelow(this.#tree, folder)) return;
    const isFull = this.sites.size >= SITE.removals || this.#removed.size >= SITE.files;
    const asDelivered = findDelivered(this.#tree.entries, delivery);
    if (isFull || (asDelivered === null && this.#treesLeft === 0)) {
      this.postponed.push(folder);
      return;
    }
    const delivered = asDelivered ?? (await this.#readDelivered(delivery));
    const files = [...findRemaining(this.#tree, delivery, delivered).keys()].map((path) => folder + path);
    const paths = files.filter((path) => !this.#removed.has(path));
    for (const path of paths) this.#removed.add(path);
    if (paths.length > 0) this.sites.set(folder, paths);
  }

  /** What the commit of a delivery made of its folder; nothing where that is not what it says. */
  async #readDelivered(delivery: NamedDelivery): Promise<readonly TreeFile[]> {
    this.#treesLeft -= 1;
    const { github, reader } = this.#target;
    return findDelivered(await reader.getEntries(github, delivery.sha), delivery) ?? [];
  }
}

interface LongHistory {
  readonly target: SearchTarget;
  /** Sha of the commit that the history begins with. */
  readonly head: string;
  readonly folder: string;
  readonly history: SiteHistory;
  readonly all: readonly string[];
}

/**
 * Sites that were delivered before the commits that were read: the last commit of each folder is asked for in a few
 * requests together, and tells of those that nobody changed since. The others may be folders of a person, each with
 * a long history: of a few of them it is searched.
 *
 * @returns folders that may have further sites
 */
async function addOlderSites(
  search: SiteSearch,
  { target, head, folder, history, all }: LongHistory,
): Promise<readonly string[]> {
  const left = search.without(all);
  const folders = listFoldersOf(left, folder).filter((one) => !history.deliveries.has(one));
  const asked = folders.slice(0, SITE.siblings);
  const commits = await target.reader.getCommits(target.github, head, asked.map(withoutSlash));
  const unchanged = new Set<string>();
  for (const one of asked) {
    const last = commits.get(withoutSlash(one));
    const { site } = parseMessage(last?.message ?? '') ?? {};
    if (!last || site?.folder !== one) continue;
    await search.add({ ...site, sha: last.sha, later: [] });
    unchanged.add(one);
  }
  const rest = listFoldersOf(search.without(left), folder).filter((one) => isDirectlyIn(one, folder));
  const unclear = rest.filter((one) => asked.includes(one) && !unchanged.has(one));
  const unsearched = [...unclear.slice(SITE.olderTrees), ...folders.slice(SITE.siblings)];
  for (const one of unclear.slice(0, SITE.olderTrees)) {
    const range = { pages: 1, isWithSitesBelow: true };
    const { deliveries, isComplete } = await readSiteHistory(target.github, head, one, range);
    for (const delivery of deliveries.values()) if (delivery !== null) await search.add(delivery);
    if (!isComplete) unsearched.push(one);
  }
  return unsearched;
}

const withoutSlash = (folder: string): string => folder.slice(0, -1);

const isDirectlyIn = (path: string, folder: string): boolean =>
  path.indexOf('/', folder.length) === path.length - 1;

/** The folders below a folder that have any of these files, those that lie highest first. */
function listFoldersOf(paths: readonly string[], folder: string): readonly string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let end = path.indexOf('/', folder.length); end !== -1; end = path.indexOf('/', end + 1)) {
      folders.add(path.slice(0, end + 1));
    }
  }
  const depth = (path: string): number => path.split('/').length;
  return [...folders].toSorted((one, other) => depth(one) - depth(other));
}

/**
 * For UNKNOWN: what stays below a folder once everything of ours is removed; `NOT_OURS` where nothing is, so that all of it would
 * still be served.
 */
export function describeStaying(
  { path, destination }: PagesTask,
  { sites, others, postponed, unsearched }: FoundSites,
  owned: readonly string[],
): readonly string[] | DeliveryError {
  const removed = new Set(owned);
  const left = [...others.filter((one) => !removed.has(one)), ...unsearched];
  const name = path || './';
  // At the root of the site there are always files of others.
  const isRoot = path === folderPrefix(destination.folder);
  if (sites.size + owned.length === 0 && left.length > 0 && !isRoot) {
    return unsearched.length > 0 ? longHistoryError(name, unsearched) : nothingOwnedError(name, left);
  }
  const reasons = [
    ...(left.length === 0 ? [] : [`because it is not as this tool delivered it: ${nameFew(left)}`]),
    ...(postponed.length === 0 ? [] : [`because one run removes no more (try again): ${nameFew(postponed)}`]),
  ];
  return reasons.length === 0 ? [] : [`what stays in ${name}, ${reasons.join('; and ')}`];
}

const nothingOwnedError = (name: string, left: readonly string[]): DeliveryError =>
  new DeliveryError(
    'NOT_OURS',
    `nothing in ${name} is as this tool delivered it, so nothing was removed: ${nameFew(left)}`,
    {
      hint: (w) =>
        `set ${w.input('path')} to the folder that was delivered itself, or remove these files with git`,
      leftBehind: [],
    },
  );

const longHistoryError = (name: string, unsearched: readonly string[]): DeliveryError =>
  new DeliveryError(
    'TOO_LARGE',
    `the history of ${name} is too long to be searched whole, so nothing was removed: ${nameFew(unsearched)}`,
    { hint: (w) => `set ${w.input('path')} to the folder that was delivered itself`, leftBehind: [] },
  );
