import type { GitHubClient } from '../../../github/api/client.ts';
import { type CommitWords, getLastCommits } from '../../../github/api/history.ts';
import { AUDIT } from '../../../protocol/limits.ts';
import type { GitBlob } from '../../../rules/fingerprint.ts';
import {
  type BranchTree,
  createEntriesReader,
  filesBelow,
  holdsFile,
  limitTrees,
  type OlderTrees,
} from '../branch-reader.ts';
import { type Claim, type DeliveredClaim, listClaimed, readClaims } from '../claims.ts';
import { isFolderPath } from '../target.ts';

/**
 * What became of a delivery on the branch, the worst of its paths first: one is absent and no commit of this tool removed
 * it; somebody changed one; they are as delivered; or this tool removed it.
 */
type BranchState = 'lost' | 'changed' | 'there' | 'removed';

/** A delivery, and what the branch holds of it now. */
export interface ListedDelivery {
  readonly claim: Claim;
  readonly state: BranchState;
  /** Paths that are as they were delivered; of what was removed, those that nothing may be served at. */
  readonly paths: readonly string[];
  /** What was there before it was removed. */
  readonly before?: ReadonlyMap<string, GitBlob>;
  /** Paths that are lost, or else those that hold other bytes. */
  readonly changed: readonly string[];
  /** The last commit that touched the first of them, or that removed the delivery; `null` if it is not known. */
  readonly by: CommitWords | null;
  /** What was not looked at. */
  readonly unknown: readonly string[];
}

/**
 * Everything that this tool delivered to a place and below it, without what a newer delivery replaced. The number of
 * requests depends on the length of the history alone.
 *
 * @param place as of `auditedPlace`
 * @returns the newest first; `entries` is what the branch holds, `last` the newest commit that touched the place
 */
export async function listDeliveries(github: GitHubClient, head: string, place: string) {
  const readEntries = createEntriesReader(github);
  const tree: BranchTree = { head, entries: await readEntries(head) };
  const { claims, isComplete, last } = await readClaims(github, head, place);
  const older = limitTrees(readEntries, AUDIT.olderTrees);
  const listed: ListedDelivery[] = [];
  for (const claim of claims.values()) {
    const one = await compareClaim(claim, tree, older);
    if (one !== null) listed.push(one);
  }
  return { deliveries: await nameCommits(listed, github, head), entries: tree.entries, isComplete, last };
}

const NOTHING = { paths: [], changed: [], by: null, unknown: [] } as const;

/** @returns `null` for what newer deliveries have replaced */
async function compareClaim(
  claim: Claim,
  tree: BranchTree,
  older: OlderTrees,
): Promise<ListedDelivery | null> {
  const { place, delivered, isReplaced, isRemoved } = claim;
  const below = [...filesBelow(tree, place).keys()];
  if (delivered && (below.length > 0 || !isFolderPath(place))) {
    return compareDelivered({ ...claim, delivered }, tree, older);
  }
  if (delivered && !isReplaced(place) && !isRemoved(place)) {
    return { ...NOTHING, claim, state: 'lost', changed: [place] };
  }
  const removed = await listRemoved(claim, delivered ? claim.sha : claim.parent, tree, older);
  if (removed.paths.length > 0 || below.length === 0) return removed;
  // What was removed is there again.
  const changed = below.filter((path) => !isReplaced(path));
  return changed.length === 0 ? null : { ...removed, state: 'changed', changed };
}

async function compareDelivered(
  claim: DeliveredClaim,
  tree: BranchTree,
  older: OlderTrees,
): Promise<ListedDelivery | null> {
  const { place, isRemoved } = claim;
  const files = await listClaimed(claim, tree, older);
  if (files === null) {
    const unknown = `which files of ${place || './'} are lost, changed or as they were delivered: only that the folder changed was found out`;
    return { ...NOTHING, claim, state: 'changed', changed: [place], unknown: [unknown] };
  }
  if (files.length === 0) return null;
  // The pictures of a page go with it.
  const isGone = (path: string): boolean => isRemoved(path) || (!isFolderPath(place) && isRemoved(place));
  const paths: Record<BranchState, string[]> = { lost: [], changed: [], there: [], removed: [] };
  for (const file of files) {
    const { path } = file;
    if (holdsFile(tree, file)) paths.there.push(path);
    else if (tree.entries.has(path)) paths.changed.push(path);
    else paths[isGone(path) ? 'removed' : 'lost'].push(path);
  }
  const { lost, changed, there, removed } = paths;
  if (lost.length > 0) return { ...NOTHING, claim, state: 'lost', changed: lost };
  if (removed.includes(place)) return { ...NOTHING, claim, state: 'removed', paths: removed };
  if (changed.length > 0) return { ...NOTHING, claim, state: 'changed', paths: there, changed };
  const [state, left] = there.length > 0 ? (['there', there] as const) : (['removed', removed] as const);
  return { ...NOTHING, claim, state, paths: left };
}

/** @param commit that has the folder */
async function listRemoved(
  claim: Claim,
  commit: string | undefined,
  tree: BranchTree,
  older: OlderTrees,
): Promise<ListedDelivery> {
  const { place } = claim;
  const removed = { ...NOTHING, claim, state: 'removed', by: claim.delivered ? null : claim } as const;
  const entries = await older(commit);
  if (entries === null) {
    const unknown = `whether its other files are gone: only the page of ${place || './'} was asked for`;
    const page = `${place}index.html`;
    const paths = tree.entries.has(page) ? [] : [page];
    return { ...removed, paths, unknown: [unknown] };
  }
  const before = new Map([...filesBelow({ entries }, place)].filter(([path]) => !tree.entries.has(path)));
  return { ...removed, paths: [...before.keys()], before };
}

/** Finds out which commits did it, fifty paths in one request. */
async function nameCommits(
  listed: readonly ListedDelivery[],
  github: GitHubClient,
  head: string,
): Promise<readonly ListedDelivery[]> {
  const pathOf = ({ claim, changed, state, by }: ListedDelivery): string =>
    (changed[0] ?? (state === 'removed' && by === null ? claim.place : '')).replace(/\/$/, '');
  const asked = new Set(listed.map(pathOf).filter((path) => path !== ''));
  const commits = await getLastCommits(github, head, [...asked]);
  return listed.map((one) => {
    const path = pathOf(one);
    const last = commits.get(path);
    const own = last?.blobs.filter(({ sha }) => sha === one.claim.delivered?.object) ?? [];
    return { before: new Map(own.map((blob) => [path, blob])), ...one, by: last ?? one.by };
  });
}
