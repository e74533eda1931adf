import type { Channels } from './channels/channel.ts';
import { createFilebin } from './channels/filebin.ts';
import { createFilebinRemoval } from './channels/filebin-removal.ts';
import { createNative } from './channels/native.ts';
import { createPages } from './channels/pages.ts';
import { createPagesRemoval } from './channels/pages-removal.ts';
import { createRelease } from './channels/release.ts';
import { createReleaseRemoval } from './channels/release-removal.ts';
import { deliver } from './delivery/deliver.ts';
import { type Find, findLiterally } from './delivery/files.ts';
import type { Authorised, House } from './delivery/house.ts';
import type { Report } from './delivery/report.ts';
import type { DeliveryRequest } from './delivery/request.ts';
import type { Operation } from './delivery/values.ts';
import { withdraw } from './delivery/withdraw.ts';
import { DeliveryError } from './errors.ts';
import { createGitHub, type GitHub } from './github/client.ts';
import { authoriseDevice } from './github/device-flow.ts';
import { type Needs, survey } from './github/survey.ts';
import type { Ports } from './ports.ts';

/**
 * The composition root: brings the channels together for a request, for either face.
 *
 * @param find how the lines of `file` are read: letter by letter, unless the face knows patterns
 */
export function furnish(request: DeliveryRequest, ports: Ports, find: Find = findLiterally): House {
  return {
    ports,
    find,
    async authorise(needs): Promise<Authorised> {
      const { token, unauthorised } = await findToken(request, needs, ports);
      const { apiUrl, repository } = request;
      const github =
        token === undefined || repository === undefined
          ? null
          : createGitHub({ apiUrl, token, ...repository }, ports);
      const circumstances = { ...(await survey(github, needs)), unauthorised };
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
  needs: Needs,
  ports: Ports,
): Promise<{ token?: string | undefined; unauthorised?: DeliveryError }> {
  // A dry run asks nobody for anything.
  const wanted =
    !dryRun && clientId !== undefined && repository !== undefined && (needs.repository || needs.site);
  if (token !== undefined || !wanted) return { token };
  try {
    return { token: await authoriseDevice({ authUrl: serverUrl, clientId }, ports) };
  } catch (thrown) {
    if (thrown instanceof DeliveryError && thrown.code === 'NOT_AUTHORISED') return { unauthorised: thrown };
    throw thrown;
  }
}

type MakeChannels = (request: DeliveryRequest, github: GitHub | null, ports: Ports) => Channels;

/** How each channel works, forwards and backwards. */
const CHANNELS_FOR: Readonly<Record<Operation, MakeChannels>> = {
  deliver: (request, github, ports) => ({
    K1: createPages({ ...request, github, hasMarker: request.marker !== undefined }, ports),
    K2: createRelease({ ...request, github }, ports),
    K3: createFilebin({ ...request, host: request.binHost }, ports),
    K4: createNative(request.url),
  }),
  withdraw: (request, github, ports) => ({
    K1: createPagesRemoval({ ...request, github, hasMarker: false }, ports),
    K2: createReleaseRemoval({ ...request, github }, ports),
    K3: createFilebinRemoval({ ...request, host: request.binHost }, ports),
    K4: createNative(request.url),
  }),
};

const STORIES = { deliver, withdraw } as const;

/** Does what was asked for, from the check to the reports. */
export function perform(request: DeliveryRequest, ports: Ports, find?: Find): Promise<readonly Report[]> {
  return STORIES[request.operation](request, furnish(request, ports, find));
}
