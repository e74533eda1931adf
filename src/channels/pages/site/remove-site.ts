import { isEmptyRepository } from '../../../github/api/failures.ts';
import { getLastCommits, type LastCommits } from '../../../github/api/history.ts';
import type { Ports } from '../../../ports.ts';
import { SITE } from '../../../protocol/limits.ts';
import { withRetries } from '../../../retry.ts';
import { encodePath } from '../../../rules/naming.ts';
import type { PlacedPart, Placement } from '../../channel.ts';
import { type PagesDestination, servedPath } from '../destination.ts';
import { type BranchTree, findOwnedFiles, listFolders, readBranchTree, treeShaAt } from './branch-tree.ts';
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

/**
 * The folders that were delivered as sites: the given one, and those that lie directly in it. What others changed
 * or added in them is not part of it.
 *
 * @param folder empty, or ending in `/`
 * @returns by folder: the paths in the branch that are still as they were delivered
 */
export async function findDeliveredSites(
  target: Omit<FolderTarget, 'folder'>,
  folder: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { github } = target;
  const tree = await readBranchTree(github, target.branch).catch(ignoreEmptyRepository);
  const below = listFolders(tree, folder).slice(0, SITE.siblings);
  const commits: LastCommits =
    tree.head === null ? new Map() : await getLastCommits(github, tree.head, below.map(withoutSlash));
  const delivered = below.filter(
    (path) => parseSiteMessage(commits.get(withoutSlash(path))?.message ?? '', path) !== null,
  );
  const sites = new Map<string, readonly string[]>();
  for (const one of [folder, ...delivered.slice(0, SITE.removals)]) {
    const { files } = await findOwnedFiles(github, tree, one);
    const paths = [...files.keys()].map((path) => one + path);
    if (paths.length > 0) sites.set(one, paths);
  }
  return sites;
}

/** A repository without a commit has nothing to remove. */
function ignoreEmptyRepository(thrown: unknown): BranchTree {
  if (isEmptyRepository(thrown)) return { head: null, entries: new Map() };
  throw thrown;
}

const withoutSlash = (folder: string): string => folder.slice(0, -1);

/** Removes what of a site is still as it was delivered, in one commit. Each attempt compares first. */
export async function removeSite({ target, destination }: SiteRemoval, ports: Ports): Promise<Placement> {
  const write = createSiteWriter(target, ports);
  let removed: readonly string[] = [];
  const commitSha = await withRetries(ports, async () => {
    const tree = await readBranchTree(target.github, target.branch);
    const plan = await planRemoval(target, tree);
    if (isDone(plan)) return removed.length === 0 ? plan.lastCommit : findLastCommit(target, tree);
    removed = plan.removals;
    return write(plan);
  });
  const [url, ...parts] = listAddresses(removed, target, destination);
  return {
    evidence: removed.length > 0 ? `commit ${commitSha} removes it` : 'nothing exists there',
    url: url?.url ?? destination.pageUrl,
    written: removed.length > 0,
    ...(commitSha === undefined ? {} : { commitSha }),
    bypassCache: true,
    hostMayChangeBytes: false,
    mustBeExternal: false,
    parts,
    notes: [`${removed.length} files removed`, 'caches may still show them for up to ten minutes'],
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
  const plan = await planRemoval(target, await readBranchTree(target.github, target.branch));
  return `${plan.message.split('\n')[0]} (${plan.removals.length} files)`;
}

async function planRemoval({ github, folder, essence }: FolderTarget, tree: BranchTree): Promise<SitePlan> {
  const { files, lastCommit } = await findOwnedFiles(github, tree, folder);
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

/** The address of each removed file, the folder's page first. */
function listAddresses(
  paths: readonly string[],
  { folder, siteRoot }: FolderTarget,
  { pageUrl, path: pagePath }: PagesDestination,
): readonly PlacedPart[] {
  const root = siteRoot.slice(0, -1);
  const { href } = pageUrl;
  const base = href.slice(0, href.length - encodePath(servedPath(root, pagePath)).length);
  const index = `${folder}index.html`;
  const sorted = [...paths].sort((one, other) => Number(other === index) - Number(one === index));
  return sorted.map((path) => ({
    path,
    url: new URL((base + encodePath(servedPath(root, path))).replace(/\/index\.html$/, '/')),
    size: 0,
    sha256: '',
  }));
}
