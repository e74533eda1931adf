import { forEachItem } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { type ExistingBlobs, getBranchHead, getExistingBlobs } from '../../github/api/branch.ts';
import { nameFew } from '../../plain-text.ts';
import type { PlacedTask } from '../channel.ts';
import type { PagesTask } from './target.ts';

type Placed = PlacedTask<PagesTask>;

/**
 * Looks, after the proof, whether the branch still holds what was delivered: an address may show for a while what
 * somebody has removed or replaced already.
 *
 * @returns for UNKNOWN where the branch can't be read; `NOT_PROVEN` that names what is not there any more, and the
 * failed read of a page that the host renders: such a page is proven with the branch's word only
 */
export async function recheckBranch(
  placed: readonly Placed[],
): Promise<readonly Result<readonly string[]>[]> {
  const first = await resultOf(() => readDelivered(placed));
  // A host may answer an old copy once: only what two looks say is an accusation.
  const isSame = placed.every((one) => compareWith(first, one).changed.length === 0);
  const existing = isSame ? first : await resultOf(() => readDelivered(placed));
  return forEachItem(placed, async (one) => {
    const { branch } = one.task.data.target;
    const { changed, unread } = compareWith(existing, one);
    if (changed.length > 0) {
      throw new DeliveryError(
        'NOT_PROVEN',
        `while it was proven, somebody removed or replaced on the branch ${branch}: ${nameFew(changed)}`,
        { hint: (w) => `try again, or set ${w.input('path')} to a place of its own` },
      );
    }
    if (unread !== undefined && one.placement.hostMayChangeBytes) throw unread;
    if (unread === undefined) return [];
    return [`whether the branch ${branch} still holds it after the proof: ${unread.message}`];
  });
}

/** The paths that are not as they were delivered or removed, and why others can't be read. */
function compareWith(existing: Result<ExistingBlobs | null>, { placement: { held } }: Placed) {
  const changed: string[] = [];
  let unread: DeliveryError | undefined;
  for (const [path, blobSha] of existing === null ? [] : (held ?? [])) {
    const blob = hasFailed(existing) ? existing : (existing?.get(path) ?? null);
    // The branch is not there any more, or the path is a folder now.
    const isGone = hasFailed(blob) && (blob.code === 'NOT_FOUND' || blob.code === 'NOT_OURS');
    if (hasFailed(blob) && !isGone) unread = blob;
    else if ((isGone ? null : blob) !== blobSha) changed.push(path);
  }
  return { changed, unread };
}

/** What the branch holds; `null` where it points to the very commit of every placement. */
async function readDelivered(placed: readonly Placed[]): Promise<ExistingBlobs | null> {
  const [first] = placed;
  if (first === undefined) return null;
  const { github, branch } = first.task.data.target;
  const head = await getBranchHead(github, branch);
  // A step may push twice: the last commit says nothing of what somebody did before it.
  if (placed.every(({ placement }) => placement.commitSha === head)) return null;
  const paths = placed.flatMap(({ placement: { held } }) => [...(held?.keys() ?? [])]);
  return getExistingBlobs(github, head, paths);
}
