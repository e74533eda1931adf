import { describe, expect, test } from '@jest/globals';
import { checkedLookup, type ResolveHost } from '../../src/http/lookup.ts';

/** A resolver that knows these addresses of every name; without any it fails. */
const resolveTo =
  (...addresses: readonly string[]): ResolveHost =>
  (_host, _options, callback) =>
    callback(
      addresses.length === 0 ? new Error('ENOTFOUND') : null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

const lookUp = (resolve: ResolveHost, publicOnly: boolean, all = false): Promise<unknown[]> =>
  new Promise((done) => {
    checkedLookup(publicOnly, resolve)('files.octo.dev', { all }, (...args) => done(args));
  });

const PUBLIC = ['140.82.112.3', '2606:50c0:8000::153'];

describe('the lookup of a host', () => {
  test('returns all public addresses of a name, or the first one', async () => {
    const [first = '', second = ''] = PUBLIC;
    const both = [
      { address: first, family: 4 },
      { address: second, family: 6 },
    ];
    expect(await lookUp(resolveTo(...PUBLIC), true, true)).toEqual([null, both]);
    expect(await lookUp(resolveTo(...PUBLIC), true)).toEqual([null, first, 4]);
  });

  test('passes on an error of the resolver', async () => {
    expect(await lookUp(resolveTo(), true)).toEqual([new Error('ENOTFOUND'), '']);
  });

  // Private addresses are those of a network, the others of a machine itself.
  test.each<[string, string, 'always' | 'in public']>([
    ['127.0.0.1', 'loopback', 'always'],
    ['::1', 'loopback', 'always'],
    ['0.0.0.0', 'unspecified', 'always'],
    ['::', 'unspecified', 'always'],
    ['169.254.169.254', 'linkLocal', 'always'],
    ['fe80::1', 'linkLocal', 'always'],
    ['168.63.129.16', 'metadata', 'always'],
    ['fd00:ec2::254', 'metadata', 'always'],
    ['fd20:ce::254', 'metadata', 'always'],
    ['10.1.2.3', 'private', 'in public'],
    ['192.168.0.1', 'private', 'in public'],
    ['198.18.0.1', 'reserved', 'in public'],
    ['fd00::1', 'uniqueLocal', 'in public'],
    ['::ffff:192.168.0.1', 'private', 'in public'],
  ])('refuses %s (%s) %s', async (address, range, when) => {
    const refused = { code: 'NOT_EXTERNAL', message: `files.octo.dev resolves to a ${range} address` };
    for (const publicOnly of [true, false]) {
      const [error, found] = await lookUp(resolveTo('140.82.112.3', address), publicOnly);
      if (publicOnly || when === 'always') {
        expect(error).toMatchObject(refused);
      } else {
        expect([error, found]).toEqual([null, '140.82.112.3']);
      }
    }
  });
});
