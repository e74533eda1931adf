import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { DeliveryError } from '../errors.ts';
import { addressRange, isMachineRange } from '../rules/external-address.ts';

export type ResolveHost = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Creates a DNS lookup for connections that refuses names with an address inside a network. The connection uses
 * exactly the addresses that were checked, so a second DNS answer can't replace them (DNS rebinding).
 *
 * @param publicOnly whether only public addresses are accepted; a host that the settings name may be in a private
 * network, but never on this machine, at a link-local address or at the service that gives a cloud's machines their
 * credentials
 * @param resolve the resolver of the operating system
 */
export function checkedLookup(publicOnly: boolean, resolve: ResolveHost = lookup): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) return callback(error, '');
      const refused = addresses
        .map(({ address }) => addressRange(address))
        .find((range) => (publicOnly ? range !== 'unicast' : isMachineRange(range)));
      if (refused !== undefined) return callback(notPublicAddressError(host, refused), '');
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

const notPublicAddressError = (host: string, range: string): DeliveryError =>
  new DeliveryError('NOT_EXTERNAL', `${host} resolves to a ${range} address`, {
    hint: 'use an https address that can be opened from the public internet',
  });
