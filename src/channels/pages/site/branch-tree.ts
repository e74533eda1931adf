import { DeliveryError } from '../../../errors.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import { type BranchEntry, getBranchHead, listEntries } from '../../../github/api/existing-blobs.ts';
import { isLastPage } from '../../../github/api/list-all.ts';
import { SITE } from '../../../protocol/limits.ts';
import type { BranchReader } from '../branch-reader.ts';
import type { CommitTarget } from '../commit-methods.ts';
import { readTargetHead } from '../target-branch.ts';
import { isSiteRemoval, parseMessageBelow, parseSiteMessage, type SiteCommit } from './site-message.ts';
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
  { readEntries = listEntries, historyPages = SITE.historyPages }: OwnershipSearch = {},
): Promise<OwnedFiles> {
  if (tree.head === null || !hasFilesBelow(tree, folder)) return { files: new Map() };
  const { lastCommit, delivery, later } = await findDelivery(github, tree.head, folder, historyPages);
  const found = { files: new Map<string, string>(), ...(lastCommit === undefined ? {} : { lastCommit }) };
  if (delivery === undefined) return found;
  const { sha, treeSha, kept } = delivery;
  const entries = sha === tree.head ? tree.entries : await readEntries(github, sha);
  const delivered = listDelivered(filesBelow({ entries }, folder), entries, kept, folder);
  if (hashTree(delivered) !== treeSha) return found;
  const now = filesBelow(tree, folder);
  const still = delivered.filter(
    ({ path, sha: blob }) =>
      isUnchanged(now.get(path), blob) && !later.some((one) => isPartOf(folder + path, one)),
  );
  return { ...found, files: new Map(still.map(({ path, sha: blob }) => [path, blob])) };
}

interface FolderHistory {
  /** The last commit that touched the folder. */
  readonly lastCommit?: string | undefined;
  /** The newest commit that says that it delivered the folder; absent where a newer one says that it removed it. */
  readonly delivery?: SiteCommit & { readonly sha: string };
  /** Newer commits that delivered a site of its own below the folder. */
  readonly later: readonly SiteCommit[];
}

/** Searches the folder's history. At the root of the branch each delivery of another folder is part of it. */
async function findDelivery(
  github: GitHubClient,
  head: string,
  folder: string,
  historyPages: number,
): Promise<FolderHistory> {
  const place = folder === '' ? {} : { path: folder.slice(0, -1) };
  let lastCommit: string | undefined;
  const later: SiteCommit[] = [];
  for (let page = 1; page <= historyPages; page += 1) {
    const query = { ...github.repository, ...place, sha: head, per_page: SITE.history, page };
    const answer = await github.rest.repos.listCommits(query);
    const commits = answer.data;
    lastCommit ??= commits[0]?.sha;
    for (const { sha, commit } of commits) {
      if (isSiteRemoval(commit.message, folder)) return { lastCommit, later };
      const delivery = parseSiteMessage(commit.message, folder);
      if (delivery !== null) return { lastCommit, delivery: { ...delivery, sha }, later };
      const below = parseMessageBelow(commit.message, folder);
      if (below !== null) later.push(below);
    }
    if (isLastPage(answer, SITE.history)) break;
  }
  return { lastCommit, later };
}

/** Whether a file is part of a site that a commit delivered, and not one that it kept. */
const isPartOf = (path: string, { folder, kept }: SiteCommit): boolean =>
  path.startsWith(folder) && !isNamed(path.slice(folder.length), new Set(kept.map((one) => one.path)));

const isUnchanged = (entry: BranchEntry | undefined, sha: string): boolean =>
  entry?.sha === sha && entry.mode === '100644';

const hasFilesBelow = ({ entries }: BranchTree, folder: string): boolean =>
  folder === '' ? entries.size > 0 : entries.get(folder.slice(0, -1))?.type === 'tree';

/** The files of a folder without those that its delivery has kept. */
function listDelivered(
  files: ReadonlyMap<string, BranchEntry>,
  entries: BranchTree['entries'],
  kept: readonly TreeFile[],
  folder: string,
): readonly TreeFile[] {
  const isAsNamed = ({ path, sha }: TreeFile): boolean =>
    entries.get(folder + path.replace(/\/$/, ''))?.sha === sha;
  const names = new Set(kept.filter(isAsNamed).map(({ path }) => path));
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
