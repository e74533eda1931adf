import { DeliveryError } from '../../errors.ts';
import { getLastCommits } from '../../github/api/history.ts';
import { nameFew } from '../../plain-text.ts';
import { type BranchTree, filesBelow, hasFilesBelow, refuseSubmodules, treeShaAt } from './branch-reader.ts';
import type { ComparedPlace } from './commit.ts';
import { formatCommitMessage } from './commit-message.ts';
import { listBasis } from './compare-site.ts';
import { type FoundDeliveries, findDeliveries } from './ownership.ts';
import type { FolderTarget, PagesTask } from './target.ts';

/** The delivered sites at and below a folder, and what else is there. */
export interface FoundSites extends Omit<FoundDeliveries, 'sites'> {
  /** By folder: the paths in the branch that are still as they were delivered. */
  readonly sites: ReadonlyMap<string, readonly string[]>;
  /** The paths in the branch of all other files, without those of postponed sites. */
  readonly others: readonly string[];
}

/** @throws {DeliveryError} `NOT_OURS` where the folder is a submodule, or in one. */
export async function findSites(
  target: Pick<FolderTarget, 'github' | 'reader'>,
  tree: BranchTree,
  folder: string,
): Promise<FoundSites> {
  refuseSubmodules(tree, [folder.slice(0, -1)]);
  if (!hasFilesBelow(tree, folder)) {
    return { sites: new Map(), others: [], postponed: [], isComplete: true };
  }
  const found = await findDeliveries(target, tree, folder, true);
  const owned = [...found.sites].filter(([, { files }]) => files.size > 0);
  const sites = new Map(
    owned.map(([site, { files }]) => [site, [...files.keys()].map((path) => site + path)]),
  );
  const removed = new Set([...sites.values()].flat());
  const others = [...filesBelow(tree, folder).keys()].flatMap((path) => {
    const isLeft =
      !removed.has(folder + path) && !found.postponed.some((one) => (folder + path).startsWith(one));
    return isLeft ? [folder + path] : [];
  });
  return { ...found, sites, others };
}

/**
 * The removal of the deliveries at and below a folder, in one commit; no change where there is none.
 *
 * @param wasSent whether an attempt may have removed them: then the folder's last commit did
 */
export async function compareRemoval(
  target: FolderTarget,
  tree: BranchTree,
  wasSent: boolean,
): Promise<ComparedPlace> {
  const { folder, github, options } = target;
  const { sites: found, lastCommit } = await findSites(target, tree, folder);
  const sites = [...found.keys()];
  const files = [...found.values()].flat();
  const isThere = folder === '' || treeShaAt(tree, folder) !== null;
  const nothing = isThere ? 'nothing that this tool delivered exists there' : 'nothing exists there';
  const removed = { sites, files };
  if (files.length > 0) {
    const message = formatCommitMessage(folder, { verb: 'REMOVE', essence: options.essence, removed: sites });
    const change = { message, writes: [], removals: files, basis: listBasis(sites, [], tree) };
    return { change, commitSha: lastCommit, removed, nothing };
  }
  const path = folder.slice(0, -1);
  const last = wasSent && tree.head !== null ? await getLastCommits(github, tree.head, [path]) : undefined;
  return { commitSha: last?.get(path)?.sha ?? lastCommit, removed, nothing };
}

/**
 * For UNKNOWN: what stays below a folder once everything of ours is removed; an error where nothing is, so that all of it would
 * still be served.
 */
export function describeStaying(
  { path, destination }: PagesTask,
  { sites, others, postponed, isComplete }: FoundSites,
  owned: readonly string[],
): readonly string[] | DeliveryError {
  const removed = new Set(owned);
  const left = others.filter((one) => !removed.has(one));
  const name = path || './';
  // At the root of the site there are always files of others.
  const isRoot = path === destination.siteRoot;
  if (sites.size + owned.length === 0 && left.length > 0 && !isRoot) {
    const [code, why] = isComplete
      ? (['NOT_OURS', `nothing in ${name} is as this tool delivered it`] as const)
      : (['TOO_LARGE', `the history of ${name} is too long to be searched whole`] as const);
    return new DeliveryError(code, `${why}, so nothing was removed: ${nameFew(left)}`, {
      hint: (w) =>
        `set ${w.input('path')} to the folder that was delivered itself, or remove these files with git`,
      leftBehind: [],
    });
  }
  const reasons = [
    ...(left.length === 0 ? [] : [`because it is not as this tool delivered it: ${nameFew(left)}`]),
    ...(postponed.length === 0 ? [] : [`because one run removes no more (try again): ${nameFew(postponed)}`]),
  ];
  return reasons.length === 0 ? [] : [`what stays in ${name}, ${reasons.join('; and ')}`];
}
