import { DeliveryError, type Result } from '../errors.ts';
import type { Channel, PreparedUpload } from './channel.ts';

/**
 * K4: the environment's own link. Nothing is placed; the link, accepted by the request only as a real
 * external https address, is proven like any other.
 *
 * @see protocol 1 (channels), 7 (K4 link is not an external https URL)
 */
export function createNative(url: URL | undefined): Channel<URL> {
  return {
    key: 'K4',
    prepare: async (parcels) =>
      parcels.map((): Result<PreparedUpload<URL>> => {
        if (url === undefined) return noLink();
        return {
          plan: {
            channel: 'K4',
            method: 'the link is taken as it is',
            destination: `its address on ${url.hostname}`,
            name: url.hostname,
            claim: 'opens without the environment',
          },
          task: url,
        };
      }),
    preview: async (intents) => intents.map(({ task }) => `the link on ${task.hostname} would be proven`),
    publish: async (intents) =>
      intents.map(({ task }) => ({
        evidence: `the environment's link on ${task.hostname}`,
        url: task,
        written: false,
        bypassCache: false,
        hostMayChangeBytes: true,
        mustBeExternal: true,
        notes: ["the link lives by its environment's own rules"],
        unknown: [],
      })),
  };
}

function noLink(): DeliveryError {
  return new DeliveryError('BAD_INPUT', 'channel K4 needs the link to check', {
    hint: 'set `url:` to the link that the environment gave, or use channel: K1, K2 or K3',
  });
}
