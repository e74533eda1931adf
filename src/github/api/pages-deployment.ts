import { DeliveryError } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import { API } from '../../protocol/calls.ts';
import type { Text } from '../../words.ts';
import type { GitHubClient } from './client.ts';
import { isNotFound } from './failures.ts';
import { describeUnreadable } from './pages-build.ts';

/** What a deployment is made of. */
export interface NewPagesDeployment {
  readonly artifactId: number;
  /** A commit that the repository has. */
  readonly commit: string;
  /** Says to GitHub which job deploys. */
  readonly idToken: string;
}

/**
 * Deploys an artifact as the whole Pages site.
 *
 * @returns the id of the deployment
 * @throws {DeliveryError} `CONFLICT` while another deployment is in progress; other refusals with what to change
 * @see https://docs.github.com/rest/pages/pages#create-a-github-pages-deployment
 */
export async function createPagesDeployment(
  { rest, repository }: GitHubClient,
  { artifactId, commit, idToken }: NewPagesDeployment,
): Promise<string> {
  try {
    const { data } = await rest.repos.createPagesDeployment({
      ...repository,
      artifact_id: artifactId,
      environment: 'github-pages',
      pages_build_version: commit,
      oidc_token: idToken,
    });
    return String(data.id);
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

/** How far a deployment is. */
export interface PagesDeploymentStatus {
  readonly state: 'pending' | 'done' | 'failed' | 'unread';
  readonly words: string;
  readonly httpCode?: number | undefined;
  readonly hint: Text;
}

const QUEUED = {
  state: 'pending',
  words: 'waits in the queue of GitHub Pages',
  hint: (w) =>
    `look at https://www.githubstatus.com, and set a longer ${w.input('timeout')}; the deployment was not cancelled, and may still come`,
} as const satisfies PagesDeploymentStatus;

const pending = (words: string): PagesDeploymentStatus => ({ ...QUEUED, words });

const failed = (words: string, hint: Text): PagesDeploymentStatus => ({ state: 'failed', words, hint });

const TRY_AGAIN = 'look at https://www.githubstatus.com, and try again';

/** What GitHub's words for a deployment mean; any other is one that goes on. */
const STATUSES: Readonly<Record<string, PagesDeploymentStatus>> = {
  '': QUEUED,
  deployment_queued: QUEUED,
  deployment_in_progress: pending('is in progress'),
  syncing_files: pending('sends the files to the servers'),
  finished_file_sync: pending('has sent the files to the servers'),
  updating_pages: pending('switches the site over'),
  purging_cdn: pending('clears the caches'),
  deployment_attempt_error: pending('failed once, and GitHub tries again'),
  succeed: {
    state: 'done',
    words: 'is finished by the word of GitHub',
    hint: (w) =>
      `GitHub keeps what it has of a commit that was deployed before: deliver from a newer commit, or set ${w.input('branch', 'gh-pages')}, where each delivery has a commit of its own`,
  },
  deployment_failed: failed('failed', TRY_AGAIN),
  deployment_content_failed: failed(
    'failed, because GitHub could not use the files',
    'check that the site has at most 1 GB and no unusual file names, and try again',
  ),
  deployment_lost: failed('was lost by GitHub', TRY_AGAIN),
  deployment_cancelled: failed(
    'was cancelled',
    'somebody cancelled it, and GitHub may never deploy the same commit again: deliver from a newer commit',
  ),
};

/** Asks once how far a deployment is. A status that can't be read is no failure: the published bytes decide. */
export async function getPagesDeployment(
  { rest, repository }: GitHubClient,
  id: string,
): Promise<PagesDeploymentStatus> {
  try {
    const query = { ...repository, pages_deployment_id: id };
    const { status = '' } = (await rest.repos.getPagesDeployment(query)).data;
    return STATUSES[status] ?? pending(`is ${shortHostMessage(status)}`);
  } catch (thrown) {
    const { detail, httpCode, hint = TRY_AGAIN } = describeUnreadable(thrown, API.pages_deployment);
    return { state: 'unread', words: `can't be read: ${detail}`, httpCode, hint };
  }
}
