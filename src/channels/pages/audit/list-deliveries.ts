import type { GitHubClient } from '../../../github/api/client.ts';
import { getLastCommits, type LastCommit } from '../../../github/api/history.ts';
import type { TreeFile } from '../../../github/api/tree-id.ts';
import { AUDIT } from '../../../protocol/limits.ts';
import { type BranchTree, createBranchReader, filesBelow } from '../branch-reader.ts';
import { type Delivered, parseMessage } from '../commit-message.ts';
import { listDelivered } from '../delivered-tree.ts';
import { isOwned } from '../ownership.ts';
import { isFolderPath } from '../target.ts';
import { type Claim, readClaims } from './read-claims.ts';

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
  /** Paths that somebody has changed or removed since. */
  readonly changed: readonly string[];
  /** The commit that did so, or that removed it; `null` where it is not known. */
  readonly by: Pick<LastCommit, 'sha' | 'message'> | null;
  /** What was not looked at. */
  readonly unknown: readonly string[];
}

/**
 * Everything that this tool delivered to a folder and below it, the newest first: a delivery that a newer one replaced
 * is no more. The number of requests depends on the length of the history alone.
 *
 * @param head sha of the newest commit of the branch
 * @param place as of `auditedPlace`
 * @returns `entries` is what the branch holds
 */
export async function listDeliveries(github: GitHubClient, head: string, place: string) {
  const reader = createBranchReader();
  const tree: BranchTree = { head, entries: await reader.getEntries(github, head) };
  const { claims, isComplete } = await readClaims(github, head, place);
  const read = new Set<string>();
  const older: ReadOlder = async (commit) => {
    if (commit === undefined || (!read.has(commit) && read.size >= AUDIT.olderTrees)) return null;
    read.add(commit);
    return reader.getEntries(github, commit);
  };
  const listed: ListedDelivery[] = [];
  for (const claim of claims) {
    const one = await compareClaim(claim, tree, older);
    if (one !== null) listed.push(one);
  }
  return { deliveries: await nameCommits(listed, github, head), entries: tree.entries, isComplete };
}

/** Reads the files of a folder in an older commit; `null` once so many commits were read that it costs too much. */
type ReadOlder = (commit: string | undefined) => Promise<BranchTree['entries'] | null>;

const newListed = (claim: Claim, state: BranchState, more: Partial<ListedDelivery> = {}): ListedDelivery => ({
  ...{ claim, state, paths: [], changed: [], by: null, unknown: [] },
  ...more,
});

/** @returns `null` for what newer deliveries have replaced */
async function compareClaim(
  claim: Claim,
  tree: BranchTree,
  older: ReadOlder,
): Promise<ListedDelivery | null> {
  const { place, delivered, isReplaced } = claim;
  if (delivered && !isFolderPath(place)) return compareFile(claim, delivered, tree);
  const below = [...filesBelow(tree, place).keys()];
  const own = below.filter((path) => !isReplaced(path));
  if (delivered && below.length > 0) return compareDelivered(claim, delivered, { tree, own, older });
  if (!delivered && own.length > 0) return newListed(claim, 'changed', { changed: own });
  if (!delivered && below.length > 0) return null;
  return listRemoved(claim, delivered ? claim.sha : claim.parent, tree, older);
}

function compareFile(claim: Claim, { pictures }: Delivered, tree: BranchTree): ListedDelivery | null {
  const { place, message, isReplaced } = claim;
  if (isReplaced(place)) return null;
  const open = [place, ...pictures.map(({ path }) => path)].filter((path) => !isReplaced(path));
  const isThere = (path: string): boolean => {
    const { sha = '', mode } = tree.entries.get(path) ?? {};
    return mode === '100644' && isOwned(message, { path, sha });
  };
  const changed = open.filter((path) => !isThere(path));
  if (isThere(place)) return newListed(claim, 'there', { paths: open.filter(isThere), changed });
  return tree.entries.has(place)
    ? newListed(claim, 'changed', { changed: [place] })
    : newListed(claim, 'removed', { paths: open.filter((path) => !tree.entries.has(path)) });
}

interface FolderNow {
  readonly tree: BranchTree;
  /** Paths below the folder that no newer delivery has replaced. */
  readonly own: readonly string[];
  readonly older: ReadOlder;
}

async function compareDelivered(
  claim: Claim,
  site: Delivered,
  { tree, own, older }: FolderNow,
): Promise<ListedDelivery | null> {
  const { place, sha, isReplaced } = claim;
  const left = new Set(own);
  const within = [...tree.entries].filter(
    ([path, { type }]) => path.startsWith(place) && (type === 'tree' || left.has(path)),
  );
  const whole = listDelivered(new Map(within), site);
  if (whole !== null) return newListed(claim, 'there', { paths: whole.map(({ path }) => path) });
  const entries = await older(sha);
  // A message that was copied names files that its commit does not have.
  const delivered = entries === null ? null : listDelivered(entries, site);
  if (delivered === null) {
    const unknown = 'which of its files are still as they were delivered: only that it changed was found out';
    return newListed(claim, 'changed', { changed: [place], unknown: [unknown] });
  }
  const still = delivered.filter(({ path }) => !isReplaced(path));
  const isSame = (file: TreeFile): boolean => {
    const entry = tree.entries.get(file.path);
    return entry?.sha === file.sha && entry.mode === '100644';
  };
  if (still.length === 0) return null;
  const paths = still.filter(isSame).map(({ path }) => path);
  const changed = still.filter((file) => !isSame(file)).map(({ path }) => path);
  return newListed(claim, paths.length === 0 ? 'changed' : 'there', { paths, changed });
}

/** @param commit that has the folder */
async function listRemoved(
  claim: Claim,
  commit: string | undefined,
  tree: BranchTree,
  older: ReadOlder,
): Promise<ListedDelivery> {
  const { place } = claim;
  const entries = await older(commit);
  if (entries === null) {
    const unknown = `whether its other files are gone: only the page of ${place || './'} was asked for`;
    return newListed(claim, 'removed', { paths: [`${place}index.html`], unknown: [unknown] });
  }
  const files = [...filesBelow({ entries }, place).keys()];
  return newListed(claim, 'removed', { paths: files.filter((path) => !tree.entries.has(path)) });
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
    if (parseMessage(by.message) !== null) return { ...one, by };
    return { ...one, state: 'changed', changed: [one.claim.place], by, paths: [] };
  });
}
