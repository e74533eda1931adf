import { DeliveryError } from '../../../errors.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import { submoduleError } from '../../../github/api/contents.ts';
import {
  type BranchEntry,
  findSubmodule,
  getBranchHead,
  listEntries,
} from '../../../github/api/existing-blobs.ts';
import { SITE } from '../../../protocol/limits.ts';
import type { BranchReader } from '../branch-reader.ts';
import type { CommitTarget } from '../commit-methods.ts';
import { readTargetHead } from '../target-branch.ts';
import { type FoundDelivery, readSiteHistory } from './site-history.ts';
import type { SiteCommit } from './site-message.ts';
import { hashTree, type TreeFile } from './tree.ts';

/** What a commit of a branch contains. */
export interface BranchTree {
  /** Sha of the commit; `null` where the branch does not exist yet. */
  readonly head: string | null;
  /** Everything in it by its path: files, and folders without a slash at the end. */
  readonly entries: ReadonlyMap<string, BranchEntry>;
}

/** The newest delivery to a folder, and what of it is still there. */
export interface OwnedFiles {
  /** By path within the folder: git's id of the bytes that were delivered and that are still there. */
  readonly files: ReadonlyMap<string, string>;
  /** The last commit that touched the folder, by anybody; absent where none did. */
  readonly lastCommit?: string;
  /** The commit before the newest delivery; absent where there is none. */
  readonly parent?: string;
}

/** Reads everything that a commit holds. */
type ReadEntries = BranchReader['getEntries'];

/**
 * Reads all of the branch in three requests.
 *
 * @throws {DeliveryError} `TOO_LARGE` where GitHub does not list so many files at once.
 */
export async function readBranchTree(
  github: GitHubClient,
  branch: string,
  readHead: () => Promise<string | null> = () => getBranchHead(github, branch),
  readEntries: ReadEntries = listEntries,
): Promise<BranchTree> {
  const head = await readHead();
  return { head, entries: head === null ? new Map() : await readEntries(github, head) };
}

/** The branch that a target is written to, as it is now; a tree that is known already is not read again. */
export const readTargetTree = (target: CommitTarget): Promise<BranchTree> =>
  readBranchTree(target.github, target.branch, () => readTargetHead(target), target.reader.getEntries);

/** @throws {DeliveryError} `NOT_OURS` where one of the paths is a submodule, or below one. */
export function refuseSubmodules({ entries }: Pick<BranchTree, 'entries'>, paths: Iterable<string>): void {
  for (const path of paths) {
    const submodule = findSubmodule(entries, path);
    if (submodule !== null) throw submoduleError(submodule);
  }
}

/** The files of a tree below a folder, with their paths within it. */
export function filesBelow(
  { entries }: Pick<BranchTree, 'entries'>,
  folder: string,
): Map<string, BranchEntry> {
  const files = new Map<string, BranchEntry>();
  for (const [path, entry] of entries) {
    if (entry.type !== 'tree' && path.startsWith(folder)) files.set(path.slice(folder.length), entry);
  }
  return files;
}

/** The folders that lie directly in a folder, each ending in `/`. */
export function listFolders({ entries }: Pick<BranchTree, 'entries'>, folder: string): readonly string[] {
  return [...entries].flatMap(([path, { type }]) => {
    const isDirect = path.startsWith(folder) && !path.includes('/', folder.length);
    return type === 'tree' && isDirect ? [`${path}/`] : [];
  });
}

/** Git's id of a folder; `null` where there is none. */
export const treeShaAt = ({ entries }: Pick<BranchTree, 'entries'>, folder: string): string | null =>
  entries.get(folder.slice(0, -1))?.sha ?? null;

/** How the delivery to a folder is looked for. */
export interface OwnershipSearch {
  readonly readEntries?: ReadEntries;
  /** Pages of the folder's history, each with `SITE.history` commits. */
  readonly historyPages?: number;
}

/**
 * What this tool delivered to a folder, as far as it is there. The newest commit that has the form of a delivery
 * counts, if the tree that it names is the one that it made. A file that somebody removed meanwhile, and put back
 * with the same bytes, is the delivered one; after a removal by this tool nothing is.
 *
 * @see design 4
 */
export async function findOwnedFiles(
  github: GitHubClient,
  tree: BranchTree,
  folder: string,
  { readEntries = listEntries, historyPages }: OwnershipSearch = {},
): Promise<OwnedFiles> {
  if (tree.head === null || !hasFilesBelow(tree, folder)) return { files: new Map() };
  const { lastCommit, deliveries } = await readSiteHistory(github, tree.head, folder, {
    pages: historyPages,
  });
  const found = { files: new Map<string, string>(), ...(lastCommit === undefined ? {} : { lastCommit }) };
  const delivery = deliveries.get(folder);
  if (!delivery) return found;
  const delivered =
    findDelivered(tree.entries, delivery) ??
    findDelivered(await readEntries(github, delivery.sha), delivery) ??
    [];
  const { parent } = delivery;
  return { ...found, files: findRemaining(tree, delivery, delivered), ...(parent !== null && { parent }) };
}

/**
 * The files of a delivery, where a tree holds exactly what its commit says that it delivered; `null` elsewhere. Where
 * the branch does so now, the commit's own tree tells no more.
 */
export function findDelivered(
  entries: BranchTree['entries'],
  delivery: SiteCommit,
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
  { folder, later }: Omit<FoundDelivery, 'parent'>,
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

/** Whether the branch has anything in a folder. */
export const hasFilesBelow = ({ entries }: BranchTree, folder: string): boolean =>
  folder === '' ? entries.size > 0 : entries.get(folder.slice(0, -1))?.type === 'tree';

/** The files of a folder without those that its delivery has kept. */
function listDelivered(
  entries: BranchTree['entries'],
  { folder, kept }: Pick<SiteCommit, 'folder' | 'kept'>,
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
      `the folder ${folder || './'} has ${kept.size} files and folders that this action did not deliver`,
      { hint: 'set `path:` to a folder of its own' },
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
