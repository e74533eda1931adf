import { DeliveryError } from '../../../errors.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import { describeUnreadable } from '../../../github/api/pages-build.ts';
import { shortHostMessage } from '../../../http/response.ts';
import type { Ports } from '../../../ports.ts';
import { API } from '../../../protocol/calls.ts';
import { BUILD_WAIT } from '../../../protocol/limits.ts';
import type { Text, Words } from '../../../words.ts';
import type { HostProgress, Placement } from '../../channel.ts';
import type { PagesOptions } from '../destination.ts';

/**
 * Follows the deployment of a placement. One that GitHub calls finished is not taken for one: it may serve the old
 * site all the same, so the address alone ends the wait. No deployment is ever cancelled.
 *
 * @param timeout milliseconds of the whole wait; GitHub is asked at most 48 times in it
 */
export function watchDeployment(
  github: GitHubClient,
  { timeout, branch }: Pick<PagesOptions, 'timeout' | 'branch'>,
  { clock }: Pick<Ports, 'clock'>,
): (placed: Pick<Placement, 'deployment'>) => Promise<HostProgress> {
  let next = Number.NEGATIVE_INFINITY;
  let progress: HostProgress = { finished: false, detail: 'the deployment was not asked yet' };
  return async ({ deployment: id }) => {
    if (id === undefined) return { finished: true, detail: 'nothing had to be deployed' };
    if (clock.now() < next) return progress;
    next = clock.now() + timeout / (BUILD_WAIT.polls - 1);
    progress = await askForProgress(github, id, branch);
    return progress;
  };
}

const TRY_AGAIN = 'look at https://www.githubstatus.com, and try again';

/** GitHub's words for the end of a deployment that has failed; any other is one that goes on. */
const FAILED: Readonly<Record<string, Text>> = {
  deployment_failed: TRY_AGAIN,
  deployment_lost: TRY_AGAIN,
  deployment_content_failed:
    'check that the site has at most 1 GB and no unusual file names, and try again: GitHub could not use the files',
  deployment_cancelled:
    'somebody cancelled it, and GitHub may never deploy the same commit again: deliver from a newer commit',
};

const PENDING_HINT = (w: Words) =>
  `look at https://www.githubstatus.com, and set a longer ${w.input('timeout')}; the deployment was not cancelled, and may still come`;

/** @param branch that is deployed; absent where none is named */
const doneHint =
  (branch: string | undefined): Text =>
  (w) =>
    `GitHub keeps what it has of a commit that was deployed before: deliver from a newer commit${branch === undefined ? `, or set ${w.input('branch', 'gh-pages')}, where each delivery has a commit of its own` : ''}`;

/** Asks once. A status that can't be read is no failure: the published bytes decide. */
async function askForProgress(
  { rest, repository }: GitHubClient,
  id: string,
  branch: string | undefined,
): Promise<HostProgress> {
  const about = `deployment ${id}`;
  const answer = await rest.repos
    .getPagesDeployment({ ...repository, pages_deployment_id: id })
    .catch((thrown: unknown) => describeUnreadable(thrown, API.pages_deployment));
  if ('detail' in answer) {
    const { detail, httpCode, hint = TRY_AGAIN } = answer;
    return { finished: false, detail: `${about} can't be read: ${detail}`, httpCode, hint };
  }
  const status = shortHostMessage(answer.data.status);
  if (status === 'succeed') {
    return { finished: false, detail: `${about} is finished by the word of GitHub`, hint: doneHint(branch) };
  }
  const hint = FAILED[status];
  if (hint !== undefined) throw new DeliveryError('BUILD_ERRORED', `${about} ended with ${status}`, { hint });
  const isQueued = status === '' || status === 'deployment_queued';
  const words = isQueued ? 'waits in the queue of GitHub Pages' : `has the status ${status}`;
  return { finished: false, building: true, detail: `${about} ${words}`, hint: PENDING_HINT };
}
