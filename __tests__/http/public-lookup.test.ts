import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../src/errors.ts';
import { publicLookup } from '../../src/http/public-lookup.ts';

/** What a connection is told for a name that resolves to these addresses. */
function connecting(
  addresses: readonly string[],
  all: boolean,
  error: Error | null = null,
): Promise<unknown[]> {
  const known = addresses.map(
    (address) => ({ address, family: address.includes(':') ? 6 : 4 }) as LookupAddress,
  );
  const lookup = publicLookup((_host, _options, callback) => callback(error, known));
  return new Promise((resolve) => {
    lookup('files.octo.dev', { all }, (...told) => resolve(told));
  });
}

describe('a name that is connected to', () => {
  test('gives its public addresses, all or the first', async () => {
    const both = ['140.82.112.3', '2606:50c0:8000::153'];
    expect(await connecting(both, true)).toEqual([
      null,
      [
        { address: '140.82.112.3', family: 4 },
        { address: '2606:50c0:8000::153', family: 6 },
      ],
    ]);
    expect(await connecting(both, false)).toEqual([null, '140.82.112.3', 4]);
  });

  test.each([
    ['127.0.0.1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['169.254.169.254', 'linkLocal'],
    ['::1', 'loopback'],
    ['fd00::1', 'uniqueLocal'],
    ['::ffff:192.168.0.1', 'private'],
  ])('is refused where one of its addresses is %s', async (address, range) => {
    for (const all of [true, false]) {
      const [error] = await connecting(['140.82.112.3', address], all);
      expect(error).toBeInstanceOf(DeliveryError);
      expect(error).toMatchObject({
        code: 'NOT_EXTERNAL',
        message: `files.octo.dev resolves to a ${range} address`,
      });
    }
  });

  test('fails as the resolver fails', async () => {
    const unknown = new Error('ENOTFOUND');
    expect(await connecting([], true, unknown)).toEqual([unknown, '']);
  });
});
