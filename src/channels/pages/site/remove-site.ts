import { getLastCommits } from '../../../github/api/history.ts';
import type { Ports } from '../../../ports.ts';
import { SITE } from '../../../protocol/limits.ts';
import { withRetries } from '../../../retry.ts';
import { encodePath } from '../../../rules/naming.ts';
import type { PlacedPart, Placement } from '../../channel.ts';
import { type PagesDestination, servedPath } from '../destination.ts';
import { type BranchTree, filesBelow, findOwnedFiles, readTargetTree, treeShaAt } from './branch-tree.ts';
import { isDone, type SitePlan } from './plan-site.ts';
import { formatSiteRemoval, parseSiteMessage } from './site-message.ts';
import type { FolderTarget } from './site-target.ts';
import { createSiteWriter } from './write-site.ts';

/** A delivered folder that is to be removed. */
export interface SiteRemoval {
  readonly target: FolderTarget;
  /** Where a file `index.html` of it would be. */
  readonly destination: PagesDestination;
}

/** The delivered sites of a folder, and what else is in it. */
export interface FoundSites {
  /** By folder: the paths in the branch that are still as they were delivered. */
  readonly sites: ReadonlyMap<string, readonly string[]>;
  /** The paths in the branch of all other files. */
  readonly others: readonly string[];
  /** Folders that were not searched, because there are too many. */
  readonly unsearched: readonly string[];
}

/**
 * The folders that were delivered as sites: the given one, and those that lie directly in it, no matter who
 * changed them last. What others changed or added in them is not part of it.
 *
 * @param folder empty, or ending in `/`
 */
export async function findDeliveredSites(
  target: Omit<FolderTarget, 'folder'>,
  folder: string,
): Promise<FoundSites> {
  const tree = await readTargetTree(target);
  const all = [...filesBelow(tree, folder).keys()].map((path) => folder + path);
  const sites = new Map<string, readonly string[]>();
  const removed = new Set<string>();
  const search = async (one: string, historyPages?: number): Promise<void> => {
    const options = { readEntries: target.reader.getEntries, ...(historyPages && { historyPages }) };
    const { files } = await findOwnedFiles(target.github, tree, one, options);
    const paths = [...files.keys()].map((path) => one + path).filter((path) => !removed.has(path));
    for (const path of paths) removed.add(path);
    if (paths.length > 0) sites.set(one, paths);
  };
  await search(folder);
  const left = foldersOf(
    all.filter((path) => !removed.has(path)),
    folder,
  );
  const candidates = await orderByDelivery(target, tree, left.slice(0, SITE.siblings));
  // Most of the others are folders of a person, each with a long history.
  for (const one of candidates.slice(0, SITE.removals)) await search(one, 1);
  return {
    sites,
    others: all.filter((path) => !removed.has(path)),
    unsearched: [...candidates.slice(SITE.removals), ...left.slice(SITE.siblings)],
  };
}

/** The folders directly in a folder that have any of these files. */
const foldersOf = (paths: readonly string[], folder: string): readonly string[] => [
  ...new Set(
    paths.flatMap((path) => {
      const end = path.indexOf('/', folder.length);
      return end === -1 ? [] : [path.slice(0, end + 1)];
    }),
  ),
];

/** Those that a delivery changed last come first; the others may have been changed by a person since. */
async function orderByDelivery(
  { github, reader }: Pick<FolderTarget, 'github' | 'reader'>,
  { head }: BranchTree,
  folders: readonly string[],
): Promise<readonly string[]> {
  if (head === null || folders.length === 0) return [];
  const commits = await reader.getCommits(github, head, folders.map(withoutSlash));
  const rank = (folder: string): number => {
    const message = commits.get(withoutSlash(folder))?.message ?? '';
    return parseSiteMessage(message, folder) === null ? 1 : 0;
  };
  return folders.toSorted((one, other) => rank(one) - rank(other));
}

const withoutSlash = (folder: string): string => folder.slice(0, -1);

/** What is said where nothing is to be removed. */
const describeNothing = ({ folder }: FolderTarget, { basis }: SitePlan): string =>
  folder !== '' && basis.get(withoutSlash(folder)) === null
    ? 'nothing exists there'
    : 'nothing that this action delivered exists there';

/** Removes what of a site is still as it was delivered, in one commit. Each attempt compares first. */
export async function removeSite({ target, destination }: SiteRemoval, ports: Ports): Promise<Placement> {
  const write = createSiteWriter(target, ports);
  let removed: readonly string[] = [];
  let nothing = '';
  const commitSha = await withRetries(ports, async () => {
    const tree = await readTargetTree(target);
    const plan = await planRemoval(target, tree);
    nothing = describeNothing(target, plan);
    if (isDone(plan)) return removed.length === 0 ? plan.lastCommit : findLastCommit(target, tree);
    removed = plan.removals;
    return write(plan);
  });
  const [url, ...parts] = listAddresses(removed, target, destination);
  return {
    evidence: removed.length > 0 ? `commit ${commitSha} removes it` : nothing,
    url: url?.url ?? destination.pageUrl,
    written: removed.length > 0,
    ...(commitSha === undefined ? {} : { commitSha }),
    bypassCache: true,
    hostMayChangeBytes: false,
    mustBeExternal: false,
    parts,
    notes:
      removed.length === 0
        ? []
        : [`${removed.length} files removed`, 'caches may still show them for up to ten minutes'],
    unknown: destination.unknown,
  };
}

/** After an attempt whose answer was lost, the folder is gone: its last commit removed it. */
async function findLastCommit(
  { github, folder }: FolderTarget,
  { head }: BranchTree,
): Promise<string | undefined> {
  if (head === null) return undefined;
  const commits = await getLastCommits(github, head, [withoutSlash(folder)]);
  return commits.get(withoutSlash(folder))?.sha;
}

/** What removing the site would do; reads only. */
export async function previewRemoval({ target }: SiteRemoval): Promise<string> {
  const plan = await planRemoval(target, await readTargetTree(target));
  if (isDone(plan)) return describeNothing(target, plan);
  return `${plan.message.split('\n')[0]} (${plan.removals.length} files)`;
}

async function planRemoval(
  { github, reader, folder, essence }: FolderTarget,
  tree: BranchTree,
): Promise<SitePlan> {
  const options = { readEntries: reader.getEntries };
  const { files, lastCommit } = await findOwnedFiles(github, tree, folder, options);
  const paths = [...files.keys()];
  return {
    message: formatSiteRemoval(folder, essence),
    writes: [],
    removals: paths.map((path) => folder + path),
    basis: new Map([[withoutSlash(folder), treeShaAt(tree, folder)]]),
    head: tree.head,
    changes: { added: [], changed: [], removed: paths, kept: [], removedFolders: [] },
    lastCommit,
    totalSize: 0,
  };
}

/** The address of each removed file: the folder's page first, then the other pages. */
function listAddresses(
  paths: readonly string[],
  { folder, siteRoot }: FolderTarget,
  { pageUrl, path: pagePath }: PagesDestination,
): readonly PlacedPart[] {
  const root = siteRoot.slice(0, -1);
  const { href } = pageUrl;
  const base = href.slice(0, href.length - encodePath(servedPath(root, pagePath)).length);
  const rank = (path: string): number =>
    path === `${folder}index.html` ? 0 : /\.html?$/i.test(path) ? 1 : 2;
  const sorted = paths.toSorted((one, other) => rank(one) - rank(other));
  return sorted.map((path) => ({
    path,
    url: new URL((base + encodePath(servedPath(root, path))).replace(/\/index\.html$/, '/')),
    size: 0,
    sha256: '',
  }));
}
