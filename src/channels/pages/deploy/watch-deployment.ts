import { DeliveryError } from '../../../errors.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import { getPagesDeployment } from '../../../github/api/pages-deployment.ts';
import type { Ports } from '../../../ports.ts';
import { BUILD_WAIT } from '../../../protocol/limits.ts';
import type { HostProgress, Placement } from '../../channel.ts';

/**
 * Follows the deployment of a placement. One that GitHub calls finished is not taken for one: it may serve the old
 * site all the same, so the address alone ends the wait. No deployment is ever cancelled.
 *
 * @param timeout milliseconds of the whole wait; GitHub is asked at most 48 times in it
 */
export function watchDeployment(
  github: GitHubClient,
  timeout: number,
  { clock }: Pick<Ports, 'clock'>,
): (placed: Pick<Placement, 'deployment'>) => Promise<HostProgress> {
  let polls = 0;
  let next = Number.NEGATIVE_INFINITY;
  let progress: HostProgress = { finished: false, detail: 'the deployment was not asked yet' };
  return async ({ deployment: id }) => {
    if (id === undefined) return { finished: true, detail: 'nothing had to be deployed' };
    if (clock.now() < next || polls >= BUILD_WAIT.polls) return progress;
    polls += 1;
    next = clock.now() + timeout / BUILD_WAIT.polls;
    const { state, words, httpCode, hint } = await getPagesDeployment(github, id);
    const detail = `deployment ${id} ${words}`;
    if (state === 'failed') throw new DeliveryError('BUILD_ERRORED', detail, { hint });
    progress = { finished: false, building: state === 'pending', detail, httpCode, hint };
    return progress;
  };
}
