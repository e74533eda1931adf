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
export async function deployBranch(
  placed: readonly Result<Placement>[],
  branch: string,
  target: DeployTarget,
  ports: Ports,
): Promise<readonly Result<Placement>[]> {
  if (placed.every(hasFailed)) return placed;
  const { github } = target;
  const source = {
    readHead: () => getBranchHead(github, branch),
    readContent: (commit: string) => contentOfCommit(github, branch, commit, ports),
  };
  const deployed = await resultOf(() => deploySite(source, target, ports));
  return placed.map((placement) => {
    if (hasFailed(placement)) return placement;
    if (!hasFailed(deployed)) return withDeployment(placement, deployed);
    const { commitSha, written } = placement;
    return written ? deployed.withLeftBehind([`commit ${commitSha} on the branch ${branch}`]) : deployed;
  });
}

/** Deploys what was put back on a branch. */
export async function deployRestored(
  restored: readonly Result<RestoredDelivery>[],
  branch: string,
  target: DeployTarget,
  ports: Ports,
): Promise<readonly Result<RestoredDelivery>[]> {
  const placed = restored.map((one) => (hasFailed(one) ? one : one.placement));
  const deployed = await deployBranch(placed, branch, target, ports);
  return restored.map((one, nth) => {
    const placement = deployed[nth];
    if (hasFailed(one) || placement === undefined) return one;
    return hasFailed(placement) ? placement : { ...one, placement };
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
