import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import type { ExistingBlobs } from '../../github/api/branch.ts';
import type { RepositoryContext } from '../../github/api/repository.ts';
import { nameFew } from '../../plain-text.ts';
import type { Ports } from '../../ports.ts';
import type { Channel, PlacedTask } from '../channel.ts';
import { watchBuilds } from './build.ts';
import { commitTasks, previewCommits, withPictures } from './commit.ts';
import { deployBranch } from './deploy/deploy.ts';
import { deployReceipt, reloadReceipt, verifyOthers } from './deploy/deploy-receipt.ts';
import { findSiteHistory } from './deploy/find-deploy-target.ts';
import type { PagesOptions } from './destination.ts';
import { findCompared } from './other-folder.ts';
import { isInBranch, prepareItems } from './prepare.ts';
import { notRestoredError, restoreBefore } from './restore.ts';
import { finishSetup } from './set-up.ts';
import type { PagesTask } from './target.ts';

/** GitHub Pages: find the destination, read the branch, compare, write the change, verify. @see protocol 4.2 */
export function createPagesChannels(
  inputs: PagesOptions,
  access: RepositoryContext,
  ports: Ports,
): Readonly<Record<'publish' | 'remove', Channel<PagesTask>>> {
  const channelFor = (options: PagesOptions): Channel<PagesTask> => ({
    prepare: (items) => prepareItems(items, options, access, ports),
    preview: (tasks) => previewCommits(tasks, ports),
    async perform(tasks) {
      const [first] = tasks;
      if (first === undefined) return [];
      const { branch, deploy, receipt } = first.target;
      const commit = () => commitTasks(tasks, ports);
      if (deploy !== null && receipt !== undefined) {
        return deployReceipt({ tasks: tasks.map(withPictures), target: deploy, receipt, ports, commit });
      }
      const committed = await commit();
      if (deploy !== null) return deployBranch(committed, branch, deploy, ports);
      return finishSetup(committed, first.target, ports);
    },
    watch: () => watchBuilds(access, options, ports),
    findCompared,
    recheck: (placed) => recheck(placed, ports),
  });
  const removal = { ...inputs, setup: false, isRemoval: true };
  const find = () => findSiteHistory(removal, access, ports);
  return {
    publish: { ...channelFor(inputs), restore: (failed, batch) => restoreAndDeploy(failed, batch, ports) },
    remove: { ...channelFor(removal), holds: ({ name }) => isInBranch(name, removal, find()) },
  };
}

async function restoreAndDeploy(failed: readonly Placed[], batch: readonly Placed[], ports: Ports) {
  if (failed[0]?.task.target.receipt !== undefined) {
    throw notRestoredError('a site without a branch keeps no earlier version');
  }
  const restored = await restoreBefore(failed, batch, ports);
  const { branch = '', deploy = null } = failed[0]?.task.target ?? {};
  return deploy === null ? restored : deployBranch(restored, branch, deploy, ports);
}

async function recheck(placed: readonly Placed[], ports: Ports): Promise<Rechecked> {
  const own = await recheckPaths(placed, ports);
  const { deploy = null, receipt } = placed[0]?.task.target ?? {};
  const isWritten = placed.some(({ placement }) => placement.written);
  if (deploy === null || receipt === undefined || !isWritten || own.some(hasFailed)) return own;
  const tasks = placed.map(({ task }) => withPictures(task));
  const others = await verifyOthers({ tasks, target: deploy, receipt, ports });
  return own.map((lines) => (hasFailed(lines) || hasFailed(others) ? others : [...lines, ...others]));
}

type Placed = PlacedTask<PagesTask>;
type Rechecked = readonly Result<readonly string[]>[];

/**
 * After the proof: a URL may still show what somebody removed.
 * @returns UNKNOWN lines if the branch can't be read; `NOT_PROVEN` if a path changed
 */
async function recheckPaths(placed: readonly Placed[], ports: Ports): Promise<Rechecked> {
  const firstLook = await comparePaths(placed, ports);
  // GitHub may answer with an old copy once, so a change must be seen twice.
  const isSame = firstLook.every(({ changed }) => changed.length === 0);
  const looked = isSame ? firstLook : await comparePaths(placed, ports);
  return looked.map(({ task, placement, changed, unread }) => {
    const { place } = task.target.history;
    if (changed.length > 0) {
      const what = `somebody removed or replaced on ${place}: ${nameFew(changed)}`;
      return new DeliveryError('NOT_PROVEN', `while it was verified, ${what}`, {
        hint: (w) => `run it again, or set ${w.input('path')} to a path that nothing else uses`,
        leftBehind: [placement.evidence],
      });
    }
    if (unread === undefined) return [];
    if (unread.code === 'BUILD_TIMEOUT') return unread;
    if (placement.first.expect.is === 'built') return unread;
    return [`whether ${place} still holds it after the verification: ${unread.message}`];
  });
}

/** Finds paths that changed since the delivery, and paths that can't be read. */
async function comparePaths(placed: readonly Placed[], ports: Ports) {
  const existing = await resultOf(() => readDelivered(placed, ports));
  return placed.map((item) => {
    const changed: string[] = [];
    let unread: DeliveryError | undefined;
    for (const [path, blobSha] of existing === null ? [] : (item.placement.expectedBlobs ?? [])) {
      const blob = hasFailed(existing) ? existing : (existing?.get(path) ?? null);
      // The branch was deleted, or the path is a folder now.
      const isGone = hasFailed(blob) && (blob.code === 'NOT_FOUND' || blob.code === 'NOT_OURS');
      if (hasFailed(blob) && !isGone) unread = blob;
      else if ((isGone ? null : blob) !== blobSha) changed.push(path);
    }
    return { ...item, changed, unread };
  });
}

/** Reads the delivered paths; `null` if the branch still points to the delivered commit. */
async function readDelivered(placed: readonly Placed[], ports: Ports): Promise<ExistingBlobs | null> {
  const [first] = placed;
  if (first === undefined) return null;
  const { history, receipt, deploy } = first.task.target;
  const where = receipt && deploy && { receipt, target: deploy, ports };
  const isDeployed = placed.some(({ placement }) => placement.written);
  if (where && !(await reloadReceipt(where, isDeployed))) return null;
  const head = await history.readHead();
  // With two pushes, the last commit can't show a change in between. A rival file may be older than both.
  const isOwn = ({ task, placement }: Placed): boolean =>
    placement.commitSha === head && task.destination.rivals === undefined;
  if (placed.every(isOwn)) return null;
  const paths = placed.flatMap(({ placement: { expectedBlobs } }) => [...(expectedBlobs?.keys() ?? [])]);
  return history.readBlobs(head, paths);
}
