import { DeliveryError } from '../errors.ts';
import type { GitHubClient } from '../github/api/client.ts';
import type { ChannelKey } from '../protocol/words.ts';

/**
 * The repository's API, for a channel that can't do without a token.
 *
 * @param authorizationError why the device flow brought none, where it was tried
 * @throws {DeliveryError} that, or `NO_TOKEN` with the channels that need none.
 * @see protocol 5
 */
export function requireGitHub(
  github: GitHubClient | null,
  channel: ChannelKey,
  authorizationError?: DeliveryError,
): GitHubClient {
  if (github !== null) return github;
  if (authorizationError !== undefined) throw authorizationError;
  throw new DeliveryError('NO_TOKEN', `channel ${channel} needs a token and a repository`, {
    step: 'authorize',
    hint: 'set `token: ${{ github.token }}` with `permissions: { contents: write }`, or use channel: K3',
  });
}
