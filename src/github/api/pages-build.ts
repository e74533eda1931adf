import type { RestEndpointMethodTypes } from '@octokit/rest';
import { DeliveryError, type ErrorCode } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import { API, type CallTemplate } from '../../protocol/calls.ts';
import { BUILD_WAIT } from '../../protocol/limits.ts';
import type { Text } from '../../words.ts';
import type { GitHubClient } from './client.ts';
import { isNotFound, nullIfNotFound } from './failures.ts';

/** The state of the build that should publish our commit. */
export interface BuildStatus {
  /** `unknown` where it cannot be read: no permission, or no build yet. */
  readonly status: 'built' | 'building' | 'errored' | 'unknown';
  /** GitHub's status word, and which commit the build is of. */
  readonly detail: string;
  readonly httpCode?: number | undefined;
  /** The build's own error text. */
  readonly error?: string;
  /** There is no build yet of our commit, or of a later one that contains it. */
  readonly notStarted?: boolean;
  /** Which build it is: another text for each. */
  readonly build?: string;
  /** Milliseconds that the host asks to wait before the next question. */
  readonly retryAfter?: number | undefined;
  /** What to change so that it can be read. */
  readonly hint?: Text | undefined;
}

const NO_ERROR_TEXT = 'no error text was given';

/**
 * The latest build, requested once, since the next poll asks again. A build of an older commit does not
 * count; one of a later commit that contains ours does.
 *
 * @see protocol 3.2, 4.2
 */
export function getBuildStatus(github: GitHubClient, commit: string): Promise<BuildStatus> {
  return unknownIfUnreadable(API.pages_latest, async () => {
    const { data: build } = await github.rest.repos.getLatestPagesBuild(github.repository);
    if (!(await containsCommit(github, build.commit, commit))) {
      return { status: 'unknown', detail: 'the latest build belongs to an older commit', notStarted: true };
    }
    const which = build.commit === commit ? 'our commit' : 'a later commit that contains ours';
    const detail = `build of ${which}: ${shortHostMessage(build.status)}`;
    if (build.status === 'built') return { status: 'built', detail };
    if (build.status !== 'errored') return { status: 'building', detail };
    const error = shortHostMessage(build.error?.message ?? NO_ERROR_TEXT);
    return { status: 'errored', detail, error, build: `${build.url} ${build.created_at}` };
  });
}

/**
 * The latest deployment of a site that a workflow builds, where it contains our commit.
 *
 * @see https://docs.github.com/en/rest/deployments/statuses
 */
export function getDeploymentStatus(github: GitHubClient, commit: string): Promise<BuildStatus> {
  const { rest, repository } = github;
  return unknownIfUnreadable(API.deployments, async () => {
    const query = { ...repository, environment: 'github-pages', per_page: 1 };
    const [latest] = (await rest.repos.listDeployments(query)).data;
    if (latest === undefined || !(await containsCommit(github, latest.sha, commit))) {
      return { status: 'unknown', detail: 'no deployment of our commit yet', notStarted: true };
    }
    const statuses = { ...repository, deployment_id: latest.id, per_page: 1 };
    const [status] = (await rest.repos.listDeploymentStatuses(statuses)).data;
    const state = shortHostMessage(status?.state ?? 'pending');
    const detail = `deployment of our commit: ${state}`;
    if (state === 'success') return { status: 'built', detail };
    // A deployment of something else has replaced it.
    if (state === 'inactive') return { status: 'unknown', detail, notStarted: true };
    if (state !== 'failure' && state !== 'error') return { status: 'building', detail };
    const error = shortHostMessage(status?.description || NO_ERROR_TEXT);
    return { status: 'errored', detail, error, build: String(latest.id) };
  });
}

/** What came of a request to start a build. */
export interface BuildRequest {
  /** Empty where none was sent. */
  readonly words: string;
  /** Whether it may be sent (again): a build more than needed does no harm. */
  readonly again: boolean;
  readonly started: boolean;
}

/** Requests a build of the branch. */
export async function requestBuild(github: GitHubClient): Promise<BuildRequest> {
  try {
    await github.rest.repos.requestPagesBuild(github.repository);
    return { words: 'a build was requested', again: false, started: true };
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError)) throw thrown;
    const needsPermission = thrown.code === 'NO_PERMISSION' || thrown.code === 'NOT_FOUND';
    const reason = needsPermission
      ? 'requesting a build needs the permission `pages: write`'
      : `requesting a build failed: ${thrown.message}`;
    return { words: reason, again: thrown.retryable, started: false };
  }
}

/** Whether `head` is our commit or a later one that contains it. */
async function containsCommit(
  github: GitHubClient,
  head: string | undefined,
  commit: string,
): Promise<boolean> {
  if (head === undefined) return false;
  if (head === commit) return true;
  const query = { ...github.repository, basehead: `${commit}...${head}`, per_page: 1 };
  // A commit that is no longer in the repository's history cannot be compared.
  const answer = await nullIfNotFound(() => github.rest.repos.compareCommitsWithBasehead(query));
  return answer?.data.status === 'ahead' || answer?.data.status === 'identical';
}

/**
 * How far the host is cannot be read, which is no failure: the published bytes decide.
 *
 * @throws the same again, where no later question can have an answer
 */
export function describeUnreadable(
  thrown: unknown,
  { permission }: Pick<CallTemplate, 'permission'>,
): Pick<BuildStatus, 'detail' | 'httpCode' | 'retryAfter' | 'hint'> {
  if (!(thrown instanceof DeliveryError)) throw thrown;
  const { code, httpCode, message, retryAfter, advice: hint } = thrown;
  if (code === 'NO_PERMISSION') {
    return { detail: `the build status needs the permission \`${permission}\``, httpCode, hint };
  }
  if (!PASSING.includes(code)) throw thrown;
  return { detail: message, httpCode, retryAfter, hint };
}

/** What a later question may get an answer after. */
const PASSING: readonly ErrorCode[] = ['NOT_FOUND', 'HOST_ERROR', 'CONNECTION', 'RATE_LIMITED', 'NO_NETWORK'];

async function unknownIfUnreadable(
  call: CallTemplate,
  getStatus: () => Promise<BuildStatus>,
): Promise<BuildStatus> {
  try {
    return await getStatus();
  } catch (thrown) {
    if (isNotFound(thrown)) {
      return { status: 'unknown', detail: 'no build yet', httpCode: 404, notStarted: true };
    }
    return { status: 'unknown', ...describeUnreadable(thrown, call) };
  }
}

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

/** A run of a workflow. */
export interface WorkflowRun {
  /** A later run has a larger one. */
  readonly id: number;
  /** GitHub's word, such as `queued`, `in_progress`, `waiting` or `completed`. */
  readonly status: string;
  /** How it ended, such as `success` or `cancelled`; `null` before its end. */
  readonly conclusion: string | null;
  /** The https address of its page; empty where the host gave none. */
  readonly page: string;
}

type RunRecord =
  RestEndpointMethodTypes['actions']['listWorkflowRuns']['response']['data']['workflow_runs'][number];

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
  return data.workflow_runs.map(toWorkflowRun).sort((one, other) => other.id - one.id);
}

function toWorkflowRun({ id, status, conclusion, html_url }: RunRecord): WorkflowRun {
  return {
    id,
    status: shortHostMessage(status ?? 'unknown'),
    conclusion: conclusion === null ? null : shortHostMessage(conclusion),
    page: URL.parse(html_url)?.protocol === 'https:' ? shortHostMessage(html_url) : '',
  };
}

/**
 * Whether a person must approve a run before it goes on. A run waits as well for a timer, or for an app that
 * decides by itself.
 *
 * @see https://docs.github.com/rest/actions/workflow-runs#get-pending-deployments-for-a-workflow-run
 */
export async function needsApproval(github: GitHubClient, { id }: Pick<WorkflowRun, 'id'>): Promise<boolean> {
  const query = { ...github.repository, run_id: id };
  const { data } = await github.rest.actions.getPendingDeploymentsForRun(query);
  return data.some(({ reviewers }) => reviewers.length > 0);
}
