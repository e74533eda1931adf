import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { DeliveryError } from '../errors.ts';
import { addressRange, isMachineRange } from '../rules/external-address.ts';

/** The resolver of names. */
export type ResolveHost = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const isInternalRange = (range: string): boolean => range !== 'unicast';

/**
 * Creates a DNS lookup for connections that refuses names with an address that is not public. The connection
 * uses exactly the addresses that were checked, so a second DNS answer can't replace them (DNS rebinding).
 *
 * @param resolve the resolver of the operating system
 */
export function publicLookup(resolve: ResolveHost = lookup): LookupFunction {
  return checkedLookup(isInternalRange, resolve);
}

/**
 * The same for a host that the settings name: it may be in a private network, but never on this machine, at a
 * link-local address or at the service that gives a cloud's machines their credentials.
 */
export function networkLookup(resolve: ResolveHost = lookup): LookupFunction {
  return checkedLookup(isMachineRange, resolve);
}

function checkedLookup(isRefused: (range: string) => boolean, resolve: ResolveHost): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) return callback(error, '');
      const internal = addresses.find(({ address }) => isRefused(addressRange(address)));
      if (internal !== undefined) {
        return callback(notPublicAddressError(host, addressRange(internal.address)), '');
      }
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

/** Milliseconds to wait for this machine's own resolver, whose answer a proxy does not need. */
const OWN_LOOKUP_TIME = 300;

/**
 * Refuses a name behind a proxy that this machine can resolve as well, and that leads to a machine's own
 * addresses, or to any that is not public. What only the proxy can resolve is not known here.
 *
 * @param publicOnly whether private addresses are refused as well
 * @throws {DeliveryError} `NOT_EXTERNAL`
 */
export async function refuseInternalName(
  host: string,
  publicOnly: boolean,
  resolve: ResolveHost = lookup,
): Promise<void> {
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0) return;
  const found = Promise.withResolvers<readonly LookupAddress[]>();
  const timer = setTimeout(() => found.resolve([]), OWN_LOOKUP_TIME);
  resolve(host, { all: true }, (error, addresses) => found.resolve(error === null ? addresses : []));
  const addresses = await found.promise;
  clearTimeout(timer);
  const isRefused = publicOnly ? isInternalRange : isMachineRange;
  const internal = addresses.find(({ address }) => isRefused(addressRange(address)));
  if (internal !== undefined) throw notPublicAddressError(host, addressRange(internal.address));
}

function notPublicAddressError(host: string, range: string): DeliveryError {
  return new DeliveryError('NOT_EXTERNAL', `${host} resolves to a ${range} address`, {
    hint: 'use an https address that can be opened from the public internet',
  });
}
