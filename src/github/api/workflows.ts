import { DeliveryError } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import type { GitHubClient } from './client.ts';
import { nullIfNotFound } from './failures.ts';

/**
 * Whether a workflow can run: `active`, or why not; `null` where there is none with that file name.
 *
 * @see https://docs.github.com/rest/actions/workflows#get-a-workflow
 */
export async function getWorkflowState(github: GitHubClient, file: string): Promise<string | null> {
  const query = { ...github.repository, workflow_id: file };
  const answer = await nullIfNotFound(() => github.rest.actions.getWorkflow(query));
  return answer && shortHostMessage(answer.data.state);
}

/**
 * Starts a workflow on a branch. Unlike a commit, this starts one with the job's own token too.
 *
 * @throws {DeliveryError} `NO_PERMISSION` without `actions: write`; `BAD_INPUT` where it cannot be started so.
 * @see https://docs.github.com/rest/actions/workflows#create-a-workflow-dispatch-event
 */
export async function startWorkflow(github: GitHubClient, file: string, branch: string): Promise<void> {
  try {
    const target = { ...github.repository, workflow_id: file, ref: branch };
    await github.rest.actions.createWorkflowDispatch(target);
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || thrown.httpCode !== 422) throw thrown;
    throw new DeliveryError('BAD_INPUT', thrown.message, {
      httpCode: 422,
      hint: `add \`on: workflow_dispatch\`, without required inputs, to .github/workflows/${file} on the branch ${branch}`,
      cause: thrown,
    });
  }
}
