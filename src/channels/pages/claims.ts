import { DeliveryError } from '../../errors.ts';
import { parentFolders } from '../../github/api/branch.ts';
import { type GitHubClient, isLastPage } from '../../github/api/client.ts';
import type { CommitSummary } from '../../github/api/history.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import { HISTORY_PAGES, LIST_PAGE, SITE } from '../../protocol/limits.ts';
import { type BranchTree, filesBelow, holdsFile, type OlderTrees } from './branch-reader.ts';
import {
  type DeliveredObject,
  type DeliveryMessage,
  describeDelivered,
  listAlone,
  parseMessage,
} from './commit-message.ts';
import { isFolderPath } from './target.ts';

/** What a commit of this tool says that it did to one place of the branch, where no newer one did the same. */
export interface Claim extends CommitSummary {
  /** Sha of the commit before it; absent where there is none. */
  readonly parent?: string | undefined;
  /** The path of a file, or a folder that ends in `/`, or is empty for the branch's root. */
  readonly place: string;
  readonly delivered?: DeliveredObject | undefined;
  /** The newer commits that removed a part of it, and those before them. */
  readonly parts: readonly Pick<Claim, 'sha' | 'parent'>[];
  /** Whether newer commits of this tool delivered what a path holds now: then it is theirs, whatever the bytes. */
  readonly isReplaced: (path: string) => boolean;
  /** Whether a newer commit of this tool removed a file or a delivery: it names each, and never what lies below. */
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
  const parts = new Map<string, Claim['parts']>();
  const addToIndex = createIndex();
  const path = place.replace(/\/$/, '');
  let last: (CommitSummary & Pick<Claim, 'parent'>) | undefined;
  let isComplete = false;
  for (let page = 1; page <= HISTORY_PAGES && !isComplete; page += 1) {
    const query = { ...github.repository, ...(path && { path }), sha: head, per_page: LIST_PAGE, page };
    const answer = await github.rest.repos.listCommits(query);
    for (const { sha, commit, parents } of answer.data) {
      const { message, committer } = commit;
      const isFirst = parents.length === 0;
      const found = { sha, message, date: committer?.date, parent: parents[0]?.sha, isFirst };
      last ??= found;
      const words = parseMessage(message);
      for (const said of listSaid(words)) {
        const newer = addToIndex(said);
        if (!said.isClaim || !isWithin(said.place, path) || claims.has(said.place)) continue;
        claims.set(said.place, { ...found, ...said, ...newer, parts: parts.get(said.place) ?? [] });
      }
      for (const one of words?.removedFrom ?? []) parts.set(one, [...(parts.get(one) ?? []), found]);
      if (isEnough(claims)) return { claims, last, isComplete };
    }
    isComplete = isLastPage(answer, LIST_PAGE);
  }
  return { claims, last, isComplete };
}

/** Whether a path is a place, with or without the slash at its end, or lies in it. */
export const isWithin = (path: string, place: string): boolean =>
  place === '' || path === place || path.startsWith(place.endsWith('/') ? place : `${place}/`);

type Said = Pick<Claim, 'place' | 'delivered'> & { readonly isClaim: boolean };

/** The places that a commit message names; none for a commit of somebody else. */
function listSaid(words: DeliveryMessage | null): readonly Said[] {
  const { delivered, removed = [] } = words ?? {};
  // A file is judged by its delivery; so is a folder that a delivery removed beside its own, and may have put back.
  const gone = removed.map((place) => ({ place, isClaim: !delivered && isFolderPath(place) }));
  return delivered ? [{ place: delivered.place, delivered, isClaim: true }, ...gone] : gone;
}

/** Remembers what newer commits delivered and removed, in one list for all claims. */
function createIndex(): (said: Said) => Pick<Claim, 'isReplaced' | 'isRemoved'> {
  const all: (Said & { readonly holds: (path: string) => boolean })[] = [];
  return (said) => {
    const { place, delivered } = said;
    const newer = all.length;
    all.push({ ...said, holds: delivered ? createDeliveredLookup(delivered) : (path) => path === place });
    let nearby: typeof all | undefined;
    const search = (isDelivery: boolean) => (path: string) => {
      nearby ??= all
        .slice(0, newer)
        .filter((one) => one.place.startsWith(place) || place.startsWith(one.place));
      return nearby.some((one) => (one.delivered !== undefined) === isDelivery && one.holds(path));
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
 * The files of a delivery that no newer one replaced, and that no removal of a part took; `null` if too many trees were
 * read, or somebody copied the message.
 */
export async function listClaimed(
  { sha, delivered, place, parts, isReplaced }: DeliveredClaim,
  { entries }: BranchTree,
  readOlder: OlderTrees,
): Promise<readonly TreeFile[] | null> {
  const isOpen = ({ path }: TreeFile): boolean => !isReplaced(path);
  if (!isFolderPath(place)) return isReplaced(place) ? [] : listAlone(delivered).filter(isOpen);
  const open = [...entries].filter(
    ([path, { type }]) => path.startsWith(place) && (type === 'tree' || !isReplaced(path)),
  );
  const now = listDelivered(new Map(open), delivered);
  const older = now === null ? await readOlder(sha) : null;
  let files = now ?? (older && listDelivered(older, delivered)?.filter(isOpen));
  for (const part of parts) {
    const before = files && (await readOlder(part.parent));
    const after = before && (await readOlder(part.sha));
    if (!files || !before || !after) return null;
    // What was absent before was lost, and not removed.
    files = files.filter((file) => !before.has(file.path) || holdsFile({ entries: after }, file));
  }
  return files ?? null;
}

/**
 * What a folder keeps besides the delivered files, in short: a whole folder of others is one line.
 *
 * @param delivered paths in the branch that are delivered, or removed
 * @throws {DeliveryError} `NOT_OURS` where it is too much to be named.
 */
export function listKept(tree: Pick<BranchTree, 'entries'>, folder: string, delivered: ReadonlySet<string>) {
  const mixed = new Set([...delivered].flatMap(parentFolders));
  const kept = new Map<string, string>();
  for (const [path, { sha }] of filesBelow(tree, folder)) {
    if (delivered.has(path)) continue;
    const top = parentFolders(path).findLast((one) => one.length > folder.length && !mixed.has(one));
    if (top === undefined) kept.set(path.slice(folder.length), sha);
    else kept.set(`${top.slice(folder.length)}/`, tree.entries.get(top)?.sha ?? sha);
  }
  if (kept.size > SITE.kept) {
    const what = `${kept.size} files and folders that are no part of this delivery`;
    throw new DeliveryError('NOT_OURS', `the folder ${folder || './'} has ${what}`, {
      hint: (w) => `set ${w.input('path')} to a folder of its own`,
    });
  }
  return [...kept].map(([path, sha]) => ({ path, sha }));
}

function createKeptLookup({ place, kept }: Pick<DeliveredObject, 'place' | 'kept'>) {
  const names = new Set(kept.map(({ path }) => place + path));
  return (path: string): boolean =>
    names.size > 0 && (names.has(path) || parentFolders(path).some((folder) => names.has(`${folder}/`)));
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
