import type { RestEndpointMethodTypes } from '@octokit/rest';
import { PULLS } from '../../protocol/limits.ts';
import type { GitHubClient } from './client.ts';

export type ListedPullRequest = RestEndpointMethodTypes['pulls']['list']['response']['data'][number];

/**
 * The newest pull requests of one branch, open and closed.
 *
 * @param head `<owner>:<branch>`
 */
export async function listPullRequests(
  github: GitHubClient,
  head: string,
): Promise<readonly ListedPullRequest[]> {
  const { data } = await github.rest.pulls.list({
    ...github.repository,
    head,
    state: 'all',
    per_page: PULLS,
  });
  return data;
}
