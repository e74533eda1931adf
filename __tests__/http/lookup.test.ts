import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../src/errors.ts';
import { checkedLookup, refuseInternalName } from '../../src/http/lookup.ts';

/** The arguments of the callback for a name that resolves to these addresses. */
function lookUp(addresses: readonly string[], all: boolean, error: Error | null = null): Promise<unknown[]> {
  const resolved = addresses.map(
    (address) => ({ address, family: address.includes(':') ? 6 : 4 }) as LookupAddress,
  );
  const lookup = checkedLookup(true, (_host, _options, callback) => callback(error, resolved));
  return new Promise((resolve) => {
    lookup('files.octo.dev', { all }, (...args) => resolve(args));
  });
}

describe('the lookup of a public host', () => {
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

describe('the lookup of a host of the settings', () => {
  const lookUpInNetwork = (address: string): Promise<unknown[]> =>
    new Promise((resolve) => {
      const answer = [{ address, family: address.includes(':') ? 6 : 4 }];
      checkedLookup(false, (_host, _options, callback) => callback(null, answer))(
        'bins.octo.dev',
        { all: false },
        (...args) => resolve(args),
      );
    });

  test.each(['127.0.0.1', '::1', '0.0.0.0', '169.254.169.254', 'fe80::1', '168.63.129.16', 'fd00:ec2::254'])(
    'refuses a host of the settings that resolves to %s',
    async (address) => {
      expect((await lookUpInNetwork(address))[0]).toMatchObject({ code: 'NOT_EXTERNAL' });
    },
  );

  test.each(['10.1.2.3', '192.168.0.1', '140.82.112.3'])(
    'accepts one that resolves to %s',
    async (address) => {
      expect(await lookUpInNetwork(address)).toEqual([null, address, 4]);
    },
  );
});

describe('refuseInternalName', () => {
  const check = (address: string | null, publicOnly: boolean): Promise<void> =>
    refuseInternalName('files.octo.dev', publicOnly, (_host, _options, callback) =>
      address === null
        ? callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), [])
        : callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]),
    );

  test.each([true, false])(
    'refuses a name behind a proxy that leads to a machine itself, public only: %s',
    async (publicOnly) => {
      for (const address of ['169.254.169.254', '127.0.0.1', 'fd20:ce::254', '::']) {
        await expect(check(address, publicOnly)).rejects.toMatchObject({ code: 'NOT_EXTERNAL' });
      }
    },
  );

  test('refuses a private address only where the host must be public', async () => {
    for (const address of ['10.1.2.3', 'fd00::1', '198.18.0.1']) {
      await expect(check(address, true)).rejects.toMatchObject({ code: 'NOT_EXTERNAL' });
      await expect(check(address, false)).resolves.toBeUndefined();
    }
  });

  test('accepts a public address, and a name that only the proxy can resolve', async () => {
    for (const address of ['140.82.112.3', null]) {
      await expect(check(address, true)).resolves.toBeUndefined();
    }
  });
});
