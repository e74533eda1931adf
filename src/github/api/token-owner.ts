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

/**
 * An author who is nobody: `.invalid` is reserved, so the address can never belong to a person. An invented
 * `NAME@users.noreply.github.com` belongs to the user with that name.
 *
 * @see https://www.rfc-editor.org/rfc/rfc2606#section-2
 */
const UNKNOWN_IDENTITY: CommitIdentity = { name: TOOL.name, email: `${TOOL.name}@noreply.invalid` };

/**
 * The account that the token belongs to. REST has no such call for the job's own token.
 *
 * @throws {DeliveryError} `NO_PERMISSION` where the host does not say it: what is ours would not be known.
 * @see https://docs.github.com/graphql/reference/queries#viewer
 */
export async function getTokenOwner({ graphql }: GitHubClient): Promise<TokenOwner> {
  const query = 'query { viewer { login databaseId } }';
  const answer = await graphql<{ readonly viewer?: TokenOwner | null } | null>(query);
  if (answer?.viewer?.login) return answer.viewer;
  throw new DeliveryError('NO_PERMISSION', 'could not find out whose token this is', {
    hint: (w) => `set ${w.input('token')} to that of a job, an app or a user`,
  });
}

/**
 * Whether this is the job's own `GITHUB_TOKEN`, whose commits start no workflow. A token itself doesn't show that: only
 * the account does, so GitHub is asked for it.
 *
 * @see https://docs.github.com/actions/concepts/security/github_token#when-github_token-triggers-workflow-runs
 */
export const isJobToken = async (github: GitHubClient): Promise<boolean> =>
  (await getTokenOwner(github)).login === 'github-actions[bot]';

/**
 * Who a commit is by, when git makes it and not GitHub: the token's account, with the address that GitHub gives
 * it. Where the account is not known, the commit names nobody.
 *
 * @see https://docs.github.com/account-and-profile/reference/email-addresses-reference#your-noreply-email-address
 */
export async function getCommitIdentity(github: GitHubClient): Promise<CommitIdentity> {
  const owner = await resultOf(() => getTokenOwner(github));
  if (hasFailed(owner) || !owner.databaseId) return UNKNOWN_IDENTITY;
  const { login, databaseId: id } = owner;
  return { name: login, email: `${id}+${login}@users.noreply.${serverUrlOf(github.apiUrl).host}` };
}
