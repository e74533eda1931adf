import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../src/errors.ts';
import { publicLookup } from '../../src/http/public-lookup.ts';

/** The arguments of the callback for a name that resolves to these addresses. */
function lookUp(addresses: readonly string[], all: boolean, error: Error | null = null): Promise<unknown[]> {
  const resolved = addresses.map(
    (address) => ({ address, family: address.includes(':') ? 6 : 4 }) as LookupAddress,
  );
  const lookup = publicLookup((_host, _options, callback) => callback(error, resolved));
  return new Promise((resolve) => {
    lookup('files.octo.dev', { all }, (...args) => resolve(args));
  });
}

describe('publicLookup', () => {
  test('returns all public addresses of a name, or the first one', async () => {
    const both = ['140.82.112.3', '2606:50c0:8000::153'];
    expect(await lookUp(both, true)).toEqual([
      null,
      [
        { address: '140.82.112.3', family: 4 },
        { address: '2606:50c0:8000::153', family: 6 },
      ],
    ]);
    expect(await lookUp(both, false)).toEqual([null, '140.82.112.3', 4]);
  });

  test.each([
    ['127.0.0.1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['169.254.169.254', 'linkLocal'],
    ['::1', 'loopback'],
    ['fd00::1', 'uniqueLocal'],
    ['::ffff:192.168.0.1', 'private'],
  ])('refuses a name if one of its addresses is %s', async (address, range) => {
    for (const all of [true, false]) {
      const [error] = await lookUp(['140.82.112.3', address], all);
      expect(error).toBeInstanceOf(DeliveryError);
      expect(error).toMatchObject({
        code: 'NOT_EXTERNAL',
        message: `files.octo.dev resolves to a ${range} address`,
      });
    }
  });

  test('passes on an error of the resolver', async () => {
    const notFound = new Error('ENOTFOUND');
    expect(await lookUp([], true, notFound)).toEqual([notFound, '']);
  });
});
