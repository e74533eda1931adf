import { DeliveryError } from '../errors.ts';
import type { Channel } from './channel.ts';

/**
 * K4: the environment's own link. Nothing is placed; the link, accepted by the request only as a real
 * external https address, is proven like any other.
 *
 * @see protocol 1 (channels), 7 (K4 link is not an external https URL)
 */
export function createNative(url: URL | undefined): Channel {
  return {
    key: 'K4',
    async prepare() {
      if (url === undefined) {
        throw new DeliveryError('BAD_INPUT', 'channel K4 needs the link to check', {
          hint: 'set `url:` to the link that the environment gave, or use channel: K1, K2 or K3',
        });
      }
      return {
        plan: {
          channel: 'K4',
          method: 'the link is taken as it is',
          destination: `its address on ${url.hostname}`,
          promise: 'opens without the environment',
        },
        place: async () => ({
          evidence: `the environment's link on ${url.hostname}`,
          url,
          bustCaches: false,
          mayAlter: true,
          mustBeExternal: true,
          notes: ["the link lives by its environment's own rules"],
          unknown: [],
        }),
      };
    },
  };
}
