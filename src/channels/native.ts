import { forEachItem } from '../async.ts';
import { DeliveryError } from '../errors.ts';
import { AGREEING_PROBES } from '../protocol/limits.ts';
import type { Words } from '../words.ts';
import type { Channel, ChannelAction, Placement, PreparedTask } from './channel.ts';
import { listRefusals } from './filebin/refusals.ts';

/**
 * K4: the environment's own link. Nothing is placed; the link, accepted by the request only as a public
 * https address, is proven like any other.
 *
 * @param binHostUrl the file-bin: a link to it is shown behind the bin's warning page, and refused in the bin's words
 * @see protocol 1 (channels), 7 (K4 link is not an external https URL)
 */
export function createNativeChannel(url: URL | undefined, binHostUrl?: URL): Channel {
  const isBin = url !== undefined && url.host === binHostUrl?.host;
  const publish: ChannelAction<URL> = {
    prepare: (items) => forEachItem(items, async () => prepareLink(url)),
    preview: (tasks) =>
      forEachItem(tasks, async ({ data }) => `the link on ${data.hostname} would be proven`),
    perform: (tasks) => forEachItem(tasks, async ({ data }) => placementOf(data, isBin)),
  };
  // The request refuses to withdraw from K4, which this tool cannot write to.
  return { publish, remove: publish };
}

/** Nothing is ever written for a link. */
const LINK_METHOD = 'the link is used as given';

function prepareLink(url: URL | undefined): PreparedTask<URL> {
  if (url === undefined) {
    throw new DeliveryError('BAD_INPUT', 'channel K4 needs the link to check', {
      hint: (w) => `${w.link} that the environment gave, or ${w.use('K1, K2 or K3')}`,
    });
  }
  return {
    plan: {
      channel: 'K4',
      method: LINK_METHOD,
      destination: `its address on ${url.hostname}`,
      name: url.hostname,
      claim: 'opens without the environment',
    },
    data: url,
  };
}

/** A link has no bin that a delivery could go on with. */
const BIN_REFUSALS = listRefusals('').map((one) => ({
  ...one,
  hint: (w: Words) => `ask the operator of the bin host, or ${w.use('K1, K2 or K3')}`,
}));

function placementOf(url: URL, isBin: boolean): Placement {
  return {
    evidence: `the environment's link on ${url.hostname}`,
    url,
    written: false,
    method: LINK_METHOD,
    bypassCache: false,
    hostMayChangeBytes: false,
    mustBeExternal: true,
    isInBin: isBin,
    ...(isBin && { answers: AGREEING_PROBES.counted, refusals: BIN_REFUSALS }),
    notes: [
      'how long the link lives is up to the environment that gave it',
      ...(isBin ? ['a browser may be shown a warning page first'] : []),
    ],
    unknown: ['whether the link still opens later, and from every network'],
  };
}
