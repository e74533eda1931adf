import { DeliveryError, type ErrorCode, hasFailed, resultOf, toDeliveryError } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import { API, type CallTemplate } from '../../protocol/calls.ts';
import type { Text, Words } from '../../words.ts';
import { STATUS_HINT } from '../refusals.ts';
import type { GitHubClient } from './client.ts';
import { dataOrNull, isNotFound } from './failures.ts';

export interface BuildStatus {
  /** `unknown` if it can't be read or there is no build yet. */
  readonly status: 'built' | 'building' | 'errored' | 'unknown';
  readonly detail: string;
  readonly httpCode?: number | undefined;
  readonly error?: string;
  /** Whether no build has started yet for our commit or a later commit that contains it. */
  readonly notStarted?: boolean;
  readonly begun?: number | undefined;
  readonly build?: string;
  readonly retryAfter?: number | undefined;
  readonly hint?: Text | undefined;
}

const NO_ERROR_TEXT = 'no error text was given';

/** The latest build, unless it is for an older commit. @see protocol 3.2, 4.2 */
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
    // Another deployment has replaced it.
    if (state === 'inactive') return { status: 'unknown', detail, notStarted: true };
    if (state !== 'failure' && state !== 'error') return { status: 'building', detail };
    const error = shortHostMessage(status?.description || NO_ERROR_TEXT);
    return { status: 'errored', detail, error, build: String(latest.id) };
  });
}

const parseTime = (time: string): number | undefined => Date.parse(time) || undefined;

/** The statuses of a failed deployment, and what to do. With any other status it still runs. */
const FAILURE_HINTS: Readonly<Record<string, string>> = {
  deployment_failed: STATUS_HINT,
  deployment_lost: STATUS_HINT,
  deployment_content_failed:
    'check that the site has at most 1 GB and no unusual file names, then try again: GitHub rejected the files',
  deployment_cancelled:
    'deliver from a newer commit: somebody cancelled it, and GitHub may never deploy this commit again',
};

const DONE_HINT: Text = (w) =>
  `deliver from a newer commit, since GitHub keeps the first deployment of a commit; or set ${w.input('branch', 'gh-pages')}, where each delivery is a new commit`;

/** The status of a deployment that this action made. @throws {DeliveryError} `BUILD_ERRORED` if it failed */
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
    return { status: 'built', detail: `GitHub reports ${name} as finished`, hint: DONE_HINT };
  }
  const hint = FAILURE_HINTS[status];
  if (hint !== undefined) throw new DeliveryError('BUILD_ERRORED', `${name} ended with ${status}`, { hint });
  const isQueued = status === '' || status === 'deployment_queued';
  const progress = isQueued ? 'waits in the queue of GitHub Pages' : `has the status ${status}`;
  return { status: 'building', detail: `${name} ${progress}` };
}

/** Requests a build. @returns a note of it. @throws {DeliveryError} retryable: an extra build is harmless */
export async function requestBuild({ rest, repository }: GitHubClient): Promise<string> {
  const requested = await resultOf(() => rest.repos.requestPagesBuild(repository));
  if (!hasFailed(requested)) return 'a build was requested';
  const { code, message, retryable, advice } = requested;
  const needsPermission = code === 'NO_PERMISSION' || code === 'NOT_FOUND';
  const reason = needsPermission ? 'needs the permission `pages: write`' : `failed: ${message}`;
  const change = (w: Words): string =>
    code === 'NO_PERMISSION' && advice ? w.say(advice) : w.grant('pages: write');
  const hint = (w: Words): string => `${change(w)}; then run it again: this only requests the build`;
  throw new DeliveryError(code, `requesting a build ${reason}`, {
    retryable,
    hint: needsPermission ? hint : undefined,
  });
}

async function containsCommit(github: GitHubClient, commit: string, head?: string): Promise<boolean> {
  if (head === undefined) return false;
  if (head === commit) return true;
  const query = { ...github.repository, basehead: `${commit}...${head}`, per_page: 1 };
  // GitHub can't compare a commit that is no longer in the history.
  const compared = await dataOrNull(github.rest.repos.compareCommitsWithBasehead(query));
  return compared?.status === 'ahead' || compared?.status === 'identical';
}

/** Describes why a status can't be read; the published bytes decide. @throws the error if a retry can't help */
export function describeUnreadable(
  thrown: unknown,
  { permission }: Pick<CallTemplate, 'permission'>,
): Pick<BuildStatus, 'detail' | 'httpCode' | 'retryAfter' | 'hint'> {
  const { code, httpCode, message, retryAfter, advice: hint } = toDeliveryError(thrown);
  if (code === 'NO_PERMISSION') {
    return { detail: `reading the build status needs the permission \`${permission}\``, httpCode, hint };
  }
  if (!RETRIED.includes(code)) throw thrown;
  return { detail: message, httpCode, retryAfter, hint };
}

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
 * Deploys an artifact as the whole Pages site and returns the id. @throws {DeliveryError} `CONFLICT` during another one
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
