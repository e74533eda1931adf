import { DeliveryError } from '../../../errors.ts';
import { MEGABYTE, SITE } from '../../../protocol/limits.ts';
import type { LocalSite } from '../../../rules/local-site.ts';
import type { SiteChanges } from '../../channel.ts';
import { type BranchTree, filesBelow, findOwnedFiles, listKept, treeShaAt } from './branch-tree.ts';
import { compareSite, type SiteComparison } from './compare-site.ts';
import { EMPTY_FILE, type SiteBytes } from './empty-file.ts';
import { findOldSites } from './old-sites.ts';
import { formatSiteMessage } from './site-message.ts';
import type { FolderTarget } from './site-target.ts';
import { hashTree, type TreeFile } from './tree.ts';

/** One commit that makes the branch hold what is wanted. */
export interface SitePlan {
  readonly message: string;
  readonly writes: readonly { readonly path: string; readonly file: SiteBytes }[];
  /** Paths of files. */
  readonly removals: readonly string[];
  /** Git's id of each folder and file that the plan was made for, by its path without a slash at the end. */
  readonly basis: ReadonlyMap<string, string | null>;
  /** The commit that the branch pointed to. */
  readonly head: string | null;
  readonly changes: SiteChanges;
  /** Git's id of what is delivered as a tree; absent for a removal. */
  readonly treeSha?: string;
  /** The last commit that touched the folder; absent where none did. */
  readonly lastCommit?: string | undefined;
  /** The commit before the newest delivery to the folder; absent where there is none. */
  readonly parent?: string | undefined;
  /** Bytes of everything that Pages serves from the branch, after the commit. */
  readonly totalSize: number;
}

/** Whether the branch holds everything already. */
export const isDone = ({ writes, removals }: SitePlan): boolean =>
  writes.length === 0 && removals.length === 0;

/**
 * Compares the branch with the site: what one commit has to write and to remove. All or nothing: one file that
 * may not be replaced refuses the whole.
 *
 * @throws {DeliveryError} `NOT_OURS` that names what others have there; `TOO_LARGE` for more than Pages serves.
 * @see design 4, 6
 */
export async function planSite(site: LocalSite, target: FolderTarget, tree: BranchTree): Promise<SitePlan> {
  const { folder, options, essence } = target;
  const readEntries = target.reader.getEntries;
  const owned = await findOwnedFiles(target.github, tree, folder, { readEntries });
  const compared = await compareSite(site, target, tree, owned);
  const { written, removed, delivered } = sortFiles(compared, options.prune);
  const kept = listKept(tree, folder, new Set([...delivered, ...removed]));
  const oldSites = await findOldSites(target, tree);
  const files = new Map(site.files.map(({ path, file }) => [path, file]));
  const treeSha = hashTree(
    delivered.map((path) => ({ path, sha: files.get(path)?.blobSha ?? owned.files.get(path) ?? '' })),
  );
  const jekyllSwitch = switchJekyllOff(target, tree);
  const writes = [
    ...written.map((path) => ({ path: folder + path, file: files.get(path) ?? EMPTY_FILE })),
    ...jekyllSwitch,
  ];
  const removals = [...removed.map((path) => folder + path), ...listFilesIn(oldSites, tree)];
  const totalSize = measureSite(target.siteRoot, tree, { writes, removals });
  refuseLargeSite(totalSize);
  return {
    message: formatSiteMessage(
      { folder, treeSha, kept: [...kept, ...besideSite(jekyllSwitch, folder)] },
      verbFor(compared, tree, folder),
      essence,
    ),
    writes,
    removals,
    basis: listBasis([folder, ...oldSites], jekyllSwitch, tree),
    head: tree.head,
    changes: {
      added: compared.added,
      changed: compared.changed,
      removed,
      kept: kept.flatMap(({ path }) => (folder + path === jekyllSwitchPath(target) ? [] : [path])),
      removedFolders: oldSites,
    },
    treeSha,
    lastCommit: owned.lastCommit,
    parent: owned.parent,
    totalSize,
  };
}

/** What the plan was made for: the trees of its folders, and files that must not be there. */
const listBasis = (
  folders: readonly string[],
  added: readonly { readonly path: string }[],
  tree: BranchTree,
): SitePlan['basis'] =>
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

const jekyllSwitchPath = ({ siteRoot }: FolderTarget): string => `${siteRoot}.nojekyll`;

/** The file that switches Jekyll off, where it is wanted and not there yet. */
function switchJekyllOff(target: FolderTarget, { entries }: BranchTree): SitePlan['writes'] {
  const path = jekyllSwitchPath(target);
  return target.options.nojekyll && !entries.has(path) ? [{ path, file: EMPTY_FILE }] : [];
}

/** What lies in the folder and is for the whole Pages site: no part of the delivery, so it stays when that ends. */
const besideSite = (writes: SitePlan['writes'], folder: string): readonly TreeFile[] =>
  writes.flatMap(({ path, file }) =>
    path.startsWith(folder) ? [{ path: path.slice(folder.length), sha: file.blobSha }] : [],
  );

/** Bytes of everything below the root of what Pages serves, after some changes. */
function measureSite(
  siteRoot: string,
  { entries }: BranchTree,
  { writes, removals }: Pick<SitePlan, 'writes' | 'removals'>,
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
    { hint: 'set `keep:` to remove older folders beside this one, or remove large files', leftBehind: [] },
  );
}
