import { DeliveryError } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import { API } from '../../protocol/calls.ts';
import type { Text, Words } from '../../words.ts';
import type { GitHubClient } from './client.ts';
import { isNotFound } from './failures.ts';
import { describeUnreadable } from './pages-build.ts';

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

export interface PagesDeploymentStatus {
  readonly state: 'pending' | 'done' | 'failed' | 'unread';
  readonly words: string;
  readonly httpCode?: number | undefined;
  readonly hint: Text;
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

const DONE: PagesDeploymentStatus = {
  state: 'done',
  words: 'is finished by the word of GitHub',
  hint: (w) =>
    `GitHub keeps what it has of a commit that was deployed before: deliver from a newer commit, or set ${w.input('branch', 'gh-pages')}, where each delivery has a commit of its own`,
};

/** Asks once how far a deployment is. A status that can't be read is no failure: the published bytes decide. */
export async function getPagesDeployment(
  { rest, repository }: GitHubClient,
  id: string,
): Promise<PagesDeploymentStatus> {
  try {
    const query = { ...repository, pages_deployment_id: id };
    const status = shortHostMessage((await rest.repos.getPagesDeployment(query)).data.status);
    if (status === 'succeed') return DONE;
    const hint = FAILED[status];
    if (hint !== undefined) return { state: 'failed', words: `ended with ${status}`, hint };
    const isQueued = status === '' || status === 'deployment_queued';
    const words = isQueued ? 'waits in the queue of GitHub Pages' : `has the status ${status}`;
    return { state: 'pending', words, hint: PENDING_HINT };
  } catch (thrown) {
    const { detail, httpCode, hint = TRY_AGAIN } = describeUnreadable(thrown, API.pages_deployment);
    return { state: 'unread', words: `can't be read: ${detail}`, httpCode, hint };
  }
}
