import { DeliveryError, type ErrorCode, hasFailed, resultOf, toDeliveryError } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import { API, type CallTemplate } from '../../protocol/calls.ts';
import type { Text, Words } from '../../words.ts';
import { STATUS_HINT } from '../refusals.ts';
import type { GitHubClient } from './client.ts';
import { dataOrNull, isNotFound } from './failures.ts';

/** The state of the build that should publish our commit. */
export interface BuildStatus {
  /** `unknown` where it cannot be read: no permission, or no build yet. */
  readonly status: 'built' | 'building' | 'errored' | 'unknown';
  /** GitHub's status word, and which commit the build is of. */
  readonly detail: string;
  readonly httpCode?: number | undefined;
  readonly error?: string;
  /** There is no build yet of our commit, or of a later one that contains it. */
  readonly notStarted?: boolean;
  /** When a finished one was begun: milliseconds since the epoch. */
  readonly begun?: number | undefined;
  /** Which build it is: another text for each. */
  readonly build?: string;
  /** Milliseconds that the host asks to wait before the next question. */
  readonly retryAfter?: number | undefined;
  readonly hint?: Text | undefined;
}

const NO_ERROR_TEXT = 'no error text was given';

/** The latest build, unless it is of a commit older than ours. @see protocol 3.2, 4.2 */
export function getBuildStatus(github: GitHubClient, commit: string): Promise<BuildStatus> {
  return unknownIfUnreadable(API.pages_latest, async () => {
    const { data: build } = await github.rest.repos.getLatestPagesBuild(github.repository);
    if (!(await containsCommit(github, commit, build.commit))) {
      return { status: 'unknown', detail: 'the latest build belongs to an older commit', notStarted: true };
    }
    const builtCommit = build.commit === commit ? 'our commit' : 'a later commit that contains ours';
    const detail = `build of ${builtCommit}: ${shortHostMessage(build.status)}`;
    if (build.status === 'built') return { status: 'built', detail, begun: parseTime(build.created_at) };
    if (build.status !== 'errored') return { status: 'building', detail };
    const error = shortHostMessage(build.error?.message ?? NO_ERROR_TEXT);
    return { status: 'errored', detail, error, build: `${build.url} ${build.created_at}` };
  });
}

/** The latest deployment with our commit. @see https://docs.github.com/en/rest/deployments/statuses */
export function getDeploymentStatus(github: GitHubClient, commit: string): Promise<BuildStatus> {
  const { rest, repository } = github;
  return unknownIfUnreadable(API.deployments, async () => {
    const query = { ...repository, environment: 'github-pages', per_page: 1 };
    const [latest] = (await rest.repos.listDeployments(query)).data;
    if (latest === undefined || !(await containsCommit(github, commit, latest.sha))) {
      return { status: 'unknown', detail: 'no deployment of our commit yet', notStarted: true };
    }
    const statuses = { ...repository, deployment_id: latest.id, per_page: 1 };
    const [status] = (await rest.repos.listDeploymentStatuses(statuses)).data;
    const state = shortHostMessage(status?.state ?? 'pending');
    const detail = `deployment of our commit: ${state}`;
    if (state === 'success') return { status: 'built', detail, begun: parseTime(latest.created_at) };
    // A deployment of something else has replaced it.
    if (state === 'inactive') return { status: 'unknown', detail, notStarted: true };
    if (state !== 'failure' && state !== 'error') return { status: 'building', detail };
    const error = shortHostMessage(status?.description || NO_ERROR_TEXT);
    return { status: 'errored', detail, error, build: String(latest.id) };
  });
}

const parseTime = (time: string): number | undefined => Date.parse(time) || undefined;

/** GitHub's words for the end of a deployment that has failed; any other is one that goes on. */
const FAILURE_HINTS: Readonly<Record<string, string>> = {
  deployment_failed: STATUS_HINT,
  deployment_lost: STATUS_HINT,
  deployment_content_failed:
    'check that the site has at most 1 GB and no unusual file names, and try again: GitHub could not use the files',
  deployment_cancelled:
    'somebody cancelled it, and GitHub may never deploy the same commit again: deliver from a newer commit',
};

const DONE_HINT: Text = (w) =>
  `GitHub keeps what it has of a commit that was deployed before: deliver from a newer commit; with ${w.input('branch', 'gh-pages')} each delivery has a commit of its own`;

/** The status of a deployment that this action made. @throws {DeliveryError} `BUILD_ERRORED` for one that has failed */
export async function getPagesDeploymentStatus(github: GitHubClient, id: string): Promise<BuildStatus> {
  const name = `deployment ${id}`;
  const answer = await github.rest.repos
    .getPagesDeployment({ ...github.repository, pages_deployment_id: id })
    .catch((thrown: unknown) => describeUnreadable(thrown, API.pages_deployment));
  if ('detail' in answer) {
    const { detail, hint = STATUS_HINT, ...unread } = answer;
    return { ...unread, status: 'unknown', detail: `${name} can't be read: ${detail}`, hint };
  }
  const status = shortHostMessage(answer.data.status);
  if (status === 'succeed') {
    return { status: 'built', detail: `${name} is finished by the word of GitHub`, hint: DONE_HINT };
  }
  const hint = FAILURE_HINTS[status];
  if (hint !== undefined) throw new DeliveryError('BUILD_ERRORED', `${name} ended with ${status}`, { hint });
  const isQueued = status === '' || status === 'deployment_queued';
  const progress = isQueued ? 'waits in the queue of GitHub Pages' : `has the status ${status}`;
  return { status: 'building', detail: `${name} ${progress}` };
}

/** @returns what was done. @throws {DeliveryError} retryable: a build more than needed does no harm */
export async function requestBuild({ rest, repository }: GitHubClient): Promise<string> {
  const requested = await resultOf(() => rest.repos.requestPagesBuild(repository));
  if (!hasFailed(requested)) return 'a build was requested';
  const { code, message, retryable, advice } = requested;
  const needsPermission = code === 'NO_PERMISSION' || code === 'NOT_FOUND';
  const reason = needsPermission ? 'needs the permission `pages: write`' : `failed: ${message}`;
  const change = (w: Words): string =>
    code === 'NO_PERMISSION' && advice ? w.say(advice) : w.grant('pages: write');
  const hint = (w: Words): string => `${change(w)}; then run it again, which only asks for the build`;
  throw new DeliveryError(code, `requesting a build ${reason}`, {
    retryable,
    hint: needsPermission ? hint : undefined,
  });
}

async function containsCommit(github: GitHubClient, commit: string, head?: string): Promise<boolean> {
  if (head === undefined) return false;
  if (head === commit) return true;
  const query = { ...github.repository, basehead: `${commit}...${head}`, per_page: 1 };
  // A commit that is no longer in the repository's history cannot be compared.
  const compared = await dataOrNull(github.rest.repos.compareCommitsWithBasehead(query));
  return compared?.status === 'ahead' || compared?.status === 'identical';
}

/** What can't be read now is no failure: the published bytes decide. @throws the same, where no later question helps */
export function describeUnreadable(
  thrown: unknown,
  { permission }: Pick<CallTemplate, 'permission'>,
): Pick<BuildStatus, 'detail' | 'httpCode' | 'retryAfter' | 'hint'> {
  const { code, httpCode, message, retryAfter, advice: hint } = toDeliveryError(thrown);
  if (code === 'NO_PERMISSION') {
    return { detail: `the build status needs the permission \`${permission}\``, httpCode, hint };
  }
  if (!RETRIED.includes(code)) throw thrown;
  return { detail: message, httpCode, retryAfter, hint };
}

/** What a later question may get an answer after. */
const RETRIED: readonly ErrorCode[] = ['NOT_FOUND', 'HOST_ERROR', 'CONNECTION', 'RATE_LIMITED', 'NO_NETWORK'];

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
 * Deploys an artifact as the whole Pages site. @returns the id of the deployment
 *
 * @param deployed `commit` is one that the repository has; `idToken` says to GitHub which job deploys
 * @throws {DeliveryError} `CONFLICT` while another deployment is in progress; other refusals with what to change
 * @see https://docs.github.com/rest/pages/pages#create-a-github-pages-deployment
 */
export async function createPagesDeployment(
  { rest, repository }: GitHubClient,
  { artifactId, commit, idToken }: Readonly<{ artifactId: number; commit: string; idToken: string }>,
): Promise<string> {
  try {
    const build = { artifact_id: artifactId, pages_build_version: commit, oidc_token: idToken };
    const deployment = { ...repository, ...build, environment: 'github-pages' };
    return String((await rest.repos.createPagesDeployment(deployment)).data.id);
  } catch (thrown) {
    if (!isNotFound(thrown)) throw thrown;
    const { message } = thrown as DeliveryError;
    throw new DeliveryError('NOT_FOUND', message, {
      httpCode: 404,
      hint: `choose GitHub Actions under Settings → Pages → Source, and check that the repository still has the commit ${commit}`,
      cause: thrown,
    });
  }
}
