import { DeliveryError } from '../../errors.ts';
import { parentFolders } from '../../github/api/branch.ts';
import { type GitHubClient, isLastPage } from '../../github/api/client.ts';
import type { CommitWords } from '../../github/api/history.ts';
import { EMPTY_TREE, type TreeFile } from '../../github/api/tree-id.ts';
import { HISTORY_PAGES, LIST_PAGE, SITE } from '../../protocol/limits.ts';
import { type BranchTree, filesBelow, type OlderTrees } from './branch-reader.ts';
import { type DeliveredObject, describeDelivered, listAlone, parseMessage } from './commit-message.ts';
import { isFolderPath } from './target.ts';

/** What a commit of this tool says that it did to one place of the branch, where no newer one did the same. */
export interface Claim extends CommitWords {
  /** Sha of the commit before it; absent where there is none. */
  readonly parent?: string | undefined;
  /** The path of a file, or a folder that ends in `/`, or is empty for the branch's root. */
  readonly place: string;
  readonly delivered?: DeliveredObject | undefined;
  /** Whether a removal left something of the place, of this tool or of others. */
  readonly isPart: boolean;
  /** Whether newer commits of this tool delivered what a path holds now: then it is theirs, whatever the bytes. */
  readonly isReplaced: (path: string) => boolean;
  /** Whether newer commits of this tool say that they removed a path, alone or with its folder. */
  readonly isRemoved: (path: string) => boolean;
}

export type DeliveredClaim = Claim & { readonly delivered: DeliveredObject };

/**
 * Reads what this tool says that it delivered to a place and below it, a hundred commits a request.
 *
 * @param isEnough whether no older claim is needed
 * @returns the claims by place, the newest first; and the newest commit of anybody that touched the place
 */
export async function readClaims(
  github: GitHubClient,
  head: string,
  place: string,
  isEnough: (claims: ReadonlyMap<string, Claim>) => boolean = () => false,
) {
  const claims = new Map<string, Claim>();
  const addToIndex = createIndex();
  const path = place.replace(/\/$/, '');
  let last: (CommitWords & Pick<Claim, 'parent'>) | undefined;
  let isComplete = false;
  for (let page = 1; page <= HISTORY_PAGES && !isComplete; page += 1) {
    const query = { ...github.repository, ...(path && { path }), sha: head, per_page: LIST_PAGE, page };
    const answer = await github.rest.repos.listCommits(query);
    for (const { sha, commit, parents } of answer.data) {
      const { message, committer } = commit;
      const isFirst = parents.length === 0;
      const found = { sha, message, date: committer?.date, parent: parents[0]?.sha, isFirst };
      last ??= found;
      for (const said of readMessage(commit.message)) {
        const newer = addToIndex(said);
        const later = claims.get(said.place);
        if (!said.isClaim || !isWithin(said.place, path)) continue;
        if (later === undefined) claims.set(said.place, { ...found, ...said, ...newer });
        // What a removal left of a delivery is still that delivery's.
        else if (later.isPart && !later.delivered && said.delivered) {
          claims.set(said.place, { ...found, ...said, ...newer, parent: later.parent, isPart: true });
        }
      }
      if (isEnough(claims)) return { claims, last, isComplete };
    }
    isComplete = isLastPage(answer, LIST_PAGE);
  }
  return { claims, last, isComplete };
}

/** Whether a path is a place, with or without the slash at its end, or lies in it. */
export const isWithin = (path: string, place: string): boolean =>
  place === '' || path === place || path.startsWith(place.endsWith('/') ? place : `${place}/`);

type Said = Pick<Claim, 'place' | 'delivered' | 'isPart'> & {
  readonly isClaim: boolean;
  /** Whether a removal left a path of the place. */
  readonly isLeft: (path: string) => boolean;
};

/** The places that a commit message names; none for a commit of somebody else. */
function readMessage(message: string): readonly Said[] {
  const { delivered, removed = [], left = [] } = parseMessage(message) ?? {};
  const isLeft = createKeptLookup({ place: '', kept: left });
  // A file is judged by its delivery; so is a folder that a delivery removed beside its own, and may have put back.
  const gone = removed.map((place) => ({
    ...{ place, isLeft },
    isPart: left.some(({ path }) => isWithin(path, place)),
    isClaim: !delivered && isFolderPath(place),
  }));
  return delivered
    ? [{ place: delivered.place, delivered, isLeft, isPart: false, isClaim: true }, ...gone]
    : gone;
}

/** Remembers what newer commits delivered and removed, in one list for all claims. */
function createIndex(): (said: Said) => Pick<Claim, 'isReplaced' | 'isRemoved'> {
  const all: { readonly said: Said; readonly holds: (path: string) => boolean }[] = [];
  return (said) => {
    const { place, delivered, isLeft } = said;
    const newer = all.length;
    const holds = delivered
      ? createDeliveredLookup(delivered)
      : (path: string) => isWithin(path, place) && !isLeft(path);
    all.push({ said, holds });
    let nearby: typeof all | undefined;
    const search = (isDelivery: boolean) => (path: string) => {
      nearby ??= all
        .slice(0, newer)
        .filter((one) => one.said.place.startsWith(place) || place.startsWith(one.said.place));
      return nearby.some((one) => (one.said.delivered !== undefined) === isDelivery && one.holds(path));
    };
    return { isReplaced: search(true), isRemoved: search(false) };
  };
}

function createDeliveredLookup(delivered: DeliveredObject): (path: string) => boolean {
  const { place, pictures } = delivered;
  const isKept = createKeptLookup(delivered);
  const files = new Set([place, ...pictures.map(({ path }) => path)]);
  return (path) => (isFolderPath(place) ? path.startsWith(place) && !isKept(path) : files.has(path));
}

/**
 * The files of a delivery that no newer one replaced; `null` if too many trees were read, or somebody copied the message.
 */
export async function listClaimed(
  { sha, delivered, place, isReplaced }: DeliveredClaim,
  { entries }: BranchTree,
  readOlder: OlderTrees,
): Promise<readonly TreeFile[] | null> {
  if (!isFolderPath(place)) {
    return isReplaced(place) ? [] : listAlone(delivered).filter(({ path }) => !isReplaced(path));
  }
  const open = [...entries].filter(
    ([path, { type }]) => path.startsWith(place) && (type === 'tree' || !isReplaced(path)),
  );
  const now = listDelivered(new Map(open), delivered);
  if (now !== null) return now;
  const older = await readOlder(sha);
  const then = older && listDelivered(older, delivered);
  return then?.filter(({ path }) => !isReplaced(path)) ?? null;
}

/** As `listOthers`, with paths within the folder. @throws {DeliveryError} `NOT_OURS` where it is too much to be named. */
export function listKept(tree: Pick<BranchTree, 'entries'>, folder: string, delivered: ReadonlySet<string>) {
  const kept = listOthers(tree, folder, delivered);
  if (kept.length > SITE.kept) {
    const what = `${kept.length} files and folders that are no part of this delivery`;
    throw new DeliveryError('NOT_OURS', `the folder ${folder || './'} has ${what}`, {
      hint: (w) => `set ${w.input('path')} to a folder of its own`,
    });
  }
  return kept.map(({ path, sha }) => ({ path: path.slice(folder.length), sha }));
}

/** What the removal of some paths leaves in a folder: where that is too much to be named, all of the folder counts as left. */
export function listLeft(
  tree: Pick<BranchTree, 'entries'>,
  folder: string,
  removed: ReadonlySet<string>,
): readonly TreeFile[] {
  const left = listOthers(tree, folder, removed);
  return left.length > SITE.kept ? [{ path: folder || ALL, sha: EMPTY_TREE }] : left;
}

/** How all of the branch is named. */
const ALL = './';

/** What a folder has besides some paths, in short: a whole folder of others is one line, and ends in `/`. */
function listOthers(
  tree: Pick<BranchTree, 'entries'>,
  folder: string,
  delivered: ReadonlySet<string>,
): readonly TreeFile[] {
  const mixed = new Set([...delivered].flatMap(parentFolders));
  const kept = new Map<string, string>();
  for (const [path, { sha }] of filesBelow(tree, folder)) {
    if (delivered.has(path)) continue;
    const top = parentFolders(path).findLast((one) => one.length > folder.length && !mixed.has(one));
    if (top === undefined) kept.set(path, sha);
    else kept.set(`${top}/`, tree.entries.get(top)?.sha ?? sha);
  }
  return [...kept].map(([path, sha]) => ({ path, sha }));
}

function createKeptLookup({ place, kept }: Pick<DeliveredObject, 'place' | 'kept'>) {
  const names = new Set(kept.map(({ path }) => place + path));
  return (path: string): boolean =>
    names.size > 0 &&
    (names.has(ALL) || names.has(path) || parentFolders(path).some((folder) => names.has(`${folder}/`)));
}

/** The files of a delivered folder, if a tree holds exactly what the commit says that it delivered; else `null`. */
function listDelivered(entries: BranchTree['entries'], { place, kept, object }: DeliveredObject) {
  const isKept = createKeptLookup({
    place,
    kept: kept.filter(({ path, sha }) => entries.get(place + path.replace(/\/$/, ''))?.sha === sha),
  });
  const files = [...filesBelow({ entries }, place)].map(([path, { sha }]) => ({ path, sha }));
  const delivered = files.filter(({ path }) => !isKept(path));
  return describeDelivered(place, delivered).object === object ? delivered : null;
}
