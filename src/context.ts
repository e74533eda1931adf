import type { ChannelMap } from './channels/channel.ts';
import { createFilebin } from './channels/filebin/publish.ts';
import { createFilebinRemoval } from './channels/filebin/remove.ts';
import { createNative } from './channels/native.ts';
import { createPages } from './channels/pages/publish.ts';
import { createPagesRemoval } from './channels/pages/remove.ts';
import { createRelease } from './channels/release/publish.ts';
import { createReleaseRemoval } from './channels/release/remove.ts';
import { deliver } from './delivery/deliver.ts';
import { type FindFiles, findLiteralFiles } from './delivery/find-files.ts';
import type { Authorized, House } from './delivery/house.ts';
import type { Report } from './delivery/report.ts';
import { withdraw } from './delivery/withdraw.ts';
import { DeliveryError } from './errors.ts';
import { createGitHubClient, type GitHubClient } from './github/api/client.ts';
import { loadRepositoryContext, type RepositoryQuery } from './github/api/repository.ts';
import { authorizeDevice } from './github/device-flow.ts';
import type { Ports } from './ports.ts';
import type { DeliveryRequest } from './request/parse-request.ts';
import type { Operation } from './request/values.ts';

/**
 * The composition root: brings the channels together for a request, for either face.
 *
 * @param find how the lines of `file` are read: letter by letter, unless the face knows patterns
 */
export function furnish(request: DeliveryRequest, ports: Ports, find: FindFiles = findLiteralFiles): House {
  return {
    ports,
    find,
    async authorize(needs): Promise<Authorized> {
      const { token, authorizationError } = await findToken(request, needs, ports);
      const { apiUrl, repository } = request;
      const github =
        token === undefined || repository === undefined
          ? null
          : createGitHubClient({ apiUrl, token, ...repository }, ports);
      const circumstances = { ...(await loadRepositoryContext(github, needs)), authorizationError };
      return { circumstances, channels: CHANNELS_FOR[request.operation](request, github, ports) };
    },
  };
}

/**
 * A token that is there is used; else a person may grant one. Whoever does not is not pressed.
 *
 * @see protocol 5 (4, 7)
 */
async function findToken(
  { token, clientId, repository, serverUrl, dryRun }: DeliveryRequest,
  needs: RepositoryQuery,
  ports: Ports,
): Promise<{ token?: string | undefined; authorizationError?: DeliveryError }> {
  // A dry run asks nobody for anything.
  const wanted =
    !dryRun && clientId !== undefined && repository !== undefined && (needs.repository || needs.site);
  if (token !== undefined || !wanted) return { token };
  try {
    return { token: await authorizeDevice({ authUrl: serverUrl, clientId }, ports) };
  } catch (thrown) {
    if (thrown instanceof DeliveryError && thrown.code === 'NOT_AUTHORIZED')
      return { authorizationError: thrown };
    throw thrown;
  }
}

type MakeChannels = (request: DeliveryRequest, github: GitHubClient | null, ports: Ports) => ChannelMap;

/** How each channel works, forwards and backwards. */
const CHANNELS_FOR: Readonly<Record<Operation, MakeChannels>> = {
  deliver: (request, github, ports) => ({
    K1: createPages({ ...request, github, hasMarker: request.marker !== undefined }, ports),
    K2: createRelease({ ...request, github }, ports),
    K3: createFilebin({ ...request, host: request.binHostUrl }, ports),
    K4: createNative(request.url),
  }),
  withdraw: (request, github, ports) => ({
    K1: createPagesRemoval({ ...request, github, hasMarker: false }, ports),
    K2: createReleaseRemoval({ ...request, github }, ports),
    K3: createFilebinRemoval({ ...request, host: request.binHostUrl }, ports),
    K4: createNative(request.url),
  }),
};

const STORIES = { deliver, withdraw } as const;

/** Does what was asked for, from the check to the reports. */
export function perform(
  request: DeliveryRequest,
  ports: Ports,
  find?: FindFiles,
): Promise<readonly Report[]> {
  return STORIES[request.operation](request, furnish(request, ports, find));
}
