import { DeliveryError } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import { API, type CallTemplate } from '../../protocol/calls.ts';
import type { GitHubClient } from './client.ts';
import { nullIfNotFound } from './failures.ts';

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
    return { status: 'errored', detail, error: shortHostMessage(build.error?.message ?? NO_ERROR_TEXT) };
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
    if (state !== 'failure' && state !== 'error') return { status: 'building', detail };
    return { status: 'errored', detail, error: shortHostMessage(status?.description || NO_ERROR_TEXT) };
  });
}

/**
 * Requests a build of the branch.
 *
 * @returns the result in words, and whether to ask again: a build more than needed does no harm
 */
export async function requestBuild(
  github: GitHubClient,
): Promise<{ readonly words: string; readonly again: boolean }> {
  try {
    await github.rest.repos.requestPagesBuild(github.repository);
    return { words: 'a build was requested', again: false };
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError)) throw thrown;
    const needsPermission = thrown.code === 'NO_PERMISSION' || thrown.code === 'NOT_FOUND';
    const reason = needsPermission
      ? 'requesting one needs `permissions: { pages: write }`'
      : `requesting one failed: ${thrown.message}`;
    return { words: `no build has started, and ${reason}`, again: thrown.retryable };
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

/** A build status that cannot be read is not a failure: the published bytes decide. */
async function unknownIfUnreadable(
  { permission }: Pick<CallTemplate, 'permission'>,
  getStatus: () => Promise<BuildStatus>,
): Promise<BuildStatus> {
  try {
    return await getStatus();
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError)) throw thrown;
    const { code, httpCode, message } = thrown;
    switch (code) {
      case 'NOT_FOUND':
        return { status: 'unknown', detail: 'no build yet', httpCode, notStarted: true };
      case 'NO_PERMISSION': {
        const detail = `the build status needs \`permissions: { ${permission} }\``;
        return { status: 'unknown', detail, httpCode };
      }
      case 'HOST_ERROR':
      case 'CONNECTION':
      case 'RATE_LIMITED':
      case 'NO_NETWORK':
        return { status: 'unknown', detail: message, httpCode };
      default:
        throw thrown;
    }
  }
}
