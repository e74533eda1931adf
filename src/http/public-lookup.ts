import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { DeliveryError } from '../errors.ts';
import { addressRange } from '../rules/external-address.ts';

type Resolve = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Resolves a name for a connection, and lets only public addresses through. What was checked is what is
 * connected to: a name that answers differently the second time gains nothing.
 *
 * @param resolve the system's resolver
 */
export function publicLookup(resolve: Resolve = lookup): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) return callback(error, '');
      const inner = addresses.find(({ address }) => addressRange(address) !== 'unicast');
      if (inner !== undefined) return callback(notPublic(host, addressRange(inner.address)), '');
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

function notPublic(host: string, range: string): DeliveryError {
  return new DeliveryError('NOT_EXTERNAL', `${host} resolves to a ${range} address`, {
    hint: 'give an https address that opens without this environment',
  });
}
