import { DeliveryError } from '../../../errors.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import { type BuildStatus, describeUnreadable } from '../../../github/api/pages-build.ts';
import { shortHostMessage } from '../../../http/response.ts';
import { API } from '../../../protocol/calls.ts';
import type { Text } from '../../../words.ts';

const TRY_AGAIN = 'look at https://www.githubstatus.com, and try again';

/** GitHub's words for the end of a deployment that has failed; any other is one that goes on. */
const FAILED: Readonly<Record<string, string>> = {
  deployment_failed: TRY_AGAIN,
  deployment_lost: TRY_AGAIN,
  deployment_content_failed:
    'check that the site has at most 1 GB and no unusual file names, and try again: GitHub could not use the files',
  deployment_cancelled:
    'somebody cancelled it, and GitHub may never deploy the same commit again: deliver from a newer commit',
};

const DONE_HINT: Text = (w) =>
  `GitHub keeps what it has of a commit that was deployed before: deliver from a newer commit; with ${w.input('branch', 'gh-pages')} each delivery has a commit of its own`;

/**
 * The status of a deployment that this action made, which is never cancelled.
 *
 * @throws {DeliveryError} `BUILD_ERRORED` for one that has failed
 */
export async function getOwnDeploymentStatus(github: GitHubClient, id: string): Promise<BuildStatus> {
  const about = `deployment ${id}`;
  const answer = await github.rest.repos
    .getPagesDeployment({ ...github.repository, pages_deployment_id: id })
    .catch((thrown: unknown) => describeUnreadable(thrown, API.pages_deployment));
  if ('detail' in answer) {
    const { detail, hint = TRY_AGAIN, ...unread } = answer;
    return { ...unread, status: 'unknown', detail: `${about} can't be read: ${detail}`, hint };
  }
  const status = shortHostMessage(answer.data.status);
  if (status === 'succeed') {
    return { status: 'built', detail: `${about} is finished by the word of GitHub`, hint: DONE_HINT };
  }
  const hint = FAILED[status];
  if (hint !== undefined) throw new DeliveryError('BUILD_ERRORED', `${about} ended with ${status}`, { hint });
  const isQueued = status === '' || status === 'deployment_queued';
  const words = isQueued ? 'waits in the queue of GitHub Pages' : `has the status ${status}`;
  return { status: 'building', detail: `${about} ${words}` };
}
