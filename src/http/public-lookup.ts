import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { DeliveryError } from '../errors.ts';
import { addressRange } from '../rules/external-address.ts';

type ResolveHost = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Creates a DNS lookup for connections that refuses names with an address that is not public. The connection
 * uses exactly the addresses that were checked, so a second DNS answer can't replace them (DNS rebinding).
 *
 * @param resolve the resolver of the operating system
 */
export function publicLookup(resolve: ResolveHost = lookup): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) return callback(error, '');
      const internal = addresses.find(({ address }) => addressRange(address) !== 'unicast');
      if (internal !== undefined) {
        return callback(notPublicAddressError(host, addressRange(internal.address)), '');
      }
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

function notPublicAddressError(host: string, range: string): DeliveryError {
  return new DeliveryError('NOT_EXTERNAL', `${host} resolves to a ${range} address`, {
    hint: 'use an https address that can be opened from the public internet',
  });
}
