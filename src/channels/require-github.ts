import { DeliveryError } from '../errors.ts';
import type { GitHubClient } from '../github/api/client.ts';
import type { RepositoryContext } from '../github/api/repository.ts';
import type { ChannelKey } from '../protocol/words.ts';

/** The repository that K1 and K2 publish in. */
export interface RepositoryAccess {
  /** `null` without a token or a repository. */
  readonly github: GitHubClient | null;
  readonly repository: RepositoryContext;
  /** Whether a token was given, even if no repository was. */
  readonly isTokenGiven?: boolean;
  /** Whether a repository was given, even if no token was. */
  readonly isRepositoryGiven?: boolean;
}

/**
 * The repository's API, for a channel that cannot work without a token.
 *
 * @throws {DeliveryError} why the device flow gave no token, or `NO_TOKEN` with the channels that need none.
 * @see protocol 5
 */
export function requireGitHub(
  { github, repository, isTokenGiven, isRepositoryGiven = false }: RepositoryAccess,
  channel: ChannelKey,
): GitHubClient {
  if (github !== null) return github;
  if (repository.authorizationError !== undefined) throw repository.authorizationError;
  if (isTokenGiven) {
    throw new DeliveryError('BAD_INPUT', `channel ${channel} needs a repository, and none is known`, {
      step: 'authorize',
      hint: (w) => `set ${w.input('repository', 'owner/name')}${w.orUse('K3')}`,
    });
  }
  throw new DeliveryError(
    'NO_TOKEN',
    `channel ${channel} needs a token${isRepositoryGiven ? '' : ' and a repository'}`,
    {
      step: 'authorize',
      hint: (w) =>
        `set ${w.input('token')} to one with the permission \`contents: write\`${w.ownToken}${isRepositoryGiven ? '' : `, and ${w.input('repository')}`}${w.orUse('K3')}`,
    },
  );
}
