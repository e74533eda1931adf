import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DeliveryError } from '../../src/errors.ts';
import { addressRange, getReach, parseExternalAddress } from '../../src/rules/external-address.ts';

function getRefusal(link: string, label?: string): DeliveryError {
  try {
    parseExternalAddress(link, label);
  } catch (thrown) {
    if (thrown instanceof DeliveryError) return thrown;
    throw thrown;
  }
  throw new Error(`${link} was accepted`);
}

const byte = fc.nat(255);
const hex = (number: number): string => `0x${number.toString(16)}`;
const octal = (number: number): string => `0${number.toString(8)}`;

/** Addresses that can't be reached from outside: 10/8, 127/8, 169.254/16, 192.168/16. */
const privateV4 = fc.oneof(
  fc.tuple(fc.constantFrom(10, 127), byte, byte, byte),
  fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
  fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
);

/** Every notation of an IPv4 address in a URL. */
const NOTATIONS: readonly [string, (bytes: readonly number[]) => string][] = [
  ['dotted', (bytes) => bytes.join('.')],
  ['dotted hex', (bytes) => bytes.map(hex).join('.')],
  ['dotted octal', (bytes) => bytes.map(octal).join('.')],
  ['one decimal number', (bytes) => String(Buffer.from(bytes).readUInt32BE())],
  ['one hex number', (bytes) => hex(Buffer.from(bytes).readUInt32BE())],
  ['a short form', ([a, b, c, d]) => `${a}.${(Number(b) << 16) | (Number(c) << 8) | Number(d)}`],
  ['with a final dot', (bytes) => `${bytes.join('.')}.`],
  ['IPv4-mapped IPv6', (bytes) => `[::ffff:${bytes.join('.')}]`],
  ['IPv4-compatible IPv6', (bytes) => `[::${bytes.join('.')}]`],
  ['NAT64', (bytes) => `[64:ff9b::${bytes.join('.')}]`],
  ['IPv4-translated IPv6', (bytes) => `[::ffff:0:${bytes.join('.')}]`],
  [
    '6to4',
    (bytes) =>
      `[2002:${Buffer.from(bytes)
        .toString('hex')
        .replace(/(....)/, '$1:')}::]`,
  ],
];

describe('parseExternalAddress', () => {
  test.each([
    ['https://octo.github.io/site/a.html', 'https://octo.github.io/site/a.html'],
    ['  https://example.com/a?b=c#d \n', 'https://example.com/a?b=c#d'],
    ['HTTPS://EXAMPLE.COM/A', 'https://example.com/A'],
    ['https://example.com:8443/', 'https://example.com:8443/'],
    ['https://пример.рф/', 'https://xn--e1afmkfd.xn--p1ai/'],
    ['https://example.com./', 'https://example.com./'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700:4700::1111]/', 'https://[2606:4700:4700::1111]/'],
    ['https://[64:ff9b::8.8.8.8]/', 'https://[64:ff9b::808:808]/'],
    // Only whole labels at the end count.
    ['https://local.example.com/', 'https://local.example.com/'],
    ['https://notlocal.com/', 'https://notlocal.com/'],
    ['https://mylocalhost.io/', 'https://mylocalhost.io/'],
    ['https://homecorp.io/', 'https://homecorp.io/'],
  ])('accepts %j', (link, href) => {
    expect(parseExternalAddress(link).href).toBe(href);
  });

  test.each([
    ['sandbox:/mnt/data/a.html', 'begins with sandbox:'],
    ['file:///home/a.html', 'begins with file:'],
    ['http://example.com/', 'begins with http:'],
    ['ftp://example.com/', 'begins with ftp:'],
    ['data:text/html,hi', 'begins with data:'],
    ['javascript:alert(1)', 'begins with javascript:'],
    ['blob:https://example.com/1', 'begins with blob:'],
    ['C:\\Users\\a.html', 'begins with c:'],
    ['/mnt/data/a.html', 'it is a local path or a broken link'],
    ['./a.html', 'it is a local path or a broken link'],
    ['//example.com/a.html', 'it is a local path or a broken link'],
    ['example.com/a.html', 'it is a local path or a broken link'],
    ['', 'it is a local path or a broken link'],
    ['https://', 'it is a local path or a broken link'],
    ['https://[::1', 'it is a local path or a broken link'],
    ['https://user@example.com/', 'it contains credentials'],
    ['https://:word@example.com/', 'it contains credentials'],
    ['https://intranet/', 'single-label host'],
    ['https://localhost/', 'single-label host'],
    ['https://localhost./', 'single-label host'],
    ['https://ｌｏｃａｌｈｏｓｔ/', 'single-label host'],
    ['https://app.localhost/', 'internal network'],
    ['https://PRINTER.LOCAL./', 'internal network'],
    ['https://db.internal/', 'internal network'],
    ['https://metadata.google.internal/', 'internal network'],
    ['https://nas.home.arpa/', 'internal network'],
    ['https://wiki.corp/', 'internal network'],
    ['https://host.localdomain/', 'internal network'],
    ['https://page.example/', 'internal network'],
    ['https://printer.local../', ''],
    ['java\tscript:alert(1)', 'begins with javascript:'],
    ['https://github.com@127.0.0.1/', 'contains credentials'],
    ['https://%31%32%37.0.0.1/', '127.0.0.1 is a loopback address'],
    ['https://１２７.0.０.１/', '127.0.0.1 is a loopback address'],
    ['https://①②⑦.⓪.⓪.①/', '127.0.0.1 is a loopback address'],
    ['https://127。0。0。1/', '127.0.0.1 is a loopback address'],
    ['https://[2001:0:7f00:1::]/', 'is a teredo address'],
  ])('refuses %j with the reason "%s"', (link, reason) => {
    const refusal = getRefusal(link);
    expect(refusal.code).toBe('NOT_EXTERNAL');
    expect(refusal.message).toMatch(/^the link is not an external https address: /);
    expect(refusal.message).toContain(reason);
    expect(refusal.hint).toMatch(/K1, K2 or K3/);
  });

  test('uses the given label in the message', () => {
    expect(getRefusal('/a', 'input `url`').message).toMatch(/^input `url` is not an external https address/);
  });

  test('never repeats credentials or queries in the message', () => {
    for (const link of [
      'https://name:s3cret@example.com/?key=s3cret',
      'http://name:s3cret@example.com/',
      'https://db.internal/?key=s3cret#s3cret',
      'https://10.0.0.1/s3cret?key=s3cret',
    ]) {
      const { message, hint } = getRefusal(link);
      expect(`${message} ${hint}`).not.toContain('s3cret');
    }
  });

  test.each(NOTATIONS)('refuses an address of a private network in the notation: %s', (_name, write) => {
    fc.assert(
      fc.property(privateV4, (bytes) => {
        const refusal = getRefusal(`https://${write(bytes)}/a.html`);
        expect(refusal.code).toBe('NOT_EXTERNAL');
      }),
    );
  });
});

describe('addressRange', () => {
  test.each([
    ['8.8.8.8', 'unicast'],
    ['127.0.0.1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['169.254.169.254', 'linkLocal'],
    ['168.63.129.16', 'metadata'],
    ['::ffff:168.63.129.16', 'metadata'],
    ['64:ff9b::a83f:8110', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['fd00:ec2::23', 'metadata'],
    ['fd20:ce::254', 'metadata'],
    ['fd00:42::42', 'metadata'],
    ['100.96.0.96', 'metadata'],
    ['64:ff9b:1::a9fe:a9fe', 'linkLocal'],
    ['64:ff9b:1::808:808', 'uniqueLocal'],
    ['100.64.0.1', 'carrierGradeNat'],
    ['2606:4700::1111', 'unicast'],
    ['::1', 'loopback'],
    ['fc00::1', 'uniqueLocal'],
    ['::ffff:8.8.8.8', 'unicast'],
    ['::ffff:10.1.2.3', 'private'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['64:ff9b::808:808', 'unicast'],
    ['::ffff:0:127.0.0.1', 'loopback'],
    ['2002:7f00:1::', 'loopback'],
    ['2002:808:808::1', 'unicast'],
    ['0.0.0.0', 'unspecified'],
    ['198.18.0.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['224.0.0.1', 'multicast'],
    ['fe80::1', 'linkLocal'],
    ['fec0::1', 'deprecatedSiteLocal'],
    ['2001:db8::1', 'reserved'],
    // No address outside of 2000::/3 is assigned.
    ['4000::1', 'reserved'],
  ])('of %s returns %s', (host, range) => {
    expect(addressRange(host)).toBe(range);
  });
});

describe('getReach', () => {
  test.each([
    ['https://www.octo.dev/', 'anywhere'],
    ['https://8.8.8.8/', 'anywhere'],
    ['https://bins.corp/', 'network'],
    ['https://bins/', 'network'],
    ['https://192.168.0.1/', 'network'],
    ['https://100.64.0.1/', 'network'],
    ['https://[fd00::1]/', 'network'],
    ['https://168.63.129.16/', 'machine'],
    ['https://files.onion/', 'network'],
    ['https://files.default.svc/', 'network'],
    ['https://host.docker.internal/', 'machine'],
    ['https://metadata.google.internal/', 'machine'],
    ['https://localhost6.localdomain6/', 'machine'],
    ['https://localhost:8080/', 'machine'],
    ['https://LOCALHOST./', 'machine'],
    ['https://a.localhost/', 'machine'],
    ['https://localhost.localdomain/', 'machine'],
    ['https://localhost.octo.dev/', 'anywhere'],
    ['https://127.1/', 'machine'],
    ['https://0.0.0.0/', 'machine'],
    ['https://169.254.169.254/', 'machine'],
    ['https://[::ffff:127.0.0.1]/', 'machine'],
  ])('of %s returns %s', (address, reach) => {
    expect(getReach(new URL(address)).reach).toBe(reach);
  });
});
