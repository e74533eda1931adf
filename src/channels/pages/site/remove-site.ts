import { getLastCommits } from '../../../github/api/history.ts';
import { countFiles, nameFew } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import type { PlacedPart, Placement } from '../../channel.ts';
import { type BranchTree, treeShaAt } from '../branch-reader.ts';
import { type ComparedPlace, commitOne } from '../commit.ts';
import { addressOf, type PagesDestination } from '../destination.ts';
import type { FolderTask } from '../file-tasks.ts';
import { formatCommitMessage } from '../ownership.ts';
import { type FolderTarget, readTargetTree } from '../target.ts';
import { type FoundSites, findSites } from './find-sites.ts';
import { listBasis } from './plan-site.ts';
import { entryUrl } from './publish-site.ts';

/** The delivered sites at and below a folder of the branch as it is now. */
export const findDeliveredSites = async (target: FolderTarget): Promise<FoundSites> =>
  findSites(target, await readTargetTree(target), target.folder);

/** The removal of a site and of those below it, in one commit; no change where there is none. */
interface RemovalPlan extends ComparedPlace {
  /** The folders of the sites that it removes. */
  readonly sites: readonly string[];
  /** The files that it removes. */
  readonly removals: readonly string[];
  /** What is said where nothing is to be removed. */
  readonly nothing: string;
}

/**
 * Removes what of a site, and of those below it, is still as it was delivered, in one commit. Each attempt compares
 * first.
 */
export async function removeSite({ target, destination }: FolderTask, ports: Ports): Promise<Placement> {
  const planned = async (now: FolderTarget, wasSent: boolean) => {
    const tree = await readTargetTree(now);
    const place = await planRemoval(now, tree);
    // After an attempt whose answer was lost, the folder is gone: its last commit removed it.
    const isGone = wasSent && place.change === undefined;
    return {
      head: tree.head,
      place: isGone ? { ...place, commitSha: await findLastCommit(now, tree) } : place,
    };
  };
  const { place, commitSha, written } = await commitOne(planned, target, ports);
  const { sites, removals } = place;
  const [entry, ...parts] = listAddresses(place, destination);
  return {
    evidence: written ? `commit ${commitSha} removes it` : place.nothing,
    url: entry?.url ?? destination.pageUrl,
    written,
    ...(commitSha && { commitSha }),
    bypassCache: true,
    hostMayChangeBytes: false,
    mustBeExternal: false,
    parts,
    held: new Map(removals.map((path) => [path, null])),
    notes: written ? [`${countFiles(removals.length)} removed${describeSites(sites)}`] : [],
    unknown: destination.unknown,
  };
}

async function findLastCommit(
  { github, folder }: FolderTarget,
  { head }: BranchTree,
): Promise<string | undefined> {
  if (head === null) return undefined;
  const path = folder.slice(0, -1);
  return (await getLastCommits(github, head, [path])).get(path)?.sha;
}

/** What removing the site would do; reads only. */
export async function previewRemoval({ target }: FolderTask): Promise<string> {
  const { change, sites, removals, nothing } = await planRemoval(target, await readTargetTree(target));
  if (change === undefined) return nothing;
  return `${change.message.split('\n')[0]} (${countFiles(removals.length)}${describeSites(sites)})`;
}

async function planRemoval(target: FolderTarget, tree: BranchTree): Promise<RemovalPlan> {
  const { folder, essence } = target;
  const { sites: found, lastCommit } = await findSites(target, tree, folder);
  const sites = [...found.keys()];
  const removals = [...found.values()].flat();
  const change = {
    message: formatCommitMessage(folder, { verb: 'REMOVE', essence, removed: sites }),
    writes: [],
    removals,
    basis: listBasis(sites, [], tree),
  };
  const isThere = folder === '' || treeShaAt(tree, folder) !== null;
  const nothing = isThere ? 'nothing that this tool delivered exists there' : 'nothing exists there';
  return { ...(removals.length > 0 && { change }), commitSha: lastCommit, sites, removals, nothing };
}

const describeSites = (sites: readonly string[]): string =>
  sites.length > 1 ? `, of ${sites.length} sites: ${nameFew(sites)}` : '';

/** The address of each removed file: the page of each folder first, then the other pages. */
function listAddresses(
  { removals, sites }: RemovalPlan,
  destination: PagesDestination,
): readonly PlacedPart[] {
  const entries = new Set(sites.map((site) => `${site}index.html`));
  const rank = (path: string): number => (entries.has(path) ? 0 : /\.html?$/i.test(path) ? 1 : 2);
  const sorted = removals.toSorted((one, other) => rank(one) - rank(other));
  return sorted.map((path) => ({
    path,
    url: entryUrl(addressOf(destination, path)),
    size: 0,
    sha256: '',
  }));
}
