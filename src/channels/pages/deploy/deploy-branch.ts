import type { ItemResult } from '../../../async.ts';
import { DeliveryError, hasFailed, resultOf } from '../../../errors.ts';
import { getBranchHead, listEntries } from '../../../github/api/branch.ts';
import type { Ports } from '../../../ports.ts';
import type { Placement, RestoredDelivery } from '../../channel.ts';
import { type DeployTarget, deploySite, type SiteDeployment } from './deploy.ts';
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
  const readContent = async () => {
    const commit = await getBranchHead(github, branch);
    return contentOfCommit(github, { branch, commit, entries: await listEntries(github, commit) }, ports);
  };
  const deployed = await resultOf(() => deploySite(readContent, target, ports));
  return placed.map(({ item, result }) => {
    if (hasFailed(result)) return { item, result };
    if (!hasFailed(deployed)) return { item, result: withDeployment(result, deployed) };
    const { commitSha, written } = result;
    return {
      item,
      result: written ? deployed.withLeftBehind([`commit ${commitSha} on the branch ${branch}`]) : deployed,
    };
  });
}

/** The placement with its deployment, which is followed. */
export const withDeployment = (placement: Placement, { id, isNewest }: SiteDeployment): Placement => ({
  ...placement,
  ...{ deployment: id, evidence: `${placement.evidence}, deployment ${id}` },
  unknown: isNewest ? placement.unknown : [...placement.unknown, UNDEPLOYED],
});

const UNDEPLOYED = 'whether the newest files of the branch are deployed: the time was over before that';

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

/** @see design 7 */
export const cannotRestoreError = (): DeliveryError =>
  new DeliveryError(
    'NOT_OURS',
    'nothing was put back: a site without a branch keeps nothing of what was there before',
    {
      hint: 'deliver the last good version again',
      leftBehind: [],
    },
  );
