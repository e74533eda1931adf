import { DeliveryError } from '../errors.ts';
import type { GitHub } from '../github/client.ts';
import type { ChannelKey } from '../protocol/words.ts';

/**
 * The repository's API, for a channel that can't do without a token.
 *
 * @param unauthorised why the device flow brought none, where it was tried
 * @throws {DeliveryError} that, or `NO_TOKEN` with the channels that need none.
 * @see protocol 5
 */
export function needsToken(github: GitHub | null, channel: ChannelKey, unauthorised?: DeliveryError): GitHub {
  if (github !== null) return github;
  if (unauthorised !== undefined) throw unauthorised;
  throw new DeliveryError('NO_TOKEN', `channel ${channel} needs a token and a repository`, {
    step: 'authorise',
    hint: 'set `token: ${{ github.token }}` with `permissions: { contents: write }`, or use channel: K3',
  });
}
