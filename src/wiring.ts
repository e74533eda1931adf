import type { Channels } from './channels/channel.ts';
import { createFilebin } from './channels/filebin.ts';
import { createNative } from './channels/native.ts';
import { createPages } from './channels/pages.ts';
import { createRelease } from './channels/release.ts';
import type { House } from './delivery/deliver.ts';
import type { DeliveryRequest } from './delivery/request.ts';
import { createGitHub } from './github/client.ts';
import { survey } from './github/survey.ts';
import type { Ports } from './ports.ts';

/** The composition root: brings the channels together for a request, for either face. */
export function furnish(request: DeliveryRequest, ports: Ports): House {
  const { apiUrl, repository, token } = request;
  const github =
    token === undefined || repository === undefined
      ? null
      : createGitHub({ apiUrl, token, ...repository }, ports);
  const channels: Channels = {
    K1: createPages({ ...request, github, hasMarker: request.marker !== undefined }, ports),
    K2: createRelease({ ...request, github }, ports),
    K3: createFilebin({ ...request, host: request.binHost }, ports),
    K4: createNative(request.url),
  };
  return { ports, channels, survey: (needs) => survey(github, needs) };
}
