import { getLastCommits } from '../../../github/api/history.ts';
import { countFiles, nameFew } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { withRetries } from '../../../retry.ts';
import { encodePath } from '../../../rules/naming.ts';
import type { PlacedPart, Placement } from '../../channel.ts';
import { type PagesDestination, servedPath } from '../destination.ts';
import { type BranchTree, readTargetTree, treeShaAt } from './branch-tree.ts';
import { type FoundSites, findSites } from './find-sites.ts';
import { isDone, type SitePlan } from './plan-site.ts';
import { formatSiteRemoval } from './site-message.ts';
import type { FolderTarget } from './site-target.ts';
import { createSiteWriter } from './write-site.ts';

/** A folder of which the delivered sites are to be removed. */
export interface SiteRemoval {
  readonly target: FolderTarget;
  /** Where a file `index.html` of it would be. */
  readonly destination: PagesDestination;
}

/** The delivered sites at and below a folder of the branch as it is now. */
export const findDeliveredSites = async (target: FolderTarget): Promise<FoundSites> =>
  findSites(target, await readTargetTree(target), target.folder);

const withoutSlash = (folder: string): string => folder.slice(0, -1);

/** What is said where nothing is to be removed. */
const describeNothing = ({ folder }: FolderTarget, { basis }: SitePlan): string =>
  folder !== '' && basis.get(withoutSlash(folder)) === null
    ? 'nothing exists there'
    : 'nothing that this action delivered exists there';

/**
 * Removes what of a site, and of those below it, is still as it was delivered, in one commit. Each attempt compares
 * first.
 */
export async function removeSite({ target, destination }: SiteRemoval, ports: Ports): Promise<Placement> {
  const write = createSiteWriter(target, ports);
  let removed: readonly string[] = [];
  let sites: readonly string[] = [];
  let nothing = '';
  const commitSha = await withRetries(ports, async () => {
    const tree = await readTargetTree(target);
    const planned = await planRemoval(target, tree);
    const { plan } = planned;
    nothing = describeNothing(target, plan);
    if (isDone(plan)) return removed.length === 0 ? plan.lastCommit : findLastCommit(target, tree);
    removed = plan.removals;
    sites = planned.sites;
    return write(plan);
  });
  const [url, ...parts] = listAddresses({ paths: removed, sites }, target, destination);
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
        : [
            `${countFiles(removed.length)} removed${describeSites(sites)}`,
            'caches may still show them for up to ten minutes',
          ],
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
  const { plan, sites } = await planRemoval(target, await readTargetTree(target));
  if (isDone(plan)) return describeNothing(target, plan);
  return `${plan.message.split('\n')[0]} (${countFiles(plan.removals.length)}${describeSites(sites)})`;
}

/** The removal of a site and of those below it, in one commit. */
interface RemovalPlan {
  readonly plan: SitePlan;
  /** The folders of the sites that it removes. */
  readonly sites: readonly string[];
}

async function planRemoval(target: FolderTarget, tree: BranchTree): Promise<RemovalPlan> {
  const { folder, essence } = target;
  const { sites: found, lastCommit } = await findSites(target, tree, folder);
  const sites = [...found.keys()];
  const removals = [...found.values()].flat();
  const compared = sites.length === 0 ? [folder] : sites;
  const plan = {
    message: formatSiteRemoval(folder, sites, essence),
    writes: [],
    removals,
    basis: new Map(compared.map((one) => [withoutSlash(one), treeShaAt(tree, one)] as const)),
    head: tree.head,
    changes: { added: [], changed: [], removed: removals, kept: [], removedFolders: [] },
    lastCommit,
    totalSize: 0,
  };
  return { plan, sites };
}

const describeSites = (sites: readonly string[]): string =>
  sites.length > 1 ? `, of ${sites.length} sites: ${nameFew(sites)}` : '';

/** The address of each removed file: the page of each folder first, then the other pages. */
function listAddresses(
  { paths, sites }: { readonly paths: readonly string[]; readonly sites: readonly string[] },
  { siteRoot }: FolderTarget,
  { pageUrl, path: pagePath }: PagesDestination,
): readonly PlacedPart[] {
  const root = siteRoot.slice(0, -1);
  const { href } = pageUrl;
  const base = href.slice(0, href.length - encodePath(servedPath(root, pagePath)).length);
  const entries = new Set(sites.map((site) => `${site}index.html`));
  const rank = (path: string): number => (entries.has(path) ? 0 : /\.html?$/i.test(path) ? 1 : 2);
  const sorted = paths.toSorted((one, other) => rank(one) - rank(other));
  return sorted.map((path) => ({
    path,
    url: new URL((base + encodePath(servedPath(root, path))).replace(/\/index\.html$/, '/')),
    size: 0,
    sha256: '',
  }));
}
