import { forEachItem, type ItemResult } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { type ExistingBlobs, getBranchHead, getExistingBlobs } from '../../github/api/branch.ts';
import { getLastCommits } from '../../github/api/history.ts';
import { nameFew } from '../../plain-text.ts';
import { BATCH, SITE } from '../../protocol/limits.ts';
import type { GitBlob } from '../../rules/fingerprint.ts';
import type { LocalSite } from '../../rules/local-site.ts';
import type { PlacedTask } from '../channel.ts';
import type { BranchTree } from './branch-reader.ts';
import type { FolderTarget, PagesTask } from './target.ts';

/**
 * Looks, after the proof, whether the branch still holds what was delivered: an address may show for a while what
 * somebody has removed or replaced already.
 *
 * @returns for UNKNOWN where the branch can't be read; `NOT_PROVEN` that names what is not there any more, and the
 * failed read of a page that the host renders: such a page is proven with the branch's word only
 * @see design 6
 */
export async function recheckBranch(
  placed: readonly PlacedTask<PagesTask>[],
): Promise<readonly ItemResult<PlacedTask<PagesTask>, readonly string[]>[]> {
  const first = await resultOf(() => readDelivered(placed));
  // A host may answer an old copy once: only what two looks say is an accusation.
  const isSame = placed.every((one) => compareWith(first, one).changed.length === 0);
  const existing = isSame ? first : await resultOf(() => readDelivered(placed));
  return forEachItem(placed, async (one) => {
    const { branch } = one.task.data.target;
    const { changed, unread } = compareWith(existing, one);
    if (changed.length > 0) throw notHeldError(branch, changed);
    if (unread !== undefined && one.placement.hostMayChangeBytes) throw unread;
    return unread === undefined
      ? []
      : [`whether the branch ${branch} still holds it after the proof: ${unread.message}`];
  });
}

/** The paths that are not as they were delivered or removed, and why others can't be read. */
function compareWith(
  existing: Result<ExistingBlobs | null>,
  { placement: { held } }: PlacedTask,
): { readonly changed: readonly string[]; readonly unread: DeliveryError | undefined } {
  const changed: string[] = [];
  let unread: DeliveryError | undefined;
  for (const [path, blobSha] of existing === null ? [] : (held ?? [])) {
    const blob = hasFailed(existing) ? existing : (existing?.get(path) ?? null);
    if (!hasFailed(blob) || GONE.includes(blob.code)) {
      if ((hasFailed(blob) ? null : blob) !== blobSha) changed.push(path);
    } else unread = blob;
  }
  return { changed, unread };
}

/** The branch is not there any more, or the path is a folder now. */
const GONE: readonly string[] = ['NOT_FOUND', 'NOT_OURS'];

/** What the branch holds; `null` where it points to the very commit of one of the placements. */
async function readDelivered(placed: readonly PlacedTask<PagesTask>[]): Promise<ExistingBlobs | null> {
  const [first] = placed;
  if (first === undefined) return null;
  const { github, branch } = first.task.data.target;
  const paths = placed.flatMap(({ placement: { held } }) => [...(held?.keys() ?? [])]);
  // Few paths are a request each; of many, the commit that the branch points to mostly tells enough.
  if (paths.length > BATCH.paths) {
    const head = await getBranchHead(github, branch);
    if (placed.some(({ placement }) => placement.commitSha === head)) return null;
  }
  return getExistingBlobs(github, branch, paths);
}

const notHeldError = (branch: string, paths: readonly string[]): DeliveryError =>
  new DeliveryError(
    'NOT_PROVEN',
    `while it was proven, somebody removed or replaced on the branch ${branch}: ${nameFew(paths)}`,
    { hint: (w) => `try again, or set ${w.input('path')} to a place of its own` },
  );

/** What the branch held before at paths of a delivery that changed, the newest first; nothing for a new file. */
export type EarlierFiles = ReadonlyMap<string, readonly GitBlob[]>;

/** Of thousands of new files, one list is kept. */
const NEVER: readonly GitBlob[] = [];

/**
 * What caches may still have of a folder: what this delivery replaces, and what the newest one before it did. A run
 * that finds everything there proves as much as the one that placed it.
 *
 * @param before the commit before the newest delivery; absent where there is none
 * @returns by path within the folder
 * @see design 5
 */
export async function findEarlierFiles(
  { files, entry: page }: LocalSite,
  { github, reader, folder }: FolderTarget,
  { entries, head }: BranchTree,
  { isChanged, before }: { readonly isChanged: boolean; readonly before: string | undefined },
): Promise<EarlierFiles> {
  const trees = [
    ...(isChanged ? [entries] : []),
    ...(before === undefined ? [] : [await reader.getEntries(github, before)]),
  ];
  // The page changes most often, and a cache may be older than the last two versions.
  const commits = head === null ? undefined : await getLastCommits(github, head, [folder + page]);
  const versions = commits?.get(folder + page)?.blobs ?? [];
  const earlier = new Map<string, readonly GitBlob[]>();
  for (const { path, file } of files) {
    const found = trees.map((one) => one.get(folder + path));
    if (path !== page && (trees.length === 0 || found[0]?.sha === file.blobSha)) continue;
    const held = found.flatMap((one) => (one?.type === 'blob' ? [{ sha: one.sha, size: one.size }] : []));
    const all = new Map([...held, ...(path === page ? versions : [])].map((one) => [one.sha, one]));
    all.delete(file.blobSha);
    earlier.set(path, all.size === 0 ? NEVER : [...all.values()]);
  }
  return earlier;
}

/**
 * What must not be served any more: what this delivery removes, and what of the folder the newest one before it
 * removed: a run that finds nothing to do proves as much as the one that did it.
 *
 * @returns by path in the branch
 */
export async function findGoneFiles(
  { github, reader, folder }: FolderTarget,
  { entries }: BranchTree,
  { removals, before }: { readonly removals: readonly string[]; readonly before: string | undefined },
): Promise<EarlierFiles> {
  const older = before === undefined ? new Map() : await reader.getEntries(github, before);
  const left = [...older.keys()].filter((path) => path.startsWith(folder) && !entries.has(path));
  return new Map(
    [...removals, ...left].flatMap((path) => {
      const { type, sha, size } = entries.get(path) ?? older.get(path) ?? {};
      return type === 'blob' ? [[path, [{ sha, size }]] as const] : [];
    }),
  );
}

/** The changed files beside the page whose addresses are asked as a browser asks them: replaced ones first. */
export function choosePlain(earlier: EarlierFiles, page: string): EarlierFiles {
  const others = [...earlier].filter(([path]) => path !== page);
  const replacedFirst = others.toSorted(([, one], [, other]) => other.length - one.length);
  return new Map(replacedFirst.slice(0, SITE.plainProbes));
}
