import { DeliveryError } from '../../errors.ts';
import { BRANCH_RULES_PAGE } from '../../protocol/limits.ts';
import type { GitHubClient } from './client.ts';

/**
 * Whether a ruleset asks for signed commits on the branch; `unknown` where the rules cannot be read. Classic
 * protection is not in that list, and only administrators can read whether it asks for signatures: there the
 * refused push tells it.
 *
 * @see https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
 */
export async function needsSignatures(github: GitHubClient, branch: string): Promise<boolean | 'unknown'> {
  const query = { ...github.repository, branch, per_page: BRANCH_RULES_PAGE };
  try {
    const { data } = await github.rest.repos.getBranchRules(query);
    if (!Array.isArray(data)) return 'unknown';
    if (data.some(({ type }) => type === 'required_signatures')) return true;
    return data.length < BRANCH_RULES_PAGE ? false : 'unknown';
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || thrown.code === 'ABORTED') throw thrown;
    return 'unknown';
  }
}
