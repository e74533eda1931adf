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
import { parseMessage } from '../commit-message.ts';
import { isFolderPath } from '../target.ts';

/**
 * What became of a delivery on the branch: it is there, as a whole or in part; this tool removed it; somebody changed
 * or removed all of it; or it is gone, and no commit says why.
 */
type BranchState = 'there' | 'removed' | 'changed' | 'lost';

/** A delivery, and what the branch holds of it now. */
export interface ListedDelivery {
  readonly claim: Claim;
  readonly state: BranchState;
  /** Paths that are as they were delivered; of what was removed, those that nothing may be served at. */
  readonly paths: readonly string[];
  /** What was there before it was removed. */
  readonly before?: ReadonlyMap<string, GitBlob>;
  /** Paths that somebody has changed or removed since. */
  readonly changed: readonly string[];
  /** The commit that did so, or that removed it; `null` where it is not known. */
  readonly by: CommitWords | null;
  /** What was not looked at. */
  readonly unknown: readonly string[];
}

/**
 * Everything that this tool delivered to a folder and below it, the newest first: a delivery that a newer one replaced
 * is no more. The number of requests depends on the length of the history alone.
 *
 * @param head sha of the newest commit of the branch
 * @param place as of `auditedPlace`
 * @returns `entries` is what the branch holds, `last` the newest commit that touched the place
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
  const { place, delivered, isReplaced } = claim;
  const below = [...filesBelow(tree, place).keys()];
  if (delivered && (below.length > 0 || !isFolderPath(place))) {
    return compareDelivered({ ...claim, delivered }, tree, older);
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
  const { place } = claim;
  const isFolder = isFolderPath(place);
  const files = await listClaimed(claim, tree, older);
  if (files === null) {
    const unknown = 'which of its files are still as they were delivered: only that it changed was found out';
    return { ...NOTHING, claim, state: 'changed', changed: [place], unknown: [unknown] };
  }
  if (files.length === 0) return null;
  const paths = files.flatMap((file) => (holdsFile(tree, file) ? [file.path] : []));
  const changed = files.flatMap((file) => (holdsFile(tree, file) ? [] : [file.path]));
  const isThere = isFolder ? paths.length > 0 : paths[0] === place;
  if (isThere) return { ...NOTHING, claim, state: 'there', paths, changed };
  if (isFolder || tree.entries.has(place)) return { ...NOTHING, claim, state: 'changed', changed };
  const gone = changed.filter((path) => !tree.entries.has(path));
  return { ...NOTHING, claim, state: 'removed', paths: gone };
}

/** @param commit that has the folder */
async function listRemoved(
  claim: Claim,
  commit: string | undefined,
  tree: BranchTree,
  older: OlderTrees,
): Promise<ListedDelivery> {
  const { place } = claim;
  const entries = await older(commit);
  if (entries === null) {
    const unknown = `whether its other files are gone: only the page of ${place || './'} was asked for`;
    const page = isFolderPath(place) ? `${place}index.html` : place;
    const paths = tree.entries.has(page) ? [] : [page];
    return { ...NOTHING, claim, state: 'removed', paths, unknown: [unknown] };
  }
  const before = new Map([...filesBelow({ entries }, place)].filter(([path]) => !tree.entries.has(path)));
  return { ...NOTHING, claim, state: 'removed', paths: [...before.keys()], before };
}

/** Finds out who changed or removed what is not as it was delivered, fifty paths in one request. */
async function nameCommits(
  listed: readonly ListedDelivery[],
  github: GitHubClient,
  head: string,
): Promise<readonly ListedDelivery[]> {
  const pathOf = ({ claim, changed, state }: ListedDelivery): string | undefined => {
    if (state === 'removed' && claim.delivered === undefined) return undefined;
    return (changed[0] ?? (state === 'removed' ? claim.place : '')).replace(/\/$/, '') || undefined;
  };
  const asked = new Set(listed.flatMap((one) => pathOf(one) ?? []));
  const commits = await getLastCommits(github, head, [...asked]);
  return listed.map((one) => {
    const path = pathOf(one);
    if (path === undefined) return one.state === 'removed' ? { ...one, by: one.claim } : one;
    const by = commits.get(path) ?? null;
    if (one.state !== 'removed') return { ...one, by };
    if (by === null || by.sha === one.claim.sha) return { ...one, state: 'lost' };
    if (parseMessage(by.message) !== null) {
      const own = by.blobs.filter(({ sha }) => sha === one.claim.delivered?.object);
      return { before: new Map(own.map((blob) => [path, blob])), ...one, by };
    }
    return { ...one, state: 'changed', changed: [one.claim.place], by, paths: [] };
  });
}
