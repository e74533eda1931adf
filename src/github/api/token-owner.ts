import { DeliveryError, hasFailed, resultOf } from '../../errors.ts';
import { TOOL } from '../../protocol/words.ts';
import { serverUrlOf } from '../hosts.ts';
import type { GitHubClient } from './client.ts';

interface TokenOwner {
  readonly login: string;
  readonly databaseId: number | null;
}

export interface CommitIdentity {
  readonly name: string;
  readonly email: string;
}

/** A `.invalid` email belongs to nobody. An invented `NAME@users.noreply.github.com` could belong to a user. */
const UNKNOWN_IDENTITY: CommitIdentity = { name: TOOL.name, email: `${TOOL.name}@noreply.invalid` };

/** The token's account. @throws {DeliveryError} `NO_PERMISSION` if unknown: we couldn't recognize our own items */
export async function getTokenOwner({ graphql }: GitHubClient): Promise<TokenOwner> {
  const query = 'query { viewer { login databaseId } }';
  const answer = await graphql<{ readonly viewer?: TokenOwner | null } | null>(query);
  if (answer?.viewer?.login) return answer.viewer;
  throw new DeliveryError('NO_PERMISSION', 'GitHub did not return whose token this is', {
    hint: (w) => `set ${w.input('token')} to the token of a job, an app or a user`,
  });
}

/**
 * Whether this is the job's `GITHUB_TOKEN`, whose commits start no workflow. Only the account shows that. @see
 * https://docs.github.com/actions/concepts/security/github_token#when-github_token-triggers-workflow-runs
 */
export const isJobToken = async (github: GitHubClient): Promise<boolean> =>
  (await getTokenOwner(github)).login === 'github-actions[bot]';

/** The author of a commit that git makes: the token's account with its noreply address, or nobody. */
export async function getCommitIdentity(github: GitHubClient): Promise<CommitIdentity> {
  const owner = await resultOf(() => getTokenOwner(github));
  if (hasFailed(owner) || !owner.databaseId) return UNKNOWN_IDENTITY;
  const { login, databaseId: id } = owner;
  return { name: login, email: `${id}+${login}@users.noreply.${serverUrlOf(github.apiUrl).host}` };
}
