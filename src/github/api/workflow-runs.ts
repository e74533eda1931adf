import type { RestEndpointMethodTypes } from '@octokit/rest';
import { DeliveryError } from '../../errors.ts';
import { BUILD_WAIT } from '../../protocol/limits.ts';
import type { GitHubClient } from './client.ts';
import { dataOrNull } from './failures.ts';

/**
 * Whether a workflow can run: `active`, or why not; `null` where there is none with that file name.
 *
 * @see https://docs.github.com/rest/actions/workflows#get-a-workflow
 */
export async function getWorkflowState(github: GitHubClient, file: string): Promise<string | null> {
  const query = { ...github.repository, workflow_id: file };
  const found = await dataOrNull(github.rest.actions.getWorkflow(query));
  return found === null ? null : found.state;
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

type Runs = RestEndpointMethodTypes['actions']['listWorkflowRuns']['response']['data']['workflow_runs'];

/** A later run has a larger `id`; `conclusion` is `null` before its end. */
export type WorkflowRun = Pick<Runs[number], 'id' | 'status' | 'conclusion' | 'html_url'>;

/**
 * The newest runs of a workflow on a branch, the newest first, whatever started them.
 *
 * @see https://docs.github.com/rest/actions/workflow-runs#list-workflow-runs-for-a-workflow
 */
export async function listWorkflowRuns(
  github: GitHubClient,
  file: string,
  branch: string,
): Promise<readonly WorkflowRun[]> {
  const query = { workflow_id: file, branch, per_page: BUILD_WAIT.runs, exclude_pull_requests: true };
  const { data } = await github.rest.actions.listWorkflowRuns({ ...github.repository, ...query });
  return data.workflow_runs.toSorted((one, other) => other.id - one.id);
}
