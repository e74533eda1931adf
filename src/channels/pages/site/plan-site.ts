import { Readable } from 'node:stream';
import { DeliveryError } from '../../../errors.ts';
import { getLastCommits } from '../../../github/api/history.ts';
import { hashTree, type TreeFile } from '../../../github/api/tree-id.ts';
import type { Change, FileBytes } from '../../../github/change.ts';
import { MEGABYTE, SITE } from '../../../protocol/limits.ts';
import type { LocalSite } from '../../../rules/local-site.ts';
import type { SiteChanges } from '../../site-changes.ts';
import { type BranchTree, filesBelow, listFolders, treeShaAt } from '../branch-reader.ts';
import type { ComparedPlace } from '../commit.ts';
import { formatCommitMessage, parseMessage } from '../ownership.ts';
import type { FolderTarget } from '../target.ts';
import { compareSite, type SiteComparison } from './compare-site.ts';
import { type FoundDelivery, findOwnedFiles, listKept } from './site-history.ts';

/** What one commit has to change so that the branch holds the site; no change where it does already. */
export interface SitePlan extends ComparedPlace {
  readonly changes: SiteChanges;
  /** Git's id of what is delivered as a tree. */
  readonly treeSha: string;
  /** The newest delivery to the folder; absent where there is none. */
  readonly delivery?: FoundDelivery | undefined;
  /** The commit before it, or else before the last one that touched the folder. */
  readonly before?: string | undefined;
  /** Bytes of everything that Pages serves from the branch, after the commit. */
  readonly totalSize: number;
}

/** A file without a byte, under the name that git gives it. */
const EMPTY_FILE: FileBytes = {
  size: 0,
  blobSha: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  read: () => Readable.from([]),
};

/**
 * Compares the branch with the site: what one commit has to write and to remove. All or nothing: one file that
 * may not be replaced refuses the whole.
 *
 * @throws {DeliveryError} `NOT_OURS` that names what others have there; `TOO_LARGE` for more than Pages serves.
 * @see design 4, 6
 */
export async function planSite(site: LocalSite, target: FolderTarget, tree: BranchTree): Promise<SitePlan> {
  const { folder, options, essence } = target;
  const owned = await findOwnedFiles(target, tree, folder);
  const compared = await compareSite(site, target, tree, owned);
  const { written, removed, delivered } = sortFiles(compared, options.prune);
  const kept = listKept(tree, folder, new Set([...delivered, ...removed]));
  const oldSites = await findOldSites(target, tree);
  const files = new Map(site.files.map(({ path, file }) => [path, file]));
  const shaOf = (path: string): string => files.get(path)?.blobSha ?? owned.files.get(path) ?? '';
  const treeSha = hashTree(delivered.map((path) => ({ path, sha: shaOf(path) })));
  const jekyllSwitch = switchJekyllOff(target, tree);
  const writes = [
    ...written.map((path) => ({ path: folder + path, file: files.get(path) ?? EMPTY_FILE })),
    ...jekyllSwitch,
  ];
  const removals = [...removed.map((path) => folder + path), ...listFilesIn(oldSites, tree)];
  const totalSize = measureSite(target.siteRoot, tree, { writes, removals });
  refuseLargeSite(totalSize);
  const whole = { folder, treeSha, kept: [...kept, ...besideSite(jekyllSwitch, folder)] };
  const change = {
    message: formatCommitMessage(folder, { verb: verbFor(compared, tree, folder), essence, site: whole }),
    writes,
    removals,
    basis: listBasis([folder, ...oldSites], jekyllSwitch, tree),
  };
  return {
    ...(writes.length + removals.length > 0 && { change }),
    commitSha: owned.lastCommit,
    changes: {
      added: compared.added,
      changed: compared.changed,
      removed,
      kept: kept.flatMap(({ path }) => (folder + path === jekyllSwitchPath(target) ? [] : [path])),
      removedFolders: oldSites,
    },
    treeSha,
    delivery: owned.delivery,
    before: owned.before,
    totalSize,
  };
}

/** What the plan is made for: the trees of its folders, and files that must not be there. */
export const listBasis = (
  folders: readonly string[],
  added: readonly { readonly path: string }[],
  tree: BranchTree,
): Change['basis'] =>
  new Map([
    ...folders.map((one) => [one.slice(0, -1), treeShaAt(tree, one)] as const),
    ...added.map(({ path }) => [path, null] as const),
  ]);

/** What of a comparison is written and removed, and what belongs to the delivery afterwards. */
function sortFiles({ added, changed, same, vanished }: SiteComparison, prune: boolean) {
  const written = [...added, ...changed];
  const stays = prune ? [] : vanished;
  return { written, removed: prune ? vanished : [], delivered: [...written, ...same, ...stays] };
}

const listFilesIn = (folders: readonly string[], tree: BranchTree): readonly string[] =>
  folders.flatMap((folder) => [...filesBelow(tree, folder).keys()].map((path) => folder + path));

const verbFor = (
  { added, changed, same, vanished }: SiteComparison,
  tree: BranchTree,
  folder: string,
): 'ADD' | 'UPDATE' => {
  const isThere = folder !== '' && treeShaAt(tree, folder) !== null;
  return isThere || changed.length + same.length + vanished.length > 0 || added.length === 0
    ? 'UPDATE'
    : 'ADD';
};

/**
 * The oldest owned folders beside the delivered one that are more than `keep`. A folder counts only if the last
 * commit that touched it delivered all of it: one with anything of others in it is left alone.
 *
 * @returns paths that end in `/`
 * @see design 2 (`keep`)
 */
async function findOldSites(target: FolderTarget, tree: BranchTree): Promise<readonly string[]> {
  const { folder, github, options, together = [folder] } = target;
  if (options.keep === undefined || folder === '' || tree.head === null) return [];
  const parent = parentOf(folder);
  const siblings = listFolders(tree, parent)
    .filter((path) => path !== folder && !together.includes(path))
    .slice(0, SITE.siblings);
  if (siblings.length === 0) return [];
  const commits = await getLastCommits(
    github,
    tree.head,
    siblings.map((path) => path.slice(0, -1)),
  );
  const owned = siblings.flatMap((path) => {
    const last = commits.get(path.slice(0, -1));
    const { site } = parseMessage(last?.message ?? '') ?? {};
    const isWhole = site?.folder === path && site.treeSha === treeShaAt(tree, path);
    return isWhole && last?.committedAt ? [{ path, committedAt: last.committedAt }] : [];
  });
  owned.sort((one, other) => other.committedAt - one.committedAt);
  const beside = together.filter((path) => parentOf(path) === parent);
  return owned.slice(Math.max(options.keep - beside.length, 0)).map(({ path }) => path);
}

const parentOf = (folder: string): string => folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);

const jekyllSwitchPath = ({ siteRoot }: FolderTarget): string => `${siteRoot}.nojekyll`;

/** The file that switches Jekyll off, where it is wanted and not there yet. */
function switchJekyllOff(target: FolderTarget, { entries }: BranchTree): Change['writes'] {
  const path = jekyllSwitchPath(target);
  return target.options.nojekyll && !entries.has(path) ? [{ path, file: EMPTY_FILE }] : [];
}

/** What lies in the folder and is for the whole Pages site: no part of the delivery, so it stays when that ends. */
const besideSite = (writes: Change['writes'], folder: string): readonly TreeFile[] =>
  writes.flatMap(({ path, file }) =>
    path.startsWith(folder) ? [{ path: path.slice(folder.length), sha: file.blobSha }] : [],
  );

/** Bytes of everything below the root of what Pages serves, after some changes. */
function measureSite(
  siteRoot: string,
  { entries }: BranchTree,
  { writes, removals }: Pick<Change, 'writes' | 'removals'>,
): number {
  const replaced = new Set([...writes.map(({ path }) => path), ...removals]);
  let size = writes.reduce((sum, { file }) => sum + file.size, 0);
  for (const [path, entry] of entries) {
    const counts = entry.type !== 'tree' && path.startsWith(siteRoot) && !replaced.has(path);
    if (counts) size += entry.size;
  }
  return size;
}

/** @see https://docs.github.com/pages/getting-started-with-github-pages/github-pages-limits */
function refuseLargeSite(size: number): void {
  if (size <= SITE.size) return;
  throw new DeliveryError(
    'TOO_LARGE',
    `with this folder the Pages site would have ${Math.round(size / MEGABYTE)} MB, and GitHub serves at most ${SITE.size / MEGABYTE}`,
    { hint: (w) => `set ${w.input('keep')} to remove older folders, or remove large files`, leftBehind: [] },
  );
}
