import type { ItemResult } from '../../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../../errors.ts';
import { getBranchHead } from '../../../github/api/branch.ts';
import type { Ports } from '../../../ports.ts';
import type { Placement, RestoredDelivery } from '../../channel.ts';
import { type DeployTarget, deploySite, withDeployment } from './deploy.ts';
import { contentOfCommit } from './site-content.ts';

/**
 * Deploys all of a branch, after something was committed to it.
 * What fails here is committed all the same, and another try only deploys it.
 */
export async function deployBranch<Item>(
  placed: readonly ItemResult<Item, Placement>[],
  branch: string,
  target: DeployTarget,
  ports: Ports,
): Promise<readonly ItemResult<Item, Placement>[]> {
  if (placed.every(({ result }) => hasFailed(result))) return placed;
  const { github } = target;
  const source = {
    readHead: () => getBranchHead(github, branch),
    readContent: (commit: string) => contentOfCommit(github, branch, commit, ports),
  };
  const deployed = await resultOf(() => deploySite(source, target, ports));
  const addTo = (placement: Placement): Result<Placement> => {
    if (!hasFailed(deployed)) return withDeployment(placement, deployed);
    const { commitSha, written } = placement;
    return written ? deployed.withLeftBehind([`commit ${commitSha} on the branch ${branch}`]) : deployed;
  };
  return placed.map(({ item, result }) => ({ item, result: hasFailed(result) ? result : addTo(result) }));
}

/** Deploys what was put back on a branch. */
export async function deployRestored<Item>(
  restored: readonly ItemResult<Item, RestoredDelivery>[],
  branch: string,
  target: DeployTarget,
  ports: Ports,
): Promise<readonly ItemResult<Item, RestoredDelivery>[]> {
  const placed = restored.map(({ item, result }) => ({
    item,
    result: hasFailed(result) ? result : result.placement,
  }));
  const deployed = await deployBranch(placed, branch, target, ports);
  return restored.map(({ item, result }, nth) => {
    const placement = deployed[nth]?.result;
    if (hasFailed(result) || placement === undefined) return { item, result };
    return { item, result: hasFailed(placement) ? placement : { ...result, placement } };
  });
}

export const cannotRestoreError = (): DeliveryError =>
  new DeliveryError(
    'NOT_OURS',
    'nothing was put back: a site without a branch keeps nothing of what was there before',
    {
      hint: 'deliver the last good version again',
      leftBehind: [],
    },
  );
